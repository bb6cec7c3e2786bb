// Running a tile program: frames over tiles, tiles over chunks.
#pragma once

#include "backend/cpu/slots.h"
#include "backend/cpu/tile_program.h"

namespace pullback {

// The addresses of a program's places on one thread. `memory` has frame_bytes(program) bytes,
// 64-byte aligned, and belongs to the frame while it lives.
class TileFrame {
 public:
  static int64_t frame_bytes(const TileProgram& program) {
    return program.scratch_bytes + program.places * static_cast<int64_t>(sizeof(char*)) + 64;
  }
  TileFrame(const TileProgram& program, const Slots& slots, char* memory);

  // Computes elements first … first+n-1, n <= program.tile.
  Problem run(int64_t first, int64_t n);
  const char* reduced() const { return place_[program_.reduced_place]; }

 private:
  const TileProgram& program_;
  const Slots& slots_;
  char** place_;
};

// A program with stores only.
Status run_tiles(const TileProgram& program, const Slots& slots);

}  // namespace pullback
