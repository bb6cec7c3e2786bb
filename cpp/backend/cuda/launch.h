// Launch: a step of a plan as a kernel. KernelCache compiles each text once for a device.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "backend/common/slots.h"
#include "backend/cuda/cuda_memory.h"
#include "backend/cuda/group_text.h"

namespace pullback::cuda {

// The kernels of one device, for the time of the process.
class KernelCache {
 public:
  explicit KernelCache(CudaMemory& memory) : memory_(memory) {}
  // Null without NVRTC, or if NVRTC or the driver refuses the text.
  Kernel find(const std::string& text);

 private:
  CudaMemory& memory_;
  std::mutex mutex_;
  std::map<std::string, Kernel> kernels_;
};

// A tile group as a kernel.
class Launch {
 public:
  // nullopt if the group has no kernel; then `reason` is why, or empty without NVRTC.
  static std::optional<Launch> of(const TileGroup& group, CudaMemory& memory, KernelCache& kernels,
                                  std::string* reason);
  // Queues the kernel. Raises what the memory raises.
  void run(const Slots& slots, const Scalar* scalars) const;

 private:
  Launch(const TileGroup& group, CudaMemory& memory, Kernel kernel,
         std::vector<GroupText::Parameter> parameters)
      : memory_(&memory),
        kernel_(kernel),
        count_(group.count),
        parameters_(std::move(parameters)) {}

  CudaMemory* memory_;
  Kernel kernel_;
  int64_t count_;
  std::vector<GroupText::Parameter> parameters_;
};

}  // namespace pullback::cuda
