// Runs a tile program and folds the values of one place: see ReduceProgram for how it is cut.
//
// Sums stay accurate whatever the length: no accumulator gets more than kFlushRows rows (or one
// tile of a row, itself in 16 lanes) before it is added to the next level, blocks are the third
// level.
#include "backend/cpu/reduce_run.h"

#include <algorithm>
#include <cstring>

#include "base/threads.h"

namespace pullback {
namespace {

constexpr int64_t kFlushRows = 128;
constexpr int64_t kSmallestBlock = 16 * 1024;  // elements

void fill_identity(const ReduceProgram& r, char* accumulators, int64_t n) {
  const Scalar v = r.fold.identity;
  switch (r.fold.accumulator) {
    case DType::Bool:
      std::memset(accumulators, static_cast<int>(v.i), static_cast<size_t>(n));
      break;
    case DType::Int32:
      std::fill_n(reinterpret_cast<int32_t*>(accumulators), n, static_cast<int32_t>(v.i));
      break;
    case DType::Int64:
      std::fill_n(reinterpret_cast<int64_t*>(accumulators), n, v.i);
      break;
    case DType::Float32:
      std::fill_n(reinterpret_cast<float*>(accumulators), n, static_cast<float>(v.f));
      break;
    case DType::Float64:
      std::fill_n(reinterpret_cast<double*>(accumulators), n, v.f);
      break;
  }
}

class Reducer {
 public:
  Reducer(const TileProgram& program, const ReduceProgram& reduce, const Slots& slots)
      : program_(program),
        r_(reduce),
        slots_(slots),
        out_(slots.at(reduce.out_slot) + reduce.out_offset) {}

  Status run();

 private:
  bool worth() const { return worth_threads(program_.cost * static_cast<double>(program_.count)); }
  int64_t frame_bytes() const { return (TileFrame::frame_bytes(program_) + 63) / 64 * 64; }
  // Accumulators behind the frame: two sets of one tile or strip.
  int64_t set_bytes() const {
    const int64_t n = r_.groups ? r_.groups_per_tile * r_.inner : r_.width;
    return (n * r_.accumulator + 63) / 64 * 64;
  }
  int64_t memory_bytes() const { return frame_bytes() + 2 * set_bytes(); }

  void fold(const char* values, int64_t rows, int64_t width, char* accumulators) const {
    if (width == 1) {
      r_.fold.rows(values, 1, rows, accumulators);
    } else {
      r_.fold.columns(values, rows, width, accumulators);
    }
  }
  void finish(const char* accumulators, int64_t first, int64_t n) const {
    r_.finish(out_ + first * r_.out_element, accumulators, nullptr, nullptr, n);
  }
  Problem run_groups(char* memory, int64_t begin, int64_t end) const;
  Problem run_unit(TileFrame& frame, char* sets, int64_t unit, char* partials) const;
  Status run_all_groups() const;
  Status run_all_units() const;
  void combine(const char* partials) const;

  const TileProgram& program_;
  const ReduceProgram& r_;
  const Slots& slots_;
  char* out_;
};

// Groups begin … end-1, a tile of them at a time.
Problem Reducer::run_groups(char* memory, int64_t begin, int64_t end) const {
  TileFrame frame(program_, slots_, memory);
  char* set = memory + frame_bytes();
  const int64_t size = r_.reduced * r_.inner;
  for (int64_t g = begin; g < end; g += r_.groups_per_tile) {
    const int64_t groups = std::min(r_.groups_per_tile, end - g);
    const Problem problem = frame.run(g * size, groups * size);
    if (problem != Problem::None) return problem;
    const char* values = frame.reduced();
    fill_identity(r_, set, groups * r_.inner);
    if (r_.inner == 1) {
      r_.fold.rows(values, groups, r_.reduced, set);
    } else {
      for (int64_t i = 0; i < groups; ++i) {
        r_.fold.columns(values + i * size * r_.element, r_.reduced, r_.inner,
                        set + i * r_.inner * r_.accumulator);
      }
    }
    finish(set, g * r_.inner, groups * r_.inner);
  }
  return Problem::None;
}

Status Reducer::run_all_groups() const {
  constexpr int64_t kStackBytes = 4096;
  if (r_.outer <= r_.groups_per_tile && memory_bytes() <= kStackBytes) {
    alignas(64) char memory[kStackBytes];
    return failure(run_groups(memory, 0, r_.outer));
  }
  const int64_t tiles = ceil_div(r_.outer, r_.groups_per_tile);
  const int64_t per_chunk = chunk_of(tiles, program_.tile);
  FirstProblem first;
  parallel_for(ceil_div(tiles, per_chunk), worth(), [&](int64_t chunk) {
    if (first.any()) return;
    char* memory = thread_scratch(memory_bytes());
    const int64_t begin = chunk * per_chunk * r_.groups_per_tile;
    const int64_t end = std::min(begin + per_chunk * r_.groups_per_tile, r_.outer);
    const Problem problem = memory ? run_groups(memory, begin, end) : Problem::Memory;
    if (problem != Problem::None) first.report(chunk, problem);
  });
  return first.status();
}

// Unit = (o, strip, block), block fastest.
Problem Reducer::run_unit(TileFrame& frame, char* sets, int64_t unit, char* partials) const {
  const int64_t b = unit % r_.blocks;
  const int64_t strip = unit / r_.blocks % r_.strips;
  const int64_t o = unit / r_.blocks / r_.strips;
  const int64_t left = strip * r_.width;
  const int64_t width = std::min(r_.width, r_.inner - left);
  const int64_t last = std::min((b + 1) * r_.block, r_.reduced);
  char* level1 = sets;
  char* level2 = sets + set_bytes();
  fill_identity(r_, level1, width);
  fill_identity(r_, level2, width);
  int64_t pending = 0;
  for (int64_t row = b * r_.block; row < last; row += r_.rows_per_tile) {
    const int64_t rows = std::min(r_.rows_per_tile, last - row);
    const int64_t first = (o * r_.reduced + row) * r_.inner + left;
    const Problem problem = frame.run(first, rows * width);
    if (problem != Problem::None) return problem;
    fold(frame.reduced(), rows, width, level1);
    pending += width == 1 ? kFlushRows / 16 : rows;
    if (pending >= kFlushRows) {
      r_.merge(level2, level2, level1, nullptr, width);
      fill_identity(r_, level1, width);
      pending = 0;
    }
  }
  r_.merge(level2, level2, level1, nullptr, width);
  if (partials) {
    const int64_t at = (o * r_.blocks + b) * r_.inner + left;
    std::memcpy(partials + at * r_.accumulator, level2,
                static_cast<size_t>(width * r_.accumulator));
  } else {
    finish(level2, o * r_.inner + left, width);
  }
  return Problem::None;
}

void Reducer::combine(const char* partials) const {
  char* total = const_cast<char*>(partials);
  const int64_t set = r_.inner * r_.accumulator;
  for (int64_t o = 0; o < r_.outer; ++o, total += r_.blocks * set) {
    for (int64_t b = 1; b < r_.blocks; ++b) {
      r_.merge(total, total, total + b * set, nullptr, r_.inner);
    }
    finish(total, o * r_.inner, r_.inner);
  }
}

Status Reducer::run_all_units() const {
  const int64_t units = r_.outer * r_.strips * r_.blocks;
  const bool split = r_.blocks > 1;
  StepMemory partials(split ? r_.outer * r_.blocks * r_.inner * r_.accumulator : 1);
  if (!partials.data()) return failure(Problem::Memory);
  const int64_t per_chunk = chunk_of(units, r_.block * r_.width);
  FirstProblem first;
  parallel_for(ceil_div(units, per_chunk), worth(), [&](int64_t chunk) {
    if (first.any()) return;
    char* memory = thread_scratch(memory_bytes());
    if (!memory) return first.report(chunk, Problem::Memory);
    TileFrame frame(program_, slots_, memory);
    const int64_t end = std::min((chunk + 1) * per_chunk, units);
    for (int64_t unit = chunk * per_chunk; unit < end; ++unit) {
      const Problem problem =
          run_unit(frame, memory + frame_bytes(), unit, split ? partials.data() : nullptr);
      if (problem != Problem::None) return first.report(chunk, problem);
    }
  });
  if (split && !first.any()) combine(partials.data());
  return first.status();
}

Status Reducer::run() {
  if (r_.outer == 0 || r_.inner == 0) return {};
  if (program_.count == 0) {
    char identity[8];
    fill_identity(r_, identity, 1);
    for (int64_t i = 0; i < r_.outer * r_.inner; ++i) finish(identity, i, 1);
    return {};
  }
  return r_.groups ? run_all_groups() : run_all_units();
}

}  // namespace

ReduceProgram compile_reduction(const Reduction& reduction, const TileProgram& program) {
  ReduceProgram r;
  r.op = reduction.op;
  r.outer = reduction.outer;
  r.reduced = reduction.reduced;
  r.inner = reduction.inner;
  r.fold = kernels().folds.of[fold_index(reduction.op)][static_cast<int>(reduction.dtype)];
  const int accumulator = static_cast<int>(r.fold.accumulator);
  const ElementwiseTable& table = kernels().elementwise;
  r.merge = table.of[static_cast<int>(r.fold.merge)][accumulator];
  r.finish = table.cast[accumulator][static_cast<int>(reduction.out.dtype)];
  r.accumulator = size_of(r.fold.accumulator);
  r.element = size_of(reduction.dtype);
  r.out_element = size_of(reduction.out.dtype);
  r.out_slot = reduction.out.slot;
  r.out_offset = reduction.out.offset * r.out_element;

  const int64_t tile = program.tile;
  const int64_t group = r.reduced * r.inner;
  if (group <= tile) {
    r.groups_per_tile = group ? std::min(tile / group, std::max<int64_t>(r.outer, 1)) : 1;
    return r;
  }
  r.groups = false;
  r.width = std::min(r.inner, tile);
  r.strips = ceil_div(r.inner, r.width);
  r.rows_per_tile = std::max<int64_t>(1, tile / r.width);
  const int64_t enough = std::max(ceil_div(kChunks, std::max<int64_t>(1, r.outer * r.strips)),
                                  r.reduced * r.width / kLargestChunk);
  const int64_t most = std::max<int64_t>(1, r.reduced * r.width / kSmallestBlock);
  r.block = round_up(ceil_div(r.reduced, std::min(enough, most)), r.rows_per_tile);
  r.blocks = ceil_div(r.reduced, r.block);
  return r;
}

Status run_reduction(const TileProgram& program, const ReduceProgram& reduce, const Slots& slots) {
  return Reducer(program, reduce, slots).run();
}

}  // namespace pullback
