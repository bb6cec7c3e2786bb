// Sorts, searches and positions of extremes. A sort merges runs of words, each thread placing one;
// so do scatters.
#include <functional>
#include <utility>

#include "backend/common/slots.h"
#include "backend/cuda/data_text.h"
#include "backend/cuda/device_order.h"
#include "backend/cuda/fold_text.h"
#include "backend/cuda/row_text.h"

namespace pullback::cuda {
namespace {

constexpr const char* kHeader = "backend/cuda/device_order.h";
constexpr auto kRun = static_cast<int64_t>(device_order::kRun);
constexpr int64_t kWordBytes = 16;  // of KeyAt

// The element types of order.
const char* type_in_order(DType dtype) { return is_storage(dtype) ? nullptr : type_of(dtype); }

}  // namespace

int64_t sorted_words(StepText& out, int64_t rows, int64_t length, const std::string& key,
                     const std::function<void(KernelBuilder&)>& declare) {
  int64_t from = out.take_scratch(rows * length * kWordBytes);
  int64_t to = length > kRun ? out.take_scratch(rows * length * kWordBytes) : from;
  KernelBuilder first;
  first.include(kHeader);
  declare(first);
  first.parameter("KeyAt* words", scratch_at(from));
  const int64_t runs = ceil_div(length, kRun);
  const std::string size = first.size(length), count = first.size(runs);
  first.line("const uint64_t row = t / ", count, ", begin = t % ", count, " * device_order::kRun;");
  first.line("uint64_t end = begin + device_order::kRun;");
  first.line("if (end > static_cast<uint64_t>(", size, ")) end = ", size, ";");
  first.line("KeyAt* const run = words + row * ", size, " + begin;");
  first.line("for (uint64_t at = begin; at < end; ++at) {");
  first.line("run[at - begin] = {static_cast<uint64_t>(", key, "), at};\n}");
  first.line("insertion_sort(run, static_cast<int64_t>(end - begin));");
  out.kernels.push_back(first.finish(rows * runs));
  for (int64_t run = kRun; run < length; run *= 2) {
    KernelBuilder merge;
    merge.include(kHeader);
    merge.parameter("const KeyAt* from", scratch_at(from));
    merge.parameter("KeyAt* to", scratch_at(to));
    merge.line("device_order::merge(from, to, ", merge.size(length), ", ", merge.size(run),
               ", t);");
    out.kernels.push_back(merge.finish(rows * length));
    std::swap(from, to);
  }
  return from;
}

Printed sort_text(const Sort& s) {
  const char* const type = type_in_order(s.in.dtype);
  if (!type) return std::string(name_of(s.in.dtype));
  StepText out;
  const int64_t rows = s.outer * s.inner;
  if (rows * s.length == 0) return out;
  // Entry `at` of row `row` of the input.
  const auto read = [&](KernelBuilder& builder) {
    const Strides& stride = s.in.strides;
    builder.parameter(text("const ", type, "* in"), {.view = &s.in});
    const std::pair<const char*, int64_t> sizes[] = {{"inner", s.inner},
                                                     {"outer_step", stride[0]},
                                                     {"step", stride[1]},
                                                     {"inner_step", stride[2]}};
    for (const auto& [name, size] : sizes) {
      builder.parameter(text("int64_t ", name), {.bits = static_cast<uint64_t>(size)});
    }
  };
  constexpr const char* kEntry =
      "in[static_cast<int64_t>(row / inner) * outer_step + static_cast<int64_t>(row % inner) * "
      "inner_step + static_cast<int64_t>(at) * step]";
  const int64_t words = sorted_words(
      out, rows, s.length,
      text("Keys<", type, ">::of(", kEntry, ", ", s.descending ? "true" : "false", ")"), read);
  KernelBuilder builder;
  builder.include(kHeader);
  builder.parameter("const KeyAt* words", scratch_at(words));
  read(builder);
  builder.parameter(text(s.op == Op::sort ? type : "int64_t", "* to"), {.view = &s.out});
  const std::string length = builder.size(s.length);
  builder.line("const uint64_t c = t % inner, place = t / inner % ", length, ", row = t / inner / ",
               length, " * inner + c;");
  builder.line("const uint64_t at = words[row * ", length, " + place].at;");
  builder.line("to[t] = ", s.op == Op::sort ? kEntry : "at", ";");
  out.kernels.push_back(builder.finish(rows * s.length));
  return out;
}

Printed search_text(const Search& s) {
  const char* const type = type_in_order(s.in.dtype);
  if (!type) return std::string(name_of(s.in.dtype));
  StepText out;
  KernelBuilder builder;
  builder.include(kHeader);
  builder.parameter(text("const ", type, "* sorted"), {.view = &s.sorted});
  builder.parameter(text("const ", type, "* in"), {.view = &s.in});
  builder.parameter("int64_t* to", {.view = &s.out});
  builder.line("to[t] = device_order::count_before<", s.right ? "true" : "false", ">(sorted, ",
               builder.size(s.sorted.shape.size()), ", in[t]);");
  out.kernels.push_back(builder.finish(s.in.shape.size()));
  return out;
}

Printed arg_reduce_text(const ArgReduce& a) {
  const char* const type = type_in_order(a.in.dtype);
  if (!type) return std::string(name_of(a.in.dtype));
  const Folding folding{a.outer, a.reduced, a.inner};
  StepText out;
  if (folding.results() == 0) return out;
  const auto declare = [&](KernelBuilder& builder) {
    builder.include(kHeader);
    builder.parameter(text("const ", type, "* in"), {.view = &a.in});
    builder.parameter("uint64_t reduced", {.bits = static_cast<uint64_t>(a.reduced)});
  };
  const auto better = [&](const std::string& x, const std::string& y) {
    return text("device_order::better_of<", a.op == Op::argmax ? "true" : "false", ">(in, ", x,
                ", ", y, ")");
  };
  KernelBuilder builder;
  declare(builder);
  const int64_t count = folding.results() * folding.parts();
  const int64_t from = out.take_scratch(count * 8);
  builder.parameter("uint64_t* s", scratch_at(from));
  builder.line("uint64_t best = 0;");
  begin_parts(builder, folding);
  builder.line("best = first ? i : ", better("best", "i"), ";\n}");
  builder.line("s[t] = best;");
  out.kernels.push_back(builder.finish(count));
  combine_parts(out, folding,
                {"uint64_t", better, "int64_t",
                 [](const std::string& best) { return best + " / inner % reduced"; }, declare},
                from, {.view = &a.out});
  return out;
}

}  // namespace pullback::cuda
