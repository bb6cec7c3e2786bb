"""Reductions of what counts, averages, covariances and differences."""

from functools import partial

import numpy as np

import pullback as pb

from .. import nn_reference as ref
from ..cases import FLOATS, Case, calls
from .domains import DISTINCT, NONZERO, POSITIVE

# fmt: off

MASK = np.array([[True, False, True, True], [False, True, True, True], [True, True, False, True]])
LOOSE = {"dtypes": FLOATS, "ulp": 16.0, "size": ref.four}


def masked(name, numpy, **more):  # type: ignore[no-untyped-def]
    """name(x, axis, where=MASK, …)."""
    run = partial(getattr(pb, name), where=MASK, **more)
    return (lambda x, axis=None: run(x, axis),
            lambda x, axis=None: numpy(x, axis, where=MASK, **more))


def holes(name, numpy):  # type: ignore[no-untyped-def]
    f = getattr(pb, name)
    return (lambda x, axis=None: f(pb.where(MASK, x, np.nan), axis),
            lambda x, axis=None: numpy(np.where(MASK, x, np.nan), axis))


CASES: list[Case] = [
    *calls("sum", *masked("sum", np.sum, initial=0.5), ((3, 4),), ((3, 4), 1), **LOOSE,
           name="sum where"),
    *calls("prod", *masked("prod", np.prod, initial=0.5), ((3, 4),), ((3, 4), 0), **LOOSE,
           domain=NONZERO, name="prod where"),
    *calls("max", *masked("max", np.max, initial=-0.4375), ((3, 4),), ((3, 4), 0), domain=DISTINCT,
           dtypes=FLOATS, name="max where"),
    *calls("min", *masked("min", np.min, initial=0.4375), ((3, 4),), ((3, 4), 1), domain=DISTINCT,
           dtypes=FLOATS, name="min where"),
    *calls("sum", *masked("mean", np.mean), ((3, 4),), ((3, 4), 1), **LOOSE, name="mean where"),
    *calls("sum", *masked("var", np.var), ((3, 4),), ((3, 4), 1), **LOOSE, name="var where"),
    *calls("sum", *masked("std", np.std), ((3, 4),), ((3, 4), 1), **LOOSE, name="std where"),
    *calls("any", *masked("any", np.any), ((3, 4),), ((3, 4), 1), wrt=(), result="bool",
           name="any where"),
    *calls("all", *masked("all", np.all), ((3, 4),), ((3, 4), 1), wrt=(), result="bool",
           name="all where"),
    *calls("sum", *holes("nansum", np.nansum), ((3, 4),), ((3, 4), 1), **LOOSE,
           name="nansum holes"),
    *calls("sum", *holes("nanmean", np.nanmean), ((3, 4),), ((3, 4), 1), **LOOSE,
           name="nanmean holes"),
    *calls("sum", *holes("nanvar", np.nanvar), ((3, 4),), ((3, 4), 1), **LOOSE, name="nanvar"),
    *calls("sum", *holes("nanstd", np.nanstd), ((3, 4),), ((3, 4), 1), **LOOSE, name="nanstd"),
    *calls("max", *holes("nanmax", np.nanmax), ((3, 4),), ((3, 4), 1), domain=DISTINCT,
           dtypes=FLOATS, name="nanmax"),
    *calls("min", *holes("nanmin", np.nanmin), ((3, 4),), ((3, 4), 0), domain=DISTINCT,
           dtypes=FLOATS, name="nanmin"),
    *calls("divide", lambda x, w: pb.average(x, 1, w), lambda x, w: np.average(x, 1, w),
           ([(2, 3), (3,)],), domain=POSITIVE, name="average", **LOOSE),
    *calls("divide", lambda x, w: pb.average(x, weights=w), lambda x, w: np.average(x, weights=w),
           ([(2, 3), (2, 3)],), domain=POSITIVE, name="average all", **LOOSE),
    *calls("matmul", pb.cov, np.cov, ((5,),), ([(2, 4), (4,)],), name="cov", **LOOSE),
    *calls("matmul", lambda x, w: pb.cov(x, rowvar=False, aweights=w, fweights=[2, 1, 1, 3]),
           lambda x, w: ref.weighted_cov(x, w, np.array([2, 1, 1, 3])), ([(4, 2), (4,)],),
           domain=POSITIVE, name="cov weights", **LOOSE),
    *calls("matmul", pb.corrcoef, ref.corrcoef, ((3, 5),), name="corrcoef", **LOOSE),
    *calls("subtract", lambda x, y: pb.diff(x, 2, 0, prepend=y, append=1),
           lambda x, y: np.diff(x, 2, 0, prepend=y, append=1), ([(3, 2), (1, 2)],), dtypes=FLOATS,
           ulp=4.0, size=ref.four, name="diff ends"),
    *calls("subtract", lambda x, y: pb.ediff1d(x, y, 2), lambda x, y: np.ediff1d(x, y, [2]),
           ([(2, 3), (2,)],), dtypes=FLOATS, name="ediff1d"),
    *calls("sum", lambda y, x: pb.trapezoid(y, x), ref.trapezoid, ([(2, 4), (4,)],), **LOOSE,
           name="trapezoid"),
    *calls("sum", lambda y, dx: pb.trapezoid(y, dx=dx, axis=0), lambda y, dx: np.trapezoid(
           y, dx=dx, axis=0), ([(4, 2), ()],), **LOOSE, name="trapezoid steps"),
]
