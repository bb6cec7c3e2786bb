"""`tf.initializers`: the initial values of variables."""

from .names import absent
from .random_ops import constant_initializer as constant
from .random_ops import ones_initializer as ones
from .random_ops import random_normal_initializer as random_normal
from .random_ops import random_uniform_initializer as random_uniform
from .random_ops import truncated_normal_initializer as truncated_normal
from .random_ops import zeros_initializer as zeros
from .scaled_initializers import glorot_normal_initializer as glorot_normal
from .scaled_initializers import glorot_uniform_initializer as glorot_uniform
from .scaled_initializers import he_normal, he_uniform, identity, lecun_normal, lecun_uniform
from .scaled_initializers import orthogonal_initializer as orthogonal
from .scaled_initializers import uniform_unit_scaling_initializer as uniform_unit_scaling
from .scaled_initializers import variance_scaling_initializer as variance_scaling
from .variables import global_variables_initializer as global_variables
from .variables import local_variables_initializer as local_variables
from .variables import variables_initializer as variables

__all__ = [
    "constant", "global_variables", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform",
    "identity", "lecun_normal", "lecun_uniform", "local_variables", "ones", "orthogonal",
    "random_normal", "random_uniform", "truncated_normal", "uniform_unit_scaling", "variables",
    "variance_scaling", "zeros",
]  # fmt: skip
__getattr__ = absent(__name__)
