"""Random numbers: `pb.random`."""

from ._array.random import normal, permutation, seed, shuffle, uniform

__all__ = [
    "normal",
    "permutation",
    "seed",
    "shuffle",
    "uniform",
]
