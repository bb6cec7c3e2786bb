"""Activations, losses and normalisations that are made of other operations."""

import numpy as np

import pullback as pb

from .. import nn_reference as ref
from ..cases import FLOATS, Case, Domain, calls
from .domains import NONZERO, REAL, SHARE

# fmt: off

PAIR = [(2, 3), (2, 3)]
APART = (Domain(grid=0.5), Domain(grid=0.5, offset=0.25))  # never equal, nor apart by 1


def pairs(op, run, reference, *variants, domains=APART, **more):  # type: ignore[no-untyped-def]
    """Losses: predictions and targets from domains of their own."""
    more = {"dtypes": FLOATS, "ulp": 3.0, "size": ref.four, "name": run.__name__, **more}
    made = calls(op, run, reference, *variants, **more)
    return [Case(**{**vars(case), "domains": domains}) for case in made]


CASES: list[Case] = [
    *calls("where", pb.nn.celu, ref.celu, ((2, 3),), ((2, 3), 0.5), domain=NONZERO, dtypes=FLOATS,
           ulp=4.0),
    *calls("multiply", pb.nn.glu, ref.glu, ((4,),), ((2, 3), 0), ((2, 0),), dtypes=FLOATS, ulp=3.0),
    *calls("clip", pb.nn.hard_tanh, ref.hard_tanh, ((2, 3),), domain=Domain(kinks=(-1.0, 1.0)),
           dtypes=FLOATS),
    *pairs("abs", pb.nn.l1_loss, ref.l1_loss, (PAIR,), ([(3,), ()],)),
    *pairs("square", pb.nn.l2_loss, ref.l2_loss, (PAIR,), ([(3,), ()],)),
    *pairs("square", ref.reducing(pb.nn.l2_loss), ref.l2_loss, (PAIR, "none"), (PAIR, "sum"),
           name="l2_loss"),
    *pairs("where", pb.nn.huber_loss, ref.huber_loss, (PAIR,), (PAIR, 0.6)),
    *pairs("where", pb.nn.smooth_l1, ref.smooth_l1, (PAIR,), (PAIR, 0.6), (PAIR, 0.0)),
    *pairs("relu", pb.nn.hinge, ref.hinge, (PAIR,), domains=(REAL, Domain(-0.4, 0.4))),
    *pairs("softplus", pb.nn.sigmoid_cross_entropy, ref.sigmoid_cross_entropy, (PAIR,),
           ([(), ()],), domains=(REAL, SHARE)),
    *pairs("sum", pb.nn.kl_divergence, ref.kl_divergence, (PAIR,), domains=(REAL, SHARE)),
    *pairs("divide", pb.nn.cosine_similarity, ref.cosine_similarity, (PAIR,), ([(3,), (2, 3)],),
           domains=(NONZERO, NONZERO)),
    *calls("multiply", pb.nn.layer_norm, ref.layer_norm, ((5,),), ([(2, 3), (3,), (3,)],),
           dtypes=FLOATS, ulp=8.0, size=ref.four),
    *calls("multiply", lambda x: pb.nn.layer_norm(x, axis=(0, 2)),
           lambda x: ref.layer_norm(x, axis=(0, 2)), ((2, 3, 2),), dtypes=FLOATS, ulp=8.0,
           size=ref.four, name="layer_norm axes"),
    *calls("multiply", pb.nn.rms_norm, ref.rms_norm, ((5,),), ([(2, 3), (3,)],), dtypes=FLOATS,
           ulp=8.0, size=ref.four),
    *calls("multiply", lambda x, w, b, axis: pb.nn.batch_norm(x, None, None, w, b, axis=axis),
           ref.batch_norm, ([(4, 3), (3,), (3,)], -1), ([(3, 2, 2), (2,), (2,)], 1), dtypes=FLOATS,
           ulp=8.0, size=ref.four, name="batch_norm"),
    *calls("multiply", lambda x, m, v: pb.nn.batch_norm(x, m, v * v), ref.kept_norm,
           ([(2, 3), (3,), (3,)],), dtypes=FLOATS, domain=NONZERO, ulp=8.0,
           size=lambda x, m, v: np.asarray(60.0, x.dtype), name="batch_norm kept"),
    *calls("multiply", lambda x, w, b, groups: pb.nn.group_norm(x, groups, w, b), ref.group_norm,
           ([(2, 6), (6,), (6,)], 2), ([(2, 3, 4), (4,), (4,)], 2), dtypes=FLOATS, ulp=8.0,
           size=ref.four, name="group_norm"),
    *calls("take", lambda x: pb.nn.embedding(x, [[0, -1], [0, 2]]), lambda x: x[[[0, -1], [0, 2]]],
           ((3, 2),), ((4,),), name="embedding"),
]
