// Fourier transforms for Python, and the routine that the CPU backend uses: the loops of NumPy's
// generalised universal functions, which need no interpreter lock. If a NumPy version stores them
// elsewhere, numpy.fft is called with the lock.
#include "backend/cpu/fourier/fourier_routine.h"

#include <array>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "bind/arrays/convert.h"
#include "bind/arrays/numpy.h"
#include "bind/common/tensor.h"
#include "bind/operations/callback.h"
#include "bind/operations/functions.h"
#include "ops/linalg/fourier.h"

namespace pullback {
namespace {

// The first fields of PyUFuncObject in numpy/ufuncobject.h, which are the same in all of NumPy 1
// and 2.
using Loop = void (*)(char** args, const Py_ssize_t* dimensions, const Py_ssize_t* steps,
                      void* data);
struct UFunc {
  PyObject_HEAD;
  int nin, nout, nargs;
  int identity;
  Loop* functions;
  void* const* data;
  int ntypes;
  int reserved;
  const char* name;
  const char* types;
};

struct Found {
  Loop loop = nullptr;
  void* data = nullptr;
};
// By name, for double and float.
Found forward[2], backward[2], half_of_even[2], half_of_odd[2], real_from[2];

bool find(const py::module_& module, const char* name, const std::array<const char*, 2>& types,
          Found* found) {
  const py::object object = py::getattr(module, name, py::none());
  if (std::string_view(Py_TYPE(object.ptr())->tp_name) != "numpy.ufunc") return false;
  const auto* function = reinterpret_cast<const UFunc*>(object.ptr());
  if (function->nin != 2 || function->nout != 1 || function->nargs != 3 || function->ntypes < 2 ||
      std::string_view(function->name) != name || !function->functions) {
    return false;
  }
  const auto known = object.attr("types").cast<std::vector<std::string>>();
  for (size_t k = 0; k < 2; ++k) {
    if (known[k] != types[k]) return false;
    found[k] = {function->functions[k], function->data ? function->data[k] : nullptr};
  }
  return true;
}

bool transform_rows(const FourierRows& call) noexcept {
  const size_t k = call.narrow;
  const Py_ssize_t real = call.narrow ? 4 : 8, points = call.points, half = points / 2 + 1;
  const bool to_half = call.transform == Transform::HalfOf;
  const bool from_half = call.transform == Transform::RealFrom;
  const Found& found = call.transform == Transform::Forward    ? forward[k]
                       : call.transform == Transform::Backward ? backward[k]
                       : from_half                             ? real_from[k]
                       : points % 2                            ? half_of_odd[k]
                                                               : half_of_even[k];
  const Py_ssize_t in = to_half ? real : 2 * real, out = from_half ? real : 2 * real;
  const Py_ssize_t many = from_half ? half : points, made = to_half ? half : points;
  double wide = call.factor;
  float narrow = static_cast<float>(call.factor);
  char* args[] = {static_cast<char*>(const_cast<void*>(call.in)),
                  call.narrow ? reinterpret_cast<char*>(&narrow) : reinterpret_cast<char*>(&wide),
                  static_cast<char*>(call.out)};
  const Py_ssize_t dimensions[] = {call.rows, many, made};
  const Py_ssize_t steps[] = {many * in, 0, made * out, in, out};
  found.loop(args, dimensions, steps, found.data);
  return true;
}

// The same by the public functions.
bool call_numpy(const FourierRows& call) noexcept {
  const InterpreterLock lock;
  try {
    const bool to_half = call.transform == Transform::HalfOf;
    const bool from_half = call.transform == Transform::RealFrom;
    const py::ssize_t half = call.points / 2 + 1;
    const char* wide[] = {"complex128", "float64"};
    const char* narrow[] = {"complex64", "float32"};
    const auto array = [&](const void* data, bool is_real, py::ssize_t length) {
      const py::dtype dtype((call.narrow ? narrow : wide)[is_real]);
      // An array with an owner is not copied.
      return py::array(dtype, {static_cast<py::ssize_t>(call.rows), length}, data, py::none());
    };
    const py::array in = array(call.in, to_half, from_half ? half : call.points);
    py::array out = array(call.out, from_half, to_half ? half : call.points);
    const char* name = to_half                                ? "rfft"
                       : from_half                            ? "irfft"
                       : call.transform == Transform::Forward ? "fft"
                                                              : "ifft";
    const bool forwards = to_half || call.transform == Transform::Forward;
    const py::object made =
        py::module_::import("numpy.fft")
            .attr(name)(in, call.points, py::arg("norm") = forwards ? "backward" : "forward");
    py::module_::import("numpy").attr("multiply")(made, call.factor, py::arg("out") = out,
                                                  py::arg("casting") = "same_kind");
    return true;
  } catch (const std::exception&) {
    return false;
  } catch (...) {  // Python ends a thread whose interpreter is gone
    stay_until_exit();
  }
}

void find_routine() {
  fourier_routine = call_numpy;
  try {
    const py::module_ module = py::module_::import("numpy.fft._pocketfft_umath");
    if (find(module, "fft", {"Dd->D", "Ff->F"}, forward) &&
        find(module, "ifft", {"Dd->D", "Ff->F"}, backward) &&
        find(module, "rfft_n_even", {"dd->D", "ff->F"}, half_of_even) &&
        find(module, "rfft_n_odd", {"dd->D", "ff->F"}, half_of_odd) &&
        find(module, "irfft", {"Dd->d", "Ff->f"}, real_from)) {
      fourier_routine = transform_rows;
    }
  } catch (py::error_already_set&) {
  }
}

}  // namespace

void bind_fourier(py::module_& m) {
  m.def(
      "fourier",
      [](const NodeRef& x, int64_t axis, const std::string& kind, int64_t points, bool backward,
         double factor, const std::string& who) {
        if (!fourier_routine) find_routine();
        const Spectrum spectrum = kind == "r"   ? Spectrum::HalfOf
                                  : kind == "i" ? Spectrum::RealFrom
                                                : Spectrum::Whole;
        return fourier(x, axis, spectrum,
                       {.backward = backward, .points = points, .factor = factor}, lasting(who));
      },
      py::arg("x"), py::arg("axis"), py::arg("kind"), py::arg("points"), py::arg("backward"),
      py::arg("factor"), py::arg("who"),
      "Compute a Fourier transform; `kind` is 'c' (complex), 'r' (real to half spectrum) or 'i' "
      "(half spectrum to real).");
}

}  // namespace pullback
