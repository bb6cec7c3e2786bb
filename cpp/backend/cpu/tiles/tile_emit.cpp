// Emits the code of each instruction of a tile group: elementwise operations, operations with one
// operand per row, pairs, folds, and stores. Start at TileCompiler::emit.
#include <algorithm>
#include <utility>

#include "backend/cpu/tiles/tile_compiler.h"
#include "base/error.h"

namespace pullback {
namespace {

// Arithmetic with one operand per row runs row by row from this row length on; shorter rows are
// spread.
constexpr int64_t kLongRow = 48;

// Rough nanoseconds per element, used only to decide about threads.
double cost_of(Op op) {
  switch (traits(op).cost) {
    case Cost::Power:
      return 2;
    case Cost::Function:
      return 0.7;
    case Cost::Arithmetic:
    case Cost::Division:
    case Cost::Fold:
    case Cost::Free:  // others do not occur in groups
    case Cost::Copy:
    case Cost::Heavy:
      break;
  }
  return 0.12;
}

// Number of an operation in RowTable::arithmetic; -1 if it has none.
int form_of(Op op) {
  return op == Op::add        ? 0
         : op == Op::subtract ? 1
         : op == Op::multiply ? 2
         : op == Op::divide   ? 3
                              : -1;
}

}  // namespace

// `cost` is per entry.
TileProgram::Code& TileCompiler::add_code(Kind kind, bool row, double cost) {
  program_.cost += row ? cost : cost * static_cast<double>(program_.length);
  program_.code.push_back({kind, row});
  return program_.code.back();
}

void TileCompiler::emit(int32_t index) {
  const Instruction& instruction = group_.instructions[index];
  const int32_t value = leaves() + index;
  const ElementwiseTable& table = kernels().elementwise;
  const int dtype = static_cast<int>(instruction.dtype);
  const bool folds = is_fold(instruction.op);
  Code code{Kind::Call, values_[value].row};
  if (const int32_t partner = values_.partner(index); partner > index) {
    emit_pair(index, partner);
  } else if (partner >= 0) {
    emit_partner(index);
  } else if (values_.placed(index) >= 0) {
    if (instruction.op == Op::add) emit_placed(index);
  } else if (instruction.op == Op::pick || instruction.op == Op::place) {
    emit_rows(index);
  } else if (values_.folded(index) >= 0) {
    return;
  } else if (folds && group_.length > 1) {
    const auto [fold, from] = find_fold(instruction.op, instruction.dtype, instruction.in[0]);
    const int32_t in = operand(from, false);
    emit_fold(fold, instruction.dtype, instruction.result, group_.length, 1, in,
              destination(value));
    free_if_dead(from, index);
  } else if (folds || instruction.op == Op::cast) {  // the fold of a single element
    code.call = kernels().casts.of[dtype][static_cast<int>(instruction.result)];
    emit_elementwise(index, code);
  } else if (!emit_product_sum(index) && !emit_arithmetic(index)) {
    code.call = is_elementwise(instruction.op) ? table.of[static_cast<int>(instruction.op)][dtype]
                                               : nullptr;
    emit_elementwise(index, code);
  }
  if (values_[value].first_scatter >= 0) emit_scatter(values_[value].first_scatter);
  for (const int32_t in : instruction.in) free_if_dead(in, index);
  free_if_dead(value, index);  // never read
}

void TileCompiler::emit_elementwise(int32_t index, Code code) {
  const Instruction& instruction = group_.instructions[index];
  if (!code.call) {
    fail(ErrorKind::Runtime, "cpu backend: no kernel of operation ",
         static_cast<int>(instruction.op), " for ", instruction.dtype);
  }
  for (int i = 0; i < instruction.in.size(); ++i) code.in[i] = operand(instruction.in[i], code.row);
  // A source's register may be reused for the destination only if both have one dtype: elements of
  // another size would overwrite later elements of the source, and the compiler assumes that
  // pointers to different types do not alias, even for types of one size.
  for (const int32_t in : instruction.in) {
    if (values_[in].dtype == instruction.result) free_if_dead(in, index);
  }
  code.out = destination(leaves() + index);
  add_code(Kind::Call, code.row, cost_of(instruction.op)) = code;
}

void TileCompiler::emit_pair(int32_t index, int32_t partner) {
  const Instruction& instruction = group_.instructions[index];
  Code code{Kind::Pair, values_[leaves() + index].row};
  code.in[0] = operand(instruction.in[0], code.row);
  const int32_t early = take_register(code.row, size_of(instruction.dtype));
  place_[leaves() + partner] = early;
  owns_[leaves() + partner] = 1;
  free_if_dead(instruction.in[0], index);
  code.out = destination(leaves() + index);
  code.in[1] = early;
  for (const Pair& pair : kernels().pairs.of) {
    if (instruction.op == pair.second) std::swap(code.out, code.in[1]);
    if (instruction.op == pair.first || instruction.op == pair.second) {
      code.pair = pair.of[instruction.dtype == DType::Float64];
    }
  }
  add_code(Kind::Pair, code.row, cost_of(instruction.op)) = code;
}

// Emits the second instruction of a pair before its turn. Its result may be moved to the memory of
// its store only now, because instructions in between may have read that memory.
void TileCompiler::emit_partner(int32_t index) {
  const int32_t value = leaves() + index;
  const ValueInfo& info = values_[value];
  if (info.first_store < 0) return;
  const int dtype = static_cast<int>(info.dtype);
  Code code{Kind::Call, info.row};
  code.in[0] = place_[value];
  give_register(info.row, size_of(info.dtype), place_[value]);
  owns_[value] = 0;
  code.out = destination(value);
  code.call = kernels().casts.of[dtype][dtype];
  add_code(Kind::Call, code.row, 0.12) = code;
}

// Combines elements with the entry of their row without spreading that entry.
bool TileCompiler::emit_arithmetic(int32_t index) {
  const Instruction& instruction = group_.instructions[index];
  const int32_t value = leaves() + index;
  const int form = form_of(instruction.op);
  if (values_[value].row || group_.length < kLongRow || form < 0 || !is_float(instruction.dtype)) {
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
  code.over_rows = kernels().rows.arithmetic[form][instruction.dtype == DType::Float64];
  code.in[0] = operand(a, false);
  code.in[1] = operand(b, true);
  free_if_dead(a, index);
  code.out = destination(value);
  add_code(Kind::Rows, true, 0.12 * static_cast<double>(group_.length)) = code;
  return true;
}

// A sum or difference that computes the products which are its operands.
bool TileCompiler::emit_sum_of_products(int32_t index) {
  const Instruction& sum = group_.instructions[index];
  std::vector<int32_t> in;
  for (const int32_t value : sum.in) {
    const int32_t from = value - leaves();
    if (from < 0 || values_.folded(from) != index) return false;
    const Instruction& product = group_.instructions[from];
    in.insert(in.end(), {product.in[0], product.in[1]});
  }
  Code code{Kind::Products, values_[leaves() + index].row};
  int32_t* places[] = {&code.in[0], &code.in[1], &code.in[2], &code.index};
  for (size_t i = 0; i < in.size(); ++i) *places[i] = operand(in[i], code.row);
  for (const int32_t value : in) free_if_dead(value, index);
  code.out = destination(leaves() + index);
  code.products =
      kernels().pairs.sums_of_products[sum.op == Op::subtract][sum.dtype == DType::Float64];
  add_code(Kind::Products, code.row, 3 * cost_of(sum.op)) = code;
  return true;
}

// The same with one product.
bool TileCompiler::emit_product_sum(int32_t index) {
  const Instruction& sum = group_.instructions[index];
  if (sum.op != Op::add && sum.op != Op::subtract) return false;
  if (emit_sum_of_products(index)) return true;
  for (int k = 0; k < 2; ++k) {
    const int32_t from = sum.in[k] - leaves();
    if (from < 0 || values_.folded(from) != index) continue;
    const Instruction& product = group_.instructions[from];
    const int32_t in[] = {product.in[0], product.in[1], sum.in[1 - k]};
    Code code{Kind::Call, values_[leaves() + index].row};
    for (int i = 0; i < 3; ++i) code.in[i] = operand(in[i], code.row);
    for (const int32_t value : in) free_if_dead(value, index);
    code.out = destination(leaves() + index);
    const int form = sum.op == Op::add ? 0 : k == 0 ? 1 : 2;
    code.call = kernels().pairs.product_sums[form][sum.dtype == DType::Float64];
    add_code(Kind::Call, code.row, 2 * cost_of(sum.op)) = code;
    return true;
  }
  return false;
}

// pick and place. Their kernels never work in place.
void TileCompiler::emit_rows(int32_t index) {
  const Instruction& instruction = group_.instructions[index];
  const bool rows = group_.length > 1;
  const int size = size_index(size_of(instruction.dtype));
  const bool picks = instruction.op == Op::pick;
  Code code{Kind::Rows, rows};
  code.over_rows = picks ? kernels().rows.pick[size] : kernels().rows.place[size];
  code.in[0] = operand(instruction.in[0], rows && !picks);
  code.in[1] = operand(instruction.in[1], rows);
  code.out = destination(leaves() + index);
  add_code(Kind::Rows, rows, picks ? 1 : 0.05 * static_cast<double>(group_.length)) = code;
}

// Emits an addition together with the `place` that is one of its operands.
void TileCompiler::emit_placed(int32_t index) {
  const Instruction& add = group_.instructions[index];
  const int32_t placed = leaves() + values_.placed(index);
  const Instruction& place = group_.instructions[values_.placed(index)];
  const int32_t other = add.in[0] == placed ? add.in[1] : add.in[0];
  Code code{Kind::Rows, true};
  code.over_rows = kernels().rows.place_add[add.dtype == DType::Float64];
  code.in[0] = operand(place.in[0], true);
  code.in[1] = operand(place.in[1], true);
  code.in[2] = operand(other, false);
  free_if_dead(other, index);
  code.out = destination(leaves() + index);
  for (const int32_t in : place.in) free_if_dead(in, index);
  add_code(Kind::Rows, true, 0.12 * static_cast<double>(group_.length)) = code;
}

// The kernels of a fold, and the value that they read.
std::pair<Fold, int32_t> TileCompiler::find_fold(Op op, DType dtype, int32_t value) const {
  const FoldTable& folds = kernels().folds;
  const int32_t index = value - leaves();
  if (index < 0 || values_.folded(index) < 0) {
    return {folds.of[fold_index(op)][static_cast<int>(dtype)], value};
  }
  const bool wide = dtype == DType::Float64;
  return {op == Op::sum ? folds.squares[wide] : folds.magnitudes[wide],
          group_.instructions[index].in[0]};
}

void TileCompiler::emit_fold(const Fold& fold, DType value, DType result, int64_t reduced,
                             int64_t inner, int32_t in, int32_t out) {
  const bool columns = inner > 1;
  const bool direct = fold.accumulator == result && !(columns && fold.finish);
  const int64_t accumulator = size_of(fold.accumulator);
  const int64_t parts = columns ? fold.parts : 1;
  const TileKernel cast =
      kernels().casts.of[static_cast<int>(fold.accumulator)][static_cast<int>(result)];
  const TileKernel finish = direct ? nullptr : columns && fold.finish ? fold.finish : cast;
  const auto index = static_cast<int32_t>(program_.folds.size());
  program_.folds.push_back(
      {fold, finish, accumulator, size_of(value), size_of(result), reduced, inner, parts});
  int32_t sums = out;
  if (!direct && !columns) {
    sums = take_register(true, accumulator);
    give_register(true, accumulator, sums);
  } else if (!direct) {
    sums = new_place();
    program_.registers.push_back({sums, parts * inner * accumulator});
  }
  Code& code = add_code(Kind::Fold, true, 0.2 * static_cast<double>(reduced * inner));
  code.index = index;
  code.out = out;
  code.in[0] = in;
  code.in[1] = sums;
}

// A store to elements that are not contiguous.
void TileCompiler::emit_scatter(int32_t index) {
  const Store& store = group_.stores[index];
  const int64_t element = size_of(store.view.dtype);
  const bool row = values_.is_row(store.view.shape.size(), store.value);
  const int32_t in = operand(store.value, row);
  Code& code = add_code(Kind::Scatter, row, 0.5);
  code.in[0] = in;
  code.index = static_cast<int32_t>(program_.scatters.size());
  program_.scatters.push_back(
      {store.view.slot, store.view.offset * element, element, row, merged_axes(store.view)});
}

// Interleaved columns, the first of which begins at `first`, and the memory that contains them.
TileProgram::Code& TileCompiler::add_interleave(Kind kind, const View& first,
                                                const std::vector<int32_t>& columns, bool row) {
  const auto count = static_cast<int32_t>(columns.size());
  const int64_t element = size_of(first.dtype);
  TileProgram::Interleaved interleaved{direct(first, count * per_row(row, element)), count};
  std::copy(columns.begin(), columns.end(), interleaved.columns);
  Code& code = add_code(kind, row, 0.2 * count);
  const auto& table = kernels().interleaves;
  if (kind == Kind::Interleave) {
    code.interleave = table.interleave[count - 2][element == 8];
  } else {
    code.deinterleave = table.deinterleave[count - 2][element == 8];
  }
  code.index = static_cast<int32_t>(program_.interleaves.size());
  program_.interleaves.push_back(interleaved);
  return code;
}

// Stores that no instruction could write directly: of loads and scalars, and second stores of a
// value.
void TileCompiler::store_leaves() {
  for (int32_t i = 0; i < static_cast<int32_t>(group_.stores.size()); ++i) {
    const Store& store = group_.stores[i];
    const ValueInfo& info = values_[store.value];
    const bool scattered = !is_dense(store.view);
    if (store.value >= leaves() && (scattered ? info.first_scatter : info.first_store) == i) {
      continue;
    }
    const bool row = values_.is_row(store.view.shape.size(), store.value);
    if (const std::vector<int32_t>* stores = values_.interleaved_store(i)) {
      if (stores->front() != i) continue;
      std::vector<int32_t> columns;
      for (const int32_t s : *stores) columns.push_back(operand(group_.stores[s].value, row));
      add_interleave(Kind::Interleave, store.view, columns, row);
      continue;
    }
    if (scattered) {
      emit_scatter(i);
      continue;
    }
    const int dtype = static_cast<int>(info.dtype);
    const int32_t in = operand(store.value, row);
    const int32_t out = direct(store.view, per_row(row, size_of(info.dtype)));
    Code& code = add_code(Kind::Call, row, 0.12);
    code.call = kernels().casts.of[dtype][dtype];
    code.in[0] = in;
    code.out = out;
  }
}

void TileCompiler::place_reductions() {
  for (const Reduction& r : group_.reductions) {
    if (order_ != TileOrder::Blocks) {
      const bool row = values_.is_row(r.outer * r.reduced * r.inner, r.value);
      const auto [fold, from] = find_fold(r.op, r.dtype, r.value);
      program_.reduced.push_back({operand(from, row), row, fold});
      program_.cost += 0.2 * static_cast<double>(row ? 1 : program_.length);
      continue;
    }
    const auto [fold, from] = find_fold(r.op, r.dtype, r.value);
    const int32_t in = operand(from, false);
    const int32_t out = direct(r.out, r.inner * size_of(r.out.dtype));
    emit_fold(fold, r.dtype, r.out.dtype, r.reduced, r.inner, in, out);
  }
}

}  // namespace pullback
