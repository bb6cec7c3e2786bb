// A whole tile group: its program, the reductions at its end, and how both are cut into pieces.
#pragma once

#include "backend/cpu/tile_run.h"

namespace pullback {

// The rows of the program are seen as [outer, reduced, inner]: inner is 1, and outer too, but for a
// large reduction over a middle axis. A unit is `block` steps along reduced, of `width` rows each;
// it runs a tile at a time into accumulators of its own. The accumulators of all units along
// reduced are combined in their order. All of it depends on the sizes alone.
struct GroupProgram {
  struct Reduce {
    Fold fold{};
    TileKernel merge = nullptr;   // one set of accumulators into another
    TileKernel finish = nullptr;  // accumulators to the dtype of out
    int32_t place = -1;
    bool columns = false;
    int64_t width = 1;         // accumulators, 1 unless `columns`
    int64_t length = 1;        // values of a row, where not `columns`
    int64_t accumulators = 0;  // where they are in a set, bytes
    int64_t results = 1;
    int64_t out_element = 0;  // bytes
    int32_t out_slot = -1;
    int64_t out_offset = 0;  // bytes
  };

  TileProgram tiles;
  std::vector<Reduce> reductions;
  int64_t set_bytes = 0;   // of the accumulators of all reductions
  double nanoseconds = 0;  // on one thread, roughly

  int64_t outer = 1, reduced = 0, inner = 1;
  int64_t width = 1, strips = 1;
  int64_t steps = 1;  // of a tile
  int64_t block = 1, blocks = 1;
  int64_t flush = 1;  // tiles that go into one accumulator before it is added to the next level

  int64_t units() const { return outer * strips * blocks; }
  // What the units leave for combine().
  int64_t scratch_bytes() const { return blocks > 1 ? units() * set_bytes : 0; }
};

GroupProgram compile_group(const TileGroup& group);

// The same, one unit for every `elements` of the group: these are computed by somebody else, who
// runs each unit when its elements are there. False where the group does not fit such pieces.
bool compile_pieces(const TileGroup& group, int64_t elements, GroupProgram* out);

// One run of a group. `scratch` has scratch_bytes().
class GroupRun {
 public:
  GroupRun(const GroupProgram& program, const Slots& slots, char* scratch);

  Status run();
  // Or: run_unit of each unit, on any thread and in any order, and then finish.
  void run_unit(int64_t unit);
  Status finish();

 private:
  // Memory of one thread: a frame and two sets of accumulators.
  int64_t memory_bytes() const {
    return TileFrame::frame_bytes(program_.tiles) + 2 * program_.set_bytes;
  }
  char* thread_memory(bool* fill) const;
  Problem run_unit(TileFrame& frame, char* sets, int64_t unit) const;
  void clear(char* set) const;
  void fold(const TileFrame& frame, char* set, int64_t steps, int64_t width) const;
  void merge(char* into, const char* set) const;
  void store(const char* set, int64_t o, int64_t left, int64_t width) const;
  void store_identities() const;
  void combine() const;

  const GroupProgram& program_;
  const Slots& slots_;
  char* scratch_;
  int64_t stamp_;
  FirstProblem first_;
};

}  // namespace pullback
