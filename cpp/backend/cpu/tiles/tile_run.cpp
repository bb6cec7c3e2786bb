// Runs tile programs: for each tile, one kernel call per line of code. The inner loop of the
// library.
#include "backend/cpu/tiles/tile_run.h"

#include "base/index_bounds.h"

namespace pullback {
namespace {

void fill_scalar(DType dtype, Scalar value, char* to, int64_t n) {
  alignas(8) char element[8];
  store_scalar(dtype, value, element);
  fill_elements(to, element, size_of(dtype), n);
}

}  // namespace

void fill_identity(const Fold& fold, void* accumulators, int64_t n) {
  fill_scalar(fold.accumulator, fold.identity, static_cast<char*>(accumulators), n);
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
  for (size_t i = 0; i < program_.splats.size(); ++i) fill(i);
  for (const auto& repeat : program_.repeats) {
    const auto& source = repeat.source;
    char* to = place_[repeat.place] = memory_ + repeat.scratch;
    gather_strided(source.axes, slots_.at(source.slot) + source.offset, source.element, 0,
                   entries[source.row], to);
  }
}

// Equal numbers, such as the sizes of an image in several positions, share a block: a program may
// have more numbers than the cache has room for.
void TileFrame::fill(size_t number) {
  const auto value_of = [&](const ScalarLoad& load) {
    return load.scalar ? slots_.scalar(*load.scalar) : load.constant;
  };
  const auto& splat = program_.splats[number];
  const DType dtype = splat.scalar.dtype;
  const Scalar value = value_of(splat.scalar);
  char*& place = place_[splat.place];
  for (size_t i = 0; i < number; ++i) {
    const auto& other = program_.splats[i];
    const bool fits = other.scalar.dtype == dtype && other.row == splat.row;
    if (fits && value_of(other.scalar).i == value.i) {
      place = place_[other.place];
      return;
    }
  }
  place = memory_ + splat.scratch;
  fill_scalar(dtype, value, place, program_.tile * (splat.row ? 1 : program_.length));
}

namespace {

// Prefetches the memory of the next tile, a few lines at each instruction of this tile. Kernels
// either wait for memory or compute; this overlaps the two.
class Ahead {
 public:
  Ahead(const TileProgram& program, char* const* base, int64_t first, int64_t n)
      : program_(program), base_(base), first_(first), n_(n) {
    int64_t lines = 0;
    for (const auto& d : program.directs) lines += n * d.per_row / kLine + 1;
    each_ = lines / static_cast<int64_t>(program.code.size()) + 1;
  }
  void advance() {
    for (int64_t i = 0; i < each_; ++i, at_ += kLine) {
      while (at_ >= end_) {
        if (direct_ == program_.directs.size()) return;
        const int64_t per_row = program_.directs[direct_].per_row;
        at_ = base_[direct_] + first_ * per_row;
        end_ = at_ + n_ * per_row;
        ++direct_;
      }
      __builtin_prefetch(at_, 0, 2);
    }
  }

 private:
  static constexpr int64_t kLine = 64;
  const TileProgram& program_;
  char* const* base_;
  int64_t first_, n_;
  int64_t each_;
  size_t direct_ = 0;
  char* at_ = nullptr;
  char* end_ = nullptr;
};

}  // namespace

void TileFrame::place_segments(int64_t first) {
  const int64_t element = first * program_.length;
  const int64_t column = element % program_.segment;
  for (const auto& s : program_.segments) {
    char* at = slots_.at(s.slot) + s.offset + column * s.element;
    int64_t row = element / program_.segment;
    for (int i = s.axes.rank - 1; i > 0; --i) {
      at += row % s.axes.dim[i] * s.axes.stride[i] * s.element;
      row /= s.axes.dim[i];
    }
    place_[s.place] = at + row * s.axes.stride[0] * s.element;
  }
}

Problem TileFrame::run(int64_t first, int64_t n) {
  for (size_t i = 0; i < program_.directs.size(); ++i) {
    place_[program_.directs[i].place] = base_[i] + first * program_.directs[i].per_row;
  }
  if (program_.segment) place_segments(first);
  if (!program_.streams) return run_code(first, n, [] {});
  Ahead ahead(program_, base_, first + n, n);
  return run_code(first, n, [&] { ahead.advance(); });
}

template <class Between>
Problem TileFrame::run_code(int64_t first, int64_t n, Between&& between) {
  const int64_t entries[2] = {n * program_.length, n};
  for (const auto& code : program_.code) {
    int problem = kFine;
    between();
    switch (code.kind) {
      case TileProgram::Kind::Call:
        problem = code.call(place_[code.out], place_[code.in[0]], place_[code.in[1]],
                            place_[code.in[2]], entries[code.row]);
        break;
      case TileProgram::Kind::Rows:
        problem = code.over_rows(place_[code.out], place_[code.in[0]], place_[code.in[1]],
                                 place_[code.in[2]], entries[code.row], program_.row_length);
        break;
      case TileProgram::Kind::Pair:
        problem =
            code.pair(place_[code.out], place_[code.in[1]], place_[code.in[0]], entries[code.row]);
        break;
      case TileProgram::Kind::Products:
        problem = code.products(place_[code.out], place_[code.in[0]], place_[code.in[1]],
                                place_[code.in[2]], place_[code.index], entries[code.row]);
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
      case TileProgram::Kind::Deinterleave: {
        const auto& interleaved = program_.interleaves[code.index];
        void* columns[kMostInterleaved];
        for (int k = 0; k < interleaved.count; ++k) columns[k] = place_[interleaved.columns[k]];
        code.deinterleave(columns, place_[interleaved.block], entries[code.row]);
        break;
      }
      case TileProgram::Kind::Interleave: {
        const auto& interleaved = program_.interleaves[code.index];
        const void* columns[kMostInterleaved];
        for (int k = 0; k < interleaved.count; ++k) columns[k] = place_[interleaved.columns[k]];
        code.interleave(place_[interleaved.block], columns, entries[code.row]);
        break;
      }
      case TileProgram::Kind::Scatter: {
        const auto& target = program_.scatters[code.index];
        scatter_strided(target.axes, slots_.at(target.slot) + target.offset, target.element,
                        target.row ? first : first * program_.length, entries[target.row],
                        place_[code.in[0]]);
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
    const bool wraps = code.kind == TileProgram::Kind::Call;
    const auto* index = reinterpret_cast<const int64_t*>(place_[code.in[wraps ? 0 : 1]]);
    status_.bound =
        wraps ? *reinterpret_cast<const int64_t*>(place_[code.in[1]]) : program_.row_length;
    const int64_t low = wraps ? -status_.bound : 0;
    status_.detail = first_outside(index, rows, low, status_.bound);
  }
  return status_.problem;
}

void TileFrame::fold(const TileProgram::Code& code, int64_t rows) {
  const auto& f = program_.folds[code.index];
  const char* values = place_[code.in[0]];
  char* sums = place_[code.in[1]];
  char* out = place_[code.out];
  fill_identity(f.fold, sums, rows * f.parts * f.inner);
  if (f.inner == 1) {
    f.fold.rows(values, rows, f.reduced, sums);
  } else {
    const int64_t part = f.inner * f.accumulator;
    for (int64_t r = 0; r < rows; ++r) {
      char* row = sums + r * f.parts * part;
      f.fold.columns(values + r * f.reduced * f.inner * f.value, f.reduced, f.inner, row);
      if (f.parts == 1) continue;
      f.finish(out + r * f.inner * f.result, row, row + part, row + 2 * part, f.inner);
    }
  }
  if (f.finish && f.parts == 1) f.finish(out, sums, nullptr, nullptr, rows * f.inner);
}

}  // namespace pullback
