# ruff: noqa: F403 (the names of a whole namespace)
"""`tf.debugging`: assertions under TensorFlow's later names."""

from . import check_ops
from .check_ops import *
from .math_ops import is_finite as is_finite
from .math_ops import is_inf as is_inf
from .math_ops import is_nan as is_nan
from .names import absent

assert_all_finite = check_ops.verify_tensor_all_finite
_OWN = {"assert_all_finite", "is_finite", "is_inf", "is_nan"}
__all__ = sorted(_OWN.union(check_ops.__all__) - {"Print", "verify_tensor_all_finite"})
__getattr__ = absent(__name__)
