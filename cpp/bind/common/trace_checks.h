// Errors for tensors of traces: reading a traced tensor that has no value, and using a tensor after
// its trace has ended.
#pragma once

#include <span>
#include <string>

#include "graph/node.h"

namespace pullback {

// Raises RuntimeError for a traced tensor, with the user's file and line; `advice` names the
// remedy.
void check_has_value(const NodeRef& x, const char* who, const char* advice);

// Raises RuntimeError for an x that left a trace without being returned, so that `ys` cannot depend
// on it. `who` and `what` name the function that was called and the argument.
void check_not_leaked(const Node* x, std::span<const NodeRef> ys, const char* who,
                      const std::string& what);

// The folder of this package, with a separator at the end.
const std::string& package_folder();

// True if the innermost Python frame belongs to this package.
bool called_by_library();

// The innermost Python frame of the user's program: outside of this package and, if one exists, of
// all installed packages and the standard library.
struct UserFrame {
  std::string file;
  int64_t line = 0;
  int level = 0;  // frames from the innermost, 1; 0: not found
};
UserFrame user_frame();

// "train.py:12", or "Cell In[3], line 2" in a notebook; `brief`: without the folder.
std::string location(const std::string& file, int64_t line, bool brief = false);

// " (train.py:12)": file and line of user_frame(); empty if it found no frame.
std::string user_place();

}  // namespace pullback
