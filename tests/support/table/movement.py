"""Functions of shapes, each with some calls (shape, other arguments)."""

import numpy as np

import pullback as pb

from .. import reference as ref
from ..cases import FLOATS, Case, calls

# fmt: off

CASES: list[Case] = [
    *calls("identity", pb.identity, ref.identity, ((),), ((2, 3),)),
    *calls("stop_gradient", pb.stop_gradient, ref.identity, ((2, 3),), wrt=()),
    *calls("cast", lambda x: pb.astype(x, "float64"), ref.to_double, ((4,),), dtypes="d"),
    *calls("reshape", pb.reshape, np.reshape, ((2, 6), (3, 4)), ((2, 6), (-1,)), ((), (1, 1)),
           ((0, 3), (3, 0)), ((4, 3), (2, 2, 3)), ((6,), (2, -1))),
    *calls("reshape", pb.expand_dims, np.expand_dims, ((3,), 0), ((2, 3), (0, -1)), ((), -1)),
    *calls("reshape", pb.squeeze, np.squeeze, ((1, 3, 1), 0), ((1, 3, 1), (0, -1)), ((1, 1),)),
    *calls("transpose", pb.transpose, np.transpose, ((2, 3),), ((3,),), ((2, 3, 4), (1, 2, 0)),
           ((2, 3, 4), (-1, 0, 1)), ((2, 3, 0, 2), (3, 1, 0, 2))),
    *calls("broadcast_to", pb.broadcast_to, np.broadcast_to, ((), (2, 2)), ((3, 1), (2, 3, 4)),
           ((1,), (0,)), ((2, 3), (2, 3))),
    *calls("slice", ref.item, ref.item, ((6,), np.s_[1:5:2]), ((6,), np.s_[::-1]), ((6,), -2),
           ((6,), np.s_[4:0:-3]), ((4, 5), np.s_[1, ::2]), ((4, 5), np.s_[..., None, 2]),
           ((4, 5), np.s_[:, -1:-4:-2]), ((2, 3, 4), np.s_[1, ..., ::-1]), ((4, 5), np.s_[3:3]),
           ((4, 5), np.s_[...])),
    *calls("slice", ref.last_of(pb.split), ref.last_of(np.split), ((6,), 3), ((2, 6), [1, 4], 1),
           ((4, 2), [2], 0), ((4, 2), 2, -2), name="split"),
    *calls("embed", ref.embed_by_gradient, ref.embed, ((2,), (6,), np.s_[1:5:2]),
           ((4,), (4,), np.s_[::-1]), ((3,), (4, 5), np.s_[2, 4::-2]),
           ((2, 0), (2, 3), np.s_[:, 1:1]), ((2, 3), (2, 4, 3), np.s_[:, 1]), dtypes=FLOATS),
    *calls("concat", ref.joined(pb.concat), ref.joined(np.concatenate), ([(2,), (3,)], 0),
           ([(2, 3), (0, 3), (1, 3)], 0), ([(2, 1), (2, 2), (2, 4), (2, 1)], -1),
           ([(2, 2, 2), (2, 3, 2)], 1)),
    *calls("concat", ref.joined(pb.stack), ref.joined(np.stack), ([(), ()], 0), ([(3,)] * 2, -1),
           ([(2, 3)] * 3, 1), name="stack"),
]
