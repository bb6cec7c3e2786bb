// Fourier transforms for Python.
#include "ops/linalg/fourier.h"

#include <string>

#include "bind/arrays/convert.h"
#include "bind/common/tensor.h"
#include "bind/operations/functions.h"

namespace pullback {

void bind_fourier(py::module_& m) {
  m.def(
      "fourier",
      [](const NodeRef& x, int64_t axis, const std::string& kind, int64_t points, bool backward,
         double factor, const std::string& who) {
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
