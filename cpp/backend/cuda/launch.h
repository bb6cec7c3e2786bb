// Launch: a step of a plan as kernels. KernelCache compiles each text once for a device.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backend/common/slots.h"
#include "backend/cuda/cuda_memory.h"
#include "backend/cuda/known_ranges.h"
#include "backend/cuda/step_text.h"

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

// A step as kernels.
class Launch {
 public:
  // nullopt if the step has no kernels; then `reason` is why, or empty without NVRTC.
  static std::optional<Launch> of(const Plan& plan, const Work& work, CudaMemory& memory,
                                  KernelCache& kernels, std::string* reason);
  // Bytes of scratch memory on the device (Executable::scratch_bytes()).
  int64_t scratch_bytes() const { return scratch_bytes_; }
  // The indices that must be inside of an axis; null if none are checked.
  const View* checked() const { return check_.indices; }
  bool is_inside(const Scalar* scalars, const KnownRanges& known) const;
  // Queues the kernels that find the first index outside; they write its position, or UINT64_MAX,
  // to `found` on the device. outcome() is the status for this position, and may wait for the
  // index.
  void queue_check(const Slots& slots, const Scalar* scalars, char* found) const;
  Status outcome(uint64_t first, const Slots& slots, const Scalar* scalars) const;
  // Queues the other kernels, if no index is outside. All raise what the memory raises.
  void run(const Slots& slots, const Scalar* scalars) const;

 private:
  struct Queued {
    Kernel kernel;
    int64_t count;
    std::vector<KernelText::Parameter> parameters;
  };

  Launch(CudaMemory& memory, int64_t scratch_bytes)
      : memory_(&memory), scratch_bytes_(scratch_bytes) {}
  void queue(const Queued& queued, const Slots& slots, const Scalar* scalars, char* found) const;

  CudaMemory* memory_;
  int64_t scratch_bytes_;
  IndexCheck check_;
  std::vector<Queued> kernels_;
};

}  // namespace pullback::cuda
