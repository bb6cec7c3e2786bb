"""`tf.math`: the arithmetic of `tf`, which TensorFlow has under this name too."""

from __future__ import annotations

from . import math_ops as _math_ops
from .names import absent

_NOT_HERE = ("div", "matmul", "realdiv", "to_double", "to_float", "to_int32", "to_int64", "cast")
__all__ = [name for name in _math_ops.__all__ if name not in _NOT_HERE]
globals().update({name: getattr(_math_ops, name) for name in __all__})
__getattr__ = absent(__name__)
