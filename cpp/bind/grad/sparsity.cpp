// Patterns of sparse derivatives and their colourings, as NumPy arrays.

#include "grad/sparse/sparsity.h"
#include "bind/arrays/convert.h"
#include "bind/common/no_pickle.h"
#include "bind/grad/rules.h"
#include "eval/evaluate.h"
#include "grad/sparse/coloring.h"

namespace pullback {
namespace {

using Integers = Typed<"numpy.typing.NDArray[numpy.integer]", py::array>;

template <class T>
Integers array_of(const std::vector<T>& entries) {
  return py::array_t<T>(static_cast<py::ssize_t>(entries.size()), entries.data());
}

Pattern dependence_of(const NodeRef& y, const NodeRef& x, const std::string& who) {
  const std::vector<NodeRef> positions = unknown_positions(y, x);
  if (!positions.empty()) evaluate(pointers(positions));
  return dependence(y, x, who.c_str());
}

// (by rows, number of colours, colour of each row or column, indices of the entries).
Typed<"tuple[bool, int, numpy.typing.NDArray[numpy.integer], numpy.typing.NDArray[numpy.integer]]",
      py::tuple>
compression(const Pattern& pattern, bool symmetric, const Shape& rows, const Shape& columns,
            const std::string& who) {
  const Compression out = compress(pattern, symmetric, rows, columns, who.c_str());
  return py::make_tuple(out.by_rows, out.count, array_of(out.colours), array_of(out.positions));
}

// The value of a tensor that the caller gives up, as a writable array; not copied if there is no
// other reference.
Typed<"numpy.typing.NDArray[typing.Any]", py::array> own_array(const Typed<"Tensor">& x) {
  if (!is_tensor(x.ptr())) {
    fail(ErrorKind::Type, "own_array: expected a Tensor for x, got ", shown(x));
  }
  const Node* node = reinterpret_cast<PyTensor*>(x.ptr())->node;
  const bool only_this = node->refs == 1;  // a constant of a plan has another reference
  const NodeRef held = as_node(x.ptr());
  evaluate(held.get());
  const bool alone =
      only_this && node->op != Op::scalar && node->value->refs == 1 && !node->value->exported;
  py::array out = array_from_node(held);
  if (!alone) return out.attr("copy")();
  py::detail::array_proxy(out.ptr())->flags |= py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return out;
}

}  // namespace

void bind_sparsity(py::module_& m) {
  py::class_<Pattern> pattern(m, "Pattern",
                              "The entries of a matrix that may be nonzero, by rows.");
  no_pickle(pattern)
      .def(
          "transposed", [](const Pattern& it) { return transposed(it); },
          "Return the pattern of the transposed matrix.")
      .def_property_readonly(
          "starts", [](const Pattern& it) { return array_of(it.starts); },
          "Position of the first entry of each row, then their number.")
      .def_property_readonly(
          "entries", [](const Pattern& it) { return array_of(it.entries); },
          "Columns of the entries.");
  m.def("own_array", &own_array, py::arg("x"),
        "Return the value of a tensor that the caller gives up, as a writable array.");
  m.def("dependence", &dependence_of, py::arg("y"), py::arg("x"), py::arg("who"),
        "Find which entries of `y` depend on which entries of `x`.");
  m.def("compression", &compression, py::arg("pattern"), py::arg("symmetric"), py::arg("rows"),
        py::arg("columns"), py::arg("who"),
        "Colour a pattern: by rows or not, number of colours, colours, indices of the entries.");
}

}  // namespace pullback
