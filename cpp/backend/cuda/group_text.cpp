// Divides a tile group into kernels: for each depth of folds one that folds parts and some that
// combine them, then one over elements and one over rows for the stores.
#include "backend/cuda/group_text.h"

#include <algorithm>
#include <utility>

#include "backend/common/slots.h"
#include "backend/cuda/kernel_printer.h"
#include "backend/cuda/row_text.h"

namespace pullback::cuda {
namespace {

// A kernel has at most 4 KiB of parameters.
constexpr size_t kMostParameters = 512;
// Entries that a thread folds, unless there are enough threads; and parts that one combines.
constexpr int64_t kEntriesOfPart = 16;
constexpr int64_t kEnoughThreads = int64_t{1} << 18;
constexpr int64_t kCombined = 64;

// Values seen as [outer, reduced, inner], folded over the middle axis; of elements or of rows.
struct Geometry {
  int64_t outer, reduced, inner;
  bool rows;
  bool operator==(const Geometry&) const = default;
};

struct Folded {
  Op op;
  int32_t value;
  DType dtype, result;
  const View* out;  // null: row values in scratch memory
  int32_t number;   // of the value that is the result, without `out`
};

struct FoldSet {
  Geometry geometry;
  int depth;
  std::vector<Folded> folds;
};

// The type in which values are folded. Integers wrap, so they are added as unsigned numbers.
std::string accumulator_of(const Folded& fold) {
  if (fold.op != Op::sum) return type_of(fold.dtype);
  return is_float(fold.dtype) ? "double" : "uint64_t";
}
// A value as an accumulator; the two of them combined; and one as the result.
std::string lifted(const Folded& fold, const std::string& value) {
  if (fold.op != Op::sum || is_float(fold.dtype) || fold.dtype == DType::UInt64) return value;
  return "static_cast<uint64_t>(static_cast<int64_t>(" + value + "))";
}
std::string combined(const Folded& fold, const std::string& a, const std::string& b) {
  switch (fold.op) {
    case Op::max:
      return text("m::maximum(", a, ", ", b, ")");
    case Op::min:
      return text("m::minimum(", a, ", ", b, ")");
    case Op::all:
      return text("static_cast<uint8_t>(", a, " & ", b, ")");
    case Op::any:
      return text("static_cast<uint8_t>(", a, " | ", b, ")");
    default:
      return text(a, " + ", b);
  }
}
std::string finished(const Folded& fold, const std::string& a) {
  const bool sum = fold.op == Op::sum;
  const DType from = sum ? traits(fold.dtype).accumulator : fold.dtype;
  return cast_text(from, fold.result, text("static_cast<", type_of(from), ">(", a, ")"));
}

bool has_fold(Op op, DType dtype, DType result) {
  if (is_storage(dtype) || !type_of(dtype) || !type_of(result)) return false;
  if (op == Op::all || op == Op::any) return dtype == DType::Bool;
  if (op == Op::max || op == Op::min) return dtype != DType::Bool;
  return op == Op::sum;
}

class Divider {
 public:
  explicit Divider(const TileGroup& group)
      : group_(group),
        leaves_(static_cast<int32_t>(group.loads.size() + group.scalars.size())),
        folded_(leaves_ + group.instructions.size()) {}

  std::variant<StepText, std::string> divide() {
    if (std::string reason = refusal(); !reason.empty()) return reason;
    if (group_.count == 0) return StepText{};
    find_folds();
    for (const FoldSet& set : sets_) print(set);
    for (const bool rows : {false, true}) print_stores(rows);
    for (const KernelText& kernel : out_.kernels) {
      if (kernel.parameters.size() > kMostParameters) return std::string("its number of operands");
    }
    return std::move(out_);
  }

 private:
  bool over_rows(int64_t entries) const { return group_.length > 1 && entries != group_.count; }

  // What the group has that kernels have not; empty if there is nothing.
  std::string refusal() const {
    for (const View& view : group_.loads) {
      if (!type_of(view.dtype)) return name_of(view.dtype);
    }
    for (const ScalarLoad& scalar : group_.scalars) {
      if (!type_of(scalar.dtype)) return name_of(scalar.dtype);
    }
    for (const Instruction& instruction : group_.instructions) {
      const DType dtype = instruction.dtype, result = instruction.result;
      if (!type_of(dtype)) return name_of(dtype);
      if (!type_of(result)) return name_of(result);
      const bool known = is_fold(instruction.op) ? has_fold(instruction.op, dtype, result)
                                                 : has_kernel(instruction);
      if (!known) return name_of(instruction.op);
    }
    for (const Store& store : group_.stores) {
      if (!type_of(store.view.dtype)) return name_of(store.view.dtype);
    }
    for (const Reduction& r : group_.reductions) {
      const bool empty = group_.count == 0 || r.outer * r.reduced * r.inner == 0;
      if (empty || !has_fold(r.op, r.dtype, r.out.dtype)) return name_of(r.op);
    }
    return {};
  }

  // Folds of one depth and form share their first kernel.
  void add(const Geometry& geometry, int depth, const Folded& fold) {
    for (FoldSet& set : sets_) {
      if (set.depth == depth && set.geometry == geometry) return set.folds.push_back(fold);
    }
    sets_.push_back({geometry, depth, {fold}});
  }
  void find_folds() {
    std::vector<int> depth(folded_.size(), 0);
    for (size_t k = 0; k < group_.instructions.size(); ++k) {
      const Instruction& instruction = group_.instructions[k];
      const auto number = leaves_ + static_cast<int32_t>(k);
      int deepest = 0;
      for (const int32_t in : instruction.in) deepest = std::max(deepest, depth[in]);
      depth[number] = deepest;
      if (group_.length == 1 || !is_fold(instruction.op)) continue;
      depth[number] = deepest + 1;
      folded_[number] = scratch(group_.rows());
      add({group_.rows(), group_.length, 1, false}, deepest,
          {instruction.op, instruction.in[0], instruction.dtype, instruction.result, nullptr,
           number});
    }
    for (const Reduction& r : group_.reductions) {
      add({r.outer, r.reduced, r.inner, over_rows(r.outer * r.reduced * r.inner)}, depth[r.value],
          {r.op, r.value, r.dtype, r.out.dtype, &r.out, -1});
    }
    std::ranges::stable_sort(sets_, {}, &FoldSet::depth);
  }

  // An offset in scratch memory, of so many entries of eight bytes.
  int64_t scratch(int64_t entries) {
    const int64_t at = out_.scratch;
    out_.scratch += round_up(entries * 8, 256);
    return at;
  }
  static KernelText::Parameter at(int64_t offset) {
    return {.scratch = true, .bits = static_cast<uint64_t>(offset)};
  }

  // The folds of part p of [outer, reduced, inner]: entries p, p + parts …; adjacent threads read
  // adjacent entries.
  void print(const FoldSet& set) {
    const auto [outer, reduced, inner, rows] = set.geometry;
    const int64_t results = outer * inner;
    const int64_t parts = std::min(ceil_div(reduced, kEntriesOfPart),
                                   std::max<int64_t>(1, ceil_div(kEnoughThreads, results)));
    KernelPrinter printer(group_, folded_, rows);
    for (const Folded& fold : set.folds) printer.require(fold.value);
    printer.use_functions();
    const std::string sizes[] = {printer.size(reduced), printer.size(inner), printer.size(parts)};
    std::vector<int64_t> partial;
    for (size_t k = 0; k < set.folds.size(); ++k) {
      printer.line(accumulator_of(set.folds[k]), " a", k, " = 0;");
    }
    printer.line("const uint64_t c = t % ", sizes[1], ", p = t / ", sizes[1], " % ", sizes[2],
                 ", o = t / ", sizes[1], " / ", sizes[2], ";");
    printer.line("for (uint64_t k = p; k < ", sizes[0], "; k += ", sizes[2], ") {");
    printer.line("const uint64_t i = (o * ", sizes[0], " + k) * ", sizes[1], " + c;");
    printer.print_values();
    for (size_t k = 0; k < set.folds.size(); ++k) {
      const Folded& fold = set.folds[k];
      const std::string a = text("a", k), value = lifted(fold, text("v", fold.value));
      // A sum begins with 0, so that it is not -0.
      printer.line(a, " = ", fold.op == Op::sum ? "" : text("k == p ? ", value, " : "),
                   combined(fold, a, value), ";");
    }
    printer.line("}");
    for (size_t k = 0; k < set.folds.size(); ++k) {
      partial.push_back(scratch(results * parts));
      const std::string pointer =
          printer.parameter(text(accumulator_of(set.folds[k]), "* s", k), at(partial.back()));
      printer.line(pointer, "[t] = a", k, ";");
    }
    out_.kernels.push_back(printer.finish(results * parts));
    for (size_t k = 0; k < set.folds.size(); ++k) {
      combine(set.folds[k], partial[k], outer, parts, inner);
    }
  }

  // Combines `parts` accumulators of each result, at most kCombined at a time.
  void combine(const Folded& fold, int64_t from, int64_t outer, int64_t parts, int64_t inner) {
    const bool last = parts <= kCombined;
    const int64_t left = last ? 1 : ceil_div(parts, kCombined);
    const int64_t count = outer * left * inner;
    const std::string type = accumulator_of(fold);
    KernelBuilder builder;
    builder.use_functions();
    for (const auto& [name, size] :
         {std::pair("parts", parts), std::pair("left", left), std::pair("inner", inner)}) {
      builder.parameter(text("uint64_t ", name), {.bits = static_cast<uint64_t>(size)});
    }
    builder.parameter(text("const ", type, "* s"), at(from));
    const int64_t to = !last ? scratch(count) : fold.out ? 0 : folded_[fold.number].value_or(0);
    builder.parameter(text(last ? type_of(fold.result) : type.c_str(), "* to"),
                      last && fold.out ? KernelText::Parameter{.view = fold.out} : at(to));
    builder.line("const uint64_t c = t % inner, p = t / inner % left, o = t / inner / left;");
    builder.line(type, " a = s[(o * parts + p) * inner + c];");
    builder.line("for (uint64_t k = p + left; k < parts; k += left) {");
    builder.line("a = ", combined(fold, "a", "s[(o * parts + k) * inner + c]"), ";\n}");
    builder.line("to[t] = ", last ? finished(fold, "a") : "a", ";");
    out_.kernels.push_back(builder.finish(count));
    if (!last) combine(fold, to, outer, left, inner);
  }

  // All folds are complete before a store, which may overwrite a load.
  void print_stores(bool rows) {
    KernelPrinter printer(group_, folded_, rows);
    std::vector<const Store*> stores;
    for (const Store& store : group_.stores) {
      if (over_rows(store.view.shape.size()) != rows) continue;
      stores.push_back(&store);
      printer.require(store.value);
    }
    if (stores.empty()) return;
    printer.line("const uint64_t i = t;");
    printer.print_values();
    for (const Store* store : stores) printer.print_store(*store);
    out_.kernels.push_back(printer.finish(rows ? group_.rows() : group_.count));
  }

  const TileGroup& group_;
  const int32_t leaves_;
  std::vector<std::optional<int64_t>> folded_;  // for each value: its row values
  std::vector<FoldSet> sets_;
  StepText out_;
};

}  // namespace

std::variant<StepText, std::string> group_text(const TileGroup& group) {
  return Divider(group).divide();
}

}  // namespace pullback::cuda
