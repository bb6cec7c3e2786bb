// The inner loop of the library: one call a line of code and tile.
#include "backend/cpu/tile_run.h"

#include <algorithm>
#include <cstring>

namespace pullback {
namespace {

void fill_scalar(DType dtype, Scalar value, void* to, int64_t n) {
  switch (dtype) {
    case DType::Bool:
      std::memset(to, value.i != 0, static_cast<size_t>(n));
      break;
    case DType::Int32:
      std::fill_n(static_cast<int32_t*>(to), n, static_cast<int32_t>(value.i));
      break;
    case DType::Int64:
      std::fill_n(static_cast<int64_t*>(to), n, value.i);
      break;
    case DType::Float32:
      std::fill_n(static_cast<float*>(to), n, static_cast<float>(value.f));
      break;
    case DType::Float64:
      std::fill_n(static_cast<double*>(to), n, value.f);
      break;
  }
}

}  // namespace

void fill_identity(const Fold& fold, void* accumulators, int64_t n) {
  fill_scalar(fold.accumulator, fold.identity, accumulators, n);
}

TileFrame::TileFrame(const TileProgram& program, const Slots& slots, char* memory, bool fill_it)
    : program_(program),
      slots_(slots),
      memory_(memory),
      place_(reinterpret_cast<char**>(memory + program.scratch_bytes)),
      base_(place_ + program.places) {
  if (fill_it) fill();
}

void TileFrame::fill() {
  for (const auto& r : program_.registers) place_[r.place] = memory_ + r.scratch;
  for (size_t i = 0; i < program_.directs.size(); ++i) {
    base_[i] = slots_.at(program_.directs[i].slot) + program_.directs[i].offset;
  }
  const int64_t entries[2] = {program_.tile * program_.length, program_.tile};
  for (const auto& splat : program_.splats) {
    char* to = place_[splat.place] = memory_ + splat.scratch;
    const ScalarLoad& load = splat.scalar;
    const Scalar value = load.scalar < 0 ? load.constant : slots_.scalar(load.scalar);
    fill_scalar(load.dtype, value, to, entries[splat.row]);
  }
  for (const auto& repeat : program_.repeats) {
    const auto& source = repeat.source;
    char* to = place_[repeat.place] = memory_ + repeat.scratch;
    gather_strided(source.axes, slots_.at(source.slot) + source.offset, source.element, 0,
                   entries[source.row], to);
  }
}

Problem TileFrame::run(int64_t first, int64_t n) {
  for (size_t i = 0; i < program_.directs.size(); ++i) {
    place_[program_.directs[i].place] = base_[i] + first * program_.directs[i].per_row;
  }
  const int64_t entries[2] = {n * program_.length, n};
  for (const auto& code : program_.code) {
    int problem = kFine;
    switch (code.kind) {
      case TileProgram::Kind::Call:
        problem = code.call(place_[code.out], place_[code.in[0]], place_[code.in[1]],
                            place_[code.in[2]], entries[code.row]);
        break;
      case TileProgram::Kind::Rows:
        problem = code.over_rows(place_[code.out], place_[code.in[0]], place_[code.in[1]],
                                 entries[code.row], code.length);
        break;
      case TileProgram::Kind::Fold:
        fold(code, n);
        break;
      case TileProgram::Kind::Gather: {
        const auto& source = program_.gathers[code.index];
        gather_strided(source.axes, slots_.at(source.slot) + source.offset, source.element,
                       source.row ? first : first * program_.length, entries[source.row],
                       place_[code.out]);
        break;
      }
    }
    if (problem) [[unlikely]]
      return refuse(code, problem, entries[code.row]);
  }
  return Problem::None;
}

Problem TileFrame::refuse(const TileProgram::Code& code, int problem, int64_t rows) {
  status_.problem = static_cast<Problem>(problem);
  if (status_.problem == Problem::IndexOutOfRange) {
    const auto* index = reinterpret_cast<const int64_t*>(place_[code.in[1]]);
    status_.bound = code.length;
    status_.detail =
        *std::find_if(index, index + rows, [&](int64_t i) { return i < 0 || i >= code.length; });
  }
  return status_.problem;
}

void TileFrame::fold(const TileProgram::Code& code, int64_t rows) {
  const auto& f = program_.folds[code.index];
  const char* values = place_[code.in[0]];
  char* sums = place_[code.in[1]];
  fill_identity(f.fold, sums, rows * f.inner);
  if (f.inner == 1) {
    f.fold.rows(values, rows, f.reduced, sums);
  } else {
    for (int64_t r = 0; r < rows; ++r) {
      f.fold.columns(values + r * f.reduced * f.inner * f.value, f.reduced, f.inner,
                     sums + r * f.inner * f.accumulator);
    }
  }
  if (f.finish) f.finish(place_[code.out], sums, nullptr, nullptr, rows * f.inner);
}

}  // namespace pullback
