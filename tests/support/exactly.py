"""mpmath's functions as references: elementwise, in long double."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import mpmath as mp
import numpy as np


def number(x: Any) -> Any:
    """A long double as an mpf, exactly."""
    if np.isnan(x) or np.isinf(x):
        return mp.mpf(float(x))
    head = float(x)
    return mp.mpf(head) + mp.mpf(float(x - np.longdouble(head)))


def long_double(y: Any) -> Any:
    y = mp.re(y)
    if mp.isnan(y) or mp.isinf(y):
        return np.longdouble(float(y))
    head = float(y)
    return np.longdouble(head) + np.longdouble(float(y - head) if np.isfinite(head) else 0.0)


def exactly(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` of mpf's as one of arrays. What moves in a difference is one entry of many: the
    others are remembered."""

    @lru_cache(maxsize=1 << 16)
    def one(*arguments: Any) -> Any:
        with mp.workdps(40):
            return long_double(function(*map(number, arguments)))

    def of(*arrays: Any) -> Any:
        dtype = np.result_type(*arrays)
        wide = np.broadcast_arrays(*[np.asarray(a, np.longdouble) for a in arrays])
        out = np.empty(wide[0].shape, np.longdouble)
        for at in np.ndindex(out.shape):
            out[at] = one(*[a[at] for a in wide])
        return out.astype(dtype if dtype.kind == "f" else np.longdouble)

    of.is_slow = True  # so that its values are stored: expected.py
    return of
