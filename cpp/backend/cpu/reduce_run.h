// The reduction at the end of a tile group.
#pragma once

#include "backend/cpu/tile_run.h"

namespace pullback {

// How [outer, reduced, inner] is walked. Groups: a tile holds one or more whole [reduced, inner]
// blocks. Units: such a block is larger than a tile and is cut along inner into strips of `width`,
// and along reduced into `blocks` of `block` rows whose results are combined in index order. All of
// it depends on the sizes alone.
struct ReduceProgram {
  Op op;
  int64_t outer = 0, reduced = 0, inner = 0;
  Fold fold{};
  TileKernel merge = nullptr;   // one set of accumulators into another
  TileKernel finish = nullptr;  // accumulators to the dtype of out
  int64_t accumulator = 0;      // bytes
  int64_t element = 0;          // bytes of a value
  int64_t out_element = 0;      // bytes
  int32_t out_slot = -1;
  int64_t out_offset = 0;  // bytes

  bool groups = true;
  int64_t groups_per_tile = 1;
  int64_t width = 1;
  int64_t strips = 1;
  int64_t rows_per_tile = 1;
  int64_t block = 0;
  int64_t blocks = 1;
};

ReduceProgram compile_reduction(const Reduction& reduction, const TileProgram& program);

Status run_reduction(const TileProgram& program, const ReduceProgram& reduce, const Slots& slots);

}  // namespace pullback
