# ruff: noqa: F403 (the names of a whole namespace)
"""`tf.debugging`: assertions under TensorFlow's later names."""

from ._ops import check_ops
from ._ops.check_ops import *
from ._ops.math_ops import is_finite as is_finite
from ._ops.math_ops import is_inf as is_inf
from ._ops.math_ops import is_nan as is_nan

assert_all_finite = check_ops.verify_tensor_all_finite
_OWN = {"assert_all_finite", "is_finite", "is_inf", "is_nan"}
__all__ = sorted(_OWN.union(check_ops.__all__) - {"Print", "verify_tensor_all_finite"})
