// The plan: the steps that compute a subgraph. Plain data.
//
// A Plan lists slots (memory of arguments, outputs and temporaries) and Steps that read and write
// Views of slots. A plan owns no memory and has no nodes, no Python and no gradients; a backend
// reads nothing else. It is immutable once it is in the cache, so threads share it without a lock.
// The kinds of steps are in plan/steps.h, tile groups in plan/tile_group.h. Start reading at Plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "graph/op.h"
#include "plan/steps.h"

namespace pullback {

enum class SlotKind : uint8_t { Argument, Output, Temporary };

struct Slot {
  SlotKind kind;
  DType dtype;
  int64_t bytes = 0;
  // Argument, Output: number in the run's list; Temporary: offset in the arena, in bytes.
  int64_t index = 0;
};

// An operation that a step computes, by the outermost composite that it is inside of if there is
// one, and where the program made it.
struct Label {
  Op op;
  Composite composite;
  uint32_t site;  // see Runtime::find_site; 0: unknown
};

struct Step {
  Work work;
  Op source;                              // the operation that errors name
  Composite composite = Composite::None;  // the outermost one that the operation is inside of
  // Only with LocatedPlans (plan/passes/cache.h) or while sites are recorded: the operations, the
  // most expensive ones first.
  std::vector<Label> labels = {};
};

const char* name_of(const Step& step);  // for profiles: its composite, or its operation
const char* name_of(const Label& label);

struct Plan {
  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<int32_t> arguments;     // slot of each argument
  std::vector<int32_t> outputs;       // slot of each output; may repeat, may be an argument's slot
  std::vector<int64_t> output_bytes;  // of each Output slot: what a run allocates
  // Arguments that are replaced, and the places among `outputs` of their new values. If there are
  // any, no other argument is donated, and each of them only to this output: while a run writes
  // there, other threads may wait for the new value of a variable.
  std::vector<std::pair<uint32_t, uint32_t>> replaced;
  int32_t scalars = 0;
  int64_t arena_bytes = 0;
  // Donation: for each Output slot the argument whose memory it may take, if there is one; empty:
  // none at all. A run does so if the value is not needed after it. Such an argument is donated
  // once and is not an output; its last read is not after the first write to the output, as if both
  // were one slot. (If that write copies all of the argument, the run has nothing to do.)
  std::vector<std::optional<int32_t>> donated_arguments;
  // The first step that writes donated memory. From there on no step may fail after it has begun to
  // write, and a run is not interrupted.
  int32_t point_of_no_return = INT32_MAX;
};

// The epilogue of a product; null if the step has none.
const TileGroup* epilogue_of(const Step& step);
// The tile group of a step: the step itself, or its epilogue. Null if it has none.
const TileGroup* group_of(const Step& step);
inline TileGroup* group_of(Step& step) {
  return const_cast<TileGroup*>(group_of(std::as_const(step)));
}

// True if the steps of other plans do its work.
bool has_plans(const Step& step);

// True if it can fail at run time.
bool can_fail(const Step& step);

// Bytes of a plan and everything it owns.
int64_t bytes_of(const Plan& plan);

// A text listing, one line per step. `line_of` returns the text of a site, which may be empty.
using LineText = std::string (*)(uint32_t site);
std::string dump(const Plan& plan, LineText line_of = nullptr);

}  // namespace pullback
