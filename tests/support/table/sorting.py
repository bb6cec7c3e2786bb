"""Sorts, what they are made into, and choices by positions."""

from typing import Any

import numpy as np

import pullback as pb

from ..cases import FLOATS, NUMBERS, Case, Domain, calls
from .domains import DISTINCT

AXES = (((5,), 0), ((3, 4), 0), ((3, 4), -1), ((2, 3, 4), 1), ((1,), 0), ((0,), 0), ((2, 0, 3), -1))
POINTS = np.array([-1.6, -0.7, 0.9, 2.2])
VALUES = np.array([0.5, -1.0, 2.0, 1.0])
PLACES = np.array([-3.0, -1.0, 0.3, 1.0, 3.0])
INSIDE = Domain(-2.0, 2.0, kinks=tuple(POINTS))


def along(name: str, **more: Any) -> Any:
    return lambda x, axis: getattr(pb, name)(x, axis=axis, **more)


def falling(x: Any, axis: int) -> Any:
    return np.flip(np.sort(x, axis), axis)


def largest(x: Any, k: int, axis: int) -> Any:
    return np.take(falling(x, axis), np.arange(k), axis)


def at_shares(method: str) -> Any:
    return lambda x, q, axis: pb.quantile(x, q, axis=axis, method=method)


def at_shares_of_numpy(method: str) -> Any:
    return lambda x, q, axis: np.quantile(x, np.asarray(q, x.dtype), axis=axis, method=method)


def of_numpy(name: str) -> Any:
    return lambda x, q: getattr(np, name)(x, np.asarray(q, x.dtype))


def broken_line(x: Any, f: Any) -> Any:
    at = np.clip(np.searchsorted(POINTS, x, "right") - 1, 0, len(POINTS) - 2)
    part = (x - POINTS[at]) / (POINTS[at + 1] - POINTS[at])
    inside = f[at] + part * (f[at + 1] - f[at])
    return np.where(x < POINTS[0], f[0], np.where(x > POINTS[-1], f[-1], inside))


def size(x: Any, *_: Any) -> Any:
    return np.max(np.abs(x)) + np.zeros(())


# fmt: off

CASES: list[Case] = [
    *calls("sort", along("sort"), np.sort, *AXES, domain=DISTINCT, name="sort"),
    *calls("sort", lambda x: pb.sort(x, None), lambda x: np.sort(x, None), ((3, 4),), ((),),
           domain=DISTINCT, name="sort"),
    *calls("sort", along("sort", descending=True), falling, *AXES, domain=DISTINCT,
           name="sort descending"),
    *calls("argsort", lambda x: pb.argsort(x, None),
           lambda x: np.argsort(x, None, kind="stable"), ((3, 4),), domain=DISTINCT, wrt=(),
           result="index", name="argsort"),
    *calls("argsort", along("argsort"), lambda x, a: np.argsort(x, a, kind="stable"), *AXES,
           domain=DISTINCT, wrt=(), result="index", name="argsort"),
    *calls("searchsorted", lambda x: pb.searchsorted([-1.0, 0.0, 0.0, 1.0], x),
           lambda x: np.searchsorted([-1.0, 0.0, 0.0, 1.0], x), ((5,),), ((2, 3),), ((),), ((0,),),
           wrt=(), result="index", name="searchsorted"),
    *calls("take", lambda x, k, a: pb.topk(x, k, axis=a)[0], largest, ((5,), 2, 0),
           ((3, 4), 3, 0), ((3, 4), 1, -1), ((3,), 0, 0), domain=DISTINCT, name="topk"),
    *calls("sort", lambda x, k: pb.partition(x, k), lambda x, k: np.sort(x), ((5,), 2),
           ((3, 4), 1), domain=DISTINCT, name="partition"),
    *calls("sort", pb.median, np.median, ((5,),), ((6,),), ((3, 4), 1), ((2, 3, 4), (0, 2)),
           domain=DISTINCT, dtypes=FLOATS, ulp=1.0),
    *(case for method in ("linear", "lower", "higher", "midpoint", "hazen", "weibull",
                          "median_unbiased", "normal_unbiased")
      for case in calls("sort", at_shares(method), at_shares_of_numpy(method), ((5,), 0.3, 0),
                        ((3, 4), (0.25, 0.9), 1), ((2, 3, 4), 0.6, (0, 2)), domain=DISTINCT,
                        dtypes="d", ulp=8.0, size=size, name=f"quantile {method}")),
    *(case for name, share in (("percentile", 30.0), ("nanquantile", 0.3), ("nanpercentile", 30.0))
      for case in calls("sort", getattr(pb, name), of_numpy(name), ((5,), share), domain=DISTINCT,
                        dtypes="d", ulp=8.0, size=size, name=name)),
    *calls("sort", lambda x: pb.nanmedian(x, axis=1), lambda x: np.median(x, 1), ((3, 4),),
           ((2, 5),), domain=DISTINCT, dtypes=FLOATS, ulp=2.0, size=size, name="nanmedian"),
    *calls("where", lambda x: pb.interp(x, POINTS, VALUES),
           lambda x: broken_line(x, VALUES), ((5,),), ((2, 3),), domain=INSIDE, dtypes="d", ulp=8.0,
           size=lambda x: 2.0 + 0 * x, name="interp"),
    *calls("where", lambda f: pb.interp(PLACES, POINTS, f),
           lambda f: broken_line(PLACES, f), ((4,),), dtypes="d",
           ulp=8.0, size=size, name="interp by its values"),
    *calls("scatter_add", lambda w: pb.bincount(np.array([0, 3, 1, 3]), w),
           lambda w: np.array([w[0], w[2], 0 * w[0], w[1] + w[3]]), ((4,),), dtypes=FLOATS,
           ulp=2.0, size=size, name="bincount"),
    *calls("pick", lambda x, y: pb.choose([0, 1, 0], [x, y]),
           lambda x, y: np.stack([x[0], y[1], x[2]]), ([(3,), (3,)],), dtypes=NUMBERS,
           name="choose"),
    *calls("where", lambda x: pb.select([x < -1, x < 1], [-x, x * x], 3.0 * x),
           lambda x: np.select([x < -1, x < 1], [-x, x * x], 3.0 * x), ((5,),),
           domain=Domain(kinks=(-1.0, 1.0)), dtypes=FLOATS, ulp=1.0, name="select"),
    *calls("where", lambda x: pb.piecewise(x, [x < 0, x >= 0], [lambda v: -v, pb.square]),
           lambda x: np.where(x < 0, -x, x * x), ((5,),), domain=Domain(kinks=(0.0,)),
           dtypes=FLOATS, ulp=1.0, name="piecewise"),
]
