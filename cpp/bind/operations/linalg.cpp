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
  m.def("cholesky", &cholesky, py::arg("a"));
  m.def(
      "triangular_solve",
      [](const NodeRef& a, const NodeRef& b, bool lower, const std::string& turn, bool unit) {
        return triangular_solve(a, b, {lower, unit, transposition_of(turn)});
      },
      py::arg("a"), py::arg("b"), py::arg("lower"), py::arg("turn"), py::arg("unit"));
  // l and u in one matrix, positions, sign, swaps.
  m.def(
      "lu",
      [](const NodeRef& a) {
        const auto [packed, positions, sign, swaps] = lu(a);
        return py::make_tuple(packed, positions, sign, swaps);
      },
      py::arg("a"));
  m.def(
      "qr",
      [](const NodeRef& a, bool full) {
        const auto [q, r] = qr(a, full);
        return py::make_tuple(q, r);
      },
      py::arg("a"), py::arg("full"));
  m.def(
      "svd",
      [](const NodeRef& a, bool full, const std::string& degenerate) {
        const auto [u, s, vh] = svd(a, full, "svd", degenerate_of(degenerate));
        return py::make_tuple(u, s, vh);
      },
      py::arg("a"), py::arg("full"), py::arg("degenerate") = "nan");
  m.def(
      "eigh",
      [](const NodeRef& a, const std::string& degenerate) {
        const auto [w, v] = eigh(a, "eigh", degenerate_of(degenerate));
        return py::make_tuple(w, v);
      },
      py::arg("a"), py::arg("degenerate") = "nan");
  m.def(
      "eig",
      [](const NodeRef& a, const std::string& degenerate) {
        const auto [w, v] = eig(a, "eig", degenerate_of(degenerate));
        return py::make_tuple(w, v);
      },
      py::arg("a"), py::arg("degenerate") = "nan");
  m.def(
      "solve", [](const NodeRef& a, const NodeRef& b) { return solve(a, b); }, py::arg("a"),
      py::arg("b"));
  m.def("inv", [](const NodeRef& a) { return inv(a); }, py::arg("a"));
  m.def("det", &det, py::arg("a"));
  m.def(
      "slogdet",
      [](const NodeRef& a) {
        const auto [sign, logabsdet] = slogdet(a);
        return py::make_tuple(sign, logabsdet);
      },
      py::arg("a"));
}

}  // namespace pullback
