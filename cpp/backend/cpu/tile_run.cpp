// The inner loop of the library. A run of a few elements must cost no more than its kernels: its
// frame lies on the stack and nothing is allocated. Large runs are cut into chunks; each makes its
// own frame in memory that its thread keeps.
#include "backend/cpu/tile_run.h"

#include <algorithm>

#include "base/threads.h"

namespace pullback {

TileFrame::TileFrame(const TileProgram& program, const Slots& slots, char* memory)
    : program_(program), slots_(slots) {
  place_ = reinterpret_cast<char**>(memory + (program.scratch_bytes + 7) / 8 * 8);
  for (const auto& r : program.registers) place_[r.place] = memory + r.scratch;
  for (const auto& splat : program.splats) {
    char* to = place_[splat.place] = memory + splat.scratch;
    if (splat.scalar < 0) {
      fill_elements(to, slots.at(splat.slot) + splat.offset, size_of(splat.dtype), program.tile);
      continue;
    }
    const Scalar value = slots.scalar(splat.scalar);
    switch (splat.dtype) {
      case DType::Bool:
        std::fill_n(reinterpret_cast<uint8_t*>(to), program.tile,
                    static_cast<uint8_t>(value.i != 0));
        break;
      case DType::Int32:
        std::fill_n(reinterpret_cast<int32_t*>(to), program.tile, static_cast<int32_t>(value.i));
        break;
      case DType::Int64:
        std::fill_n(reinterpret_cast<int64_t*>(to), program.tile, value.i);
        break;
      case DType::Float32:
        std::fill_n(reinterpret_cast<float*>(to), program.tile, static_cast<float>(value.f));
        break;
      case DType::Float64:
        std::fill_n(reinterpret_cast<double*>(to), program.tile, value.f);
        break;
    }
  }
}

Problem TileFrame::run(int64_t first, int64_t n) {
  for (const auto& d : program_.directs) {
    place_[d.place] = slots_.at(d.slot) + d.offset + first * d.element;
  }
  for (const auto& code : program_.code) {
    if (code.kernel) {
      const int problem = code.kernel(place_[code.out], place_[code.in[0]], place_[code.in[1]],
                                      place_[code.in[2]], n);
      if (problem) [[unlikely]]
        return static_cast<Problem>(problem);
    } else {
      const auto& fill = program_.fills[code.fill];
      gather_strided(fill.axes, slots_.at(fill.slot) + fill.offset, fill.element, first, n,
                     place_[code.out]);
    }
  }
  return Problem::None;
}

namespace {

Status run_large(const TileProgram& program, const Slots& slots) {
  const int64_t tiles = ceil_div(program.count, program.tile);
  const int64_t per_chunk = chunk_of(tiles, program.tile);
  const bool worth = worth_threads(program.cost * static_cast<double>(program.count));
  FirstProblem first;
  parallel_for(ceil_div(tiles, per_chunk), worth, [&](int64_t chunk) {
    if (first.any()) return;
    char* memory = thread_scratch(TileFrame::frame_bytes(program));
    if (!memory) return first.report(chunk, Problem::Memory);
    TileFrame frame(program, slots, memory);
    const int64_t end = std::min((chunk + 1) * per_chunk, tiles);
    for (int64_t tile = chunk * per_chunk; tile < end; ++tile) {
      const int64_t begin = tile * program.tile;
      const Problem problem = frame.run(begin, std::min(program.tile, program.count - begin));
      if (problem != Problem::None) return first.report(chunk, problem);
    }
  });
  return first.status();
}

}  // namespace

Status run_tiles(const TileProgram& program, const Slots& slots) {
  constexpr int64_t kStackBytes = 4096;
  if (program.count == 0) return {};
  const int64_t bytes = TileFrame::frame_bytes(program);
  if (program.count > program.tile || bytes > kStackBytes) return run_large(program, slots);
  alignas(64) char memory[kStackBytes];
  TileFrame frame(program, slots, memory);
  return failure(frame.run(0, program.count));
}

}  // namespace pullback
