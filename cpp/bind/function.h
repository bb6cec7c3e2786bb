// Function: the callable that `pb.function` makes.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "bind/signature.h"
#include "plan/trace.h"

namespace pullback {

// One trace of a function, and what it returned.
struct FunctionRecord {
  explicit FunctionRecord(const Signature& signature) : key(signature) {}

  SignatureKey key;
  std::vector<Tree> arguments;  // they hold what the key mentions
  std::shared_ptr<Trace> trace;
  Tree results;
  std::vector<py::object> leaves;  // of the results; null where a tensor comes from the trace
};

// The arguments of a call as the C API passes them: positional ones, then those that `names` names.
struct CallArguments {
  PyObject* const* values;
  Py_ssize_t positional;
  PyObject* names;  // a tuple, or null

  Py_ssize_t named() const { return names ? PyTuple_GET_SIZE(names) : 0; }
  Py_ssize_t size() const { return positional + named(); }
};

// A traced function: its records by signature, and how a call finds and runs one.
class TracedFunction {
 public:
  // `place`: name, file and line. The arguments at `positions`, and those of `names`, are static.
  TracedFunction(py::object f, std::string name, std::string place, std::vector<size_t> positions,
                 std::vector<py::object> names);

  py::object call(const CallArguments& arguments);
  // The record that such a call uses; traces where there is none.
  std::shared_ptr<FunctionRecord> record_of(const CallArguments& arguments, const char* who);
  void clear() { records_.clear(); }
  int traverse(visitproc visit, void* arg) const;
  void drop() {
    records_.clear();
    f_ = {};
  }

  const std::string& place() const { return place_; }
  int64_t hits() const { return hits_; }
  int64_t misses() const { return misses_; }
  size_t size() const { return records_.size(); }

 private:
  template <class Each>
  void in_order(const CallArguments& arguments, Each&& each) const;
  bool is_static(const CallArguments& arguments, Py_ssize_t i) const;
  void read_signature(const CallArguments& arguments, Signature* signature) const;
  std::shared_ptr<FunctionRecord> find(const Signature& signature, uint64_t hash) const;
  std::shared_ptr<FunctionRecord> trace(const CallArguments& arguments,
                                        const Signature& signature) const;
  std::shared_ptr<FunctionRecord> trace_new(const CallArguments& arguments,
                                            const Signature& signature, uint64_t hash);
  py::object run(FunctionRecord& record, const CallArguments& arguments,
                 const Signature& signature) const;
  // Calls f with `replace(leaf)` in place of the traced leaves; notes the structures.
  template <class Replace>
  py::object call_with(const CallArguments& arguments, Replace&& replace,
                       std::vector<Tree>* trees) const;
  py::object call_directly(const CallArguments& arguments) const;
  [[noreturn]] void refuse(const CallArguments& arguments, Py_ssize_t i, py::handle value) const;

  py::object f_;
  std::string name_, place_;
  std::vector<size_t> positions_;
  std::vector<py::object> names_;
  std::unordered_multimap<uint64_t, std::shared_ptr<FunctionRecord>> records_;
  int64_t hits_ = 0;
  int64_t misses_ = 0;
};

void bind_function(py::module_& m);

}  // namespace pullback
