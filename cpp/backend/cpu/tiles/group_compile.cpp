// Compiles a tile group and cuts it into units: see GroupProgram. Start at compile_group.
#include <algorithm>
#include <numeric>

#include "backend/cpu/common/leaves.h"
#include "backend/cpu/tiles/group_run.h"

namespace pullback {
namespace {

constexpr int64_t kFlushRows = 128;
constexpr int64_t kSmallestBlock = 16 * 1024;  // elements
constexpr double kBlockNanoseconds = 20000;    // or fewer elements, if they take that long
constexpr int64_t kLargestFold = 2048;         // elements folded within a tile
constexpr int64_t kStrip = 2048;               // largest number of columns that determines a span

// True for a reduction of a middle axis: neither of everything nor of columns. Its group has no
// other.
bool is_general(const TileGroup& group) {
  if (group.length > 1 || group.reductions.size() != 1) return false;
  const Reduction& r = group.reductions.front();
  return r.outer != 1 || r.inner != 1;
}

// True if the order of its operations affects the result.
bool is_ordered(const Reduction& r) {
  return (r.op == Op::sum || r.op == Op::euclidean_norm) && is_float(r.dtype);
}

void compile_reduction(const Reduction& r, const TileProgram::Reduced& from, GroupProgram* p) {
  GroupProgram::Reduce out;
  out.fold = from.fold;
  const int accumulator = static_cast<int>(out.fold.accumulator);
  const ElementwiseTable& table = kernels().elementwise;
  out.merge = table.of[static_cast<int>(out.fold.merge)][accumulator];
  out.finish = kernels().casts.of[accumulator][static_cast<int>(r.out.dtype)];
  out.place = from.place;
  out.results = r.outer * r.inner;
  out.out_element = size_of(r.out.dtype);
  out.out_slot = r.out.slot;
  out.out_offset = r.out.offset * out.out_element;
  if (p->inner > 1) {
    out.columns = p->width > 1;
    out.width = p->width;
  } else if (r.inner > 1) {
    out.columns = true;
    out.width = r.inner;
  } else {
    out.length = from.row ? 1 : p->tiles.length;
    out.leaves = is_ordered(r);
  }
  out.value = size_of(r.dtype);
  if (out.columns) {
    out.lanes = column_lanes(r.inner);
    out.parts = out.fold.parts;
    if (out.fold.finish) out.finish = out.fold.finish;
  }
  if (out.leaves) {
    out.leaf_count = ceil_div(p->reduced * out.length, kLeaf);
    out.total = kernels().folds.of[fold_index(r.op)][static_cast<int>(DType::Float64)];
  } else {
    const int64_t width = out.parts * out.lanes * out.width;
    out.accumulators = p->set_bytes;
    p->set_bytes += round_up(width * size_of(out.fold.accumulator), width > 1 ? 64 : 8);
  }
  p->reductions.push_back(out);
}

// Places the memory of leaves after all sets.
void place_leaves(GroupProgram* p) {
  p->scratch_bytes = p->spans > 1 ? p->outer * p->strips * p->spans * p->set_bytes : 0;
  const auto place = [](int64_t* bytes, int64_t more) {
    const int64_t at = *bytes;
    *bytes += round_up(more, 64);
    return at;
  };
  for (auto& r : p->reductions) {
    if (!r.leaves) continue;
    const int64_t sums = r.leaf_count * size_of(r.fold.accumulator);
    if (p->spans > 1) {
      r.sums = place(&p->scratch_bytes, p->outer * sums);
      if (p->blocks > 1 && p->block * r.length % kLeaf != 0) {
        r.shared = place(&p->scratch_bytes, p->outer * p->blocks * kLeaf * r.value);
      }
    } else {
      r.accumulators = 2 * p->set_bytes + place(&p->leaf_bytes, sums);
    }
    r.state = 2 * p->set_bytes + place(&p->leaf_bytes, r.fold.leaf_state);
  }
}

// The number of rows with about kStrip values of the columns.
int64_t few_rows(const Reduction& r) { return kStrip / std::min(r.inner, kStrip); }

int64_t flush_of(const Reduction& r) {
  return round_up(kFlushRows * column_lanes(r.inner), few_rows(r));
}

// The number of rows in each span of columns; 0 if no sum of columns depends on them.
int64_t rows_per_span(const TileGroup& group) {
  for (const Reduction& r : group.reductions) {
    if (!is_ordered(r) || r.inner <= 1) continue;
    const int64_t width = std::min(r.inner, kStrip);
    const int64_t strips = r.outer * ceil_div(r.inner, width);
    const int64_t most = r.reduced * width / kSmallestBlock;
    const int64_t enough = std::max(ceil_div(kChunks, std::max<int64_t>(1, strips)),
                                    r.reduced * width / kLargestChunk);
    const int64_t spans = std::clamp<int64_t>(most, 1, enough);
    return std::max<int64_t>(1, round_up(ceil_div(r.reduced, spans), few_rows(r)));
  }
  return 0;
}

void cut_at_leaves(GroupProgram* p) {
  if (p->blocks == 1) return;
  p->block = whole_leaves(p->block, p->tiles.length, p->steps);
  p->blocks = ceil_div(p->reduced, p->block);
}

// Rounds blocks to whole spans, and to rows at which a tile may begin.
void cut_at_spans(int64_t span, GroupProgram* p) {
  const int64_t step = std::max<int64_t>(1, std::lcm(span, p->tiles.align));
  p->block = std::max<int64_t>(1, p->block / step) * step;
  p->blocks = ceil_div(p->reduced, p->block);
}

void cut(GroupProgram* p) {
  const TileProgram& tiles = p->tiles;
  p->width = std::min(p->inner, tiles.tile);
  p->strips = p->width ? ceil_div(p->inner, p->width) : 0;
  p->steps = std::max<int64_t>(1, tiles.tile / std::max<int64_t>(1, p->width));
  const double elements = static_cast<double>(tiles.length);
  const auto cheap = static_cast<int64_t>(kBlockNanoseconds * elements / (tiles.cost + 1e-3));
  const int64_t smallest = std::clamp<int64_t>(cheap, 1, kSmallestBlock);
  const int64_t strip = p->reduced * p->width * tiles.length;  // elements
  const int64_t enough = std::max(ceil_div(kChunks, std::max<int64_t>(1, p->outer * p->strips)),
                                  strip / kLargestChunk);
  const int64_t most = std::max<int64_t>(1, strip / smallest);
  p->block = std::max<int64_t>(1, round_up(ceil_div(p->reduced, std::min(enough, most)), p->steps));
  p->blocks = ceil_div(p->reduced, p->block);
}

void finish_compiling(const TileGroup& group, int64_t span, GroupProgram* p) {
  p->span = span ? std::min(span, p->block) : p->block;
  p->spans = ceil_div(p->reduced, p->span);
  const auto rows = static_cast<double>(p->tiles.rows);
  p->nanoseconds = p->tiles.cost * rows;
  bool columns = false;
  int64_t flush = 1;
  for (size_t i = 0; i < p->tiles.reduced.size(); ++i) {
    compile_reduction(group.reductions[i], p->tiles.reduced[i], p);
    columns |= p->reductions.back().columns;
    if (group.reductions[i].inner > 1) flush = flush_of(group.reductions[i]);
  }
  p->set_bytes = round_up(p->set_bytes, 64);
  p->flush = columns ? flush : p->span;
  place_leaves(p);
}

}  // namespace

GroupProgram compile_group(const TileGroup& group) {
  GroupProgram p;
  TileOrder order = TileOrder::Rows;
  if (is_general(group)) {
    const Reduction& r = group.reductions.front();
    const int64_t block = r.reduced * r.inner;
    order = block > 0 && block <= kLargestFold ? TileOrder::Blocks : TileOrder::Any;
    if (order == TileOrder::Any) {
      p.outer = r.outer;
      p.inner = r.inner;
    }
  }
  p.tiles = compile_tiles(group, order);
  p.reduced = order == TileOrder::Any ? group.reductions.front().reduced : p.tiles.rows;
  cut(&p);
  const int64_t span = order == TileOrder::Blocks ? 0 : rows_per_span(group);
  if (span) {
    cut_at_spans(span, &p);
  } else if (std::ranges::any_of(group.reductions, is_ordered)) {
    cut_at_leaves(&p);
  }
  finish_compiling(group, span, &p);
  return p;
}

bool compile_units(const TileGroup& group, int64_t elements, GroupProgram* out) {
  if (is_general(group) || group.count == 0 || elements % group.length) return false;
  GroupProgram p;
  p.tiles = compile_tiles(group, TileOrder::Rows);
  p.reduced = p.tiles.rows;
  cut(&p);
  p.block = elements / group.length;
  p.blocks = ceil_div(p.reduced, p.block);
  const int64_t span = rows_per_span(group);
  if (p.blocks > 1 && (p.block % p.tiles.align || (span && p.block % span))) return false;
  finish_compiling(group, span, &p);
  *out = std::move(p);
  return true;
}

}  // namespace pullback
