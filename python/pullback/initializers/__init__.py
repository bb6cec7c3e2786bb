"""Initial values of parameters, `pb.initializers`; also `pb.nn.initializers`."""

from .._numpy.creation import ones, zeros
from ._distributions import constant, normal, truncated_normal, uniform
from ._matrices import identity, orthogonal
from ._variance_scaling import (
    glorot_normal,
    glorot_uniform,
    he_normal,
    he_uniform,
    lecun_normal,
    lecun_uniform,
    variance_scaling,
)

__all__ = [
    "constant",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "identity",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "ones",
    "orthogonal",
    "truncated_normal",
    "uniform",
    "variance_scaling",
    "zeros",
]
