// A value of a storage dtype has up to two numbers in the new group: as stored, and in its compute
// dtype. Each is made when first needed, except that a scalar of an integer dtype has both.
#include "plan/passes/widen.h"

#include <algorithm>

#include "plan/modular.h"

namespace pullback {
namespace {

bool is_exact(Op op, DType dtype) {
  return is_float(dtype) ? traits(op).exact_floats : traits(op).exact_integers;
}

// True for operations with kernels for this storage dtype.
bool runs_as_stored(Op op, DType dtype) {
  return op == Op::pick || op == Op::place ||
         (is_storage(dtype) && is_integer(dtype) && is_modular(op));
}

class Widening {
 public:
  explicit Widening(const TileGroup& from)
      : from_(from), leaves_(static_cast<int32_t>(from.loads.size() + from.scalars.size())) {
    const size_t values = leaves_ + from.instructions.size();
    stored_.assign(values, -1);
    wide_.assign(values, -1);
  }

  TileGroup run() {
    to_.count = from_.count;
    to_.length = from_.length;
    to_.loads = from_.loads;
    to_.scalars = from_.scalars;
    const auto loads = static_cast<int32_t>(from_.loads.size());
    for (int32_t v = 0; v < leaves_; ++v) (v < loads ? stored_ : wide_)[v] = v;
    for (ScalarLoad& scalar : to_.scalars) scalar.dtype = widened(scalar.dtype);
    for (int32_t v = loads; v < leaves_; ++v) {
      if (!is_storage(dtype_of(v)) || !is_integer(dtype_of(v))) continue;
      stored_[v] = loads + static_cast<int32_t>(to_.scalars.size());
      to_.scalars.push_back(from_.scalars[v - loads]);
    }
    for (int32_t i = 0; i < static_cast<int32_t>(from_.instructions.size()); ++i) add(i);
    for (const Store& store : from_.stores) {
      to_.stores.push_back({stored_for(store), store.view});
    }
    for (Reduction reduction : from_.reductions) {
      reduction.value = computed(reduction.value);
      reduction.dtype = widened(reduction.dtype);
      to_.reductions.push_back(reduction);
    }
    return std::move(to_);
  }

 private:
  DType dtype_of(int32_t value) const {
    const auto loads = static_cast<int32_t>(from_.loads.size());
    if (value < loads) return from_.loads[value].dtype;
    if (value < leaves_) return from_.scalars[value - loads].dtype;
    return from_.instructions[value - leaves_].result;
  }
  bool is_row(int32_t value) const {
    const auto loads = static_cast<int32_t>(from_.loads.size());
    if (from_.length == 1) return false;
    if (value < loads) return from_.loads[value].shape.size() != from_.count;
    return value < leaves_ || from_.instructions[value - leaves_].row;
  }

  int32_t emit(const Instruction& instruction) {
    to_.instructions.push_back(instruction);
    const size_t before = to_.loads.size() + to_.scalars.size() + to_.instructions.size() - 1;
    return static_cast<int32_t>(before);
  }
  int32_t cast(int32_t value, DType from, DType to, bool row) {
    return from == to ? value : emit({Op::cast, from, to, {value}, row});
  }
  // Converts a compute dtype to a storage dtype, by existing kernels.
  int32_t narrow(int32_t value, DType from, DType to, bool row) {
    if (!is_storage(to)) return cast(value, from, to, row);
    if (!is_float(from)) {
      const DType between = is_float(to) ? DType::Float64 : traits(to).compute;
      value = cast(value, from, between, row);
      from = between;
    }
    return cast(value, from, to, row);
  }

  int32_t stored(int32_t value) {
    const DType dtype = dtype_of(value);
    if (!is_storage(dtype)) return number(value);
    if (stored_[value] < 0) {
      stored_[value] = narrow(wide_[value], widened(dtype), dtype, is_row(value));
    }
    return stored_[value];
  }
  // A scalar is narrowed over rows, except for a store of it in all elements.
  int32_t stored_for(const Store& store) {
    const int32_t value = store.value;
    const DType dtype = dtype_of(value);
    const bool is_scalar = value < leaves_ && value >= static_cast<int32_t>(from_.loads.size());
    const bool in_elements = from_.length > 1 && store.view.shape.size() == from_.count;
    if (!is_scalar || !in_elements || !is_storage(dtype) || is_integer(dtype)) return stored(value);
    return narrow(wide_[value], widened(dtype), dtype, false);
  }
  int32_t computed(int32_t value) {
    const DType dtype = dtype_of(value);
    if (!is_storage(dtype)) return number(value);
    if (wide_[value] < 0) wide_[value] = cast(stored(value), dtype, widened(dtype), is_row(value));
    return wide_[value];
  }
  int32_t number(int32_t value) const { return stored_[value] < 0 ? wide_[value] : stored_[value]; }

  void add(int32_t index) {
    Instruction instruction = from_.instructions[index];
    const int32_t value = leaves_ + index;
    if (instruction.op == Op::cast) return add_cast(value, instruction);
    const DType result = instruction.result;
    const bool as_stored = runs_as_stored(instruction.op, result);
    for (int32_t& in : instruction.in) in = as_stored ? stored(in) : computed(in);
    if (as_stored) {
      stored_[value] = emit(instruction);
      return;
    }
    instruction.dtype = widened(instruction.dtype);
    if (is_fold(instruction.op)) {
      stored_[value] = emit(instruction);
      return;
    }
    instruction.result = widened(result);
    const int32_t made = emit(instruction);
    if (!is_storage(result) || is_exact(instruction.op, result)) {
      wide_[value] = made;
    } else {
      stored_[value] = narrow(made, instruction.result, result, instruction.row);
    }
  }

  void add_cast(int32_t value, const Instruction& instruction) {
    const int32_t in = instruction.in[0];
    if (instruction.dtype == instruction.result) {  // a copy
      Instruction copy = instruction;
      copy.in[0] = stored(in);
      stored_[value] = emit(copy);
      return;
    }
    const int32_t wide = computed(in);
    int32_t made = narrow(wide, widened(instruction.dtype), instruction.result, instruction.row);
    // If no instruction remains, the value has the number of another one, unless that is over rows
    // and this one over elements.
    if (made == wide && is_row(in) && !instruction.row) {
      made = emit({Op::cast, instruction.result, instruction.result, {wide}, false});
    }
    (is_storage(instruction.result) ? stored_ : wide_)[value] = made;
  }

  const TileGroup& from_;
  TileGroup to_;
  const int32_t leaves_;
  std::vector<int32_t> stored_, wide_;
};

bool any_storage(std::initializer_list<DType> dtypes) {
  return std::any_of(dtypes.begin(), dtypes.end(), is_storage);
}

bool has_storage(const TileGroup& group) {
  const auto any = [](const auto& items, auto&& test) {
    return std::any_of(items.begin(), items.end(), test);
  };
  return any(group.loads, [](const View& v) { return is_storage(v.dtype); }) ||
         any(group.scalars, [](const ScalarLoad& s) { return is_storage(s.dtype); }) ||
         any(group.instructions,
             [](const Instruction& i) { return any_storage({i.dtype, i.result}); });
}

}  // namespace

void widen(Plan* plan) {
  for (Step& step : plan->steps) {
    TileGroup* group = group_of(step);
    if (group && has_storage(*group)) *group = Widening(*group).run();
  }
}

}  // namespace pullback
