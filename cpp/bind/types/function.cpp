// Calls of traced functions: the signature of a call finds its record, or the Python function is
// traced once and a record is made.
//
// Comparing static values, tracing, and freeing a record may each run Python code that calls the
// same function. So the table is searched in copies, and removed records are freed after the table
// is consistent. Longer than 400 lines, since calls and the table have the same invariants.
#include "bind/types/function.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include "bind/arrays/convert.h"
#include "bind/common/tensor.h"
#include "bind/common/trace_checks.h"
#include "bind/explain/sites.h"
#include "bind/grad/rules.h"
#include "grad/adjoint.h"
#include "grad/registry.h"
#include "grad/tape.h"
#include "graph/make.h"
#include "graph/recorder.h"
#include "graph/rule.h"
#include "ops/ops.h"

namespace pullback {
TracedFunction::TracedFunction(py::object f, std::string name, std::string place,
                               std::vector<size_t> positions, std::vector<py::object> names,
                               size_t capacity)
    : f_(std::move(f)),
      name_(std::move(name)),
      place_(std::move(place)),
      positions_(std::move(positions)),
      names_(std::move(names)),
      capacity_(capacity),
      home_(std::make_shared<TracedFunction*>(this)),
      died_(py::cpp_function([home = home_](py::handle reference) {
        if (*home) (*home)->forget(reference.ptr());
      })) {}

TracedFunction::~TracedFunction() {
  *home_ = nullptr;
  drop();
}

// Calls each(i) for every argument: positional ones in order, named ones by name, so that their
// order in the call does not matter.
template <class Each>
void TracedFunction::in_order(const CallArguments& arguments, Each&& each) const {
  for (Py_ssize_t i = 0; i < arguments.positional; ++i) each(i);
  const Py_ssize_t named = arguments.named();
  if (!named) return;
  std::array<Py_ssize_t, 32> few;
  std::vector<Py_ssize_t> many(named > 32 ? named : 0);
  const std::span<Py_ssize_t> order(named > 32 ? many.data() : few.data(), named);
  for (Py_ssize_t k = 0; k < named; ++k) order[k] = k;
  std::sort(order.begin(), order.end(), [&](Py_ssize_t a, Py_ssize_t b) {
    return PyUnicode_Compare(PyTuple_GET_ITEM(arguments.names, a),
                             PyTuple_GET_ITEM(arguments.names, b)) < 0;
  });
  for (Py_ssize_t k : order) each(arguments.positional + k);
}

bool TracedFunction::is_static(const CallArguments& arguments, Py_ssize_t i) const {
  if (i < arguments.positional) {
    return std::find(positions_.begin(), positions_.end(), static_cast<size_t>(i)) !=
           positions_.end();
  }
  PyObject* name = PyTuple_GET_ITEM(arguments.names, i - arguments.positional);
  return std::any_of(names_.begin(), names_.end(), [&](const py::object& fixed) {
    return fixed.ptr() == name || PyUnicode_Compare(fixed.ptr(), name) == 0;
  });
}

void TracedFunction::read_signature(const CallArguments& arguments, Signature* signature) const {
  signature->word(static_cast<uint64_t>(default_float()) |
                  static_cast<uint64_t>(arguments.positional) << 8 |
                  // A trace made while the program records contains records of its nodes.
                  static_cast<uint64_t>(recording) << 7);
  // A gradient inside of the function may have used a rule that has been replaced since.
  signature->word(registry_epoch());
  in_order(arguments, [&](Py_ssize_t i) {
    try {
      if (i >= arguments.positional) {
        signature->key(PyTuple_GET_ITEM(arguments.names, i - arguments.positional));
      }
      if (is_static(arguments, i)) {
        signature->fixed(arguments.values[i]);
      } else {
        visit_pytree(arguments.values[i], *signature, name_.c_str());
      }
    } catch (const Unhashable& problem) {
      refuse(arguments, i, problem.value);
    }
  });
}

void TracedFunction::refuse(const CallArguments& arguments, Py_ssize_t i, py::handle value) const {
  const std::string type = py::str(py::type::of(value).attr("__name__"));
  if (!is_static(arguments, i)) {
    fail(ErrorKind::Type, "function: ", name_, ": expected a tensor or a hashable argument, got ",
         with_article(type), "; make it a tensor or an array, or pass a hashable key of it");
  }
  const std::string which = i < arguments.positional
                                ? text("argument ", static_cast<int64_t>(i))
                                : text("argument '",
                                       std::string(py::str(py::handle(PyTuple_GET_ITEM(
                                           arguments.names, i - arguments.positional)))),
                                       "'");
  fail(ErrorKind::Type, "function: ", name_, ": expected a hashable value for static ", which,
       ", got ", with_article(type),
       is_tensor(value.ptr())
           ? "; do not make it static"
           : "; pass a tuple instead of a list, or a hashable key of the object");
}

std::shared_ptr<FunctionRecord> TracedFunction::find(const Signature& signature, uint64_t hash) {
  const auto [begin, end] = records().equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (it->second->key.matches(signature, true)) return it->second;
  }
  // Comparing values may run Python code, which may change the table.
  std::vector<std::shared_ptr<FunctionRecord>> candidates;
  for (auto it = begin; it != end; ++it) candidates.push_back(it->second);
  for (const auto& candidate : candidates) {
    if (candidate->key.matches(signature, false)) return candidate;
  }
  return nullptr;
}

py::object TracedFunction::call(const CallArguments& arguments) {
  if (is_tracing() || inlining || checking_numbers()) return call_directly(arguments);
  std::array<std::byte, 2048> room;
  std::pmr::monotonic_buffer_resource memory(room.data(), room.size());
  Signature signature(&memory);
  signature.words.reserve(48);
  signature.tensors.reserve(16);
  signature.values.reserve(16);
  read_signature(arguments, &signature);
  // A rule in the body of a loop or branch is called after the body was recorded, with its tensors.
  const auto traced = [](const NodeRef& x) { return (x->flags & kTraced) != 0; };
  if (running_rules && std::ranges::any_of(signature.tensors, traced)) {
    return call_directly(arguments);
  }
  // The operations of a trace made here have the rules of the map, so no other call may use it.
  if (overrides_active()) return run(*trace(arguments, signature), signature);
  const uint64_t hash = signature.hash();
  std::shared_ptr<FunctionRecord> record = find(signature, hash);
  if (locating_plans) {  // not a call of the program's
    if (!record) record = trace_new(arguments, signature, hash);
    return run(*record, signature);
  }
  last_calls_ <<= 1;
  if (record) {
    ++hits_;
  } else {
    ++misses_;
    last_calls_ |= 1;
    watch_signatures(arguments);
    record = trace_new(arguments, signature, hash);
  }
  record->last_use = hits_ + misses_;
  return run(*record, signature);
}

std::shared_ptr<FunctionRecord> TracedFunction::record_of(const CallArguments& arguments,
                                                          const char* who) {
  if (is_tracing() || overrides_active()) {
    fail(ErrorKind::Runtime, who, ": ", name_,
         ": a function has no trace while another is being traced or a gradient_override_map is "
         "active, because a call runs the Python function");
  }
  std::pmr::monotonic_buffer_resource memory;
  Signature signature(&memory);
  read_signature(arguments, &signature);
  const uint64_t hash = signature.hash();
  std::shared_ptr<FunctionRecord> record = find(signature, hash);
  return record ? record : trace_new(arguments, signature, hash);
}

std::shared_ptr<FunctionRecord> TracedFunction::trace_new(const CallArguments& arguments,
                                                          const Signature& signature,
                                                          uint64_t hash) {
  std::shared_ptr<FunctionRecord> record = trace(arguments, signature);
  // Another thread may have traced the same signature meanwhile.
  if (auto other = find(signature, hash)) return other;
  record->last_use = hits_ + misses_;
  make_room();
  if (locating_plans) located_functions.push_back(home_);
  records().emplace(hash, record);
  return record;
}

void TracedFunction::make_room() {
  Records gone;
  Records& all = records();
  while (all.size() >= capacity_) {
    gone.insert(
        all.extract(std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
          return a.second->last_use < b.second->last_use;
        })));
  }
}

void TracedFunction::forget(PyObject* reference) {
  Records gone;
  for (Records* all : {&records_, &located_}) {
    for (auto it = all->begin(); it != all->end();) {
      const auto here = it++;
      if (here->second->key.holds(reference)) gone.insert(all->extract(here));
    }
  }
}

namespace {

// A readable description of an argument as the signature distinguishes it. Must not run foreign
// code, so objects with a __repr__ of their own are described by type.
std::string description_of(PyObject* object) {
  if (is_variable(object)) return "a variable";
  if (PyFloat_Check(object) && !py::hasattr(object, "dtype")) return "a float";
  if (PyComplex_CheckExact(object)) return "a complex number";
  if (const NodeRef node = is_tensor(object) ? as_node(object) : nullptr) {
    return text(node->dtype, " of shape ", node->shape);
  }
  if (is_traced_leaf(object)) {  // NumPy arrays are not converted, which would copy them
    const py::handle array(object);
    return text(std::string(py::str(array.attr("dtype"))), " of shape ",
                std::string(py::str(array.attr("shape"))));
  }
  if (object == Py_None || PyLong_CheckExact(object) || PyBool_Check(object) ||
      PyUnicode_CheckExact(object)) {
    return py::repr(object);
  }
  return text("a ", Py_TYPE(object)->tp_name, " with id ",
              static_cast<int64_t>(reinterpret_cast<intptr_t>(object)));
}

std::string description_of_pytree(PyObject* object) {
  std::vector<py::object> leaves;
  const Tree tree = Tree::flatten(object, &leaves);
  std::string out;
  for (const py::object& leaf : leaves) {
    out += (out.empty() ? "" : ", ") + description_of(leaf.ptr());
  }
  return tree.is_leaf() ? out : "a pytree of " + out;
}

}  // namespace

std::string TracedFunction::argument_name(const CallArguments& arguments, Py_ssize_t i) const {
  if (i >= arguments.positional) {
    const py::handle name(PyTuple_GET_ITEM(arguments.names, i - arguments.positional));
    return text("argument '", std::string(py::str(name)), "'");
  }
  try {
    const py::list names(py::module_::import("inspect").attr("signature")(f_).attr("parameters"));
    const auto at = static_cast<size_t>(i);
    if (at < names.size()) return text("argument '", std::string(py::str(names[at])), "'");
  } catch (const py::error_already_set&) {  // no signature: use the number
  }
  return text("argument ", static_cast<int64_t>(i));
}

void TracedFunction::watch_signatures(const CallArguments& arguments) {
  constexpr int kManyTraces = 16;
  constexpr uint32_t kLately = (1U << 20) - 1;
  if (warned_) return;
  std::vector<std::string> descriptions;
  for (Py_ssize_t i = 0; i < arguments.size(); ++i) {
    descriptions.push_back(is_static(arguments, i) ? description_of(arguments.values[i])
                                                   : description_of_pytree(arguments.values[i]));
  }
  const std::vector<std::string> before = std::exchange(descriptions_, descriptions);
  if (std::popcount(last_calls_ & kLately) < kManyTraces) return;
  warned_ = true;
  std::string changes;
  for (size_t i = 0; i < descriptions.size() && i < before.size(); ++i) {
    if (descriptions[i] == before[i]) continue;
    changes += (changes.empty() ? ": " : "; ") +
               argument_name(arguments, static_cast<Py_ssize_t>(i)) + " was " +
               shortened(before[i]) + " and is " + shortened(descriptions[i]);
  }
  const std::string message = text(
      "function: ", place_, ": ", kManyTraces, " of the last 20 calls traced anew", changes,
      ". Arguments other than tensors, arrays and floats are compared by value, and each shape "
      "and dtype has its own trace: pass values that change as tensors, or pad them to few "
      "shapes.");
  if (PyErr_WarnEx(PyExc_RuntimeWarning, message.c_str(), 1) < 0) throw py::error_already_set();
}

template <class Replace>
py::object TracedFunction::call_with(const CallArguments& arguments, Replace&& replace,
                                     std::vector<Tree>* trees) const {
  std::vector<py::object> values(arguments.size());
  in_order(arguments, [&](Py_ssize_t i) {
    if (is_static(arguments, i)) {
      values[i] = py::reinterpret_borrow<py::object>(arguments.values[i]);
      return;
    }
    std::vector<py::object> leaves;
    Tree tree = Tree::flatten(arguments.values[i], &leaves);
    for (py::object& leaf : leaves) {
      if (is_traced_leaf(leaf.ptr())) leaf = replace(leaf.ptr());
    }
    values[i] = tree.unflatten(leaves);
    trees->push_back(std::move(tree));
  });
  std::vector<PyObject*> pointers;
  for (const py::object& value : values) pointers.push_back(value.ptr());
  return stolen(
      PyObject_Vectorcall(f_.ptr(), pointers.data(), arguments.positional, arguments.names));
}

py::object TracedFunction::call_directly(const CallArguments& arguments) const {
  std::vector<Tree> trees;
  // The function may differentiate by its arguments, as in a trace of its own.
  const auto watched = [](const NodeRef& node) {
    if (!is_inexact(node->dtype)) return tensor_object(node);
    NodeRef out = with_history(node);
    out->flags |= node->flags & kWeak;
    return tensor_object(std::move(out));
  };
  const auto tensor = [&](PyObject* leaf) {
    if (!PyFloat_CheckExact(leaf)) return watched(to_node(leaf, "function"));
    // A Python float becomes a scalar with a value in the trace.
    Scalar scalar;
    scalar.f = PyFloat_AS_DOUBLE(leaf);
    const NodeRef node = as_value(make_scalar(DType::Float64, scalar));
    node->flags |= kWeak;
    return watched(node);
  };
  return call_with(arguments, tensor, &trees);
}

std::shared_ptr<FunctionRecord> TracedFunction::trace(const CallArguments& arguments,
                                                      const Signature& signature) const {
  auto record = std::make_shared<FunctionRecord>(signature, died_);
  record->trace = std::make_shared<Trace>(place_);
  Trace& trace = *record->trace;  // a Trace that is not finished abandons itself
  trace.open();
  // The signature flattened the arguments before; functions of a registered class may differ.
  size_t next = 0;
  const auto require = [&](bool alike) {
    if (alike) return;
    fail(ErrorKind::Runtime, "function: ", name_,
         ": expected arguments that are flattened alike each time, got another number of leaves");
  };
  const py::object result = call_with(
      arguments,
      [&](PyObject* leaf) {
        require(next < signature.tensors.size());
        const Node* node = signature.tensors[next++].get();
        // A tensor on the default device has the signature of an array, which is on any.
        return tensor_object(trace.add_argument(
            node->dtype, node->shape, PyFloat_CheckExact(leaf) || PyComplex_CheckExact(leaf),
            device_of(node) == default_device() ? kAnyDevice : node->device()));
      },
      &record->arguments);
  require(next == signature.tensors.size());
  std::vector<py::object> leaves;
  record->results = Tree::flatten(result.ptr(), &leaves, name_.c_str());
  std::vector<NodeRef> outputs;
  for (py::object& leaf : leaves) {
    if (is_tensor(leaf.ptr())) {
      outputs.push_back(resolve_weak(as_node(leaf.ptr())));
      record->leaves.emplace_back();
    } else if (py::object reference = record->key.reference_to(leaf.ptr())) {
      record->leaves.push_back({std::move(reference), true});
    } else {
      record->leaves.push_back({std::move(leaf)});
    }
  }
  trace.close(std::move(outputs));
  return record;
}

py::object TracedFunction::run(FunctionRecord& record, const Signature& signature) const {
  Trace& trace = *record.trace;
  std::array<NodeRef, 16> few;
  std::vector<NodeRef> many(trace.returned() > few.size() ? trace.returned() : 0);
  const std::span<NodeRef> results(many.empty() ? few.data() : many.data(), trace.returned());
  trace.call(signature.tensors, results, Tape::any_recording());
  size_t next = 0;
  const auto object_of = [&](const FunctionRecord::Leaf& leaf) {
    if (!leaf.object) return tensor_object(results[next++]);
    if (!leaf.weak) return leaf.object;
    return py::reinterpret_borrow<py::object>(PyWeakref_GetObject(leaf.object.ptr()));
  };
  if (record.results.is_leaf()) return object_of(record.leaves[0]);
  std::vector<py::object> leaves;
  leaves.reserve(record.leaves.size());
  for (const FunctionRecord::Leaf& leaf : record.leaves) leaves.push_back(object_of(leaf));
  return record.results.unflatten(leaves);
}

int TracedFunction::traverse(visitproc visit, void* arg) const {
  Py_VISIT(f_.ptr());
  for (const auto& [hash, record] : records_) {  // those of located_ are gone soon
    if (record.use_count() > 1) continue;        // in use by a running call
    for (const py::object& value : record->key.values) Py_VISIT(value.ptr());
    for (const FunctionRecord::Leaf& leaf : record->leaves) Py_VISIT(leaf.object.ptr());
    for (const Tree& tree : record->arguments) {
      if (const int stop = tree.traverse(visit, arg)) return stop;
    }
    if (const int stop = record->results.traverse(visit, arg)) return stop;
  }
  return 0;
}

}  // namespace pullback
