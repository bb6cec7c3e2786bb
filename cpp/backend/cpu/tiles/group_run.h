// GroupProgram and GroupRun: a whole tile group, that is its tile program, the reductions at its
// end, and how both are cut into units of work, which run in parallel. A GroupProgram is immutable;
// a GroupRun belongs to one run. Start at compile_group() and GroupRun::run().
#pragma once

#include "backend/cpu/tiles/tile_run.h"

namespace pullback {

// The rows of the program are seen as [outer, reduced, inner]. inner and outer are 1, except for a
// large reduction over a middle axis. A unit is `block` steps along reduced, of `width` rows each;
// it runs one tile at a time.
//
// The order of a floating-point sum depends on the sizes of the reduction alone, never on the rest
// of the group, whose tiles and units may have any size. There are two kinds of reductions:
//
//   - Of everything (Reduce::leaves): each leaf of kLeaf values has a sum, which may continue from
//     tile to tile. A leaf that lies in several units is copied to scratch memory and summed at the
//     end.
//   - Of columns, and all whose order has no effect: each span of rows has accumulators, which are
//     combined in order. The sizes of the reduction determine the spans of columns.
struct GroupProgram {
  struct Reduce {
    Fold fold{};
    TileKernel merge = nullptr;   // merges one set of accumulators into another
    TileKernel finish = nullptr;  // converts accumulators to results of the dtype of out
    int32_t place = -1;
    bool columns = false;
    bool leaves = false;
    int64_t value = 0;  // bytes
    int64_t width = 1;  // columns; 1 unless `columns`
    int64_t lanes = 1;  // accumulators per column, in each of `parts` sets
    int64_t parts = 1;
    int64_t length = 1;        // values of a row, if not `columns`
    int64_t accumulators = 0;  // bytes in a set; if `leaves`, the sums of a group with one span
    // If `leaves`. leaf_count: leaves per outer index. In scratch memory, if there are several
    // spans: sums and, if units share leaves, one leaf per block (shared). state: of a leaf, in a
    // set.
    Fold total{};  // fold of the sums
    int64_t leaf_count = 0;
    int64_t sums = -1, shared = -1;
    int64_t state = 0;
    int64_t results = 1;
    int64_t out_element = 0;  // bytes
    int32_t out_slot = -1;
    int64_t out_offset = 0;  // bytes
  };

  TileProgram tiles;
  std::vector<Reduce> reductions;
  int64_t set_bytes = 0;   // accumulators of all reductions except leaves
  int64_t leaf_bytes = 0;  // accumulators of leaves
  double nanoseconds = 0;  // rough estimate for one thread

  int64_t outer = 1, reduced = 0, inner = 1;  // the rows of the program, as above
  int64_t width = 1, strips = 1;              // rows along inner per unit, and units along inner
  int64_t steps = 1;                          // steps in a tile
  int64_t block = 1, blocks = 1;  // steps along reduced per unit, and units along reduced
  int64_t span = 1, spans = 1;    // rows with accumulators of their own; a block is several spans
  int64_t flush = 1;          // rows added to an accumulator before it is added to the next level
  int64_t scratch_bytes = 0;  // memory in which units leave their spans for combine()

  int64_t units() const { return outer * strips * blocks; }
};

GroupProgram compile_group(const TileGroup& group);

// The same with one unit per `elements` elements of the group. The step that computes these
// elements (a product) runs each unit as soon as its elements exist. Returns false if the group
// cannot be cut so.
bool compile_units(const TileGroup& group, int64_t elements, GroupProgram* out);

// One run of a group. `scratch` has scratch_bytes.
class GroupRun {
 public:
  GroupRun(const GroupProgram& program, const Slots& slots, char* scratch);

  Status run();
  // Instead of run(): run_unit for each unit, on any thread and in any order, then finish().
  void run_unit(int64_t unit);
  Status finish();

 private:
  // Memory of one thread: a frame, two sets of accumulators, and the leaves.
  int64_t memory_bytes() const {
    return TileFrame::frame_bytes(program_.tiles) + 2 * program_.set_bytes + program_.leaf_bytes;
  }
  Problem run_unit(TileFrame& frame, char* sets, int64_t unit) const;
  struct Block;
  struct Part;
  void clear(char* set) const;
  void fold(const TileFrame& frame, const Block& block, const Part& part) const;
  void fold_leaves(const GroupProgram::Reduce& r, const Block& block, const char* values,
                   int64_t at, int64_t left) const;
  void fold_shared_leaves(const GroupProgram::Reduce& r, int64_t o) const;
  void add_leaves(const GroupProgram::Reduce& r, double* sums) const;
  double* sums_of(const GroupProgram::Reduce& r, char* set, int64_t o) const;
  void merge(char* into, const char* set) const;
  void store(char* set, int64_t o, int64_t left, int64_t width) const;
  void store_identities() const;
  void combine() const;

  const GroupProgram& program_;
  const Slots& slots_;
  char* scratch_;
  int64_t stamp_;
  FirstProblem first_;
};

}  // namespace pullback
