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
  out.check_ = text.check;
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

Status Launch::check(const IndexCheck& check, const Slots& slots, const Scalar* scalars,
                     bool (*interrupted)()) const {
  if (!memory_->wait_until_done(interrupted)) return failure(Problem::Interrupted);
  uint64_t first = 0;
  memory_->download(&first, slots.scratch() + check.found, sizeof first);
  if (first == UINT64_MAX) return {};
  Status out = failure(Problem::IndexOutOfRange);
  const int64_t size = size_of(check.indices->dtype);
  const char* const at = slots.at(*check.indices) + static_cast<int64_t>(first) * size;
  int32_t narrow = 0;
  memory_->download(size == 4 ? static_cast<void*>(&narrow) : &out.detail, at, size);
  if (size == 4) out.detail = narrow;
  out.bound = static_cast<int64_t>(number_of(check.axis, scalars));
  return out;
}

bool Launch::is_inside(const IndexCheck& check, const Scalar* scalars,
                       const KnownRanges& known) const {
  const auto [low, high] = known.of(*check.indices);
  const auto axis = static_cast<int64_t>(number_of(check.axis, scalars));
  return low >= (check.wraps ? -axis : 0) && high < axis;
}

Status Launch::run(const Slots& slots, const Scalar* scalars, const KnownRanges& known,
                   bool (*interrupted)()) const {
  const bool checks = check_ && !is_inside(*check_, scalars, known);
  for (size_t i = check_ && !checks ? check_->kernels : 0; i < kernels_.size(); ++i) {
    if (checks && check_->kernels == i) {
      if (Status status = check(*check_, slots, scalars, interrupted); !status) return status;
    }
    queue(kernels_[i], slots, scalars);
  }
  return {};
}

void Launch::queue(const Queued& queued, const Slots& slots, const Scalar* scalars) const {
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
    } else {
      values[i] = number_of(parameter, scalars);
    }
  }
  memory_->launch(queued.kernel, queued.count, addresses.data());
}

}  // namespace pullback::cuda
