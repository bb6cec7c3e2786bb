"""`tf.random`: aliases under TensorFlow's later names."""

from ._ops.random_ops import categorical, multinomial, set_random_seed, truncated_normal
from ._ops.random_ops import random_normal as normal
from ._ops.random_ops import random_shuffle as shuffle
from ._ops.random_ops import random_uniform as uniform

__all__ = [
    "categorical", "multinomial", "normal", "set_random_seed", "shuffle", "truncated_normal",
    "uniform",
]  # fmt: skip
