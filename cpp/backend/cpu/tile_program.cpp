// Linear scan over the instructions: each value gets a place when it is made and gives its register
// back after its last use. Strided loads are gathered just before their first use.
#include "backend/cpu/tile_program.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace pullback {
namespace {

constexpr int64_t kSmallestTile = 512;
constexpr int64_t kLargestTile = 2048;
constexpr int64_t kTileBytes = 32 * 1024;  // of everything a tile touches: it should stay in L1

// Nanoseconds an element, roughly: for deciding about threads only.
double cost_of(Op op) {
  switch (op) {
    case Op::pow:
    case Op::pow_da:
    case Op::pow_db:
      return 2;
    case Op::sin:
    case Op::cos:
    case Op::floor_divide:
    case Op::remainder:
    case Op::exp:
    case Op::expm1:
    case Op::log:
    case Op::log1p:
    case Op::tanh:
    case Op::tanh_slope:
    case Op::sigmoid:
    case Op::softplus:
    case Op::erf:
    case Op::erf_slope:
      return 0.7;
    default:
      return 0.12;
  }
}

class Compiler {
 public:
  explicit Compiler(const TileGroup& group) : group_(group) {}
  TileProgram compile();

 private:
  static constexpr int32_t kEnd = INT32_MAX;  // "used after the last instruction"

  int32_t loads() const { return static_cast<int32_t>(group_.loads.size()); }
  int32_t leaves() const { return loads() + static_cast<int32_t>(group_.scalars.size()); }
  int32_t values() const { return leaves() + static_cast<int32_t>(group_.instructions.size()); }
  DType dtype_of(int32_t value) const;
  int64_t element_of(int32_t value) const { return size_of(dtype_of(value)); }

  void find_last_uses();
  void place_load(int32_t value);
  void place_scalar(int32_t value);
  // Makes sure that a leaf is where its place says before code reads it.
  void need(int32_t value);
  int32_t new_place() { return program_.places++; }
  int32_t take_register(int64_t element);
  void free_if_dead(int32_t value, int32_t now);
  void emit(int32_t index);
  void store_leaves();
  void choose_tile();

  struct Held {
    int32_t place;
    int64_t element;
  };

  const TileGroup& group_;
  TileProgram program_;
  std::vector<int32_t> last_use_;
  std::vector<int32_t> first_store_;  // of each value: an instruction writes directly to it
  std::vector<int32_t> place_;        // of each value, -1: none yet
  std::vector<int32_t> fill_;         // of a strided load that is still to be gathered, else -1
  std::vector<int64_t> in_register_;  // element size where the value owns a register, else 0
  std::vector<Held> registers_;
  std::vector<Held> free_;
};

DType Compiler::dtype_of(int32_t value) const {
  if (value < loads()) return group_.loads[value].dtype;
  if (value < leaves()) return group_.scalars[value - loads()].dtype;
  return group_.instructions[value - leaves()].result;
}

void Compiler::find_last_uses() {
  last_use_.assign(values(), -1);
  for (int32_t i = 0; i < static_cast<int32_t>(group_.instructions.size()); ++i) {
    for (int32_t in : group_.instructions[i].in) {
      if (in >= 0) last_use_[in] = i;
    }
  }
  first_store_.assign(values(), -1);
  for (int32_t i = static_cast<int32_t>(group_.stores.size()) - 1; i >= 0; --i) {
    last_use_[group_.stores[i].value] = kEnd;
    first_store_[group_.stores[i].value] = i;
  }
  for (const Reduction& reduction : group_.reductions) last_use_[reduction.value] = kEnd;
}

void Compiler::place_load(int32_t value) {
  const View& view = group_.loads[value];
  const int64_t element = size_of(view.dtype);
  const int64_t offset = view.offset * element;
  const Axes axes = merged_axes(view);
  if (axes.rank == 0 || (axes.rank == 1 && axes.stride[0] == 0)) {
    place_[value] = new_place();
    program_.splats.push_back({place_[value], -1, view.dtype, view.slot, offset, 0});
  } else if (axes.rank == 1 && axes.stride[0] == 1) {
    place_[value] = new_place();
    program_.directs.push_back({place_[value], view.slot, offset, element});
  } else {
    fill_[value] = static_cast<int32_t>(program_.fills.size());
    program_.fills.push_back({view.slot, offset, element, axes});
  }
}

void Compiler::place_scalar(int32_t value) {
  const ScalarLoad& load = group_.scalars[value - loads()];
  place_[value] = new_place();
  program_.splats.push_back({place_[value], load.scalar, load.dtype, -1, 0, 0});
}

int32_t Compiler::take_register(int64_t element) {
  for (size_t i = free_.size(); i-- > 0;) {
    if (free_[i].element != element) continue;
    const int32_t place = free_[i].place;
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
    return place;
  }
  registers_.push_back({new_place(), element});
  return registers_.back().place;
}

void Compiler::free_if_dead(int32_t value, int32_t now) {
  if (value < 0 || in_register_[value] == 0 || last_use_[value] > now) return;
  free_.push_back({place_[value], in_register_[value]});
  in_register_[value] = 0;
}

void Compiler::need(int32_t value) {
  if (value >= loads() || fill_[value] < 0) return;
  const int64_t element = element_of(value);
  place_[value] = take_register(element);
  in_register_[value] = element;
  program_.code.push_back({nullptr, place_[value], {0, 0, 0}, fill_[value]});
  program_.cost += 0.5;
  fill_[value] = -1;
}

void Compiler::emit(int32_t index) {
  const Instruction& instruction = group_.instructions[index];
  const int32_t value = leaves() + index;
  const int dtype = static_cast<int>(instruction.dtype);
  const ElementwiseTable& table = kernels().elementwise;
  for (int32_t in : instruction.in) {
    if (in >= 0) need(in);
  }
  TileProgram::Code code{};
  code.kernel = instruction.op == Op::cast ? table.cast[dtype][static_cast<int>(instruction.result)]
                                           : table.of[static_cast<int>(instruction.op)][dtype];
  if (!code.kernel) {
    fail(ErrorKind::Runtime, "cpu backend: no kernel of operation ",
         static_cast<int>(instruction.op), " for ", instruction.dtype);
  }
  for (int i = 0; i < 3; ++i) code.in[i] = instruction.in[i] < 0 ? 0 : place_[instruction.in[i]];

  // A dying source's register may become the destination's only if both have one dtype: elements of
  // another size would destroy later ones of the source, and to the compiler two types of one size
  // never share memory.
  const int64_t element = size_of(instruction.result);
  for (int32_t in : instruction.in) {
    if (in >= 0 && dtype_of(in) == instruction.result) free_if_dead(in, index);
  }
  if (first_store_[value] >= 0) {
    const View& view = group_.stores[first_store_[value]].view;
    place_[value] = new_place();
    program_.directs.push_back({place_[value], view.slot, view.offset * element, element});
  } else {
    place_[value] = take_register(element);
    in_register_[value] = element;
  }
  for (int32_t in : instruction.in) free_if_dead(in, index);
  free_if_dead(value, index);  // nobody reads it
  code.out = place_[value];
  program_.code.push_back(code);
  program_.cost += cost_of(instruction.op);
}

// Stores that no instruction could write to directly: of loads and scalars, and second stores of a
// value.
void Compiler::store_leaves() {
  for (int32_t i = 0; i < static_cast<int32_t>(group_.stores.size()); ++i) {
    const Store& store = group_.stores[i];
    if (store.value >= leaves() && first_store_[store.value] == i) continue;
    need(store.value);
    const int dtype = static_cast<int>(dtype_of(store.value));
    const int64_t element = element_of(store.value);
    const int32_t place = new_place();
    program_.directs.push_back({place, store.view.slot, store.view.offset * element, element});
    program_.code.push_back(
        {kernels().elementwise.cast[dtype][dtype], place, {place_[store.value], 0, 0}, -1});
    program_.cost += 0.12;
  }
}

void Compiler::choose_tile() {
  int64_t bytes = 0;
  for (const Held& r : registers_) bytes += r.element;
  for (const auto& splat : program_.splats) bytes += size_of(splat.dtype);
  for (const auto& direct : program_.directs) bytes += direct.element;
  int64_t tile = kLargestTile;
  while (tile > kSmallestTile && tile * bytes > kTileBytes) tile /= 2;
  program_.tile = std::min(tile, std::max<int64_t>(group_.count, 1));

  int64_t at = 0;
  const auto reserve = [&](int64_t element) {
    const int64_t start = at;
    at += (program_.tile * element + 63) / 64 * 64;
    return start;
  };
  for (auto& splat : program_.splats) splat.scratch = reserve(size_of(splat.dtype));
  for (const Held& r : registers_) program_.registers.push_back({r.place, reserve(r.element)});
  program_.scratch_bytes = at;
}

TileProgram Compiler::compile() {
  program_.count = group_.count;
  place_.assign(values(), -1);
  fill_.assign(values(), -1);
  in_register_.assign(values(), 0);
  find_last_uses();
  for (int32_t v = 0; v < leaves(); ++v) {
    if (last_use_[v] < 0) continue;
    if (v < loads()) {
      place_load(v);
    } else {
      place_scalar(v);
    }
  }
  for (int32_t i = 0; i < static_cast<int32_t>(group_.instructions.size()); ++i) emit(i);
  store_leaves();
  if (!group_.reductions.empty()) {
    const int32_t value = group_.reductions.front().value;
    need(value);
    program_.reduced_place = place_[value];
    program_.cost += 0.2;
  }
  choose_tile();
  return std::move(program_);
}

}  // namespace

TileProgram compile_tiles(const TileGroup& group) { return Compiler(group).compile(); }

}  // namespace pullback
