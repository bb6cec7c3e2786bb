"""`tf.debugging`: assertions under TensorFlow's later names."""

from .check_ops import (
    Assert,
    assert_equal,
    assert_greater,
    assert_greater_equal,
    assert_integer,
    assert_less,
    assert_less_equal,
    assert_negative,
    assert_non_negative,
    assert_non_positive,
    assert_none_equal,
    assert_positive,
    assert_rank,
    assert_rank_at_least,
    assert_scalar,
    assert_type,
    check_numerics,
)
from .check_ops import verify_tensor_all_finite as assert_all_finite
from .math_ops import is_finite, is_inf, is_nan
from .names import absent

__all__ = [
    "Assert", "assert_all_finite", "assert_equal", "assert_greater", "assert_greater_equal",
    "assert_integer", "assert_less", "assert_less_equal", "assert_negative", "assert_non_negative",
    "assert_non_positive", "assert_none_equal", "assert_positive", "assert_rank",
    "assert_rank_at_least", "assert_scalar", "assert_type", "check_numerics", "is_finite",
    "is_inf", "is_nan",
]  # fmt: skip
__getattr__ = absent(__name__)
