// GroupText: a tile group as the text of a kernel in CUDA C++.
//
// A text depends on the operations, the dtypes and the forms of the views. Sizes, strides and
// numbers are parameters, so that another batch size compiles nothing. One thread computes one
// element at a time. Start at group_text().
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "plan/tile_group.h"

namespace pullback::cuda {

struct GroupText {
  // A parameter of eight bytes: the address of a view, a number of the run, or `bits`.
  struct Parameter {
    const View* view = nullptr;          // of the group
    const ScalarLoad* scalar = nullptr;  // of the group
    uint64_t bits = 0;
  };

  std::string text;  // its kernel is named kKernelName
  std::vector<Parameter> parameters;
};

constexpr const char* kKernelName = "group";

// The text, which refers to `group`; or why it has none: a name of an operation or of a dtype.
std::variant<GroupText, std::string> group_text(const TileGroup& group);

}  // namespace pullback::cuda
