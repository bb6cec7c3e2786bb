// GroupText: a tile group as the texts of kernels in CUDA C++, which run one after another.
//
// A text depends on the operations, the dtypes and the forms of the views. Sizes, strides and
// numbers are parameters, so that another batch size compiles nothing. No thread waits for another:
// a fold is a kernel whose threads fold parts of rows, and kernels that combine the parts. The
// order of a fold depends on sizes alone. Start at group_text().
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "plan/tile_group.h"

namespace pullback::cuda {

struct KernelText {
  // A parameter of eight bytes: the address of a view, a number of the run, the address of scratch
  // memory at the offset `bits`, or `bits`.
  struct Parameter {
    const View* view = nullptr;          // of the group
    const ScalarLoad* scalar = nullptr;  // of the group
    bool scratch = false;
    uint64_t bits = 0;
  };

  std::string text;  // its kernel is named kKernelName
  std::vector<Parameter> parameters;
  int64_t count = 0;  // of what its threads share
};
constexpr const char* kKernelName = "group";

struct GroupText {
  std::vector<KernelText> kernels;
  int64_t scratch = 0;  // bytes
};

// The texts, which refer to `group`; or why it has none: a name of an operation or of a dtype.
std::variant<GroupText, std::string> group_text(const TileGroup& group);

}  // namespace pullback::cuda
