// A tile group, compiled: straight-line code over places.
//
// A place is where a tile of values lies while the code runs: a register (scratch memory that the
// linear scan below hands out), the memory of a contiguous argument, the memory that a result is
// stored to, or a splat (a scalar repeated over a tile, filled once per thread). Code names places
// by number; TileFrame (tile_run.h) knows their addresses.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/cpu/kernels/table.h"
#include "backend/cpu/strided.h"
#include "plan/plan.h"

namespace pullback {

struct TileProgram {
  // One call, or, with a null kernel, the walk that gathers the load `fill` into `out`.
  struct Code {
    TileKernel kernel;
    int32_t out;
    int32_t in[3];
    int32_t fill;
  };
  // Contiguous memory of a slot: moves on with the tiles.
  struct Direct {
    int32_t place;
    int32_t slot;
    int64_t offset;   // bytes
    int64_t element;  // bytes
  };
  struct Fill {
    int32_t slot;
    int64_t offset;
    int64_t element;
    Axes axes;
  };
  // One value repeated: a scalar of the run, or a load that is one element everywhere.
  struct Splat {
    int32_t place;
    int32_t scalar;  // -1: from memory
    DType dtype;
    int32_t slot;
    int64_t offset;   // bytes
    int64_t scratch;  // where it is repeated to, bytes
  };
  struct Register {
    int32_t place;
    int64_t scratch;
  };

  int64_t count = 0;
  int64_t tile = 0;  // elements; the last one may be shorter
  int32_t places = 0;
  int64_t scratch_bytes = 0;
  double cost = 0;  // estimated nanoseconds an element

  std::vector<Code> code;
  std::vector<Direct> directs;
  std::vector<Fill> fills;
  std::vector<Splat> splats;
  std::vector<Register> registers;
  int32_t reduced_place = -1;  // of the reduction's value
};

TileProgram compile_tiles(const TileGroup& group);

}  // namespace pullback
