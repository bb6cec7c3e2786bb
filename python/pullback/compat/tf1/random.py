"""`tf.random`: random tensors under TensorFlow's later names."""

from .names import absent
from .random_ops import categorical, multinomial, set_random_seed, truncated_normal
from .random_ops import random_normal as normal
from .random_ops import random_shuffle as shuffle
from .random_ops import random_uniform as uniform

__all__ = [
    "categorical", "multinomial", "normal", "set_random_seed", "shuffle", "truncated_normal",
    "uniform",
]  # fmt: skip
__getattr__ = absent(__name__)
