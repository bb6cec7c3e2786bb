// ContextStack: the open `with` blocks of a context (contextvars). A thread-local stack would be
// wrong: the tasks of an event loop share a thread and must not see each other's blocks.
#pragma once

#include <pybind11/pybind11.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace pullback {

// The entries of open blocks, innermost last. Closing a block clears the flag `open` of its Entry,
// which ends it in every context that has a copy; so a block may be left in another context than it
// was entered in. Under the interpreter lock.
template <class Entry>
class ContextStack {
 public:
  using Entries = std::vector<std::shared_ptr<Entry>>;

  explicit ContextStack(const char* name) : variable_(PyContextVar_New(name, nullptr)) {
    if (!variable_) throw pybind11::error_already_set();
  }

  // Null if no block was entered in this context.
  const Entries* current() const {
    PyObject* value = nullptr;
    if (PyContextVar_Get(variable_, nullptr, &value) < 0) {
      PyErr_Clear();
      return nullptr;
    }
    if (!value) return nullptr;
    const void* entries = PyCapsule_GetPointer(value, nullptr);
    Py_DECREF(value);  // the context keeps a reference
    return static_cast<const Entries*>(entries);
  }

  void enter(std::shared_ptr<Entry> entry) {
    auto entries = std::make_unique<Entries>();
    if (const Entries* before = current()) {
      std::copy_if(before->begin(), before->end(), std::back_inserter(*entries),
                   [](const auto& one) { return one->open; });
    }
    entries->push_back(std::move(entry));
    const auto value = pybind11::reinterpret_steal<pybind11::object>(
        PyCapsule_New(entries.get(), nullptr, [](PyObject* capsule) {
          delete static_cast<Entries*>(PyCapsule_GetPointer(capsule, nullptr));
        }));
    if (!value) throw pybind11::error_already_set();
    entries.release();
    PyObject* token = PyContextVar_Set(variable_, value.ptr());
    if (!token) throw pybind11::error_already_set();
    Py_DECREF(token);
  }

 private:
  PyObject* variable_;  // never freed
};

}  // namespace pullback
