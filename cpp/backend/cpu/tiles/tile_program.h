// A tile group, compiled: straight-line code over places.
//
// A tile is a whole number of rows. A place is where a tile of values lies while the code runs: a
// register (scratch memory that the linear scan of tile_program.cpp hands out), the memory of a
// contiguous argument, the memory that a result is stored to, or one that is the same for all tiles
// and filled once per thread: a scalar repeated over a tile, a load that repeats itself. Code names
// places by number; TileFrame (tile_run.h) knows their addresses.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/cpu/kernels/table.h"
#include "backend/cpu/tiles/strided.h"
#include "plan/plan.h"

namespace pullback {

struct TileProgram {
  enum class Kind : uint8_t {
    Call,          // out = call(in[0], in[1], in[2]) of as many entries as the value has
    Rows,          // out = over_rows(in[0], in[1], in[2]) of rows of `row_length`
    Pair,          // out, in[1] = pair(in[0])
    Fold,          // out = folds[index] of in[0], in[1] being its accumulators
    Gather,        // out = gathers[index]
    Scatter,       // scatters[index] = in[0]
    Deinterleave,  // the columns of interleaves[index] = its block
    Interleave,    // and back
  };
  // 32 bytes: programs of many lines over a few elements wait for these.
  struct Code {
    Kind kind;
    bool row;  // goes over rows, not elements
    int32_t index = -1;
    int32_t out = 0;
    int32_t in[3] = {0, 0, 0};
    union {
      TileKernel call = nullptr;
      RowKernel over_rows;
      PairKernel pair;
      InterleaveKernel interleave;
      DeinterleaveKernel deinterleave;
    };
  };
  static_assert(sizeof(Code) <= 32);
  // [rows, reduced, inner] to [rows, inner].
  struct RowFold {
    Fold fold;
    TileKernel finish;    // null: the accumulators are the result
    int64_t accumulator;  // bytes
    int64_t value;        // bytes
    int64_t reduced, inner;
  };
  // Contiguous memory of a slot: moves on with the tiles.
  struct Direct {
    int32_t place;
    int32_t slot;
    int64_t offset;   // bytes
    int64_t per_row;  // bytes
  };
  struct Strided {
    int32_t slot;
    int64_t offset;  // bytes
    int64_t element;
    bool row;
    Axes axes;
  };
  // Columns whose entries take turns in one memory, the block.
  struct Interleaved {
    int32_t block;
    int32_t count;
    int32_t columns[kMostInterleaved];
  };
  // One tile of a load that is the same in every tile.
  struct Repeat {
    int32_t place;
    Strided source;
    int64_t scratch = 0;  // where it is written to, bytes
  };
  struct Splat {
    int32_t place;
    ScalarLoad scalar;
    bool row;
    int64_t scratch = 0;
  };
  struct Register {
    int32_t place;
    int64_t per_row;  // bytes
    int64_t scratch = 0;
  };

  int64_t rows = 0;
  int64_t length = 1;      // elements of a row
  int64_t row_length = 1;  // of the group; `length` may be more
  int64_t tile = 0;        // rows; the last one may have fewer
  int64_t align = 1;       // tiles begin at multiples of so many rows
  int32_t places = 0;
  int64_t scratch_bytes = 0;
  double cost = 0;       // estimated nanoseconds a row
  bool streams = false;  // through more memory than the cache near a core holds

  std::vector<Code> code;
  std::vector<RowFold> folds;
  std::vector<Direct> directs;
  std::vector<Strided> gathers;
  std::vector<Strided> scatters;
  std::vector<Interleaved> interleaves;
  std::vector<Repeat> repeats;
  std::vector<Splat> splats;
  std::vector<Register> registers;
  // Of each reduction: where its values are.
  struct Reduced {
    int32_t place;
    bool row;
  };
  std::vector<Reduced> reduced;
};

// How the tiles are walked.
enum class TileOrder {
  Rows,    // from the first row to the last
  Blocks,  // so too, and a tile is a number of whole [reduced, inner] blocks of the only reduction,
           // which the program folds and stores itself
  Any,     // a tile begins anywhere
};

TileProgram compile_tiles(const TileGroup& group, TileOrder order);

}  // namespace pullback
