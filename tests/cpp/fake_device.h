// A second device for tests: the CPU backend over memory whose addresses the host cannot read. A
// read or write by the host ends the program.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "base/error.h"
#include "plan/backend.h"
#include "runtime/memory.h"

namespace pullback::test {

constexpr Device kFake{1};

class FakeMemory : public DeviceMemory {
 public:
  // No address of a process has this bit.
  static constexpr uintptr_t kBit = uintptr_t{1} << 62;
  static void* hidden(void* address) {
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(address) | kBit);
  }
  static char* visible(const void* address) {
    return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(address) & ~kBit);
  }

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

// Shows the addresses to an executable of the CPU.
class FakeExecutable : public Executable {
 public:
  FakeExecutable(const Plan& plan, int* runs)
      : plan_(plan), inner_(cpu_backend().compile(plan)), runs_(*runs) {}

  int64_t scratch_bytes() const override { return inner_->scratch_bytes(); }
  Status run(const RunArguments& given) const noexcept override {
    ++runs_;
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
  int& runs_;
};

class FakeBackend : public Backend {
 public:
  const char* name() const override { return "fake"; }
  Device device() const override { return kFake; }
  DeviceMemory& memory() const override { return memory_; }
  const Limits& limits() const override { return cpu_backend().limits(); }
  std::unique_ptr<Executable> compile(const Plan& plan) const override {
    return std::make_unique<FakeExecutable>(plan, &runs);
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
