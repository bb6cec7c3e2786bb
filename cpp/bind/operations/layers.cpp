// Convolutions and pools as Python functions; pullback.nn has the public functions.

#include "bind/arrays/convert.h"
#include "bind/common/tensor.h"
#include "bind/operations/functions.h"
#include "ops/convolve.h"

namespace pullback {

void bind_layers(py::module_& m) {
  m.def(
      "convolve",
      [](const NodeRef& x, const NodeRef& w, const PerWindow& stride, const PerWindow& dilation,
         const PerWindow& low, const PerWindow& spacing, const PerWindow& out) {
        Windowing windows;
        windows.stride = stride, windows.dilation = dilation, windows.low = low;
        windows.spacing = spacing;
        return convolve(x, w, windows, out);
      },
      py::arg("x"), py::arg("w"), py::arg("stride"), py::arg("dilation"), py::arg("low"),
      py::arg("spacing"), py::arg("out"),
      "Compute a cross-correlation over three axes, with `low` padding before the first entries "
      "and "
      "`spacing` between them.");
  m.def(
      "max_pool",
      [](const NodeRef& x, const PerWindow& size, const PerWindow& stride,
         const PerWindow& dilation, const PerWindow& low, const PerWindow& out) {
        Windowing windows;
        windows.stride = stride, windows.dilation = dilation, windows.low = low;
        windows.size = size;
        return max_pool(x, windows, out);
      },
      py::arg("x"), py::arg("size"), py::arg("stride"), py::arg("dilation"), py::arg("low"),
      py::arg("out"), "Compute the maxima of windows over three axes.");
}

}  // namespace pullback
