// Scatters. They sort the list by index, so that what an entry receives is a run of the list. The
// first thread of a run combines it in the order of the list: the bits are those of the processor.
// If the order of operations has no influence on the bits, other threads have combined the blocks
// inside of the run before.
#include <utility>

#include "backend/common/slots.h"
#include "backend/cuda/data_text.h"
#include "backend/cuda/row_text.h"

namespace pullback::cuda {
namespace {

constexpr int64_t kBlock = 64;  // words of a block, and blocks of a larger one

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

// True if the parts of a run can be combined first: the first of equal extremes is kept, and sums
// and products of integers wrap.
bool is_exact(const ScatterAdd& s) {
  if (s.update == Update::Min || s.update == Update::Max) return true;
  return s.out.dtype == DType::Bool || is_integer(s.out.dtype);
}

KernelText::Parameter size_parameter(int64_t size) { return {.bits = static_cast<uint64_t>(size)}; }

// Adds the parameters of the items of the list, and returns item `words[k]` of column c of block o.
std::string read_item(KernelBuilder& builder, const ScatterAdd& s, const Combine& combine) {
  const Strides& stride = s.in.strides;
  builder.parameter(text("const ", combine.value, "* in"), {.view = &s.in});
  return text("in[static_cast<int64_t>(o) * ", builder.size(stride[0]),
              " + static_cast<int64_t>(words[k].at) * ", builder.size(stride[1]),
              " + static_cast<int64_t>(c) * ", builder.size(stride[2]), "]");
}

// Prints kernels that combine each block of kBlock words of one run, and each of kBlock such blocks
// and so on; returns the offset of the results: [outer, blocks, inner] for each size of blocks.
int64_t print_blocks(StepText& out, const ScatterAdd& s, const Combine& combine, int64_t words) {
  const int64_t n = s.indices.shape.size(), columns = s.outer * s.inner;
  const int64_t bytes = size_of(s.out.dtype);
  int64_t total = 0;
  for (int64_t size = kBlock; size <= n; size *= kBlock) total += n / size;
  const int64_t begin = out.take_scratch(total * columns * bytes);
  int64_t from = 0, to = begin;
  for (int64_t size = kBlock; size <= n; size *= kBlock) {
    const int64_t part = size / kBlock, count = n / size * columns;
    KernelBuilder builder;
    builder.include("backend/cuda/device_order.h");
    builder.parameter("const KeyAt* words", scratch_at(words));
    builder.parameter("uint64_t size", size_parameter(size));
    const std::string inner = builder.size(s.inner), blocks = builder.size(n / size);
    std::string item;
    if (part == 1) {
      item = read_item(builder, s, combine);
    } else {
      builder.parameter(text("const ", combine.value, "* parts"), scratch_at(from));
      item = text("parts[(o * ", builder.size(n / part), " + k / (size / ", kBlock, ")) * ", inner,
                  " + c]");
    }
    builder.parameter(text(combine.value, "* to"), scratch_at(to));
    builder.line("const uint64_t c = t % ", inner, ", r = t / ", inner, ", begin = r % ", blocks,
                 " * size, o = r / ", blocks, ";");
    builder.line("if (words[begin].key != words[begin + size - 1].key) continue;");
    builder.line("uint64_t k = begin;\n", combine.sum, " a = ", item, ";");
    builder.line("for (k += size / ", kBlock, "; k < begin + size; k += size / ", kBlock, ") {");
    builder.line("const ", combine.value, " v = ", item, ";");
    builder.line("a = static_cast<", combine.sum, ">(", combine.next, ");\n}");
    builder.line("to[t] = static_cast<", combine.value, ">(a);");
    out.kernels.push_back(builder.finish(count));
    from = to;
    to += count * bytes;
  }
  return begin;
}

}  // namespace

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
      sorted_words(out, 1, n, s.equal ? "indices[at]" : entry_of("indices[at]", "axis"), declare);
  if (s.clear) print_clear(out, s, combine.value);
  const bool blocks = s.update != Update::Set && is_exact(s);
  const int64_t combined = blocks ? print_blocks(out, s, combine, words) : 0;
  KernelBuilder builder;
  builder.include("backend/cuda/device_order.h");
  builder.parameter("const KeyAt* words", scratch_at(words));
  const std::string item = read_item(builder, s, combine);
  builder.parameter(text(combine.value, "* to"), {.view = &s.out});
  builder.parameter("uint64_t list", size_parameter(n));
  const std::string inner = builder.size(s.inner), axis = builder.size(s.axis);
  builder.line("const uint64_t c = t % ", inner, ", r = t / ", inner, ", first = r % list, ",
               "o = r / list;");
  builder.line("const uint64_t key = words[first].key;");
  const auto entry = [&](const char* last) {
    return text("to[(o * ", axis, " + ", s.equal ? text("words[", last, "].at") : "key", ") * ",
                inner, " + c]");
  };
  if (s.update == Update::Set) {
    builder.line("const uint64_t k = first;");
    builder.line("if (k + 1 < list && words[k + 1].key == key) continue;");
    builder.line(entry("k"), " = ", item, ";");
  } else {
    builder.line("if (first > 0 && words[first - 1].key == key) continue;");
    builder.line("uint64_t k = first;");
    if (blocks) {
      const std::string outer = builder.size(s.outer);
      builder.parameter(text("const ", combine.value, "* blocks"), scratch_at(combined));
      builder.line(combine.sum, " a = ", item, ";\n++k;");
      builder.line("while (k < list && words[k].key == key) {");
      // The largest block that begins here and ends in the run; `before`: the smaller blocks.
      builder.line("uint64_t size = 1, before = 0;");
      builder.line("while (k % (size * ", kBlock, ") == 0 && k + size * ", kBlock,
                   " <= list && words[k + size * ", kBlock, " - 1].key == key) {");
      builder.line("if (size > 1) before += list / size;\nsize *= ", kBlock, ";\n}");
      builder.line("const ", combine.value, " v = size == 1 ? ", item, " : blocks[(before * ",
                   outer, " + o * (list / size) + k / size) * ", inner, " + c];");
      builder.line("a = static_cast<", combine.sum, ">(", combine.next, ");\nk += size;\n}");
      builder.line("const ", combine.value, " v = a;\na = ", entry("k - 1"), ";");
      builder.line(entry("k - 1"), " = static_cast<", combine.sum, ">(", combine.next, ");");
    } else {
      builder.line("uint64_t end = first + 1;");
      builder.line("while (end < list && words[end].key == key) ++end;");
      builder.line(combine.sum, " a = ", entry("end - 1"), ";");
      builder.line("for (; k < end; ++k) {\nconst ", combine.value, " v = ", item, ";");
      builder.line("a = static_cast<", combine.sum, ">(", combine.next, ");\n}");
      builder.line(entry("end - 1"), " = static_cast<", combine.value, ">(a);");
    }
  }
  out.kernels.push_back(builder.finish(s.outer * n * s.inner));
  return out;
}

}  // namespace pullback::cuda
