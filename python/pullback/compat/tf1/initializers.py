"""`tf.initializers`: the initial values of variables."""

from .names import absent
from .random_ops import constant_initializer as constant
from .random_ops import glorot_uniform_initializer as glorot_uniform
from .random_ops import ones_initializer as ones
from .random_ops import random_normal_initializer as random_normal
from .random_ops import random_uniform_initializer as random_uniform
from .random_ops import truncated_normal_initializer as truncated_normal
from .random_ops import zeros_initializer as zeros
from .variables import global_variables_initializer as global_variables

__all__ = [
    "constant",
    "global_variables",
    "glorot_uniform",
    "ones",
    "random_normal",
    "random_uniform",
    "truncated_normal",
    "zeros",
]
__getattr__ = absent(__name__)
