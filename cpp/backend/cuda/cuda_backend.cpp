// Registers devices, and compiles their plans.
#include "backend/cuda/cuda_backend.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

#include "backend/common/copied_steps.h"
#include "base/error.h"

namespace pullback::cuda {
namespace {

std::atomic<int64_t> steps_on_host[std::variant_size_v<Work>];

class CudaExecutable final : public Executable {
 public:
  CudaExecutable(const Plan& plan, CudaMemory& memory) : plan_(plan), steps_(plan, memory) {}

  Status run(const RunArguments& arguments) const noexcept override {
    for (const Step& step : plan_.steps) {
      steps_on_host[step.work.index()].fetch_add(1, std::memory_order_relaxed);
    }
    return steps_.run(arguments);
  }

 private:
  const Plan& plan_;
  CopiedSteps steps_;
};

class CudaBackend final : public Backend {
 public:
  CudaBackend(const Driver& driver, int index)
      : device_{static_cast<uint8_t>(1 + index)}, memory_(driver, index) {}

  const char* name() const override { return "cuda"; }
  Device device() const override { return device_; }
  CudaMemory& memory() const override { return memory_; }
  // Every step runs on the host.
  const Limits& limits() const override { return cpu_backend().limits(); }
  std::unique_ptr<Executable> compile(const Plan& plan) const override {
    return std::make_unique<CudaExecutable>(plan, memory_);
  }

 private:
  const Device device_;
  mutable CudaMemory memory_;
};

std::mutex opening;
// Never freed: at exit the driver may be gone before static objects.
std::array<CudaBackend*, kMaxDevices> opened{};

}  // namespace

int device_count() { return driver() ? driver()->devices : 0; }

Device open_device(int index) {
  if (!driver()) fail(ErrorKind::Runtime, "CUDA is not available: ", unavailable_reason());
  if (index < 0 || index >= std::min(device_count(), kMaxDevices - 1)) {
    fail(ErrorKind::Value, "expected a device of cuda:0 to cuda:", device_count() - 1,
         ", got cuda:", index);
  }
  const std::lock_guard lock(opening);
  CudaBackend*& backend = opened[index];
  if (!backend) {
    backend = std::make_unique<CudaBackend>(*driver(), index).release();
    set_backend(*backend);
  }
  return backend->device();
}

CudaMemory& memory_of_cuda(Device device) { return opened.at(device.id - 1)->memory(); }

std::vector<std::pair<std::string, int64_t>> fallbacks() {
  std::vector<std::pair<std::string, int64_t>> out;
  for (size_t i = 0; i < std::size(kWorkNames); ++i) {
    if (const int64_t count = steps_on_host[i]) out.emplace_back(kWorkNames[i], count);
  }
  return out;
}

}  // namespace pullback::cuda
