// Prints the kernels that combine parts of folds.
#include "backend/cuda/fold_text.h"

#include <algorithm>
#include <utility>

#include "backend/common/slots.h"

namespace pullback::cuda {
namespace {

// Entries that a thread folds, unless there are enough threads; and parts that one combines.
constexpr int64_t kEntriesOfPart = 16;
constexpr int64_t kEnoughThreads = int64_t{1} << 18;
constexpr int64_t kCombined = 64;

}  // namespace

int64_t Folding::parts() const {
  return std::min(ceil_div(reduced, kEntriesOfPart),
                  std::max<int64_t>(1, ceil_div(kEnoughThreads, results())));
}

void begin_parts(KernelBuilder& builder, const Folding& folding) {
  const std::string reduced = builder.size(folding.reduced), inner = builder.size(folding.inner);
  const std::string parts = builder.size(folding.parts());
  builder.line("const uint64_t c = t % ", inner, ", p = t / ", inner, " % ", parts, ", o = t / ",
               inner, " / ", parts, ";");
  builder.line("for (uint64_t k = p; k < ", reduced, "; k += ", parts, ") {");
  builder.line("const bool first = k == p;");
  builder.line("const uint64_t i = (o * ", reduced, " + k) * ", inner, " + c;");
}

void combine_parts(StepText& out, const Folding& folding, const Combination& combination,
                   int64_t from, const KernelText::Parameter& to) {
  const int64_t parts = folding.parts();
  int64_t rest = parts;
  do {
    const bool last = rest <= kCombined;
    const int64_t left = last ? 1 : ceil_div(rest, kCombined);
    const int64_t count = folding.outer * left * folding.inner;
    const std::string& type = combination.accumulator;
    KernelBuilder builder;
    builder.use_functions();
    for (const auto& [name, size] :
         {std::pair("parts", rest), std::pair("left", left), std::pair("inner", folding.inner)}) {
      builder.parameter(text("uint64_t ", name), {.bits = static_cast<uint64_t>(size)});
    }
    if (combination.declare) combination.declare(builder);
    builder.parameter(text("const ", type, "* s"), scratch_at(from));
    if (!last) from = out.take_scratch(count * 8);
    builder.parameter(text(last ? combination.result : type, "* to"), last ? to : scratch_at(from));
    builder.line("const uint64_t c = t % inner, p = t / inner % left, o = t / inner / left;");
    builder.line(type, " a = s[(o * parts + p) * inner + c];");
    builder.line("for (uint64_t k = p + left; k < parts; k += left) {");
    builder.line("const ", type, " b = s[(o * parts + k) * inner + c];");
    builder.line("a = ", combination.combined("a", "b"), ";\n}");
    builder.line("to[t] = ", last ? combination.finished("a") : "a", ";");
    out.kernels.push_back(builder.finish(count));
    rest = last ? 0 : left;
  } while (rest);
}

}  // namespace pullback::cuda
