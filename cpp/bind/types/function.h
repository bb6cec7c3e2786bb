// TracedFunction: the callable that `pb.function` returns. A call finds the FunctionRecord of its
// signature, or traces the Python function and makes one. Under the interpreter lock; code that may
// run Python works on copies of the table of records. Start at TracedFunction::call.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "bind/arrays/signature.h"
#include "plan/passes/cache.h"
#include "trace/trace.h"

namespace pullback {

// One trace of a function, and the structure of its results.
struct FunctionRecord {
  FunctionRecord(const Signature& signature, py::handle died) : key(signature, died) {}

  SignatureKey key;
  std::vector<Tree> arguments;  // keep objects alive whose addresses are in the key
  std::shared_ptr<Trace> trace;
  Tree results;
  struct Leaf {
    py::object object;  // null: the tensor comes from the trace
    bool weak = false;  // a weak reference to an argument, so that a method that returns `self`
                        // does not keep it alive
  };
  std::vector<Leaf> leaves;  // of the results
  int64_t last_use = 0;
};

// The arguments of a call as in the C API: positional values, then the values of `names`.
struct CallArguments {
  PyObject* const* values;
  Py_ssize_t positional;
  PyObject* names;  // a tuple, or null

  Py_ssize_t named() const { return names ? PyTuple_GET_SIZE(names) : 0; }
  Py_ssize_t size() const { return positional + named(); }
};

// A traced function: its records by signature. Finds the record of a call, or makes one, and runs
// it.
class TracedFunction {
 public:
  // `place`: name, file and line. Arguments at `positions` and with `names` are static. At most
  // `capacity` records are kept, the most recently used ones.
  TracedFunction(py::object f, std::string name, std::string place, std::vector<size_t> positions,
                 std::vector<py::object> names, size_t capacity);
  ~TracedFunction();
  TracedFunction(const TracedFunction&) = delete;
  TracedFunction& operator=(const TracedFunction&) = delete;

  py::object call(const CallArguments& arguments);
  // The record for such a call; traces if none exists.
  std::shared_ptr<FunctionRecord> record_of(const CallArguments& arguments, const char* who);
  // Freeing records may run Python code that calls this function, so they are freed after the table
  // is empty.
  void clear() {
    const Records gone = std::exchange(records_, {});
    forget_located();
  }
  void forget_located() { const Records gone = std::exchange(located_, {}); }
  int traverse(visitproc visit, void* arg) const;
  void drop() {
    clear();
    const py::object gone = std::exchange(f_, {});
  }

  const std::string& place() const { return place_; }
  int64_t hits() const { return hits_; }
  int64_t misses() const { return misses_; }
  size_t size() const { return records_.size(); }

 private:
  using Records = std::unordered_multimap<uint64_t, std::shared_ptr<FunctionRecord>>;

  template <class Each>
  void in_order(const CallArguments& arguments, Each&& each) const;
  bool is_static(const CallArguments& arguments, Py_ssize_t i) const;
  void read_signature(const CallArguments& arguments, Signature* signature) const;
  std::shared_ptr<FunctionRecord> find(const Signature& signature, uint64_t hash);
  std::shared_ptr<FunctionRecord> trace(const CallArguments& arguments,
                                        const Signature& signature) const;
  std::shared_ptr<FunctionRecord> trace_new(const CallArguments& arguments,
                                            const Signature& signature, uint64_t hash);
  py::object run(FunctionRecord& record, const Signature& signature) const;
  // Calls f with `replace(leaf)` in place of the traced leaves; stores the structures in `trees`.
  template <class Replace>
  py::object call_with(const CallArguments& arguments, Replace&& replace,
                       std::vector<Tree>* trees) const;
  py::object call_directly(const CallArguments& arguments) const;
  // Drops the records with this weak reference, whose object died.
  void forget(PyObject* reference);
  void make_room();
  // Stores a description of the arguments of a new trace, and warns if calls keep tracing.
  void watch_signatures(const CallArguments& arguments);
  std::string argument_name(const CallArguments& arguments, Py_ssize_t i) const;
  [[noreturn]] void refuse(const CallArguments& arguments, Py_ssize_t i, py::handle value) const;

  py::object f_;
  std::string name_, place_;
  std::vector<size_t> positions_;
  std::vector<py::object> names_;
  // Records made while plans are located replace none of the others, and end with Located.
  Records& records() { return locating_plans ? located_ : records_; }
  Records records_, located_;
  size_t capacity_;
  // The callback of weak references holds this pointer; it is set to null when the function is
  // freed first.
  std::shared_ptr<TracedFunction*> home_;
  py::object died_;
  int64_t hits_ = 0;
  int64_t misses_ = 0;
  uint32_t last_calls_ = 0;  // a bit per call, newest lowest: it traced
  bool warned_ = false;
  std::vector<std::string> descriptions_;  // of the arguments of the last trace
};

// While one exists, operations are recorded with the lines of the program, functions are traced
// anew, and the steps of plans have labels.
struct Located {
  Located();
  ~Located();
  Located(const Located&) = delete;
  Located& operator=(const Located&) = delete;

 private:
  const LocatedPlans plans_;
};

inline std::vector<std::shared_ptr<TracedFunction*>> located_functions;  // made records meanwhile

void bind_function(py::module_& m);

// While not 0, traced functions called on this thread run as ordinary Python functions.
inline thread_local int inlining = 0;

}  // namespace pullback
