// Variances, normalisations and Euclidean norms as Python functions; the public functions check
// their arguments.
#include "ops/statistics.h"

#include "bind/arrays/convert.h"
#include "bind/common/tensor.h"
#include "bind/operations/functions.h"

namespace pullback {

void bind_statistics(py::module_& m) {
  m.def(
      "variance",
      [](const NodeRef& x, const std::vector<Integer>& axes, double correction, bool keepdims,
         const std::optional<NodeRef>& mask) {
        return variance(x, {axes.begin(), axes.end()}, correction, keepdims,
                        mask.value_or(nullptr));
      },
      py::arg("x"), py::pos_only(), py::arg("axes"), py::arg("correction"), py::arg("keepdims"),
      py::arg("mask"), "Compute the variance in float64 of the elements where `mask` is true.");
  m.def("deviation", &deviation, py::arg("variance"), py::arg("dtype"),
        "Compute the square root with gradient 0 at 0, and cast it.");
  const auto def_normalization = [&](const char* name, decltype(&normalize) function,
                                     const char* text) {
    m.def(
        name,
        [function](const NodeRef& x, const std::vector<Integer>& axes, double epsilon) {
          return function(x, {axes.begin(), axes.end()}, epsilon);
        },
        py::arg("x"), py::pos_only(), py::arg("axes"), py::arg("epsilon"), text);
  };
  def_normalization("normalize", &normalize, "Normalise to mean 0 and variance 1 along axes.");
  def_normalization("normalize_square", &normalize_square,
                    "Normalise to mean square 1 along axes.");
  m.def(
      "euclidean_norm",
      [](const NodeRef& x, const AxisArgument& axes, bool keepdims) {
        return euclidean_norm(x, axes.axes, keepdims);
      },
      py::arg("x"), py::pos_only(), py::arg("axes") = py::none(), py::arg("keepdims") = false,
      "Compute the Euclidean norm of real floats along axes.");
  m.def(
      "euclidean_norm_of_all", [](const std::vector<NodeRef>& xs) { return euclidean_norm(xs); },
      py::arg("xs"), "Compute the Euclidean norm of all entries of tensors.");
  m.def(
      "power_of_two_scale",
      [](const NodeRef& sizes, const AxisArgument& axes) {
        return power_of_two_scale(sizes, axes.axes);
      },
      py::arg("sizes"), py::pos_only(), py::arg("axes"),
      "Compute the largest power of two up to the largest of some absolute values.");
}

}  // namespace pullback
