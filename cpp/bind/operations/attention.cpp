// Attention as a Python function; pullback.nn has the public function.
#include "ops/linalg/attention.h"

#include "bind/arrays/convert.h"
#include "bind/common/tensor.h"
#include "bind/operations/functions.h"

namespace pullback {

void bind_attention(py::module_& m) {
  m.def(
      "attention",
      [](const NodeRef& q, const NodeRef& k, const NodeRef& v, const NodeRef& scale,
         const std::optional<NodeRef>& mask, bool causal, const std::optional<NodeRef>& dropped) {
        return attention(q, k, v,
                         {scale, mask.value_or(nullptr), causal, dropped.value_or(nullptr)});
      },
      py::arg("q"), py::arg("k"), py::arg("v"), py::arg("scale"), py::arg("mask"),
      py::arg("causal"), py::arg("dropped"),
      "Compute scaled dot-product attention; `dropped` is the dropout rate.");
}

}  // namespace pullback
