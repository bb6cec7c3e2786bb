// How a group is cut: see GroupProgram.
#include <algorithm>

#include "backend/cpu/group_run.h"
#include "backend/cpu/widen.h"

namespace pullback {
namespace {

constexpr int64_t kFlushRows = 128;
constexpr int64_t kSmallestBlock = 16 * 1024;  // elements,
constexpr double kBlockNanoseconds = 20000;    // or fewer if they cost so much
constexpr int64_t kLargestFold = 2048;         // elements that are folded within a tile

// A reduction of another form than everything or columns: its group has nothing else to reduce.
bool is_general(const TileGroup& group) {
  if (group.length > 1 || group.reductions.size() != 1) return false;
  const Reduction& r = group.reductions.front();
  return r.outer != 1 || r.inner != 1;
}

void compile_reduction(const Reduction& r, const TileProgram::Reduced& from, GroupProgram* p) {
  GroupProgram::Reduce out;
  out.fold = kernels().folds.of[fold_index(r.op)][static_cast<int>(r.dtype)];
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
  }
  out.accumulators = p->set_bytes;
  p->set_bytes += round_up(out.width * size_of(out.fold.accumulator), out.width > 1 ? 64 : 8);
  p->reductions.push_back(out);
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

void finish_compiling(const TileGroup& group, GroupProgram* p) {
  const auto rows = static_cast<double>(p->tiles.rows);
  p->nanoseconds = p->tiles.cost * rows;
  bool columns = false;
  for (size_t i = 0; i < p->tiles.reduced.size(); ++i) {
    compile_reduction(group.reductions[i], p->tiles.reduced[i], p);
    columns |= p->reductions.back().columns;
  }
  p->set_bytes = round_up(p->set_bytes, 64);
  p->flush = columns ? std::max<int64_t>(1, kFlushRows / p->steps) : 16;
}

GroupProgram compile_whole(const TileGroup& group) {
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
  finish_compiling(group, &p);
  return p;
}

bool cut_in_pieces(const TileGroup& group, int64_t elements, GroupProgram* out) {
  if (is_general(group) || group.count == 0 || elements % group.length) return false;
  GroupProgram p;
  p.tiles = compile_tiles(group, TileOrder::Rows);
  p.reduced = p.tiles.rows;
  cut(&p);
  p.block = elements / group.length;
  p.blocks = ceil_div(p.reduced, p.block);
  if (p.block % p.tiles.align && p.blocks > 1) return false;
  finish_compiling(group, &p);
  *out = std::move(p);
  return true;
}

}  // namespace

GroupProgram compile_group(const TileGroup& group) {
  return compile_whole(has_storage(group) ? widened(group) : group);
}

bool compile_pieces(const TileGroup& group, int64_t elements, GroupProgram* out) {
  return cut_in_pieces(has_storage(group) ? widened(group) : group, elements, out);
}

}  // namespace pullback
