// TileFrame: runs a tile program on one thread; it has the addresses of the places.
#pragma once

#include "backend/common/slots.h"
#include "backend/cpu/tiles/tile_program.h"

namespace pullback {

// Writes n identities of a fold.
void fill_identity(const Fold& fold, void* accumulators, int64_t n);

// `memory` has frame_bytes(program) bytes, 64-byte aligned, and belongs to the frame while it
// exists.
class TileFrame {
 public:
  static int64_t frame_bytes(const TileProgram& program) {
    const auto pointers = program.places + static_cast<int64_t>(program.directs.size());
    return round_up(program.scratch_bytes + pointers * static_cast<int64_t>(sizeof(char*)), 64);
  }
  // fill = false: the memory was filled by an earlier frame of the same program and slots.
  TileFrame(const TileProgram& program, const Slots& slots, char* memory, bool fill = true);

  // Computes rows first … first+n-1; n <= program.tile.
  Problem run(int64_t first, int64_t n);
  const char* at(int32_t place) const { return place_[place]; }
  // Details of the problem that run() returned.
  const Status& status() const { return status_; }

 private:
  template <class Between>
  Problem run_code(int64_t first, int64_t n, Between&& between);
  void place_segments(int64_t first);
  void fill();
  void fill(size_t number);  // a splat
  Problem refuse(const TileProgram::Code& code, int problem, int64_t rows);
  void fold(const TileProgram::Code& code, int64_t rows);

  const TileProgram& program_;
  const Slots& slots_;
  char* memory_;
  char** place_;
  char** base_;  // for each Direct, the address of row 0
  Status status_;
};

}  // namespace pullback
