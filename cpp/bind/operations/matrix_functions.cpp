// Functions of matrices and matrix equations as Python functions; pullback.linalg has the public
// functions.

#include "ops/linalg/matrix_functions.h"

#include <string>

#include "bind/arrays/convert.h"
#include "bind/common/tensor.h"
#include "bind/operations/functions.h"
#include "ops/linalg/linalg.h"

namespace pullback {

void bind_matrix_functions(py::module_& m) {
  m.def("expm", &expm, py::arg("a"));
  m.def("logm", &logm, py::arg("a"));
  m.def("sqrtm", &sqrtm, py::arg("a"));
  m.def(
      "solve_sylvester",
      [](const NodeRef& a, const NodeRef& b, const NodeRef& c) { return solve_sylvester(a, b, c); },
      py::arg("a"), py::arg("b"), py::arg("c"));
  m.def(
      "banded_solve",
      [](const NodeRef& bands, const NodeRef& b, int64_t below, bool tridiagonal) {
        return banded_solve(bands, b, below, Transposition::None,
                            tridiagonal ? "tridiagonal_solve" : "solve_banded");
      },
      py::arg("bands"), py::arg("b"), py::arg("below"), py::arg("tridiagonal"));
  m.def(
      "lu_solve",
      [](const NodeRef& packed, const NodeRef& swaps, const NodeRef& b, const std::string& turn) {
        return lu_solve(packed, swaps, b, transposition_of(turn));
      },
      py::arg("packed"), py::arg("swaps"), py::arg("b"), py::arg("turn"));
  // solve and svd, with the name `who` in errors.
  m.def(
      "equation",
      [](const NodeRef& a, const NodeRef& b, const std::string& who) {
        return solve(a, b, lasting(who));
      },
      py::arg("a"), py::arg("b"), py::arg("who"));
  m.def(
      "reduced_svd",
      [](const NodeRef& a, const std::string& who) {
        const auto [u, s, vh] = svd(a, false, lasting(who));
        return py::make_tuple(u, s, vh);
      },
      py::arg("a"), py::arg("who"));
}

}  // namespace pullback
