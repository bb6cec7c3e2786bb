// A second device for tests: the CPU backend over memory whose addresses the host cannot read. A
// read or write by the host ends the program.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "backend/common/loop_run.h"
#include "base/error.h"
#include "plan/backend.h"
#include "runtime/memory.h"

namespace pullback::test {

constexpr Device kFake{1};

class FakeMemory : public DeviceMemory {
 public:
  // No address of a process has this bit.
  static constexpr uintptr_t kBit = uintptr_t{1} << 62;
  // NOLINTBEGIN(performance-no-int-to-ptr): the point of this memory
  static void* hidden(void* address) {
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(address) | kBit);
  }
  static char* visible(const void* address) {
    return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(address) & ~kBit);
  }
  // NOLINTEND(performance-no-int-to-ptr)

  void* allocate(int64_t bytes) override {
    if (fail_next) {
      fail_next = false;
      out_of_memory(bytes);
    }
    live += bytes;
    return hidden(allocate_bytes(bytes));
  }
  void release(void* address, int64_t bytes) noexcept override {
    live -= bytes;
    free_bytes(visible(address), bytes);
  }
  void copy(void* to, const void* from, int64_t bytes) override {
    std::memcpy(visible(to), visible(from), static_cast<size_t>(bytes));
  }
  void upload(void* to, const void* host, int64_t bytes) override {
    ++uploads;
    std::memcpy(visible(to), host, static_cast<size_t>(bytes));
  }
  void download(void* host, const void* from, int64_t bytes) override {
    ++downloads;
    std::memcpy(host, visible(from), static_cast<size_t>(bytes));
  }

  int64_t live = 0;
  int uploads = 0, downloads = 0;
  bool fail_next = false;
};

// Shows the addresses to an executable of the CPU. A plan of one loop or branch runs here, with the
// memory of the device.
class FakeExecutable : public Executable {
 public:
  FakeExecutable(const Plan& plan, FakeMemory* memory, int* runs)
      : plan_(plan), inner_(cpu_backend().compile(plan)), memory_(*memory), runs_(*runs) {
    if (plan.steps.size() != 1) return;
    if (const auto* loop = std::get_if<Loop>(&plan.steps[0].work)) loop_ = compile_loop(*loop);
    if (const auto* branch = std::get_if<Branch>(&plan.steps[0].work)) {
      branch_ = compile_branch(*branch);
    }
  }

  int64_t scratch_bytes() const override { return inner_->scratch_bytes() + 64; }
  Status run(const RunArguments& given) const noexcept override {
    ++runs_;
    if (loop_ || branch_) {
      const Slots slots(plan_, given);
      std::vector<void*> lists(1000);
      const Scratch scratch{memory_, slots.scratch(), reinterpret_cast<char*>(lists.data())};
      return loop_ ? run_loop(*loop_, slots, scratch) : run_branch(*branch_, slots, scratch);
    }
    std::vector<const void*> in;
    std::vector<void*> out;
    for (size_t i = 0; i < plan_.arguments.size(); ++i) {
      in.push_back(FakeMemory::visible(given.arguments[i]));
    }
    for (size_t i = 0; i < plan_.output_bytes.size(); ++i) {
      out.push_back(FakeMemory::visible(given.outputs[i]));
    }
    RunArguments shown = given;
    shown.arguments = in.data();
    shown.outputs = out.data();
    shown.arena = FakeMemory::visible(given.arena);
    return inner_->run(shown);
  }

 private:
  const Plan& plan_;
  std::unique_ptr<Executable> inner_;
  std::optional<LoopProgram> loop_;
  std::optional<BranchProgram> branch_;
  FakeMemory& memory_;
  int& runs_;
};

class FakeBackend : public Backend {
 public:
  const char* name() const override { return "fake"; }
  Device device() const override { return kFake; }
  DeviceMemory& memory() const override { return memory_; }
  const Limits& limits() const override { return cpu_backend().limits(); }
  std::unique_ptr<Executable> compile(const Plan& plan) const override {
    return std::make_unique<FakeExecutable>(plan, &memory_, &runs);
  }

  FakeMemory& fake() const { return memory_; }
  mutable int runs = 0;

 private:
  mutable FakeMemory memory_;
};

// The device, registered with the first call; it lives as long as the process.
inline const FakeBackend& fake_device() {
  static const FakeBackend* backend = [] {
    auto* made = new FakeBackend;
    set_backend(*made);
    return made;
  }();
  return *backend;
}

}  // namespace pullback::test
