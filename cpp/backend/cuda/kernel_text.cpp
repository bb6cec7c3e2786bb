// Writes kernel texts.
#include "backend/cuda/kernel_text.h"

#include <utility>

#include "backend/common/slots.h"
#include "backend/cpu/tiles/strided.h"

namespace pullback::cuda {

int64_t StepText::take_scratch(int64_t bytes) {
  const int64_t at = scratch;
  scratch += round_up(bytes, 256);
  return at;
}

KernelText::Parameter scratch_at(int64_t offset) {
  return {.scratch = true, .bits = static_cast<uint64_t>(offset)};
}

std::string KernelBuilder::parameter(const std::string& declaration,
                                     KernelText::Parameter parameter) {
  parameters_ += ", " + declaration;
  out_.parameters.push_back(parameter);
  return declaration.substr(declaration.rfind(' ') + 1);
}

std::string KernelBuilder::size(int64_t size) {
  return parameter(text("int64_t n", sizes_++), {.bits = static_cast<uint64_t>(size)});
}

std::string KernelBuilder::offset_of(const View& view, const std::string& index) {
  const Axes axes = merged_axes(view);
  const auto times = [&](const std::string& position, int64_t stride) {
    if (stride == 1) return position;
    return text("static_cast<int64_t>(", position, ") * ", size(stride));
  };
  if (axes.rank == 0 || (axes.rank == 1 && axes.stride[0] == 0)) return "0";
  if (axes.rank == 1) return times(index, axes.stride[0]);
  const int number = offsets_++;
  const std::string rest = text("q", number), at = text("at", number);
  line("uint64_t ", rest, " = ", index, ";");
  line("int64_t ", at, " = 0;");
  for (int axis = axes.rank; axis-- > 0;) {
    const std::string dim = axis ? size(axes.dim[axis]) : "";
    if (axes.stride[axis] != 0) {
      const std::string position = axis ? text("(", rest, " % ", dim, ")") : rest;
      line(at, " += ", times(position, axes.stride[axis]), ";");
    }
    if (axis) line(rest, " /= ", dim, ";");
  }
  return at;
}

KernelText KernelBuilder::finish(int64_t count) {
  out_.count = count;
  out_.parameters.insert(out_.parameters.begin(), {.bits = static_cast<uint64_t>(count)});
  std::string includes;
  for (const std::string& name : headers_) includes += "#include \"" + name + "\"\n";
  out_.text =
      text("#include \"backend/cuda/device_prelude.h\"\n", macros_,
           "#include \"backend/cpu/kernels/vec_half.h\"\n", includes, "using namespace pullback;\n",
           functions_, "PULLBACK_KERNEL(", kKernelName, ", (uint64_t count", parameters_,
           ")) {\nfor (uint64_t t = device::first(); t < count; t += device::stride()) {\n", body_,
           "}\n}\n");
  return std::move(out_);
}

}  // namespace pullback::cuda
