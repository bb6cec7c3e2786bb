// Divides a tile group into kernels: for each depth of folds one that folds parts and some that
// combine them, then one over elements and one over rows for the stores.
#include "backend/cuda/group_text.h"

#include <algorithm>
#include <utility>

#include "backend/cuda/data_text.h"
#include "backend/cuda/fold_text.h"
#include "backend/cuda/kernel_printer.h"
#include "backend/cuda/row_text.h"

namespace pullback::cuda {
namespace {

// A kernel has at most 4 KiB of parameters.
constexpr size_t kMostParameters = 512;
// Values of elements or of rows.
struct Geometry {
  Folding folding;
  bool rows;
  bool operator==(const Geometry&) const = default;
};

struct Folded {
  Op op;
  int32_t value;
  DType dtype, result;
  const View* out;     // null: row values in scratch memory
  int32_t number;      // of the value that is the result, without `out`
  int32_t index = -1;  // of pick: the value that is the position
};

struct FoldSet {
  Geometry geometry;
  int depth;
  std::vector<Folded> folds;
};

// The factors of the values of a norm: its squares are summed with each of them, since squares of
// float64 may overflow or vanish.
std::vector<const char*> scales_of(const Folded& fold) {
  if (fold.op == Op::euclidean_norm && fold.dtype == DType::Float64) {
    return {"1.0", "0x1p600", "0x1p-600"};
  }
  return {"1.0"};
}

// The type in which values are folded. Integers wrap, so they are added as unsigned numbers.
std::string accumulator_of(const Folded& fold) {
  if (fold.op == Op::pick) return word_type(size_of(fold.dtype));
  if (fold.op == Op::euclidean_norm) return "double";
  if (fold.op != Op::sum) return type_of(fold.dtype);
  return is_float(fold.dtype) ? "double" : "uint64_t";
}
// A value as an accumulator; the two of them combined; and one as the result.
std::string lifted(const Folded& fold, const std::string& value, const char* scale) {
  if (fold.op == Op::pick) {  // the bits of one entry, and zeros
    const std::string word = accumulator_of(fold);
    return text("(k == static_cast<uint64_t>(v", fold.index, ") ? __builtin_bit_cast(", word, ", ",
                value, ") : ", word, "{0})");
  }
  if (fold.op == Op::euclidean_norm) {
    const std::string scaled = text("(", value, " * ", scale, ")");
    return text(scaled, " * ", scaled);
  }
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
    case Op::pick:
      return text("static_cast<", accumulator_of(fold), ">(", a, " | ", b, ")");
    default:
      return text(a, " + ", b);
  }
}
std::string finished(const Folded& fold, const std::string& a) {
  if (fold.op == Op::pick) return text("__builtin_bit_cast(", type_of(fold.result), ", ", a, ")");
  if (scales_of(fold).size() > 1) return a;
  if (fold.op == Op::euclidean_norm) {
    return cast_text(DType::Float64, fold.result, text("m::sqrt(", a, ")"));
  }
  const bool sum = fold.op == Op::sum;
  const DType from = sum ? traits(fold.dtype).accumulator : fold.dtype;
  return cast_text(from, fold.result, text("static_cast<", type_of(from), ">(", a, ")"));
}

bool has_fold(Op op, DType dtype, DType result) {
  if (is_storage(dtype) || !type_of(dtype) || !type_of(result)) return false;
  if (op == Op::all || op == Op::any) return dtype == DType::Bool;
  if (op == Op::max || op == Op::min) return dtype != DType::Bool;
  return op == Op::sum || (op == Op::euclidean_norm && is_float(dtype));
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
    if (!print_checks()) return std::string("several lists of positions");
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

  // An instruction with positions that are checked before.
  static bool has_positions(Op op) {
    return op == Op::pick || op == Op::place || op == Op::wrap_index;
  }
  bool is_known(const Instruction& instruction) const {
    const Op op = instruction.op;
    if (op == Op::wrap_index) return positions_of(instruction) && axis_of(instruction);
    if (has_positions(op)) {
      return group_.length > 1 && instruction.dtype == instruction.result &&
             positions_of(instruction);
    }
    if (!is_fold(op)) return has_kernel(instruction);
    // A fold of a single entry is printed as a cast.
    if (group_.length == 1 && op == Op::euclidean_norm) return false;
    return has_fold(op, instruction.dtype, instruction.result);
  }
  // The load that has the positions of an instruction, as such or cast to int64; null for others.
  const View* positions_of(const Instruction& instruction) const {
    int32_t value = instruction.in[instruction.op == Op::wrap_index ? 0 : 1];
    if (value >= leaves_) {
      const Instruction& cast = group_.instructions[value - leaves_];
      if (cast.op != Op::cast || cast.dtype != DType::Int32 || cast.result != DType::Int64) {
        return nullptr;
      }
      value = cast.in[0];
    }
    if (value >= static_cast<int32_t>(group_.loads.size())) return nullptr;
    const View& view = group_.loads[value];
    const bool is_index = view.dtype == DType::Int32 || view.dtype == DType::Int64;
    return is_index && is_row_major(view) ? &view : nullptr;
  }
  // The size of the axis of positions; nullopt if it is not a number.
  std::optional<KernelText::Parameter> axis_of(const Instruction& instruction) const {
    if (instruction.op != Op::wrap_index) {
      return KernelText::Parameter{.bits = static_cast<uint64_t>(group_.length)};
    }
    const int32_t value = instruction.in[1];
    const auto loads = static_cast<int32_t>(group_.loads.size());
    if (value < loads || value >= leaves_) return std::nullopt;
    const ScalarLoad& scalar = group_.scalars[value - loads];
    if (scalar.dtype != DType::Int64) return std::nullopt;
    return KernelText::Parameter{.scalar = &scalar};
  }
  // Adds the check of all positions of the group; false if it has several.
  bool print_checks() {
    const Instruction* first = nullptr;
    for (const Instruction& instruction : group_.instructions) {
      if (!has_positions(instruction.op)) continue;
      const bool wraps = instruction.op == Op::wrap_index;
      const auto axis = axis_of(instruction);
      if (!axis) return false;
      if (!first) {
        first = &instruction;
        print_check(out_, *positions_of(instruction), wraps, *axis);
      } else if (wraps || first->op == Op::wrap_index ||
                 positions_of(*first) != positions_of(instruction)) {
        return false;
      }
    }
    return true;
  }

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
      if (!is_known(instruction)) return name_of(instruction.op);
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
      const bool picks = instruction.op == Op::pick;
      if (group_.length == 1 || (!is_fold(instruction.op) && !picks)) continue;
      depth[number] = deepest + 1;
      folded_[number] = out_.take_scratch(group_.rows() * 8);
      add({{group_.rows(), group_.length, 1}, false}, deepest,
          {instruction.op, instruction.in[0], instruction.dtype, instruction.result, nullptr,
           number, picks ? instruction.in[1] : -1});
    }
    for (const Reduction& r : group_.reductions) {
      add({{r.outer, r.reduced, r.inner}, over_rows(r.outer * r.reduced * r.inner)}, depth[r.value],
          {r.op, r.value, r.dtype, r.out.dtype, &r.out, -1});
    }
    std::ranges::stable_sort(sets_, {}, &FoldSet::depth);
  }

  void print(const FoldSet& set) {
    const Folding& folding = set.geometry.folding;
    const int64_t count = folding.results() * folding.parts();
    KernelPrinter printer(group_, folded_, set.geometry.rows);
    for (const Folded& fold : set.folds) {
      printer.require(fold.value);
      if (fold.index >= 0) printer.require(fold.index);
    }
    printer.use_functions();
    std::vector<std::pair<Folded, const char*>> sums;  // with their scales
    for (const Folded& fold : set.folds) {
      for (const char* scale : scales_of(fold)) sums.emplace_back(fold, scale);
    }
    for (size_t k = 0; k < sums.size(); ++k) {
      printer.line(accumulator_of(sums[k].first), " a", k, " = 0;");
    }
    begin_parts(printer, folding);
    printer.print_values();
    for (size_t k = 0; k < sums.size(); ++k) {
      const auto& [fold, scale] = sums[k];
      const std::string a = text("a", k), value = lifted(fold, text("v", fold.value), scale);
      // A sum begins with 0, so that it is not -0.
      const bool adds = fold.op == Op::sum || fold.op == Op::euclidean_norm || fold.op == Op::pick;
      printer.line(a, " = ", adds ? "" : text("first ? ", value, " : "), combined(fold, a, value),
                   ";");
    }
    printer.line("}");
    std::vector<int64_t> partial;
    for (size_t k = 0; k < sums.size(); ++k) {
      partial.push_back(out_.take_scratch(count * 8));
      const std::string pointer = printer.parameter(text(accumulator_of(sums[k].first), "* s", k),
                                                    scratch_at(partial.back()));
      printer.line(pointer, "[t] = a", k, ";");
    }
    out_.kernels.push_back(printer.finish(count));
    for (size_t k = 0; k < sums.size();) {
      const Folded& fold = sums[k].first;
      const auto to = fold.out ? KernelText::Parameter{.view = fold.out}
                               : scratch_at(folded_[fold.number].value_or(0));
      const size_t scales = scales_of(fold).size();
      std::vector<int64_t> results;
      for (size_t j = 0; j < scales; ++j, ++k) {
        if (scales > 1) results.push_back(out_.take_scratch(folding.results() * 8));
        combine_parts(
            out_, folding,
            {accumulator_of(fold),
             [&](const std::string& a, const std::string& b) { return combined(fold, a, b); },
             scales > 1 ? "double" : type_of(fold.result),
             [&](const std::string& a) { return finished(fold, a); }, nullptr},
            partial[k], scales > 1 ? scratch_at(results.back()) : to);
      }
      if (scales > 1) print_norm(folding.results(), results, to);
    }
  }

  // Norms from sums of squares with each scale, of which one is accurate (folds.h).
  void print_norm(int64_t count, const std::vector<int64_t>& sums,
                  const KernelText::Parameter& to) {
    KernelBuilder builder;
    builder.use_functions();
    for (const auto& [name, k] :
         {std::pair("plain", 0), std::pair("up", 1), std::pair("down", 2)}) {
      builder.parameter(text("const double* ", name), scratch_at(sums[k]));
    }
    builder.parameter("double* to", to);
    builder.line("const double sum = plain[t];");
    builder.line(
        "to[t] = sum < 0x1p-960 ? m::sqrt(up[t]) * 0x1p-600 : sum < m::kInfinity<double> ? "
        "m::sqrt(sum) : m::sqrt(down[t]) * 0x1p600;");
    out_.kernels.push_back(builder.finish(count));
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
