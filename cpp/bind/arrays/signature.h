// What a call of a traced function is recognised by: the structure of its arguments, the dtype and
// shape of each tensor among them, and everything else by value. Written as words, and compared as
// such; only static values need Python's ==.
#pragma once

#include <pybind11/pybind11.h>

#include <memory_resource>
#include <vector>

#include "bind/arrays/tree.h"
#include "graph/node.h"

namespace pullback {

// Whether an argument is traced: a tensor, a NumPy array or number, a Python float.
bool is_traced_leaf(PyObject* object);

// Thrown for a static value that cannot be one: it has no hash, or is a tensor.
struct Unhashable {
  py::object value;
};

// The signature of one call while it is read from the arguments: a visitor of nests.
class Signature {
 public:
  explicit Signature(std::pmr::memory_resource* memory)
      : words(memory), values(memory), tensors(memory) {}

  void open(Nest nest, PyObject* object, Py_ssize_t count);
  void key(PyObject* key) { hashed(key); }
  void keys(const DictKeys& keys) {
    for (py::handle entry : keys.taken) key(entry.ptr());
  }
  void leaf(PyObject* object);
  // An argument that counts by value, whatever it is.
  void fixed(PyObject* object);
  void word(uint64_t word) { words.push_back(word); }
  uint64_t hash() const;

  std::pmr::vector<uint64_t> words;
  std::pmr::vector<py::object> values;  // static ones; their hashes are among the words
  std::pmr::vector<NodeRef> tensors;    // the traced leaves in order; a float is one of float64

 private:
  void tensor(NodeRef node);
  void hashed(PyObject* object);
};

// A signature that is kept. Types whose addresses are among the words are kept alive by the values
// and by the trees of the arguments, which are kept beside it.
//
// A value that equals nothing but itself, such as the `self` of a method, is held by a weak
// reference: when it dies, no call can have this signature again, and `died` is called with the
// reference.
struct SignatureKey {
  SignatureKey(const Signature& signature, py::handle died);

  // With `by_identity`, values must be the same objects; otherwise equal ones of the same type,
  // which may run Python code.
  bool matches(const Signature& signature, bool by_identity) const;
  bool holds(PyObject* reference) const;
  // The weak reference to an object that is held by one; else null.
  py::object reference_to(PyObject* object) const;

  std::vector<uint64_t> words;
  std::vector<py::object> values;
};

}  // namespace pullback
