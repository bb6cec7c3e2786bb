// Signature: the key by which a call of a traced function finds its trace. It contains the
// structure of the arguments, dtype and shape of each tensor, and everything else by value, as
// words. Only static values need Python's ==. Start at Signature.
#pragma once

#include <pybind11/pybind11.h>

#include <memory_resource>
#include <vector>

#include "bind/arrays/tree.h"
#include "graph/make.h"
#include "graph/node.h"
#include "runtime/device_memory.h"

namespace pullback {

// True if an argument is traced: a tensor, a NumPy array or scalar, a Python float.
bool is_traced_leaf(PyObject* object);

// Thrown for a static value that is unhashable or a tensor.
struct Unhashable {
  py::object value;
};

// The signature of one call, built by visiting its arguments.
class Signature {
 public:
  explicit Signature(std::pmr::memory_resource* memory)
      : words(memory), values(memory), tensors(memory) {
    if (several_devices) words.push_back(default_device().id);
  }

  void open(PytreeKind kind, PyObject* object, Py_ssize_t count);
  void key(PyObject* key) { hashed(key); }
  void keys(const DictKeys& keys) {
    for (py::handle entry : keys.taken) key(entry.ptr());
  }
  void extra(const py::object& value) { fixed(value.ptr()); }
  void leaf(PyObject* object);
  // Adds an argument by value, whatever its type.
  void fixed(PyObject* object);
  void word(uint64_t word) { words.push_back(word); }
  uint64_t hash() const;

  std::pmr::vector<uint64_t> words;
  std::pmr::vector<py::object> values;  // static values; their hashes are among the words
  std::pmr::vector<NodeRef> tensors;    // the traced leaves in order; a float is a float64

 private:
  void tensor(NodeRef node);
  void hashed(PyObject* object);
};

// A stored signature. Types whose addresses are among the words are kept alive by the values and by
// the trees of the arguments, which are stored beside it.
//
// A value that equals only itself, such as the `self` of a method, is referenced weakly. When it
// dies, no call can have this signature again, and `died` is called with the reference.
struct SignatureKey {
  SignatureKey(const Signature& signature, py::handle died);

  // With `by_identity`, values must be the same objects; otherwise equal objects of one type, which
  // may run Python code.
  bool matches(const Signature& signature, bool by_identity) const;
  bool holds(PyObject* reference) const;
  // The weak reference to an object that is referenced so; else null.
  py::object reference_to(PyObject* object) const;

  std::vector<uint64_t> words;
  std::vector<py::object> values;
};

}  // namespace pullback
