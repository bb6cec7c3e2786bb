// Translates tile groups and copies of views. A group has one tile here, so each line of its tile
// program is one code, and loads and stores are moves between fixed offsets.
#include <algorithm>

#include "backend/cpu/small/small_compiler.h"
#include "backend/cpu/tiles/tile_run.h"

namespace pullback {
namespace {

constexpr int64_t kMostElements = 256;  // of a group
constexpr int64_t kMostMoves = 64;      // for a view

// Calls f(offset, i) for the first n elements of a view, in elements. Axes repeat after their last
// element.
template <class F>
void for_each_element(const Axes& axes, int64_t n, F&& f) {
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = i, offset = 0;
    for (int k = axes.rank - 1; k >= 0; --k) {
      offset += rest % axes.dim[k] * axes.stride[k];
      rest /= axes.dim[k];
    }
    f(offset, i);
  }
}

}  // namespace

void SmallCompiler::call(TileKernel kernel, int32_t out, int32_t a, int32_t b, int32_t c,
                         int32_t n) {
  const std::optional<uint16_t> element = n == 1 ? code_of_element(kernel) : std::nullopt;
  Code& code = add(Kind::Call, out, a, n);
  code.b = b;
  code.c = c;
  code.call = kernel;
  if (element) code.kind = *element;
}

void SmallCompiler::identities(const Fold& fold, int32_t at, int64_t count) {
  const int32_t identity = constant(fold.accumulator, fold.identity);
  const auto element = static_cast<uint16_t>(size_of(fold.accumulator));
  if (count == 1) return copy(at, identity, element);
  add(Kind::Fill, at, identity, static_cast<int32_t>(count)).length = element;
}

bool SmallCompiler::gather(const Axes& axes, int64_t element, int32_t base, int64_t n,
                           int32_t out) {
  if (axes.rank == 0 && n > 1) {
    add(Kind::Fill, out, base, static_cast<int32_t>(n)).length = static_cast<uint16_t>(element);
    return true;
  }
  if (axes.rank == 1 && axes.stride[0] == 1 && n <= axes.dim[0]) {
    copy(out, base, n * element);
    return true;
  }
  if (n > kMostMoves) return false;
  for_each_element(axes, n, [&](int64_t offset, int64_t i) {
    copy(static_cast<int32_t>(out + i * element), static_cast<int32_t>(base + offset * element),
         element);
  });
  return true;
}

bool SmallCompiler::scatter(const Axes& axes, int64_t element, int32_t base, int64_t n,
                            int32_t in) {
  if (n > kMostMoves) return false;
  for_each_element(axes, n, [&](int64_t offset, int64_t i) {
    copy(static_cast<int32_t>(base + offset * element), static_cast<int32_t>(in + i * element),
         element);
  });
  return true;
}

// Folds [rows, reduced, inner] as TileFrame::fold does.
void SmallCompiler::add_fold(const TileProgram::RowFold& fold, int32_t in, int32_t sums,
                             int32_t out, int32_t rows) {
  identities(fold.fold, sums, rows * fold.parts * fold.inner);
  if (fold.inner == 1) {
    Code& code = add(Kind::FoldRows, sums, in, rows);
    code.length = static_cast<uint16_t>(fold.reduced);
    code.fold = fold.fold.rows;
  } else {
    for (int32_t r = 0; r < rows; ++r) {
      const int64_t values = r * fold.reduced * fold.inner * fold.value;
      const auto part = static_cast<int32_t>(fold.inner * fold.accumulator);
      const auto row = static_cast<int32_t>(sums + r * fold.parts * part);
      Code& code = add(Kind::FoldRows, row, static_cast<int32_t>(in + values),
                       static_cast<int32_t>(fold.reduced));
      code.length = static_cast<uint16_t>(fold.inner);
      code.fold = fold.fold.columns;
      if (fold.parts == 1) continue;
      call(fold.finish, static_cast<int32_t>(out + r * fold.inner * fold.result), row, row + part,
           row + 2 * part, static_cast<int32_t>(fold.inner));
    }
  }
  const auto results = static_cast<int32_t>(rows * fold.inner);
  if (fold.finish && fold.parts == 1) call(fold.finish, out, sums, 0, 0, results);
}

bool SmallCompiler::add_code(const TileProgram& tiles, const TileProgram::Code& code,
                             const Scope& scope) {
  const auto rows = static_cast<int32_t>(tiles.rows);
  const int32_t entries = code.row ? rows : rows * static_cast<int32_t>(tiles.length);
  const int32_t out = places_[code.out], a = places_[code.in[0]], b = places_[code.in[1]],
                c = places_[code.in[2]];
  switch (code.kind) {
    case TileProgram::Kind::Call:
      call(code.call, out, a, b, c, entries);
      return true;
    case TileProgram::Kind::Rows: {
      Code& to = add(Kind::Rows, out, a, entries);
      to.b = b;
      to.c = c;
      to.length = static_cast<uint16_t>(tiles.row_length);
      to.over_rows = code.over_rows;
      return true;
    }
    case TileProgram::Kind::Pair: {
      Code& to = add(Kind::Pairs, out, a, entries);
      to.b = b;
      to.pair = code.pair;
      return true;
    }
    case TileProgram::Kind::Products:  // of larger groups only
      return false;
    case TileProgram::Kind::Fold:
      add_fold(tiles.folds[code.index], a, b, out, rows);
      return true;
    case TileProgram::Kind::Gather: {
      const auto& from = tiles.gathers[code.index];
      const auto base = static_cast<int32_t>(scope.slots[from.slot] + from.offset);
      return gather(from.axes, from.element, base, from.row ? rows : rows * tiles.length, out);
    }
    case TileProgram::Kind::Scatter: {
      const auto& to = tiles.scatters[code.index];
      const auto base = static_cast<int32_t>(scope.slots[to.slot] + to.offset);
      return scatter(to.axes, to.element, base, to.row ? rows : rows * tiles.length, a);
    }
    case TileProgram::Kind::Deinterleave:
    case TileProgram::Kind::Interleave: {
      const auto& columns = tiles.interleaves[code.index];
      const bool split = code.kind == TileProgram::Kind::Deinterleave;
      const auto& block =
          *std::ranges::find(tiles.directs, columns.block, &TileProgram::Direct::place);
      const int64_t element = block.per_row / columns.count / (code.row ? 1 : tiles.length);
      for (int32_t k = 0; k < columns.count; ++k) {
        const Axes axes{1, {entries}, {columns.count}};
        const auto base = static_cast<int32_t>(places_[columns.block] + k * element);
        const int32_t column = places_[columns.columns[k]];
        const bool moved = split ? gather(axes, element, base, entries, column)
                                 : scatter(axes, element, base, entries, column);
        if (!moved) return false;
      }
      return true;
    }
  }
  return false;
}

// The reductions at the end, as GroupRun folds one block.
bool SmallCompiler::add_reductions(const GroupProgram& group, const Scope& scope) {
  const auto rows = static_cast<int32_t>(group.tiles.rows);
  for (const auto& r : group.reductions) {
    const int64_t width = r.columns ? r.width : r.length;
    if (r.leaves && rows * width > kLeaf) return false;
    const int64_t element = size_of(r.fold.accumulator);
    const int32_t in = places_[r.place];
    const int32_t sums = take(r.parts * r.lanes * r.width * element);
    identities(r.fold, sums, r.parts * r.lanes * r.width);
    if (r.columns) {
      Code& code = add(Kind::FoldLanes, sums, in, rows);
      code.length = static_cast<uint16_t>(width);
      code.c = static_cast<int32_t>(r.lanes);
      code.lanes = r.fold.lanes;
    } else {
      Code& code = add(Kind::FoldRows, sums, in, 1);
      code.length = static_cast<uint16_t>(rows * width);
      code.fold = r.fold.rows;
    }
    const auto results = static_cast<int32_t>(r.width);
    const auto lane = static_cast<int32_t>(r.width * element);
    const auto part = static_cast<int32_t>(r.lanes * lane);
    for (int32_t i = 1; i < static_cast<int32_t>(r.parts * r.lanes); ++i) {
      const int32_t first = sums + i / static_cast<int32_t>(r.lanes) * part;
      if (i % r.lanes) call(r.merge, first, first, sums + i * lane, 0, results);
    }
    const auto out = static_cast<int32_t>(scope.slots[r.out_slot] + r.out_offset);
    const bool parts = r.parts > 1;
    call(r.finish, out, sums, parts ? sums + part : 0, parts ? sums + 2 * part : 0, results);
  }
  return true;
}

bool SmallCompiler::add_group(const TileGroup& group, const Scope& scope) {
  if (group.count == 0 || group.count > kMostElements) return false;
  const GroupProgram program = compile_group(group);
  const TileProgram& tiles = program.tiles;
  const bool one = program.units() == 1 && tiles.rows <= tiles.tile && program.inner == 1 &&
                   program.outer == 1 && program.spans == 1 && tiles.rows <= program.flush &&
                   tiles.rows <= program.steps;
  if (!one) return false;
  const auto rows = static_cast<int32_t>(tiles.rows);
  const auto entries = [&](bool row) {
    return row ? rows : rows * static_cast<int32_t>(tiles.length);
  };
  places_.assign(std::max<size_t>(tiles.places, 1), 0);
  for (const auto& r : tiles.registers) places_[r.place] = take(r.per_row * rows);
  for (const auto& d : tiles.directs) {
    places_[d.place] = static_cast<int32_t>(scope.slots[d.slot] + d.offset);
  }
  for (const auto& s : tiles.splats) {
    const std::optional<int32_t> at = splat(scope, s.scalar, entries(s.row));
    if (!at) return false;
    places_[s.place] = *at;
  }
  for (const auto& r : tiles.repeats) {
    const auto& from = r.source;
    const auto base = static_cast<int32_t>(scope.slots[from.slot] + from.offset);
    if (from.axes.rank == 0 && entries(from.row) == 1) {
      places_[r.place] = base;
      continue;
    }
    places_[r.place] = take(entries(from.row) * from.element);
    if (!gather(from.axes, from.element, base, entries(from.row), places_[r.place])) return false;
  }
  for (const auto& code : tiles.code) {
    if (!add_code(tiles, code, scope)) return false;
  }
  return add_reductions(program, scope);
}

bool SmallCompiler::add_layout(const Layout& layout, const Scope& scope) {
  const int64_t element = size_of(layout.out.dtype), n = layout.out.shape.size();
  if (layout.add || n > kMostMoves) return false;
  if (layout.clear) {
    const int64_t bytes = scope.plan->slots[layout.out.slot].bytes;
    const int32_t zero = constant(DType::Bool, Scalar{});
    add(Kind::Fill, scope.slots[layout.out.slot], zero, static_cast<int32_t>(bytes)).length = 1;
  }
  std::vector<int32_t> from;
  const auto offsets = [&](const View& view, auto&& f) {
    for_each_element(merged_axes(view), n, [&](int64_t offset, int64_t) {
      f(static_cast<int32_t>(scope.at(view) + offset * element));
    });
  };
  offsets(layout.in, [&](int32_t at) { from.push_back(at); });
  auto next = from.begin();
  offsets(layout.out, [&](int32_t at) { copy(at, *next++, element); });
  return true;
}

}  // namespace pullback
