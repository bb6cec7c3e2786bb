"""Scans along an axis, and the recurrence that their gradients are made of."""

from typing import Any

import numpy as np

import pullback as pb
from pullback import _core

from ..cases import FLOATS, Case, calls
from .domains import DISTINCT, NONZERO, REAL

AXES = (((5,), 0), ((3, 4), 0), ((3, 4), -1), ((2, 3, 4), 1), ((1,), 0), ((0,), 0), ((2, 0, 3), -1))


def along(name: str) -> Any:
    return lambda x, axis: getattr(pb, name)(x, axis=axis)


def summed(x: Any, axis: int) -> Any:
    return np.cumsum(np.abs(x), axis)


def initial(x: Any, axis: int) -> Any:
    return np.insert(np.cumsum(x, axis), 0, 0, axis)


def logsumexp(x: Any, axis: int) -> Any:
    return np.logaddexp.accumulate(x, axis)


def recurrence(a: Any, x: Any, axis: int) -> Any:
    rows = np.moveaxis(x, axis, 0).copy()
    factors = np.moveaxis(a, axis, 0)
    for i in range(1, len(rows)):
        rows[i] = factors[i] * rows[i - 1] + rows[i]
    return np.moveaxis(rows, 0, axis)


def backward(f: Any) -> Any:
    def reversed_(*args: Any) -> Any:
        *arrays, axis = args
        return np.flip(f(*(np.flip(x, axis) for x in arrays), axis), axis)

    return reversed_


def from_end(name: str) -> Any:
    return lambda *args: getattr(_core, name)(*args, True)


# fmt: off

CASES: list[Case] = [
    *calls("cumulative_sum", along("cumulative_sum"), np.cumsum, *AXES, result="wide",
           size=summed, ulp=2.0, name="cumulative_sum"),
    *calls("cumulative_sum", from_end("cumulative_sum"), backward(np.cumsum), *AXES[:3],
           result="wide", size=backward(summed), ulp=2.0, name="cumulative_sum reversed"),
    *calls("cumulative_sum", lambda x, axis: pb.cumulative_sum(x, axis=axis, include_initial=True),
           initial, *AXES[:4], dtypes=FLOATS, ulp=4.0, size=lambda x, a: np.max(np.abs(x)) + 0 *
           initial(x, a), name="cumulative_sum initial"),
    *calls("cumulative_prod", along("cumulative_prod"), np.cumprod, *AXES, result="wide",
           domain=NONZERO, ulp=3.0, name="cumulative_prod"),
    *calls("cumulative_prod", from_end("cumulative_prod"), backward(np.cumprod), *AXES[:3],
           result="wide", domain=NONZERO, ulp=3.0, name="cumulative_prod reversed"),
    *calls("cumulative_max", along("cumulative_max"), np.maximum.accumulate, *AXES, domain=DISTINCT,
           name="cumulative_max"),
    *calls("cumulative_max", from_end("cumulative_max"), backward(np.maximum.accumulate), *AXES[:3],
           domain=DISTINCT, name="cumulative_max reversed"),
    *calls("cumulative_min", along("cumulative_min"), np.minimum.accumulate, *AXES, domain=DISTINCT,
           name="cumulative_min"),
    *calls("linear_recurrence", along("cumulative_logsumexp"), logsumexp, *AXES, dtypes=FLOATS,
           ulp=6.0, size=lambda x, axis: 1 + np.abs(logsumexp(x, axis)),
           name="cumulative_logsumexp"),
    *calls("linear_recurrence", _core.linear_recurrence, recurrence, ([(5,), (5,)], 0),
           ([(3, 4), (3, 4)], 0), ([(3, 4), (3, 4)], 1), ([(2, 3, 2), (2, 3, 2)], 1),
           ([(0,), (0,)], 0), dtypes="ilfd", ulp=8.0,
           size=lambda a, x, axis: 1 + recurrence(np.abs(a), np.abs(x), axis)),
    *calls("linear_recurrence", from_end("linear_recurrence"), backward(recurrence),
           ([(5,), (5,)], 0), ([(3, 4), (3, 4)], 0), dtypes="ilfd", ulp=8.0,
           size=lambda a, x, axis: 1 + backward(recurrence)(np.abs(a), np.abs(x), axis),
           name="linear_recurrence reversed"),
    *calls("cumulative_sum", pb.cumsum, np.cumsum, ((3, 4),), ((3, 4), 1), result="wide",
           ulp=4.0, size=lambda x, axis=None: np.cumsum(np.abs(x), axis)),
    *calls("cumulative_prod", pb.cumprod, np.cumprod, ((2, 3),), ((3, 4), 1), result="wide",
           domain=NONZERO, ulp=4.0),
    *calls("cumulative_sum", lambda x: pb.sum(pb.cumulative_sum(pb.exp(x)) * x),
           lambda x: np.sum(np.cumsum(np.exp(x)) * x), ((5,),), domain=REAL, dtypes=FLOATS,
           ulp=16.0, size=lambda x: np.sum(np.cumsum(np.exp(x)) * np.abs(x)), name="cumsum inside"),
]
