// TileProgram: a compiled tile group, as straight-line code over places.
//
// A tile is a whole number of rows. A place is the location of a tile of values while the code
// runs: a register (scratch memory, assigned by tile_program.cpp), the memory of a contiguous
// argument, the memory of a stored result, or a block that is equal for all tiles and filled once
// per thread (a repeated scalar, or a load that repeats). Code refers to places by number;
// TileFrame (tile_run.h) has their addresses. Start at Kind.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/cpu/kernels/table.h"
#include "backend/cpu/tiles/strided.h"
#include "plan/plan.h"

namespace pullback {

struct TileProgram {
  enum class Kind : uint8_t {
    Call,          // out = call(in[0], in[1], in[2]), for all entries of the value
    Rows,          // out = over_rows(in[0], in[1], in[2]), for rows of `row_length`
    Pair,          // out, in[1] = pair(in[0])
    Products,      // out = products(in[0], in[1], in[2], place `index`)
    Fold,          // folds[index] of in[0] into out; in[1] has the accumulators
    Gather,        // out = gathers[index]
    Scatter,       // scatters[index] = in[0]
    Deinterleave,  // splits the block of interleaves[index] into its columns
    Interleave,    // the inverse
  };
  // Kept at 32 bytes: for small arrays, fetching the code limits the speed.
  struct Code {
    Kind kind;
    bool row;  // works on one entry per row
    int32_t index = -1;
    int32_t out = 0;
    int32_t in[3] = {0, 0, 0};
    union {
      TileKernel call = nullptr;
      RowKernel over_rows;
      PairKernel pair;
      ProductsKernel products;
      InterleaveKernel interleave;
      DeinterleaveKernel deinterleave;
    };
  };
  static_assert(sizeof(Code) <= 32);
  // Folds [rows, reduced, inner] to [rows, inner].
  struct RowFold {
    Fold fold;
    TileKernel finish;    // null: the accumulators are the result
    int64_t accumulator;  // bytes
    int64_t value;        // bytes
    int64_t result;       // bytes
    int64_t reduced, inner;
    int64_t parts;  // sets of accumulators of each row, one after the other
  };
  // Contiguous memory of a slot; its address advances with the tiles.
  struct Direct {
    int32_t place;
    int32_t slot;
    int64_t offset;   // bytes
    int64_t per_row;  // bytes
  };
  // Rows of memory of `entries` elements, which every tile reads within one of them.
  struct Segmented {
    int32_t place;
    int32_t slot;
    int64_t offset;   // bytes
    int64_t element;  // bytes
    Axes axes;        // of the rows
  };
  struct Strided {
    int32_t slot;
    int64_t offset;  // bytes
    int64_t element;
    bool row;
    Axes axes;
  };
  // Columns whose entries alternate in one memory, the block.
  struct Interleaved {
    int32_t block;
    int32_t count;
    int32_t columns[kMostInterleaved];
  };
  // One tile of a load that is equal in every tile.
  struct Repeat {
    int32_t place;
    Strided source;
    int64_t scratch = 0;  // destination, bytes
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
  int64_t length = 1;      // elements per row
  int64_t row_length = 1;  // row length of the group; `length` may be larger
  int64_t tile = 0;        // rows per tile; the last tile may have fewer
  int64_t align = 1;       // tiles begin at multiples of this many rows
  int64_t segment = 0;     // elements in each row of `segments`, a multiple of a tile; 0: none
  int32_t places = 0;
  int64_t scratch_bytes = 0;
  double cost = 0;       // estimated nanoseconds per row
  bool streams = false;  // prefetches the memory of the next tile

  std::vector<Code> code;
  std::vector<RowFold> folds;
  std::vector<Direct> directs;
  std::vector<Segmented> segments;
  std::vector<Strided> gathers;
  std::vector<Strided> scatters;
  std::vector<Interleaved> interleaves;
  std::vector<Repeat> repeats;
  std::vector<Splat> splats;
  std::vector<Register> registers;
  // For each reduction, the place of its values.
  struct Reduced {
    int32_t place;
    bool row;
    Fold fold;
  };
  std::vector<Reduced> reduced;
};

// The order of tiles.
enum class TileOrder {
  Rows,    // from the first row to the last
  Blocks,  // the same, with whole [reduced, inner] blocks per tile; the program folds and stores
           // them
  Any,     // tiles may begin anywhere
};

TileProgram compile_tiles(const TileGroup& group, TileOrder order);

}  // namespace pullback
