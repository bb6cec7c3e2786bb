"""Special functions: `pb.special`."""

from ._array.reductions import logsumexp
from ._array.special import erf

__all__ = [
    "erf",
    "logsumexp",
]
