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
  m.def("expm", &expm, py::arg("x"), py::pos_only(), "Compute the matrix exponential.");
  m.def("logm", &logm, py::arg("x"), py::pos_only(), "Compute the principal matrix logarithm.");
  m.def("sqrtm", &sqrtm, py::arg("x"), py::pos_only(), "Compute the principal matrix square root.");
  m.def(
      "solve_sylvester",
      [](const NodeRef& a, const NodeRef& b, const NodeRef& q, const std::string& who) {
        return solve_sylvester(a, b, q, lasting(who));
      },
      py::arg("a"), py::arg("b"), py::arg("q"), py::pos_only(), py::arg("who") = "solve_sylvester",
      "Solve a x + x b = q; errors name `who`.");
  m.def(
      "banded_solve",
      [](const NodeRef& bands, const NodeRef& b, int64_t below, bool tridiagonal) {
        return banded_solve(bands, b, below, Transposition::None,
                            tridiagonal ? "tridiagonal_solve" : "solve_banded");
      },
      py::arg("bands"), py::arg("b"), py::arg("below"), py::arg("tridiagonal"),
      "Solve a banded system with `below` diagonals under the main one.");
  m.def(
      "lu_solve",
      [](const NodeRef& lu, const NodeRef& piv, const NodeRef& b, const std::string& trans) {
        return lu_solve(lu, piv, b, transposition_of(trans));
      },
      py::arg("lu"), py::arg("piv"), py::arg("b"), py::arg("trans"),
      "Solve a linear system from an LU decomposition; `trans` is 'N', 'T' or 'C'.");
  m.def(
      "equation",
      [](const NodeRef& a, const NodeRef& b, const std::string& who) {
        return solve(a, b, lasting(who));
      },
      py::arg("a"), py::arg("b"), py::arg("who"), "Solve a linear system; errors name `who`.");
  m.def(
      "pseudo_inverse",
      [](const NodeRef& a, const NodeRef& tolerance, const std::string& who) {
        const auto [left, right] = pseudo_inverse(a, tolerance, lasting(who));
        return py::make_tuple(left, right);
      },
      py::arg("x"), py::arg("tolerance"), py::arg("who"),
      "Return two factors of the pseudo-inverse; singular values up to `tolerance` times the "
      "largest count as 0.");
}

}  // namespace pullback
