// KernelPrinter: prints one kernel over the elements or the rows of a tile group.
//
// require() names the values that the kernel needs; print_values() prints these and their operands.
// Values of folds are read from scratch memory, where earlier kernels left them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backend/cuda/kernel_text.h"

namespace pullback::cuda {

class KernelPrinter : public KernelBuilder {
 public:
  // `folded`: for each value, where a fold has left its entries in scratch memory. `rows`: the
  // kernel is over rows.
  KernelPrinter(const TileGroup& group, const std::vector<std::optional<int64_t>>& folded,
                bool rows);

  void require(int32_t value);
  // Defines v<number> of each required value. In the text, `i` is the number of the element (of the
  // row, in a kernel over rows).
  void print_values();
  void print_store(const Store& store);

 private:
  void print_load(int32_t value);
  void print_row(Op op);
  void print_instruction(int32_t value, const Instruction& instruction);
  bool is_cast(const Instruction& instruction) const;
  int32_t loads() const { return static_cast<int32_t>(group_.loads.size()); }
  int32_t leaves() const { return loads() + static_cast<int32_t>(group_.scalars.size()); }
  DType dtype_of(int32_t value) const;

  const TileGroup& group_;
  const std::vector<std::optional<int64_t>>& folded_;
  const bool rows_;
  std::vector<uint8_t> required_;  // of each value
  std::set<Op> printed_;           // rows of elementwise.def
  int stores_ = 0;
};

}  // namespace pullback::cuda
