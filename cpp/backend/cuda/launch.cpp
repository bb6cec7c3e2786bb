// Compiles tile groups, and fills the parameters of their kernels in each run.
#include "backend/cuda/launch.h"

#include <utility>

#include "backend/cuda/nvrtc.h"

namespace pullback::cuda {

Kernel KernelCache::find(const std::string& text) {
  const std::lock_guard lock(mutex_);
  const auto found = kernels_.find(text);
  if (found != kernels_.end()) return found->second;
  Kernel kernel = nullptr;
  if (const Nvrtc* compiler = nvrtc()) {
    const std::string cubin = compile_text(*compiler, text, memory_.architecture());
    if (!cubin.empty()) kernel = memory_.load_kernel(cubin, kKernelName);
  }
  kernels_.emplace(text, kernel);
  return kernel;
}

std::optional<Launch> Launch::of(const TileGroup& group, CudaMemory& memory, KernelCache& kernels,
                                 std::string* reason) {
  if (!nvrtc()) return std::nullopt;
  auto printed = group_text(group);
  if (const auto* why = std::get_if<std::string>(&printed)) {
    *reason = *why;
    return std::nullopt;
  }
  GroupText& text = std::get<GroupText>(printed);
  const Kernel kernel = kernels.find(text.text);
  if (!kernel) {
    *reason = "its text did not compile";
    return std::nullopt;
  }
  return Launch(group, memory, kernel, std::move(text.parameters));
}

void Launch::run(const Slots& slots, const Scalar* scalars) const {
  std::vector<uint64_t> values(parameters_.size());
  std::vector<void*> addresses(parameters_.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const GroupText::Parameter& parameter = parameters_[i];
    addresses[i] = &values[i];
    if (parameter.view) {
      values[i] = reinterpret_cast<uint64_t>(slots.at(*parameter.view));
    } else if (const ScalarLoad* load = parameter.scalar) {
      const Scalar& scalar = load->scalar ? scalars[load->scalar->position] : load->constant;
      store_scalar(load->dtype, scalar, &values[i]);
    } else {
      values[i] = parameter.bits;
    }
  }
  memory_->launch(kernel_, count_, addresses.data());
}

}  // namespace pullback::cuda
