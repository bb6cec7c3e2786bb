// Basic indexing: integers, slices, None and Ellipsis become one window and a reshape.

#include "bind/indexing.h"

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "ops/ops.h"

namespace pullback {
namespace {

namespace py = pybind11;

// Resolves integers, slices, None and Ellipsis against a shape: a window, its shape, and the shape
// after dropped and new axes.
struct Indexing {
  Window window;
  Shape windowed;
  Shape result;

  Indexing(const Shape& shape, PyObject* key) {
    std::vector<py::handle> entries;
    if (PyTuple_Check(key)) {
      for (py::handle entry : py::reinterpret_borrow<py::tuple>(key)) entries.push_back(entry);
    } else {
      entries.push_back(key);
    }
    int64_t consumed = 0;
    bool ellipsis = false;
    for (py::handle entry : entries) {
      if (entry.ptr() == Py_Ellipsis) {
        if (ellipsis) fail(ErrorKind::Index, "index: more than one Ellipsis");
        ellipsis = true;
      } else if (!entry.is_none()) {
        ++consumed;
      }
    }
    if (consumed > shape.rank) {
      fail(ErrorKind::Index, "index: ", consumed, " indices for a tensor of rank ", shape.rank,
           " (shape ", shape, ")");
    }
    if (!ellipsis) entries.push_back(Py_Ellipsis);
    int64_t axis = 0;
    for (py::handle entry : entries) {
      if (entry.is_none()) {
        add_result(1);
      } else if (entry.ptr() == Py_Ellipsis) {
        for (int64_t skip = shape.rank - consumed; skip > 0; --skip) {
          add(0, 1, shape[axis]);
          add_result(shape[axis++]);
        }
      } else if (PySlice_Check(entry.ptr())) {
        take_slice(shape[axis++], entry);
      } else {
        take_integer(shape, axis++, entry);
      }
    }
  }

 private:
  void add(int64_t start, int64_t step, int64_t length) {
    window.start[windowed.rank] = start;
    window.step[windowed.rank] = step;
    windowed.append(length);
  }

  void add_result(int64_t length) {
    if (result.rank == kMaxRank) {
      fail(ErrorKind::Index, "index: the result would have more than ", kMaxRank, " axes");
    }
    result.append(length);
  }

  void take_slice(int64_t length, py::handle entry) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(entry.ptr(), &start, &stop, &step) < 0) throw py::error_already_set();
    const Py_ssize_t count = PySlice_AdjustIndices(length, &start, &stop, step);
    add(count ? start : 0, step, count);
    add_result(count);
  }

  void take_integer(const Shape& shape, int64_t axis, py::handle entry) {
    const bool boolean = PyBool_Check(entry.ptr());
    PyObject* number = boolean ? nullptr : PyNumber_Index(entry.ptr());
    if (!number) {
      PyErr_Clear();
      fail(ErrorKind::Index, "index: expected integers, slices, None or Ellipsis, got ",
           std::string(py::str(py::type::of(entry).attr("__name__"))),
           "; use take(x, indices, axis) for positions and where() for masks");
    }
    int64_t at = PyLong_AsLongLong(number);
    Py_DECREF(number);
    if (at == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      at = INT64_MAX;
    }
    const int64_t length = shape[axis];
    if (at < -length || at >= length) {
      fail(ErrorKind::Index, "index: ", at, " is out of range for axis ", axis, " of length ",
           length, " (shape ", shape, ")");
    }
    add(at < 0 ? at + length : at, 1, 1);
  }
};

}  // namespace

Ref<Node> get_item(const Ref<Node>& x, PyObject* key) {
  const Indexing index(x->shape, key);
  Ref<Node> out = x;
  bool whole = index.windowed == x->shape;
  for (int64_t d = 0; whole && d < x->shape.rank; ++d) whole = index.window.step[d] == 1;
  out = whole ? identity(x) : slice(x, index.windowed, index.window);
  return reshape(out, index.result, "index");
}

}  // namespace pullback
