// Gathers. Indices are checked by kernels of their own, whose result the run reads.
#include <utility>

#include "backend/cuda/data_text.h"
#include "backend/cuda/fold_text.h"
#include "backend/cuda/row_text.h"

namespace pullback::cuda {

const char* word_type(int64_t bytes) {
  static constexpr const char* kTypes[] = {nullptr, "uint8_t", "uint16_t", nullptr,   "uint32_t",
                                           nullptr, nullptr,   nullptr,    "uint64_t"};
  return bytes <= 8 ? kTypes[bytes] : nullptr;
}

void print_check(StepText& out, const View& indices, bool wraps,
                 const KernelText::Parameter& axis) {
  const Folding folding{1, indices.shape.size(), 1};
  KernelBuilder builder;
  builder.parameter(text("const ", type_of(indices.dtype), "* indices"), {.view = &indices});
  builder.parameter("int64_t axis", axis);
  const int64_t from = out.take_scratch(folding.parts() * 8);
  builder.parameter("uint64_t* s", scratch_at(from));
  builder.line("uint64_t found = ~uint64_t{0};");
  begin_parts(builder, folding);
  builder.line("const int64_t at = indices[i];");
  builder.line("if ((at < ", wraps ? "-axis" : "0", " || at >= axis) && i < found) found = i;\n}");
  builder.line("s[t] = found;");
  out.kernels.push_back(builder.finish(folding.parts()));
  combine_parts(out, folding,
                {"uint64_t",
                 [](const std::string& a, const std::string& b) {
                   return text(a, " < ", b, " ? ", a, " : ", b);
                 },
                 "uint64_t", [](const std::string& a) { return a; }, nullptr},
                from, {.found = true});
  out.check = {&indices, axis, wraps, out.kernels.size()};
}

std::string entry_of(const std::string& index, const std::string& axis) {
  return text("(", index, " < 0 ? ", index, " + ", axis, " : ", index, ")");
}

Printed gather_text(const Gather& g) {
  const char* const type = word_type(size_of(g.in.dtype));
  if (!type) return std::string(name_of(g.in.dtype));
  StepText out;
  const int64_t n = g.indices.shape.size();
  if (!g.checked && n) print_check(out, g.indices, true, {.bits = static_cast<uint64_t>(g.axis)});
  KernelBuilder builder;
  builder.parameter(text("const ", type, "* in"), {.view = &g.in});
  builder.parameter(text("const ", type_of(g.indices.dtype), "* indices"), {.view = &g.indices});
  builder.parameter(text(type, "* to"), {.view = &g.out});
  const std::string inner = builder.size(g.inner), count = builder.size(n);
  builder.line("const uint64_t c = t % ", inner, ", r = t / ", inner, ", k = r % ", count,
               ", o = r / ", count, ";");
  builder.line("const int64_t index = indices[k];");
  const Strides& stride = g.in.strides;
  builder.line("to[t] = in[static_cast<int64_t>(o) * ", builder.size(stride[0]), " + ",
               entry_of("index", builder.size(g.axis)), " * ", builder.size(stride[1]),
               " + static_cast<int64_t>(c) * ", builder.size(stride[2]), "];");
  out.kernels.push_back(builder.finish(g.outer * n * g.inner));
  return out;
}

}  // namespace pullback::cuda
