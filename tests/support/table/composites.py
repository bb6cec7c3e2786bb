"""Functions made of others."""

import pullback as pb

from .. import reference as ref
from ..cases import FLOATS, Case, calls, indexed
from .domains import SHARE

# fmt: off

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
]
