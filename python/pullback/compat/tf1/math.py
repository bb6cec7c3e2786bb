"""`tf.math`: the arithmetic of `tf`, which TensorFlow has under this name too."""

from __future__ import annotations

from . import complex_ops as _complex_ops
from . import linear_ops as _linear_ops
from . import math_ops as _math_ops
from . import scalar_ops as _scalar_ops
from .names import absent
from .order_ops import in_top_k, top_k
from .scatter_ops import (
    segment_mean,
    segment_sum,
    unsorted_segment_mean,
    unsorted_segment_sum,
)

_NOT_HERE = (
    "cast", "complex", "div", "matmul", "realdiv", "to_complex64", "to_complex128", "to_double",
    "to_float", "to_int32", "to_int64",
)  # fmt: skip
_LINEAR = ("count_nonzero", "cumprod", "cumsum")
_found = {
    name: getattr(module, name)
    for module, names in (
        (_math_ops, _math_ops.__all__), (_complex_ops, _complex_ops.__all__),
        (_scalar_ops, _scalar_ops.__all__), (_linear_ops, _LINEAR)
    )
    for name in names
    if name not in _NOT_HERE
}  # fmt: skip
globals().update(_found)
__all__ = [
    *_found,
    "in_top_k",
    "segment_mean",
    "segment_sum",
    "top_k",
    "unsorted_segment_mean",
    "unsorted_segment_sum",
]
__getattr__ = absent(__name__)
