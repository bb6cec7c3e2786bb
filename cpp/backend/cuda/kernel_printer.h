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

#include "backend/cuda/group_text.h"
#include "base/error.h"

namespace pullback::cuda {

class KernelPrinter {
 public:
  // `folded`: for each value, where a fold has left its entries in scratch memory. `rows`: the
  // kernel is over rows.
  KernelPrinter(const TileGroup& group, const std::vector<std::optional<int64_t>>& folded,
                bool rows);

  void require(int32_t value);
  std::string parameter(const std::string& declaration, KernelText::Parameter parameter);
  std::string size(int64_t size);  // as a parameter; returns its name
  template <class... Parts>
  void line(const Parts&... parts) {
    body_ += text(parts..., "\n");
  }
  // Defines v<number> of each required value. In the text, `i` is the number of the element (of the
  // row, in a kernel over rows).
  void print_values();
  void print_store(const Store& store);
  void print_fold_functions() { uses_functions_ = true; }
  // The kernel. `count` is a name of a parameter.
  KernelText finish(int64_t count);

 private:
  std::string offset_of(const View& view, const std::string& index);
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
  KernelText out_;
  std::string parameters_, functions_, body_;
  std::set<Op> printed_;  // rows of elementwise.def
  bool uses_functions_ = false;
  bool has_rows_ = false;  // `row` is defined
  int sizes_ = 0, offsets_ = 0, stores_ = 0;
};

// The text of a kernel whose body defines `i` from the loop over [0, count).
std::string kernel_text(bool uses_functions, const std::string& functions,
                        const std::string& parameters, const std::string& body);

}  // namespace pullback::cuda
