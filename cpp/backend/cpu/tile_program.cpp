// Linear scan over the instructions: each value gets a place when it is made and gives its register
// back after its last use. Strided loads are gathered just before their first use, and a value over
// rows is spread over the elements before the first instruction that needs it so.
#include "backend/cpu/tile_program.h"

#include <algorithm>
#include <utility>

#include "backend/cpu/slots.h"
#include "backend/cpu/tile_values.h"
#include "base/error.h"

namespace pullback {
namespace {

constexpr int64_t kSmallestTile = 512;
constexpr int64_t kLargestTile = 2048;
constexpr int64_t kTileBytes = 32 * 1024;  // of everything a tile touches: it should stay in L1
// Arithmetic with a row's entry goes row by row from this length on; shorter rows are spread.
constexpr int64_t kLongRow = 48;

using Kind = TileProgram::Kind;
using Code = TileProgram::Code;

// Nanoseconds an element, roughly: for deciding about threads only.
double cost_of(Op op) {
  switch (op) {
    case Op::sin:
    case Op::cos:
    case Op::pow:
    case Op::pow_da:
    case Op::pow_db:
    case Op::floor_divide:
    case Op::remainder:
      return 8;
    case Op::exp:
    case Op::expm1:
    case Op::log:
    case Op::log1p:
    case Op::tanh:
    case Op::tanh_slope:
    case Op::sigmoid:
    case Op::softplus:
      return 0.7;
    default:
      return 0.12;
  }
}

class Compiler {
 public:
  Compiler(const TileGroup& group, TileOrder order)
      : group_(group),
        order_(order),
        values_(group),
        place_(values_.size(), -1),
        spread_(values_.size(), -1),
        owns_(values_.size(), 0) {}
  TileProgram compile();

 private:
  int32_t leaves() const { return values_.leaves(); }
  int64_t per_row(bool row, int64_t element) const {
    return row ? element : element * program_.length;
  }
  int32_t new_place() { return program_.places++; }
  int32_t direct(const View& view, int64_t per_row);
  int32_t take_register(bool row, int64_t element);
  void give_register(bool row, int64_t element, int32_t place);
  void free_if_dead(int32_t value, int32_t now);

  void place_load(int32_t value);
  bool repeats(const ValueInfo& info);
  // The place of a value as it is read at this level. Emits what brings it there.
  int32_t operand(int32_t value, bool row);
  int32_t destination(int32_t value);

  Code& add_code(Kind kind, bool row, double cost);
  void emit(int32_t index);
  void emit_elementwise(int32_t index, Code code);
  bool emit_arithmetic(int32_t index);
  void emit_rows(int32_t index);
  void emit_fold(const Fold& fold, DType value, DType result, int64_t reduced, int64_t inner,
                 int32_t in, int32_t out);
  void store_leaves();
  void place_reductions();
  void choose_tile();

  const TileGroup& group_;
  const TileOrder order_;
  const TileValues values_;
  TileProgram program_;
  std::vector<int32_t> place_;   // of each value, -1: none yet
  std::vector<int32_t> spread_;  // of each value over rows: the register with its repeated entries
  std::vector<uint8_t> owns_;    // place_ is a register
  std::vector<int32_t> free_[2][3];  // registers by level and size
  std::vector<int32_t> gather_;      // of each load: its source, until it is gathered
};

int32_t Compiler::direct(const View& view, int64_t per_row) {
  const int32_t place = new_place();
  program_.directs.push_back({place, view.slot, view.offset * size_of(view.dtype), per_row});
  return place;
}

int32_t Compiler::take_register(bool row, int64_t element) {
  auto& pool = free_[row][size_index(element)];
  if (pool.empty()) {
    program_.registers.push_back({new_place(), per_row(row, element)});
    return program_.registers.back().place;
  }
  const int32_t place = pool.back();
  pool.pop_back();
  return place;
}

void Compiler::give_register(bool row, int64_t element, int32_t place) {
  free_[row][size_index(element)].push_back(place);
}

void Compiler::free_if_dead(int32_t value, int32_t now) {
  if (value < 0) return;
  const ValueInfo& info = values_[value];
  const int64_t element = size_of(info.dtype);
  if (spread_[value] >= 0 && info.last_element_use <= now) {
    give_register(false, element, spread_[value]);
    spread_[value] = -1;
  }
  if (owns_[value] && info.last_use <= now) {
    give_register(info.row, element, place_[value]);
    owns_[value] = 0;
  }
}

// A load whose elements come back in every tile: gathered once per frame.
bool Compiler::repeats(const ValueInfo& info) {
  const Axes& axes = info.axes;
  if (order_ == TileOrder::Any || info.row || axes.rank < 2 || axes.stride[0] != 0) return false;
  int64_t period = 1;
  for (int i = 1; i < axes.rank; ++i) period *= axes.dim[i];
  if (program_.length % period == 0) return true;
  if (period % program_.length || period > kLargestTile) return false;
  const int64_t rows = period / program_.length;
  if (program_.align % rows == 0) return true;
  if (rows % program_.align) return false;
  program_.align = rows;
  return true;
}

void Compiler::place_load(int32_t value) {
  const View& view = group_.loads[value];
  const ValueInfo& info = values_[value];
  const Axes& axes = info.axes;
  const int64_t element = size_of(view.dtype);
  const TileProgram::Strided source{view.slot, view.offset * element, element, info.row, axes};
  if (info.constant || repeats(info)) {
    place_[value] = new_place();
    program_.repeats.push_back({place_[value], source});
  } else if (axes.rank == 1 && axes.stride[0] == 1) {
    place_[value] = direct(view, per_row(info.row, element));
  } else {
    gather_[value] = static_cast<int32_t>(program_.gathers.size());
    program_.gathers.push_back(source);
  }
}

int32_t Compiler::operand(int32_t value, bool row) {
  const ValueInfo& info = values_[value];
  const int64_t element = size_of(info.dtype);
  if (place_[value] < 0) {
    place_[value] = take_register(info.row, element);
    owns_[value] = 1;
    Code& code = add_code(Kind::Gather, info.row, 0.5);
    code.out = place_[value];
    code.index = gather_[value];
  }
  if (row || !info.row || info.constant) return place_[value];
  if (spread_[value] < 0) {
    spread_[value] = take_register(false, element);
    Code& code = add_code(Kind::Rows, true, 0.05 * static_cast<double>(group_.length));
    code.over_rows = kernels().rows.spread[size_index(element)];
    code.length = group_.length;
    code.out = spread_[value];
    code.in[0] = place_[value];
  }
  return spread_[value];
}

int32_t Compiler::destination(int32_t value) {
  const ValueInfo& info = values_[value];
  const int64_t element = size_of(info.dtype);
  if (info.first_store >= 0) {
    return place_[value] = direct(group_.stores[info.first_store].view, per_row(info.row, element));
  }
  owns_[value] = 1;
  return place_[value] = take_register(info.row, element);
}

// `cost` is per entry.
Code& Compiler::add_code(Kind kind, bool row, double cost) {
  program_.cost += row ? cost : cost * static_cast<double>(program_.length);
  program_.code.push_back({kind, row});
  return program_.code.back();
}

void Compiler::emit(int32_t index) {
  const Instruction& instruction = group_.instructions[index];
  const int32_t value = leaves() + index;
  const ElementwiseTable& table = kernels().elementwise;
  const int dtype = static_cast<int>(instruction.dtype);
  const bool folds = is_reduction(instruction.op);
  Code code{Kind::Call, values_[value].row};
  if (instruction.op == Op::pick || instruction.op == Op::place) {
    emit_rows(index);
  } else if (folds && group_.length > 1) {
    const Fold& fold = kernels().folds.of[fold_index(instruction.op)][dtype];
    const int32_t in = operand(instruction.in[0], false);
    emit_fold(fold, instruction.dtype, instruction.result, group_.length, 1, in,
              destination(value));
  } else if (folds || instruction.op == Op::cast) {  // the fold of a single element
    code.call = table.cast[dtype][static_cast<int>(instruction.result)];
    emit_elementwise(index, code);
  } else if (!emit_arithmetic(index)) {
    code.call = is_elementwise(instruction.op) ? table.of[static_cast<int>(instruction.op)][dtype]
                                               : nullptr;
    emit_elementwise(index, code);
  }
  for (int32_t in : instruction.in) free_if_dead(in, index);
  free_if_dead(value, index);  // nobody reads it
}

void Compiler::emit_elementwise(int32_t index, Code code) {
  const Instruction& instruction = group_.instructions[index];
  if (!code.call) {
    fail(ErrorKind::Runtime, "cpu backend: no kernel of operation ",
         static_cast<int>(instruction.op), " for ", instruction.dtype);
  }
  for (int i = 0; i < 3; ++i) {
    if (instruction.in[i] >= 0) code.in[i] = operand(instruction.in[i], code.row);
  }
  // A dying source's register may become the destination's only if both have one dtype: elements of
  // another size would destroy later ones of the source, and to the compiler two types of one size
  // never share memory.
  for (int32_t in : instruction.in) {
    if (in >= 0 && values_[in].dtype == instruction.result) free_if_dead(in, index);
  }
  code.out = destination(leaves() + index);
  add_code(Kind::Call, code.row, cost_of(instruction.op)) = code;
}

// Elements with an entry of their row, without spreading it.
bool Compiler::emit_arithmetic(int32_t index) {
  const Instruction& instruction = group_.instructions[index];
  const int32_t value = leaves() + index;
  if (values_[value].row || group_.length < kLongRow || instruction.op < Op::add ||
      instruction.op > Op::divide || !is_float(instruction.dtype)) {
    return false;
  }
  const auto by_row = [&](int32_t v) {
    return values_[v].row && !values_[v].constant && spread_[v] < 0;
  };
  int32_t a = instruction.in[0];
  int32_t b = instruction.in[1];
  if (by_row(a) && (instruction.op == Op::add || instruction.op == Op::multiply)) std::swap(a, b);
  if (by_row(a) || !by_row(b)) return false;
  Code code{Kind::Rows, true};
  const int form = instruction.op == Op::add        ? 0
                   : instruction.op == Op::subtract ? 1
                   : instruction.op == Op::multiply ? 2
                                                    : 3;
  code.over_rows = kernels().rows.arithmetic[form][instruction.dtype == DType::Float64];
  code.length = group_.length;
  code.in[0] = operand(a, false);
  code.in[1] = operand(b, true);
  free_if_dead(a, index);
  code.out = destination(value);
  add_code(Kind::Rows, true, 0.12 * static_cast<double>(group_.length)) = code;
  return true;
}

// pick and place. Their kernels never work in place.
void Compiler::emit_rows(int32_t index) {
  const Instruction& instruction = group_.instructions[index];
  const bool rows = group_.length > 1;
  const int size = size_index(size_of(instruction.dtype));
  const bool picks = instruction.op == Op::pick;
  Code code{Kind::Rows, rows};
  code.over_rows = picks ? kernels().rows.pick[size] : kernels().rows.place[size];
  code.length = group_.length;
  code.in[0] = operand(instruction.in[0], rows && !picks);
  code.in[1] = operand(instruction.in[1], rows);
  code.out = destination(leaves() + index);
  add_code(Kind::Rows, rows, picks ? 1 : 0.05 * static_cast<double>(group_.length)) = code;
}

void Compiler::emit_fold(const Fold& fold, DType value, DType result, int64_t reduced,
                         int64_t inner, int32_t in, int32_t out) {
  const bool direct = fold.accumulator == result;
  const int64_t accumulator = size_of(fold.accumulator);
  const TileKernel finish =
      direct ? nullptr
             : kernels()
                   .elementwise.cast[static_cast<int>(fold.accumulator)][static_cast<int>(result)];
  const auto index = static_cast<int32_t>(program_.folds.size());
  program_.folds.push_back({fold, finish, accumulator, size_of(value), reduced, inner});
  int32_t sums = out;
  if (!direct && inner == 1) {
    sums = take_register(true, accumulator);
    give_register(true, accumulator, sums);
  } else if (!direct) {
    sums = new_place();
    program_.registers.push_back({sums, inner * accumulator});
  }
  Code& code = add_code(Kind::Fold, true, 0.2 * static_cast<double>(reduced * inner));
  code.index = index;
  code.out = out;
  code.in[0] = in;
  code.in[1] = sums;
}

// Stores that no instruction could write to directly: of loads and scalars, and second stores of a
// value.
void Compiler::store_leaves() {
  for (int32_t i = 0; i < static_cast<int32_t>(group_.stores.size()); ++i) {
    const Store& store = group_.stores[i];
    const ValueInfo& info = values_[store.value];
    if (store.value >= leaves() && info.first_store == i) continue;
    const bool row = values_.is_row(store.view.shape.size(), store.value);
    const int dtype = static_cast<int>(info.dtype);
    const int32_t in = operand(store.value, row);
    const int32_t out = direct(store.view, per_row(row, size_of(info.dtype)));
    Code& code = add_code(Kind::Call, row, 0.12);
    code.call = kernels().elementwise.cast[dtype][dtype];
    code.in[0] = in;
    code.out = out;
  }
}

void Compiler::place_reductions() {
  for (const Reduction& r : group_.reductions) {
    if (order_ != TileOrder::Blocks) {
      const bool row = values_.is_row(r.outer * r.reduced * r.inner, r.value);
      program_.reduced.push_back({operand(r.value, row), row});
      program_.cost += 0.2 * static_cast<double>(row ? 1 : program_.length);
      continue;
    }
    const Fold& fold = kernels().folds.of[fold_index(r.op)][static_cast<int>(r.dtype)];
    const int32_t in = operand(r.value, false);
    const int32_t out = direct(r.out, r.inner * size_of(r.out.dtype));
    emit_fold(fold, r.dtype, r.out.dtype, r.reduced, r.inner, in, out);
  }
}

void Compiler::choose_tile() {
  int64_t bytes = 0;
  for (const auto& r : program_.registers) bytes += r.per_row;
  for (const auto& d : program_.directs) bytes += d.per_row;
  for (const auto& r : program_.repeats) bytes += per_row(r.source.row, r.source.element);
  for (const auto& s : program_.splats) bytes += per_row(s.row, size_of(s.scalar.dtype));
  const int64_t length = program_.length;
  int64_t tile = std::max<int64_t>(1, kLargestTile / length);
  while (tile > 1 && tile * length > kSmallestTile && tile * bytes > kTileBytes) tile /= 2;
  tile = std::max(tile / program_.align, int64_t{1}) * program_.align;
  program_.tile = std::min(tile, std::max<int64_t>(program_.rows, 1));

  int64_t at = 0;
  const auto reserve = [&](int64_t per_row) {
    const int64_t start = at;
    at += round_up(program_.tile * per_row, 64);
    return start;
  };
  for (auto& s : program_.splats) s.scratch = reserve(per_row(s.row, size_of(s.scalar.dtype)));
  for (auto& r : program_.repeats) r.scratch = reserve(per_row(r.source.row, r.source.element));
  for (auto& r : program_.registers) r.scratch = reserve(r.per_row);
  program_.scratch_bytes = at;
}

TileProgram Compiler::compile() {
  program_.length = group_.length;
  if (order_ == TileOrder::Blocks) {
    const Reduction& reduction = group_.reductions.front();
    program_.length = std::max<int64_t>(1, reduction.reduced * reduction.inner);
  }
  program_.rows = group_.count / program_.length;
  gather_.assign(group_.loads.size(), -1);
  for (int32_t v = 0; v < leaves(); ++v) {
    if (values_[v].last_use < 0) continue;
    if (v < values_.loads()) {
      place_load(v);
    } else {
      place_[v] = new_place();
      program_.splats.push_back({place_[v], group_.scalars[v - values_.loads()], values_[v].row});
    }
  }
  for (int32_t i = 0; i < static_cast<int32_t>(group_.instructions.size()); ++i) emit(i);
  store_leaves();
  place_reductions();
  choose_tile();
  return std::move(program_);
}

}  // namespace

TileProgram compile_tiles(const TileGroup& group, TileOrder order) {
  return Compiler(group, order).compile();
}

}  // namespace pullback
