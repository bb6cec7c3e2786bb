// The CUDA backend: GPUs as devices. A step without a kernel of the device runs on the CPU backend
// with copies of its slots. Some steps have kernels (step_text.h). Start at open_device().
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backend/cuda/cuda_memory.h"
#include "base/device.h"

namespace pullback::cuda {

// The number of GPUs; 0 without a driver.
int device_count();
// Registers the GPU with this index as a device at its first call. Raises RuntimeError with
// unavailable_reason() or with the failure of the driver, and ValueError for an unknown index.
Device open_device(int index);
// The memory of a device that open_device() has returned.
CudaMemory& memory_of_cuda(Device device);
// How many steps have run on the host since the process started, by their kind and by what of them
// has no kernel.
std::vector<std::pair<std::string, int64_t>> fallbacks();

}  // namespace pullback::cuda
