"""`tf.math`: aliases of the arithmetic of `tf`."""

from __future__ import annotations

from ._ops import complex_ops, linear_ops, math_ops, order_ops, scatter_ops
from ._ops import special_ops as scalar_ops
from .names import absent

_NOT_HERE = (
    "cast", "complex", "div", "matmul", "realdiv", "to_complex64", "to_complex128", "to_double",
    "to_float", "to_int32", "to_int64",
)  # fmt: skip
_found = {
    name: getattr(module, name)
    for module, names in (
        (math_ops, math_ops.__all__), (complex_ops, complex_ops.__all__),
        (scalar_ops, scalar_ops.__all__), (linear_ops, ("count_nonzero", "cumprod", "cumsum")),
        (order_ops, ("in_top_k", "top_k")),
        (scatter_ops, [n for n in scatter_ops.__all__ if "segment" in n]),
    )
    for name in names
    if name not in _NOT_HERE
}  # fmt: skip
globals().update(_found)
del complex_ops, linear_ops, math_ops, order_ops, scalar_ops, scatter_ops
__all__ = [*_found]
__getattr__ = absent(__name__)
