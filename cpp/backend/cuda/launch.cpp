// Compiles steps, and fills the parameters of their kernels in each run.
#include "backend/cuda/launch.h"

#include <utility>

#include "backend/cuda/disk_cache.h"
#include "backend/cuda/nvrtc.h"

namespace pullback::cuda {

Kernel KernelCache::find(const std::string& text) {
  const std::lock_guard lock(mutex_);
  const auto found = kernels_.find(text);
  if (found != kernels_.end()) return found->second;
  Kernel kernel = nullptr;
  if (const Nvrtc* compiler = nvrtc()) {
    const DiskCache* const disk = DiskCache::of_process();
    const std::string key = compilation_key(*compiler, text, memory_.architecture());
    std::string cubin = disk ? disk->find(key) : std::string();
    if (!cubin.empty()) kernel = memory_.load_kernel(cubin, kKernelName);
    if (!kernel) {
      cubin = compile_text(*compiler, text, memory_.architecture());
      if (!cubin.empty()) kernel = memory_.load_kernel(cubin, kKernelName);
      if (kernel && disk) disk->add(key, cubin);
    }
  }
  kernels_.emplace(text, kernel);
  return kernel;
}

std::optional<Launch> Launch::of(const Plan& plan, const Work& work, CudaMemory& memory,
                                 KernelCache& kernels, std::string* reason) {
  if (!nvrtc()) return std::nullopt;
  auto printed = step_text(plan, work);
  if (const auto* why = std::get_if<std::string>(&printed)) {
    *reason = *why;
    return std::nullopt;
  }
  StepText& text = std::get<StepText>(printed);
  Launch out(memory, text.scratch);
  if (text.check) out.check_ = *text.check;
  for (KernelText& each : text.kernels) {
    const Kernel kernel = kernels.find(each.text);
    if (!kernel) {
      *reason = "its kernel was not compiled or not loaded";
      return std::nullopt;
    }
    out.kernels_.push_back({kernel, each.count, std::move(each.parameters)});
  }
  return out;
}

namespace {

// The bits of a parameter that is not an address.
uint64_t number_of(const KernelText::Parameter& parameter, const Scalar* scalars) {
  if (parameter.number) return static_cast<uint64_t>(scalars[parameter.number->position].i);
  const ScalarLoad* const load = parameter.scalar;
  if (!load) return parameter.bits;
  uint64_t out = 0;
  store_scalar(load->dtype, load->scalar ? scalars[load->scalar->position] : load->constant, &out);
  return out;
}

}  // namespace

bool Launch::is_inside(const Scalar* scalars, const KnownRanges& known) const {
  const auto [low, high] = known.of(*check_.indices);
  const auto axis = static_cast<int64_t>(number_of(check_.axis, scalars));
  return low >= (check_.wraps ? -axis : 0) && high < axis;
}

void Launch::queue_check(const Slots& slots, const Scalar* scalars, char* found) const {
  for (size_t i = 0; i < check_.kernels; ++i) queue(kernels_[i], slots, scalars, found);
}

Status Launch::outcome(uint64_t first, const Slots& slots, const Scalar* scalars) const {
  if (first == UINT64_MAX) return {};
  Status out = failure(Problem::IndexOutOfRange);
  const int64_t size = size_of(check_.indices->dtype);
  const char* const at = slots.at(*check_.indices) + static_cast<int64_t>(first) * size;
  int32_t narrow = 0;
  memory_->download(size == 4 ? static_cast<void*>(&narrow) : &out.detail, at, size);
  if (size == 4) out.detail = narrow;
  out.bound = static_cast<int64_t>(number_of(check_.axis, scalars));
  return out;
}

void Launch::run(const Slots& slots, const Scalar* scalars) const {
  for (size_t i = check_.kernels; i < kernels_.size(); ++i) {
    queue(kernels_[i], slots, scalars, nullptr);
  }
}

void Launch::queue(const Queued& queued, const Slots& slots, const Scalar* scalars,
                   char* found) const {
  std::vector<uint64_t> values(queued.parameters.size());
  std::vector<void*> addresses(queued.parameters.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const KernelText::Parameter& parameter = queued.parameters[i];
    addresses[i] = &values[i];
    if (parameter.view) {
      values[i] = reinterpret_cast<uint64_t>(slots.at(*parameter.view));
    } else if (parameter.slot) {
      values[i] = reinterpret_cast<uint64_t>(slots.at(*parameter.slot));
    } else if (parameter.scratch) {
      values[i] = reinterpret_cast<uint64_t>(slots.scratch()) + parameter.bits;
    } else if (parameter.found) {
      values[i] = reinterpret_cast<uint64_t>(found);
    } else {
      values[i] = number_of(parameter, scalars);
    }
  }
  memory_->launch(queued.kernel, queued.count, addresses.data());
}

}  // namespace pullback::cuda
