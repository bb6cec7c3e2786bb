"""Functions made of others."""

import mpmath as mp
import numpy as np

import pullback as pb

from .. import reference as ref
from ..cases import FLOATS, Case, Domain, calls, indexed
from ..exactly import exactly
from .domains import NONZERO, POSITIVE, SHARE

# fmt: off


def by_tanh(x):  # type: ignore[no-untyped-def]
    return x * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (x + 0.044715 * x**3))) / 2


def multigamma(a):  # type: ignore[no-untyped-def]
    return 3 * mp.log(mp.pi) / 2 + sum(mp.loggamma(a - mp.mpf(j) / 2) for j in range(3))


def terms(*xs):  # type: ignore[no-untyped-def]
    """How large what is added may be."""
    return np.ones(np.broadcast_shapes(*(x.shape for x in xs))) * 4


CASES: list[Case] = [
    *calls("softmax", pb.softmax, ref.softmax, ((5,), -1), ((2, 3), 0), ((2, 3, 4), 1),
           ((3, 1), -1), result="float", ulp=6.0),
    *calls("log_softmax", pb.log_softmax, ref.log_softmax, ((5,), -1), ((2, 3), 0),
           ((2, 3, 4), 1), result="float", ulp=6.0, size=ref.log_softmax_size),
    *calls("softmax_cross_entropy", pb.softmax_cross_entropy, ref.cross_entropy, ([(4,), (4,)],),
           ([(3, 4), (3, 4)],), ([(2, 3, 2), (2, 3, 2)],), ([(0, 3), (0, 3)],), dtypes=FLOATS,
           domain=SHARE, ulp=8.0, size=ref.cross_entropy_size),
    indexed("sparse_softmax_cross_entropy",
            lambda x, i: pb.sparse_softmax_cross_entropy(x, pb.remainder(i, 4)),
            ref.sparse_cross_entropy, ((3, 4), (3,)), ((4,), ()), ((2, 3, 4), (2, 3)),
            ((0, 4), (0,)), dtypes=FLOATS, ulp=8.0, size=ref.sparse_cross_entropy_size),
    *calls("multiply", pb.nn.gelu, exactly(lambda x: x * mp.ncdf(x)), ((2, 3),), dtypes=FLOATS,
           ulp=3.0),
    *calls("multiply", lambda x: pb.nn.gelu(x, approximate="tanh"), exactly(by_tanh), ((2, 3),),
           dtypes=FLOATS, ulp=8.0, name="gelu tanh"),
    *calls("divide", pb.reciprocal, lambda x: 1 / x, ((2, 3),), domain=NONZERO, dtypes=FLOATS),
    *calls("multiply", pb.deg2rad, exactly(mp.radians), ((2, 3),), dtypes=FLOATS, ulp=1.5),
    # Of few radians: differences of many degrees say less of a second derivative that is 0.
    *calls("multiply", pb.rad2deg, exactly(mp.degrees), ((2, 3),), domain=Domain(-0.2, 0.2),
           dtypes=FLOATS, ulp=1.5),
    *calls("add", pb.lerp, lambda a, b, w: a + w * (b - a), ([(2, 3), (3,), ()],), dtypes=FLOATS,
           ulp=4.0, size=terms),
    *calls("add", pb.fma, lambda a, b, c: a * b + c, ([(2, 3), (3,), ()],), dtypes=FLOATS, ulp=4.0,
           size=terms),
    *calls("pow", pb.float_power, np.power, ([(2, 3), (3,)],), domain=POSITIVE, dtypes="d"),
    *calls("negative", pb.special.log_expit, exactly(lambda x: -mp.log1p(mp.exp(-x))), ((2, 3),),
           dtypes=FLOATS, ulp=1.5),
    *calls("add", lambda a: pb.special.multigammaln(a, 3), exactly(multigamma), ((2, 3),),
           domain=Domain(1.5, 4.0), dtypes="d", ulp=8.0, size=terms, name="multigammaln"),
    *calls("where", pb.nan_to_num, lambda x: x, ((2, 3),), dtypes=FLOATS),
    *calls("at_slice", lambda x, v: pb.fill_diagonal(x, v),
           lambda x, v: x * (1 - np.eye(3)) + v * np.eye(3), ([(3, 3), (3,)],), dtypes=FLOATS,
           name="fill_diagonal"),
]
