// Refusals: looking at a tensor that has no value because a function is being traced.
#pragma once

#include <span>
#include <string>

#include "graph/node.h"

namespace pullback {

// Raises RuntimeError for a traced tensor, with the user's file and line; `advice` says what to do
// instead.
void check_has_value(const NodeRef& x, const char* who, const char* advice);

// Raises RuntimeError for an x that was made while a function or a body was traced, and cannot be
// what `ys` were made from, because it left the trace without being returned. `who` and `what` name
// the function that was called and the argument.
void check_not_leaked(const Node* x, std::span<const NodeRef> ys, const char* who,
                      const std::string& what);

// The folder of this package, with a separator at the end.
const std::string& package_folder();

// Whether the innermost Python frame is one of this package.
bool called_by_library();

// The innermost Python frame of the user's program: outside of this package and, if there is one,
// of all installed packages and the standard library.
struct UserFrame {
  std::string file;
  int64_t line = 0;
  int level = 0;  // frames from the innermost, 1; 0: none was found
};
UserFrame user_frame();

// " (train.py:12)": file and line of user_frame(); empty if it found no frame.
std::string user_place();

}  // namespace pullback
