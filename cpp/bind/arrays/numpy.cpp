// Looks up NumPy's objects once, and maps its dtypes to ours.

#include "bind/arrays/numpy.h"

#include <pybind11/gil_safe_call_once.h>

#include <string>
#include <vector>

#include "bind/arrays/convert.h"

namespace pullback {

// A plain static could deadlock: an import releases the interpreter lock, and a second thread would
// wait for the static while it has that lock.
const NumPy& numpy() {
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<NumPy> storage;
  return storage
      .call_once_and_store_result([] {
        const auto module = py::module_::import("numpy");
        NumPy made{module.attr("asarray"),
                   module.attr("copyto"),
                   py::module_::import("sys").attr("modules"),
                   {},
                   {}};
        for (int i = 0; i < kDTypes; ++i) {
          if (static_cast<DType>(i) == DType::BFloat16) {
            made.dtypes[i] = py::module_::import("pullback._base.dtypes").attr("bfloat16");
            continue;
          }
          made.dtypes[i] = py::dtype(std::string(name_of(static_cast<DType>(i))));
          made.scalar_types[i] = made.dtypes[i].attr("type");
        }
        return made;
      })
      .get_stored();
}

py::dtype numpy_dtype(DType dtype) {
  if (dtype != DType::BFloat16) return py::reinterpret_borrow<py::dtype>(dtype_handle(dtype));
  try {
    return py::dtype::from_args(py::module_::import("ml_dtypes").attr("bfloat16"));
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_ImportError)) throw;
  }
  fail(ErrorKind::Type,
       "numpy: NumPy requires the package ml_dtypes for bfloat16; install it (pip install "
       "ml_dtypes), or cast the tensor: x.astype(\"float32\")");
}

py::array array_over(Buffer* buffer, DType dtype, const Shape& shape) {
  const std::vector<py::ssize_t> lengths(shape.begin(), shape.end());
  return py::array(numpy_dtype(dtype), lengths, buffer->host(),
                   py::capsule(buffer->host(), [](void*) {}));
}

bool dtype_of_array(const py::dtype& dtype, DType* out) {
  const char kind = dtype.kind();
  const auto size = dtype.itemsize();
  switch (kind) {
    case 'b':
      *out = DType::Bool;
      return true;
    case 'i':
      *out = size == 8   ? DType::Int64
             : size == 4 ? DType::Int32
             : size == 2 ? DType::Int16
                         : DType::Int8;
      return true;
    case 'u':
      *out = size == 8   ? DType::UInt64
             : size == 4 ? DType::UInt32
             : size == 2 ? DType::UInt16
                         : DType::UInt8;
      return true;
    case 'f':
      *out = size == 8 ? DType::Float64 : size == 4 ? DType::Float32 : DType::Float16;
      return size <= 8;
    case 'V':
      *out = DType::BFloat16;
      return size == 2 && std::string(py::str(dtype)) == name_of(DType::BFloat16);
    case 'c':
      *out = size == 16 ? DType::Complex128 : DType::Complex64;
      return size <= 16;
    default:
      return false;
  }
}

py::object dtype_object(DType dtype) {
  return py::reinterpret_borrow<py::object>(dtype_handle(dtype));
}

namespace {

// By name: NumPy has no "bfloat16" before ml_dtypes is imported.
bool is_bfloat16(py::handle object) {
  if (PyUnicode_Check(object.ptr())) return py::str(object).cast<std::string>() == "bfloat16";
  return PyType_Check(object.ptr()) &&
         py::str(object.attr("__name__")).cast<std::string>() == "bfloat16";
}

}  // namespace

DType dtype_from(py::handle object, const char* who) {
  for (int i = 0; i < kDTypes; ++i) {
    if (object.is(dtype_handle(static_cast<DType>(i)))) return static_cast<DType>(i);
  }
  py::dtype dtype;
  try {
    if (is_bfloat16(object)) return DType::BFloat16;
    if (object.is_none()) throw py::type_error("None");
    dtype = py::dtype::from_args(py::reinterpret_borrow<py::object>(object));
  } catch (py::error_already_set& error) {
    fail(ErrorKind::Type, who, "unknown dtype ", shown(object), "; expected ", kSupported);
  } catch (py::cast_error&) {  // the text is not Unicode
    fail(ErrorKind::Type, who, "unknown dtype; expected ", kSupported);
  } catch (py::type_error&) {
    fail(ErrorKind::Type, who, "unknown dtype None; expected ", kSupported);
  }
  DType out;
  if (dtype_of_array(dtype, &out) && size_of(out) == dtype.itemsize()) return out;
  fail(ErrorKind::Type, who, "unsupported dtype ", std::string(py::str(dtype)), "; expected ",
       kSupported);
}

}  // namespace pullback
