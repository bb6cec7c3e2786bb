"""Arrangements made of views, joins and takes: each with some calls (shape, other arguments)."""

import numpy as np

import pullback as pb

from .. import reference as ref
from ..cases import Case, calls

# fmt: off

CASES: list[Case] = [
    *calls("transpose", pb.moveaxis, np.moveaxis, ((2, 3, 4), 0, -1), ((2, 3, 4), (0, 1), (-1, 0)),
           ((3,), 0, 0)),
    *calls("transpose", pb.swapaxes, np.swapaxes, ((2, 3, 4), 0, 2), ((2, 3), -1, 0)),
    *calls("slice", ref.along_axis(pb.flip), ref.along_axis(np.flip), ((4,), None), ((2, 3), 1),
           ((2, 3, 2), (0, -1)), ((0, 3), 0), ((), None), name="flip"),
    *calls("slice", pb.flipud, np.flipud, ((3, 2),), ((4,),)),
    *calls("slice", pb.fliplr, np.fliplr, ((3, 2),)),
    *calls("concat", ref.rolled(pb.roll), ref.rolled(np.roll), ((5,), 2, 0), ((5,), -7, None),
           ((2, 3), 4, None), ((2, 3), (1, 2), (0, 1)), ((3, 4), 1, (0, 1)), ((0, 3), 1, 0),
           name="roll"),
    *calls("slice", pb.rot90, np.rot90, ((2, 3),), ((2, 3), 2), ((2, 3), -1),
           ((2, 3, 2), 1, (1, 2)), ((2, 3), 4)),
    *calls("broadcast_to", pb.tile, np.tile, ((3,), 2), ((2, 3), (2, 1)), ((2,), (2, 2)),
           ((2, 3), (3,)), ((), (2,)), ((2, 3), (0, 1))),
    *calls("broadcast_to", ref.repeated(pb.repeat), ref.repeated(np.repeat), ((3,), 2, None),
           ((2, 3), 2, None), ((2, 3), 3, 1), ((2, 3), [2, 0, 1], 1), ((2, 3), [2], 0),
           ((2, 3), 0, 0), name="repeat"),
    *calls("reshape", pb.ravel, np.ravel, ((2, 3),), ((),), ((0, 3),)),
    *calls("slice", lambda x: pb.unstack(x)[-1], lambda x: x[-1], ((3, 2),), ((2,),),
           name="unstack"),
    *calls("reshape", pb.atleast_1d, np.atleast_1d, ((),), ((2, 3),)),
    *calls("reshape", pb.atleast_2d, np.atleast_2d, ((),), ((3,),), ((2, 3),)),
    *calls("reshape", pb.atleast_3d, np.atleast_3d, ((),), ((3,),), ((2, 3),), ((2, 3, 2),)),
    *calls("concat", ref.listed(pb.hstack), ref.listed(np.hstack), ([(2,), (3,)],), ([(), ()],),
           ([(2, 1), (2, 2)],), name="hstack"),
    *calls("concat", ref.listed(pb.vstack), ref.listed(np.vstack), ([(3,), (3,)],), ([(), ()],),
           ([(2, 3), (1, 3)],), name="vstack"),
    *calls("concat", ref.listed(pb.dstack), ref.listed(np.dstack), ([(3,), (3,)],),
           ([(2, 3), (2, 3)],), ([(2, 2, 1), (2, 2, 2)],), name="dstack"),
    *calls("concat", ref.listed(pb.column_stack), ref.listed(np.column_stack), ([(3,), (3,)],),
           ([(2, 1), (2,)],), name="column_stack"),
    *calls("where", ref.diagonals(pb.tril), ref.diagonals(np.tril), ((3, 3), 0), ((2, 4), 1),
           ((2, 3, 3), -1), ((3, 2), 5), name="tril"),
    *calls("where", ref.diagonals(pb.triu), ref.diagonals(np.triu), ((3, 3), 0), ((2, 4), 1),
           ((2, 3, 3), -1), ((3, 2), -5), name="triu"),
]
