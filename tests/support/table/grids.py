"""Padding, diagonals and geometric grids."""

import numpy as np

import pullback as pb

from .. import nn_reference as ref
from ..cases import FLOATS, Case, calls
from .domains import DISTINCT, POSITIVE

# fmt: off

CASES: list[Case] = [
    *calls("concat", pb.pad, np.pad, ((3,), (2, 1)), ((2, 3), 1, "edge"), ((3,), 7, "reflect"),
           ((2, 3), ((1, 0), (2, 5)), "symmetric"), ((3,), (4, 1), "wrap"), name="pad"),
    *calls("max", pb.pad, np.pad, ((2, 3), 1, "maximum"), ((2, 3), 2, "minimum"),
           domain=DISTINCT, dtypes=FLOATS, name="pad extremes"),
    *calls("mean", pb.pad, np.pad, ((2, 3), 1, "mean"), ((4,), (3, 2), "linear_ramp"),
           dtypes=FLOATS, ulp=3.0, size=ref.four, name="pad lines"),
    *calls("reshape", pb.diag, np.diag, ((3,),), ((2,), -1), ((3, 3), 1)),
    *calls("reshape", pb.diagflat, np.diagflat, ((2, 2),), ((2,), 1)),
    *calls("multiply", pb.kron, np.kron, ([(2, 2), (3,)],), ([(2,), (2, 1)],), dtypes=FLOATS),
    *calls("concat", lambda x, y: pb.append(x, y), lambda x, y: np.append(x, y),
           ([(2, 2), (3,)],), name="append"),
    *calls("take", lambda x, y: pb.insert(x, [1, 0, 3], y, 1),
           lambda x, y: np.insert(x, [1, 0, 3], y, 1), ([(2, 3), (3,)],), name="insert"),
    *calls("take", pb.delete, np.delete, ((4,), [0, 2]), ((2, 3), -1, 1), name="delete"),
    *calls("concat", lambda x, y: pb.block([[x, x], [y, x]]),
           lambda x, y: np.block([[x, x], [y, x]]), ([(2, 1), (2, 1)],), name="block"),
    *calls("where", lambda x, y: pb.geomspace(x, y, 5),
           lambda x, y: x * (y / x) ** (np.arange(5) / x.dtype.type(4)), ([(), ()],),
           domain=POSITIVE, dtypes=FLOATS, ulp=8.0, size=ref.four, name="geomspace"),
]
