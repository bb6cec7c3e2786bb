// Linear scan over the instructions: each value gets a place when it is computed and frees its
// register after its last use. Strided loads are gathered just before their first use, and values
// over rows are spread just before the first instruction that reads them per element. Start at
// compile_tiles.
#include <algorithm>
#include <utility>

#include "backend/cpu/tiles/tile_compiler.h"

namespace pullback {
namespace {

constexpr int64_t kSmallestTile = 512;
// The same, in bytes, for programs that split or join columns, which have many values at once: a
// cross product of 10^5 float64 takes 0.88 of its time with tiles of 256 elements.
constexpr int64_t kSmallestColumn = 2048;
constexpr int64_t kLargestTile = 2048;
// All memory of a tile should stay in L1. Programs without rows and sums, whose kernels need
// long tiles, leave half of it to what the processor prefetches.
constexpr int64_t kTileFootprint = 32 * 1024;
constexpr int64_t kPlainFootprint = 16 * 1024;
// Prefetching the next tile pays for sums of several kernels: a variance of 16 MB takes 0.7 of its
// time. A sum of one kernel takes 0.6 to 0.9 of its time without it, except over a single array
// that no cache near the core holds. Without sums it pays for programs of several kernels over such
// memory: a product of complex64 numbers over 24 MB takes 0.68 of its time, four additions and
// multiplications over 48 MB 0.65. The processor prefetches the memory of few kernels itself, and
// requests beside its own slow it down: an addition over 2 MB would take 1.5 of its time, four
// kernels over 16 MB 1.4 (Zen 4, virtual machine).
constexpr int64_t kFoldedBytes = 1024 * 1024;
constexpr int64_t kStreamBytes = 8 * 1024 * 1024;
constexpr size_t kStreamKernels = 5;
constexpr int64_t kFarBytes = 32 * 1024 * 1024;
constexpr size_t kFarKernels = 2;

// Rows of memory that are read in place: bytes of the largest element in the shortest tile and in
// the longest one, and elements of the smallest group. Halves of rows of 50 float64 take 0.77 of
// the time of copies, of 50 float32 1.2.
constexpr int64_t kShortSegment = 320;
constexpr int64_t kLongSegment = 8 * 1024;
constexpr int64_t kLeastSegmented = 4 * 1024;

}  // namespace

int32_t TileCompiler::direct(const View& view, int64_t per_row) {
  const int32_t place = new_place();
  program_.directs.push_back({place, view.slot, view.offset * size_of(view.dtype), per_row});
  return place;
}

int32_t TileCompiler::take_register(bool row, int64_t element) {
  auto& pool = free_[row][size_index(element)];
  if (pool.empty()) {
    program_.registers.push_back({new_place(), per_row(row, element)});
    return program_.registers.back().place;
  }
  const int32_t place = pool.back();
  pool.pop_back();
  return place;
}

void TileCompiler::give_register(bool row, int64_t element, int32_t place) {
  free_[row][size_index(element)].push_back(place);
}

void TileCompiler::free_if_dead(int32_t value, int32_t now) {
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

// True for a load whose elements are equal in every tile: it is gathered once per frame.
bool TileCompiler::repeats(const ValueInfo& info) {
  const Axes& axes = info.axes;
  if (order_ == TileOrder::Any || info.row || axes.rank < 2 || axes.stride[0] != 0 ||
      group_.count == 0) {
    return false;
  }
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

// If the loads that are not contiguous are rows of memory of one length, such as slices of a
// matrix, tiles that are whole parts of such a row read them in place: copies of short rows take
// longer than the kernels that read them.
void TileCompiler::choose_segment() {
  if (order_ != TileOrder::Rows || !group_.reductions.empty()) return;
  int64_t length = 0, element = 1;
  bool moves = false;
  for (int32_t v = 0; v < values_.loads(); ++v) {
    const ValueInfo& info = values_[v];
    if (info.last_use < 0 || info.constant) continue;
    const int last = info.axes.rank - 1;
    if (info.axes.stride[last] != 1) return;
    element = std::max(element, size_of(info.dtype));
    if (last == 0) continue;
    if (info.row || (length && length != info.axes.dim[last])) return;
    length = info.axes.dim[last];
    moves |= info.axes.stride[0] != 0;
  }
  if (!moves || group_.count < kLeastSegmented) return;
  int64_t tile = std::min(length, kLongSegment / element);
  while (length % tile && tile * element >= kShortSegment) --tile;
  if (length % tile || tile * element < kShortSegment || tile % program_.length) return;
  program_.segment = length;
  program_.align = tile / program_.length;
}

void TileCompiler::place_load(int32_t value) {
  const View& view = group_.loads[value];
  const ValueInfo& info = values_[value];
  const Axes& axes = info.axes;
  const int64_t element = size_of(view.dtype);
  const TileProgram::Strided source{view.slot, view.offset * element, element, info.row, axes};
  if (program_.segment && axes.rank > 1) {
    place_[value] = new_place();
    program_.segments.push_back({place_[value], view.slot, view.offset * element, element, axes});
    --program_.segments.back().axes.rank;
  } else if (info.constant || repeats(info)) {
    place_[value] = new_place();
    program_.repeats.push_back({place_[value], source});
  } else if (axes.rank == 1 && axes.stride[0] == 1) {
    place_[value] = direct(view, per_row(info.row, element));
  } else if (!values_.interleaved_load(value)) {
    gather_[value] = static_cast<int32_t>(program_.gathers.size());
    program_.gathers.push_back(source);
  }
}

// Loads a value whose elements are not contiguous, with all values interleaved with it.
void TileCompiler::bring(int32_t value) {
  const auto take = [&](int32_t v) {
    owns_[v] = 1;
    return place_[v] = take_register(values_[v].row, size_of(values_[v].dtype));
  };
  if (const std::vector<int32_t>* loads = values_.interleaved_load(value)) {
    std::vector<int32_t> columns;
    for (const int32_t load : *loads) columns.push_back(take(load));
    add_interleave(Kind::Deinterleave, group_.loads[loads->front()], columns, values_[value].row);
    return;
  }
  Code& code = add_code(Kind::Gather, values_[value].row, 0.5);
  code.out = take(value);
  code.index = gather_[value];
}

int32_t TileCompiler::operand(int32_t value, bool row) {
  const ValueInfo& info = values_[value];
  const int64_t element = size_of(info.dtype);
  if (place_[value] < 0) bring(value);
  if (row || !info.row || info.constant) return place_[value];
  if (spread_[value] < 0) {
    spread_[value] = take_register(false, element);
    Code& code = add_code(Kind::Rows, true, 0.05 * static_cast<double>(group_.length));
    code.over_rows = kernels().rows.spread[size_index(element)];
    code.out = spread_[value];
    code.in[0] = place_[value];
  }
  return spread_[value];
}

int32_t TileCompiler::destination(int32_t value) {
  const ValueInfo& info = values_[value];
  const int64_t element = size_of(info.dtype);
  if (info.first_store >= 0) {
    return place_[value] = direct(group_.stores[info.first_store].view, per_row(info.row, element));
  }
  owns_[value] = 1;
  return place_[value] = take_register(info.row, element);
}

void TileCompiler::choose_tile() {
  int64_t bytes = 0;
  for (const auto& r : program_.registers) bytes += r.per_row;
  for (const auto& d : program_.directs) bytes += d.per_row;
  for (const auto& r : program_.repeats) bytes += per_row(r.source.row, r.source.element);
  for (const auto& s : program_.splats) bytes += per_row(s.row, size_of(s.scalar.dtype));
  const int64_t length = program_.length;
  // A program of folds alone, or of one kernel without folds, reads nothing twice.
  const bool repeated = !program_.repeats.empty() || !program_.splats.empty();
  const bool alone = order_ == TileOrder::Rows && program_.code.empty() && !repeated;
  const bool sums = !group_.reductions.empty();
  const bool reads_once = alone || (program_.code.size() == 1 && !repeated && !sums);
  int64_t tile = std::max<int64_t>(1, (alone ? 4 : 1) * kLargestTile / length);
  const bool plain = length == 1 && group_.reductions.empty();
  const int64_t most = reads_once ? INT64_MAX : plain ? kPlainFootprint : kTileFootprint;
  int64_t smallest = kSmallestTile;
  if (!program_.interleaves.empty()) {
    int64_t widest = 4;
    for (const auto& r : program_.registers) widest = std::max(widest, r.per_row / length);
    smallest = kSmallestColumn / widest;
  }
  while (tile > 1 && tile * length > smallest && tile * bytes > most) tile /= 2;
  tile = program_.segment ? program_.align
                          : std::max(tile / program_.align, int64_t{1}) * program_.align;
  program_.tile = std::min(tile, std::max<int64_t>(program_.rows, 1));

  int64_t direct = 0;
  for (const auto& d : program_.directs) direct += d.per_row * program_.rows;
  const size_t kernels = direct > kFarBytes ? kFarKernels : kStreamKernels;
  const bool one_array = program_.code.size() == 1 && program_.directs.size() == 1;
  const bool ahead = sums ? direct > (one_array ? kStreamBytes : kFoldedBytes) &&
                                (one_array || program_.code.size() > 1)
                          : direct > kStreamBytes && program_.code.size() >= kernels;
  program_.streams = order_ != TileOrder::Any && ahead;

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

TileProgram TileCompiler::compile() {
  program_.length = program_.row_length = group_.length;
  if (order_ == TileOrder::Blocks) {
    const Reduction& reduction = group_.reductions.front();
    program_.length = std::max<int64_t>(1, reduction.reduced * reduction.inner);
  }
  program_.rows = group_.count / program_.length;
  gather_.assign(group_.loads.size(), -1);
  choose_segment();
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

TileProgram compile_tiles(const TileGroup& group, TileOrder order) {
  return TileCompiler(group, order).compile();
}

}  // namespace pullback
