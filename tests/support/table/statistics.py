"""Statistics, grids and activations that are made of other operations."""

import numpy as np

import pullback as pb

from .. import reference as ref
from ..cases import FLOATS, NUMBERS, Case, calls
from .domains import DISTINCT, NONZERO

# fmt: off

CASES: list[Case] = [
    *calls("sum", pb.var, np.var, ((5,),), ((3, 4), 0), ((2, 3, 4), (0, 2)), ((1,),), dtypes=FLOATS,
           ulp=8.0, size=ref.var_size),
    *calls("sum", ref.corrected(pb.var), ref.corrected(np.var), ((5,), 1), ((2, 3), 0.5),
           dtypes=FLOATS, ulp=8.0, size=ref.size_two, name="var correction"),
    *calls("sum", pb.std, np.std, ((5,),), ((3, 4), 0), ((2, 3, 4), (0, 2)), dtypes=FLOATS, ulp=8.0,
           size=ref.size_two),
    *calls("sum", pb.count_nonzero, np.count_nonzero, ((5,),), ((3, 4), 1), ((0, 3), 0), wrt=(),
           result="index"),
    *calls("sum", pb.nansum, np.nansum, ((5,),), ((3, 4), 1), dtypes=FLOATS, ulp=3.0,
           size=ref.size_two),
    *calls("sum", pb.nanmean, np.nanmean, ((5,),), ((3, 4), 1), dtypes=FLOATS, ulp=3.0,
           size=ref.size_two),
    *calls("subtract", pb.ptp, np.ptp, ((5,),), ((3, 4), 1), domain=DISTINCT, dtypes=NUMBERS),
    *calls("subtract", ref.along_axis(pb.diff), ref.along_axis(np.diff), ((5,), 0), ((3, 4), 0),
           ((3, 1), 1), name="diff"),
    *calls("broadcast_to", lambda x, y: pb.meshgrid(x, y)[0], lambda x, y: np.meshgrid(x, y)[0],
           ([(3,), (2,)],), ([(0,), (2,)],), name="meshgrid", wrt=(0,)),
    *calls("where", lambda x, y: pb.linspace(x, y, 7), ref.linspace, ([(), ()],), dtypes=FLOATS,
           ulp=3.0, size=ref.size_two, name="linspace"),
    *calls("clip", pb.nn.relu6, ref.relu6, ((2, 3),), domain=NONZERO, dtypes=FLOATS),
    *calls("where", pb.nn.leaky_relu, ref.leaky_relu, ((2, 3),), domain=NONZERO, dtypes=FLOATS,
           ulp=1.5),
    *calls("where", pb.nn.elu, ref.elu, ((2, 3),), domain=NONZERO, dtypes=FLOATS, ulp=2.0),
    *calls("where", pb.nn.selu, ref.selu, ((2, 3),), domain=NONZERO, dtypes=FLOATS, ulp=3.0),
    *calls("multiply", pb.nn.silu, ref.silu, ((2, 3),), dtypes=FLOATS, ulp=3.0),
    *calls("multiply", pb.nn.mish, ref.mish, ((2, 3),), dtypes=FLOATS, ulp=4.0),
    *calls("negative", pb.nn.log_sigmoid, ref.log_sigmoid, ((2, 3),), dtypes=FLOATS, ulp=2.0),
    *calls("divide", pb.nn.hard_sigmoid, ref.hard_sigmoid, ((2, 3),), dtypes=FLOATS, ulp=2.0),
    *calls("multiply", pb.nn.hard_silu, ref.hard_silu, ((2, 3),), dtypes=FLOATS, ulp=3.0),
]
