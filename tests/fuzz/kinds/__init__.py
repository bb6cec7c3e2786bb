"""The kinds of lines: each function adds some to a program, or none where nothing fits.

The order in which they are registered decides what a seed stands for.
"""

import numpy as np

# isort: off
from . import elementwise, choice, reductions, shapes, products, indexing, inside
from . import composed, arranged, ordered, narrow
from .registry import registered

# isort: on

__all__ = [
    "KINDS",
    "WEIGHTS",
    "arranged",
    "choice",
    "composed",
    "elementwise",
    "indexing",
    "inside",
    "narrow",
    "ordered",
    "products",
    "reductions",
    "shapes",
]

KINDS = [f for f, _ in registered]
WEIGHTS = np.array([weight for _, weight in registered])
WEIGHTS /= WEIGHTS.sum()
