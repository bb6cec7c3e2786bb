// The parts of NumPy that the binding uses, and its dtypes for ours. Start at NumPy.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "base/dtype.h"
#include "base/shape.h"
#include "runtime/buffer.h"

namespace pullback {

namespace py = pybind11;

// The dtypes of tensors, for messages.
inline constexpr const char* kSupported =
    "bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32, float64, complex64 or "
    "complex128";

// Objects that are looked up once and never freed.
struct NumPy {
  py::object asarray, copyto, loaded_modules;
  py::object dtypes[kDTypes];        // for bfloat16 our own object, which needs no package
  py::object scalar_types[kDTypes];  // numpy.float32, …
};

const NumPy& numpy();

inline py::handle dtype_handle(DType dtype) { return numpy().dtypes[static_cast<int>(dtype)]; }
// The dtype of NumPy; for bfloat16, of the package ml_dtypes.
py::dtype numpy_dtype(DType dtype);
// A NumPy array over one of our buffers, for writing.
py::array array_over(Buffer* buffer, DType dtype, const Shape& shape);
// Our dtype for an array's dtype. Returns false if there is none.
bool dtype_of_array(const py::dtype& dtype, DType* out);

}  // namespace pullback
