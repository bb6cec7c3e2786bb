// Gathers and scatters. Indices are checked by kernels of their own, whose result the run reads. A
// scatter sorts the list by index, so that one thread adds all that an entry receives in the order
// of the list: the bits are those of the processor.
#include <utility>

#include "backend/cuda/data_text.h"
#include "backend/cuda/fold_text.h"
#include "backend/cuda/row_text.h"

namespace pullback::cuda {
namespace {

// A position of the list as an entry of the axis.
std::string position(const std::string& index, const std::string& axis) {
  return text("(", index, " < 0 ? ", index, " + ", axis, " : ", index, ")");
}

struct Combine {
  std::string value, sum;  // types
  std::string next;        // an expression of the sum a and a value v
};

// As in scatter_run.cpp.
Combine combine_of(const ScatterAdd& s) {
  const bool ordered = s.update == Update::Min || s.update == Update::Max;
  std::string type =
      s.update == Update::Set ? word_type(size_of(s.out.dtype)) : type_of(s.out.dtype);
  if (!ordered && s.update != Update::Set && is_signed(s.out.dtype)) type = "u" + type;
  // With more addends than entries, many meet in one entry, and float32 would lose digits.
  const bool wide =
      s.update == Update::Add && s.out.dtype == DType::Float32 && s.indices.shape.size() > s.axis;
  const std::string sum = wide ? "double" : type;
  switch (s.update) {
    case Update::Set:
      return {type, sum, "v"};
    case Update::Add:
      return {type, sum, s.out.dtype == DType::Bool ? "a | v" : "a + v"};
    case Update::Multiply:
      return {type, sum, "a * v"};
    case Update::Min:
      return {type, sum, "v < a || v != v ? v : a"};
    case Update::Max:
      return {type, sum, "v > a || v != v ? v : a"};
  }
  return {};
}

void print_clear(StepText& out, const ScatterAdd& s, const std::string& type) {
  KernelBuilder builder;
  builder.parameter(type + "* to", {.view = &s.out});
  builder.line("to[t] = 0;");
  out.kernels.push_back(builder.finish(s.outer * s.axis * s.inner));
}

}  // namespace

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
               position("index", builder.size(g.axis)), " * ", builder.size(stride[1]),
               " + static_cast<int64_t>(c) * ", builder.size(stride[2]), "];");
  out.kernels.push_back(builder.finish(g.outer * n * g.inner));
  return out;
}

Printed scatter_text(const ScatterAdd& s) {
  if (!type_of(s.out.dtype) && s.update != Update::Set) return std::string(name_of(s.out.dtype));
  if (!word_type(size_of(s.out.dtype))) return std::string(name_of(s.out.dtype));
  if (s.update != Update::Set && is_storage(s.out.dtype)) return std::string(name_of(s.out.dtype));
  StepText out;
  const Combine combine = combine_of(s);
  const int64_t n = s.indices.shape.size();
  if (s.clear && !n) print_clear(out, s, combine.value);
  if (!n) return out;
  if (!s.equal && !s.checked) {
    print_check(out, s.indices, true, {.bits = static_cast<uint64_t>(s.axis)});
  }
  const auto declare = [&](KernelBuilder& builder) {
    builder.parameter(text("const ", type_of(s.indices.dtype), "* indices"), {.view = &s.indices});
    builder.parameter("int64_t axis", {.bits = static_cast<uint64_t>(s.axis)});
  };
  // With `equal`, any numbers, which are only compared.
  const int64_t words =
      sorted_words(out, 1, n, s.equal ? "indices[at]" : position("indices[at]", "axis"), declare);
  if (s.clear) print_clear(out, s, combine.value);
  KernelBuilder builder;
  builder.include("backend/cuda/device_order.h");
  builder.parameter("const KeyAt* words", scratch_at(words));
  builder.parameter(text("const ", combine.value, "* in"), {.view = &s.in});
  builder.parameter(text(combine.value, "* to"), {.view = &s.out});
  const std::string list = builder.size(n), axis = builder.size(s.axis),
                    inner = builder.size(s.inner);
  builder.line("const uint64_t c = t % ", inner, ", r = t / ", inner, ", first = r % ", list,
               ", o = r / ", list, ";");
  builder.line("const uint64_t key = words[first].key;");
  builder.line("if (first > 0 && words[first - 1].key == key) continue;");
  builder.line("uint64_t end = first + 1;");
  builder.line("while (end < static_cast<uint64_t>(", list, ") && words[end].key == key) ++end;");
  builder.line(combine.value, "* const entry = to + (o * ", axis, " + ",
               s.equal ? "words[end - 1].at" : "key", ") * ", inner, " + c;");
  const Strides& stride = s.in.strides;
  builder.line("const int64_t from = static_cast<int64_t>(o) * ", builder.size(stride[0]),
               " + static_cast<int64_t>(c) * ", builder.size(stride[2]), ";");
  builder.line(combine.sum, " a = *entry;");
  builder.line("for (uint64_t k = first; k < end; ++k) {");
  builder.line("const ", combine.value, " v = in[from + static_cast<int64_t>(words[k].at) * ",
               builder.size(stride[1]), "];");
  builder.line("a = static_cast<", combine.sum, ">(", combine.next, ");\n}");
  builder.line("*entry = static_cast<", combine.value, ">(a);");
  out.kernels.push_back(builder.finish(s.outer * n * s.inner));
  return out;
}

}  // namespace pullback::cuda
