// One call of a function that custom_gradient decorates: runs it under a tape, makes its results
// nodes with the rule, and returns them in their structure. Jvps, second rules and verifications
// are in python/pullback/_autodiff/custom.py (Decorated). Start at call_with_rule.

#include <algorithm>
#include <memory>

#include "bind/arrays/convert.h"
#include "bind/arrays/tree.h"
#include "bind/common/tensor.h"
#include "bind/grad/rules.h"
#include "bind/operations/callback.h"
#include "grad/tape.h"
#include "ops/ops.h"

namespace pullback {
namespace {

bool is_source(const py::object& x) { return is_tensor(x.ptr()) || is_variable(x.ptr()); }

// The fields of the Python class Decorated, in their order.
struct Decorated {
  explicit Decorated(PyObject* tuple)
      : f(PyTuple_GET_ITEM(tuple, 0)),
        known(PyTuple_GET_ITEM(tuple, 1)),
        pair_of(PyTuple_GET_ITEM(tuple, 2)),
        as_tensor(PyTuple_GET_ITEM(tuple, 3)),
        rule_of(PyTuple_GET_ITEM(tuple, 4)) {}

  const py::handle f, known, pair_of, as_tensor, rule_of;
};

class CustomCall {
 public:
  CustomCall(PyObject* decorated, PyObject* values) : decorated_(decorated) {
    Tree::flatten(values, &leaves_, Tree::Leaves{.none = true});  // a rule may answer for None
    // The inputs before the call: f may assign items of them.
    for (const py::object& x : leaves_) {
      if (is_tensor(x.ptr())) inputs_.push_back(resolve_weak(as_node(x.ptr())));
      if (is_variable(x.ptr())) inputs_.emplace_back();
    }
  }

  void run(PyObject* args, PyObject* kwargs) {
    if (Tape::any_recording()) {  // the rule gives their derivative
      std::vector<NodeRef> tensors;
      for (const py::object& x : leaves_) {
        if (is_tensor(x.ptr())) tensors.push_back(as_node(x.ptr()));
      }
      tape_->exempt(std::move(tensors));
    }
    first_ = next_seq();
    tape_->start();
    py::object returned =
        called([&] { return stolen(PyObject_Call(decorated_.f.ptr(), args, kwargs)); });
    tape_->stop();
    PyObject* pair = returned.ptr();
    if (!(PyTuple_Check(pair) || PyList_Check(pair)) || PySequence_Fast_GET_SIZE(pair) != 2 ||
        !PyCallable_Check(PySequence_Fast_GET_ITEM(pair, 1))) {
      returned = called([&] { return decorated_.pair_of(returned); });  // raises an error
      pair = returned.ptr();
    }
    result_ = py::reinterpret_borrow<py::object>(PySequence_Fast_GET_ITEM(pair, 0));
    rule_ = py::reinterpret_borrow<py::object>(PySequence_Fast_GET_ITEM(pair, 1));
  }

  py::object finish(py::handle keys, py::handle values) {
    std::vector<py::object> results;
    const Tree structure = Tree::flatten(result_.ptr(), &results);
    const py::list leaves = py::cast(leaves_);
    std::vector<NodeRef> inside;
    for (py::object& y : results) {
      if (!is_source(y)) y = called([&] { return decorated_.as_tensor(y, leaves); });
      if (is_source(y)) inside.push_back(as_node(y.ptr()));
    }
    const Ref<Rule> rule = make_rule(keys, values, leaves, &inside);
    const std::vector<NodeRef> outputs = custom(inside, inputs_, rule);
    if (is_tensor(result_.ptr())) return tensor_object(outputs[0]);
    size_t next = 0;
    for (py::object& y : results) {
      if (is_source(y)) y = tensor_object(outputs[next++]);
    }
    return structure.unflatten(results);
  }

 private:
  // Completes the inputs of the rule, and replaces the results inside if they are copies.
  Ref<Rule> make_rule(py::handle keys, py::handle values, const py::list& leaves,
                      std::vector<NodeRef>* inside) {
    const py::list variables = variables_beyond_arguments();
    py::object call = py::none();
    if (!variables.empty()) {  // their gradients are the ordinary ones
      auto* tape = tape_.release();
      call = py::make_tuple(variables, *inside, recording_body() ? py::cast(first_) : py::none(),
                            py::cast(tape, py::return_value_policy::take_ownership));
    }
    const py::tuple made =
        called([&] { return decorated_.rule_of(rule_, keys, values, leaves, call); });
    size_t next = 0;
    for (const py::object& x : leaves_) {
      if (!is_source(x)) continue;
      NodeRef& input = inputs_[next++];
      if (!input) input = as_node(x.ptr());
    }
    for (py::handle x : made[2]) inputs_.push_back(as_node(x.ptr()));
    if (!made[3].is_none()) *inside = made[3].cast<std::vector<NodeRef>>();
    return python_rule(made[0], made[1].cast<std::string>());
  }

  py::list variables_beyond_arguments() const {
    py::list out;
    for (const Ref<Variable>& variable : tape_->watched_variables()) {
      const auto is_it = [&](py::handle x) {
        return is_variable(x.ptr()) && variable_of(x.ptr()) == variable.get();
      };
      if (std::ranges::any_of(leaves_, is_it)) continue;
      if (std::any_of(decorated_.known.begin(), decorated_.known.end(), is_it)) continue;
      out.append(stolen(wrap(variable)));
    }
    return out;
  }

  const Decorated decorated_;
  std::vector<py::object> leaves_;  // of the arguments
  std::vector<NodeRef> inputs_;     // tensors among them; null for variables until they are read
  std::unique_ptr<Tape> tape_ = std::make_unique<Tape>(true);
  uint64_t first_ = 0;  // number of the first node that f makes
  py::object result_, rule_;
};

PyObject* call_with_rule(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded<PyObject*>(nullptr, [&] {
    if (count != 5 || !PyTuple_Check(args[0]) || PyTuple_GET_SIZE(args[0]) != 5 ||
        !PyTuple_Check(args[1]) || !PyDict_Check(args[2])) {
      fail(ErrorKind::Type,
           "call_with_rule: expected a Decorated, arguments, keyword arguments, "
           "names and values");
    }
    CustomCall call(args[0], args[4]);
    call.run(args[1], args[2]);
    return call.finish(args[3], args[4]).release().ptr();
  });
}

PyMethodDef functions[] = {
    {"call_with_rule", fast(call_with_rule), METH_FASTCALL,
     "call_with_rule(decorated: tuple[typing.Any, ...], args: tuple[typing.Any, ...], kwargs: "
     "dict[str, typing.Any], names: collections.abc.Sequence[str], values: "
     "collections.abc.Sequence[typing.Any], /) -> typing.Any\n\n"
     "Call a function that custom_gradient decorates; `values` are its arguments by name."},
};

}  // namespace

void bind_custom_gradient(py::module_& m) { add_functions(m, functions); }

}  // namespace pullback
