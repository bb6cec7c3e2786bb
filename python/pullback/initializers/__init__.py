"""Initial values of parameters: `pb.nn.initializers`."""

from .._numpy.creation import ones, zeros
from ._variance_scaling import (
    constant,
    glorot_normal,
    glorot_uniform,
    he_normal,
    he_uniform,
    identity,
    lecun_normal,
    lecun_uniform,
    normal,
    orthogonal,
    truncated_normal,
    uniform,
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
