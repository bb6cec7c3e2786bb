// When an assignment to items of a tensor is refused.
#include "bind/types/assignable.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "bind/common/tensor.h"
#include "bind/common/trace_checks.h"
#include "graph/variable.h"
#include "graph/walk.h"

namespace pullback {
namespace {

constexpr const char* kCopy = "; change a copy: y = x.copy(); y[...] = value";

[[noreturn]] void fail_outside() {
  fail(ErrorKind::Type, "item assignment", user_place(),
       ": this tensor was created outside of the function that is being traced, and later calls "
       "could not change it",
       kCopy, ", or use a Variable");
}

bool is_temporary(PyObject* object) {
#if PY_VERSION_HEX >= 0x030E0000  // a local variable does not count as a reference there
  return PyUnstable_Object_IsUniqueReferencedTemporary(object);
#else
  return Py_REFCNT(object) == 1;
#endif
}

// True if `x` is a view of a tensor that is still in use.
bool whole_is_held(const Node* x) {
  if (traits(x->op).kind != OpKind::View || x->inputs_count != 1) return false;
  const Node* whole = x->in[0];
  return whole->refs > whole->users || whole_is_held(whole);
}

// An assignment to a part changes nothing else. In a program written for NumPy, the value would be
// lost without an error.
void check_whole(PyObject* object, const Node* x) {
  if (is_temporary(object)) {
    fail(
        ErrorKind::Type, "item assignment", user_place(),
        ": this tensor has no name, so that the new value would be lost: a part of a tensor is not "
        "a view; index once, z[i, j] = value");
  }
  // Other parts than those by an index are copies in NumPy, for example the result of take().
  const bool is_view = reinterpret_cast<PyTensor*>(object)->is_part || x->op == Op::reshape ||
                       x->op == Op::transpose;
  if (is_view && whole_is_held(x)) {
    fail(ErrorKind::Type, "item assignment", user_place(),
         ": this tensor is a part or another shape of one that would not change: it is not a view; "
         "assign to that one, z[i, j] = value, or change a copy: y = x.copy(); y[...] = value");
  }
}

}  // namespace

void check_assignable(PyObject* object, const Node* x) {
  if (Py_TYPE(object) != tensor_type) {
    fail(ErrorKind::Type, "'", Py_TYPE(object)->tp_name,
         "' object does not support item assignment");
  }
  if (x->watchers || x->holders) {
    fail(ErrorKind::Type, "item assignment", user_place(),
         ": a tape watches this tensor, and its gradient refers to the current value", kCopy);
  }
  if (x->op == Op::argument) {
    fail(ErrorKind::Type, "item assignment", user_place(),
         ": this tensor is an argument of a function that is being traced, and a call cannot "
         "change its arguments",
         kCopy);
  }
  if (variable_scope_active() && x->seq < variable_scope_since()) fail_outside();
  check_whole(object, x);
}

// A trace has tested the tensor already, and its placeholders of variables may be newer than a
// tensor inside.
void check_assigned(const Node* x, Node* changed) {
  if (variable_scope_active() || x->flags & kTraced || !(changed->flags & kTraced)) return;
  std::vector<Node*> below;
  Node* const roots[] = {changed};
  walk(std::span<Node* const>(roots), &below, [](const Node* node) {
    return node->flags & kTraced ? node->inputs() : std::span<Node* const>();
  });
  const auto newer = [&](const Node* node) {
    return node->op == Op::argument && node->flags & kTraced && node->seq > x->seq;
  };
  if (std::ranges::any_of(below, newer)) fail_outside();
}

}  // namespace pullback
