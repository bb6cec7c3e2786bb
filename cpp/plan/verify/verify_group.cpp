// Verifies a tile group: values have an entry per element or per row and are read as such; a store
// may overwrite memory that is read only if that reader is done.
#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "base/error.h"
#include "plan/step_views.h"
#include "plan/verify/verify.h"

namespace pullback {
namespace {

class GroupCheck {
 public:
  GroupCheck(const TileGroup& group, const std::vector<int32_t>& memory, size_t step)
      : group_(group),
        memory_(memory),
        step_(step),
        leaves_(static_cast<int32_t>(group.loads.size() + group.scalars.size())) {}

  void run() {
    if (group_.length < 1) broken(step_, "rows of a wrong length");
    if (group_.count < 0 || group_.count % group_.length) broken(step_, "a part of a row");
    for (const View& view : group_.loads) add(entries_are_rows(view.shape.size(), "a load"));
    for (size_t i = 0; i < group_.scalars.size(); ++i) add(Level::Any);
    for (const Instruction& instruction : group_.instructions) check_instruction(instruction);
    for (const Store& store : group_.stores) check_store(store);
    for (const Reduction& reduction : group_.reductions) check_reduction(reduction);
    check_in_place();
  }

 private:
  enum class Level : uint8_t { Any, Row, Element };

  void add(Level level) {
    levels_.push_back(level);
    last_read_.push_back(-1);
  }
  Level entries_are_rows(int64_t entries, const char* what) const {
    if (group_.count == 0 && entries == 0) return Level::Any;
    if (entries == group_.count) return Level::Element;
    if (entries != group_.rows()) broken(step_, text(what, " of another element count").c_str());
    return Level::Row;
  }
  // A value that is read at `when`, the number of the instruction.
  Level read(int32_t value, int32_t when) {
    if (value < 0 || value >= static_cast<int32_t>(levels_.size())) {
      broken(step_, "a read of no value, or of a later one");
    }
    last_read_[value] = when;
    return levels_[value];
  }

  void check_instruction(const Instruction& instruction) {
    const Op op = instruction.op;
    const bool folds = is_fold(op) || op == Op::pick;
    if (!is_elementwise(op) && !folds && op != Op::place) broken(step_, "no operation of a group");
    if (group_.length > 1 && folds && !instruction.row) broken(step_, "a fold over elements");
    if (group_.length > 1 && op == Op::place && instruction.row) broken(step_, "a place over rows");
    const auto now = static_cast<int32_t>(levels_.size()) - leaves_;
    for (int k = 0; k < instruction.in.size(); ++k) {
      const Level level = read(instruction.in[k], op == Op::place ? now + 1 : now);
      const bool over_rows = op == Op::place || (instruction.row && !(folds && k == 0));
      if (group_.length > 1 && over_rows && level == Level::Element) {
        broken(step_, "an instruction over rows reads elements");
      }
    }
    add(instruction.row && group_.length > 1 ? Level::Row : Level::Element);
  }

  void check_store(const Store& store) {
    const Level level = read(store.value, kEnd);
    const Level entries = entries_are_rows(store.view.shape.size(), "a store");
    if (level != Level::Any && entries != Level::Any && level != entries) {
      broken(step_, "a store of another level");
    }
    if (!in_order(store.view)) broken(step_, "a store that is not in the order of memory");
  }

  void check_reduction(const Reduction& r) {
    const Level level = read(r.value, kEnd);
    const Level entries = entries_are_rows(
        product_of(step_, product_of(step_, r.outer, r.reduced), r.inner), "a reduction");
    if (r.out.shape.size() != product_of(step_, r.outer, r.inner) || !is_flat(r.out)) {
      broken(step_, "a reduction to another count");
    }
    if (level == Level::Element && entries == Level::Row) broken(step_, "a reduction of elements");
    const bool everything = r.outer == 1 && r.inner == 1;
    const bool columns = r.outer == 1 && r.inner == group_.length && entries != Level::Row;
    const bool alone = group_.length == 1 && group_.reductions.size() == 1;
    if (!everything && !columns && !alone) broken(step_, "a reduction of a form of its own");
  }

  // Memory that is both read and written: a flat load whose last read is before its store's value
  // is computed. Results of reductions share no memory.
  void check_in_place() const {
    std::unordered_multimap<int32_t, const Store*> stores;  // by memory; null: the result of a
                                                            // reduction
    const auto write = [&](const View& view, const Store* store) {
      const auto [begin, end] = stores.equal_range(memory_[view.slot]);
      for (auto other = begin; other != end; ++other) {
        if (!store || !other->second || !disjoint(other->second->view, view)) {
          broken(step_, "two stores to a place");
        }
      }
      stores.insert({memory_[view.slot], store});
    };
    for (const Store& store : group_.stores) write(store.view, &store);
    for (const Reduction& reduction : group_.reductions) write(reduction.out, nullptr);
    for (size_t i = 0; i < group_.loads.size(); ++i) {
      const auto found = stores.find(memory_[group_.loads[i].slot]);
      if (found == stores.end()) continue;
      if (!found->second) broken(step_, "a reduction to memory that is read");
      const Store& store = *found->second;
      const View& load = group_.loads[i];
      if (!is_flat(load) || !is_flat(store.view) || load.shape.size() != store.view.shape.size()) {
        broken(step_, "a store over memory that is read otherwise");
      }
      if (last_read_[i] == kEnd || last_read_[i] > store.value - leaves_) {
        broken(step_, "a store over memory that is still read");
      }
    }
  }

  static constexpr int32_t kEnd = INT32_MAX;
  const TileGroup& group_;
  const std::vector<int32_t>& memory_;
  const size_t step_;
  const int32_t leaves_;
  std::vector<Level> levels_;
  std::vector<int32_t> last_read_;
};

}  // namespace

void verify_group(const TileGroup& group, const std::vector<int32_t>& memory, size_t step) {
  GroupCheck(group, memory, step).run();
}

// Panels of the result run through the epilogue while other panels are still computed.
void verify_epilogue(const std::vector<int32_t>& operands, const View& result,
                     const TileGroup& epilogue, const std::vector<int32_t>& memory, size_t step) {
  verify_group(epilogue, memory, step);
  if (epilogue.count != result.shape.size()) broken(step, "a product's group of another count");
  bool reads = false;
  for_each_view(epilogue, [&](const View& view, bool write) {
    const int32_t there = memory[view.slot];
    if (there == memory[result.slot]) {
      if (!is_flat(view) || view.shape.size() != epilogue.count) {
        broken(step, "a product's group reads it otherwise than flat");
      }
      reads |= !write;
    }
    if (write && std::ranges::find(operands, there) != operands.end()) {
      broken(step, "a product's group writes to its factors");
    }
  });
  if (!reads) broken(step, "a product's group does not read it");
}

}  // namespace pullback
