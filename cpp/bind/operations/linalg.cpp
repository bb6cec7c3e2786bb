// Linear algebra as Python functions; pullback.linalg has the public functions.

#include "ops/linalg/linalg.h"

#include "bind/arrays/convert.h"
#include "bind/common/tensor.h"
#include "bind/operations/functions.h"

namespace pullback {
namespace {

Degenerate degenerate_of(const std::string& word) {
  return word == "mask" ? Degenerate::Mask : word == "error" ? Degenerate::Error : Degenerate::Nan;
}

}  // namespace

Transposition transposition_of(const std::string& word) {
  return word == "C"   ? Transposition::Adjoint
         : word == "T" ? Transposition::Transposed
                       : Transposition::None;
}

void bind_linalg(py::module_& m) {
  m.def("cholesky", &cholesky, py::arg("x"), py::pos_only(), "Compute the Cholesky factor.");
  m.def(
      "triangular_solve",
      [](const NodeRef& a, const NodeRef& b, bool lower, const std::string& trans, bool unit) {
        return triangular_solve(a, b, {lower, unit, transposition_of(trans)});
      },
      py::arg("a"), py::arg("b"), py::arg("lower"), py::arg("trans"), py::arg("unit_diagonal"),
      "Solve a triangular system; `trans` is 'N', 'T' or 'C'.");
  m.def(
      "lu",
      [](const NodeRef& a) {
        const Lu f = lu(a);
        return py::make_tuple(f.packed, f.positions, f.sign, f.swaps);
      },
      py::arg("x"), py::pos_only(),
      "Return both factors in one matrix, the permutation, its sign and the row swaps.");
  m.def(
      "qr",
      [](const NodeRef& a, bool full) {
        const auto [q, r] = qr(a, full);
        return py::make_tuple(q, r);
      },
      py::arg("x"), py::pos_only(), py::arg("full"), "Compute the QR decomposition.");
  m.def(
      "svd",
      [](const NodeRef& a, bool full, const std::string& degenerate, const std::string& who) {
        const auto [u, s, vh] = svd(a, full, lasting(who), degenerate_of(degenerate));
        return py::make_tuple(u, s, vh);
      },
      py::arg("x"), py::pos_only(), py::arg("full_matrices"), py::arg("degenerate") = "nan",
      py::arg("who") = "svd", "Compute the singular value decomposition; errors name `who`.");
  m.def(
      "eigh",
      [](const NodeRef& a, const std::string& degenerate, const std::string& who) {
        const auto [w, v] = eigh(a, lasting(who), degenerate_of(degenerate));
        return py::make_tuple(w, v);
      },
      py::arg("x"), py::pos_only(), py::arg("degenerate") = "nan", py::arg("who") = "eigh",
      "Compute the eigenvalues and eigenvectors of a Hermitian matrix; errors name `who`.");
  m.def(
      "eig",
      [](const NodeRef& a, const std::string& degenerate, const std::string& who) {
        const auto [w, v] = eig(a, lasting(who), degenerate_of(degenerate));
        return py::make_tuple(w, v);
      },
      py::arg("x"), py::pos_only(), py::arg("degenerate") = "nan", py::arg("who") = "eig",
      "Compute the eigenvalues and right eigenvectors of a square matrix; errors name `who`.");
  m.def(
      "solve", [](const NodeRef& a, const NodeRef& b) { return solve(a, b); }, py::arg("a"),
      py::arg("b"), "Solve a linear system.");
  m.def(
      "inv", [](const NodeRef& a, const std::string& who) { return inv(a, lasting(who)); },
      py::arg("x"), py::pos_only(), py::arg("who") = "inv",
      "Compute the inverse of a square matrix; errors name `who`.");
  m.def("det", &det, py::arg("x"), py::pos_only(), "Compute the determinant.");
  m.def(
      "slogdet",
      [](const NodeRef& a) {
        const auto [sign, logabsdet] = slogdet(a);
        return py::make_tuple(sign, logabsdet);
      },
      py::arg("x"), py::pos_only(),
      "Compute the sign and the logarithm of the absolute value of the determinant.");
}

}  // namespace pullback
