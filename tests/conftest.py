"""The case table: every operation once, and from it values, gradients to second order, dtypes,
broadcasting, CPU levels and threads follow (test_ops_values.py, test_ops_gradients.py).

A test that takes `case` runs for every row, `differentiable` for rows with a gradient, `pointwise`
for elementwise rows. A new elementwise operation is one line here; test_ops_gradients.py fails
where one is missing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from support import reference as ref
from support.cases import (
    ALL,
    FLOATS,
    NUMBERS,
    Case,
    Domain,
    calls,
    floats,
    indexed,
    numbers,
    reduction,
    truth,
    updates,
)
from support.process import live

import pullback as pb
from pullback import _core

# --- where arguments lie

REAL = Domain(-2.0, 2.0)
NONZERO = Domain(-2.0, 2.0, kinks=(0.0,))
POSITIVE = Domain(0.3, 3.0)
WIDE = Domain(-9.0, 9.0)
OPEN = Domain(-0.7, 4.0)
SHARE = Domain(0.05, 1.0)
EXPONENT = Domain(0.0, 3.0)  # integer powers of integers are integers only from 0 on
FLAT = Domain(-3.0, 3.0, kinks=tuple(k / 2 for k in range(-6, 7)), gap=0.06)
EVEN = Domain(-2.0, 2.0, grid=0.5)
ODD = Domain(-2.0, 2.0, grid=0.5, offset=0.25)
LOW = Domain(-1.5, -0.5, grid=0.5, offset=0.25)
HIGH = Domain(0.5, 1.5, grid=0.5, offset=0.25)
QUOTIENT = Domain(5.6, 6.4)
DIVISOR = Domain(-4.3, -3.3)
TIES = Domain(-1.0, 1.0, grid=1.0)
DISTINCT = Domain(-3.0, 3.0, distinct=True)
MASK = Domain(dtype="b")

# --- the table
# Name, NumPy reference, domain of each argument. Rows of elementwise.def in its order.
# fmt: off

CASES: list[Case] = [
    numbers("add",           np.add,           REAL,     REAL),
    numbers("subtract",      np.subtract,      REAL,     REAL),
    numbers("multiply",      np.multiply,      REAL,     REAL),
    floats ("divide",        np.true_divide,   REAL,     NONZERO,  ulp=0.51),
    numbers("floor_divide",  np.floor_divide,  QUOTIENT, DIVISOR),
    numbers("remainder",     np.remainder,     QUOTIENT, DIVISOR),
    numbers("pow",           np.power,         POSITIVE, EXPONENT, ulp=1.0),
    floats ("pow_da",        ref.pow_da,       POSITIVE, POSITIVE, ulp=2.0),
    floats ("pow_db",        ref.pow_db,       POSITIVE, POSITIVE, ulp=2.5),
    numbers("negative",      np.negative,      REAL),
    floats ("difference",    np.subtract,      REAL,     REAL),
    floats ("multiply_no_nan", ref.multiply_no_nan, REAL, NONZERO),
    numbers("square",        np.square,        REAL),
    numbers("abs",           np.abs,           NONZERO),
    numbers("sign",          np.sign,          NONZERO),
    floats ("exp",           np.exp,           WIDE),
    floats ("expm1",         np.expm1,         WIDE),
    floats ("log",           np.log,           POSITIVE),
    floats ("log1p",         np.log1p,         OPEN),
    floats ("log_slope",     ref.log_slope,    POSITIVE, ulp=0.51),
    floats ("sqrt",          np.sqrt,          POSITIVE, ulp=0.51),
    floats ("rsqrt",         ref.rsqrt,        POSITIVE, ulp=1.5),
    floats ("sin",           np.sin,           WIDE),
    floats ("cos",           np.cos,           WIDE),
    floats ("tanh",          np.tanh,          WIDE),
    floats ("tanh_slope",    ref.tanh_slope,   REAL,     ulp=3.3),
    floats ("sigmoid",       ref.sigmoid,      WIDE),
    floats ("sigmoid_slope", ref.sigmoid_slope, REAL,    ulp=3.3),
    floats ("softplus",      ref.softplus,     WIDE),
    numbers("relu",          ref.relu,         NONZERO),
    floats ("gate",          ref.gate,         NONZERO,  REAL),
    floats ("erf",           ref.erf,          REAL),
    floats ("erf_slope",     ref.erf_slope,    REAL,     ulp=1.5),
    numbers("round",         np.round,         FLAT),
    numbers("floor",         np.floor,         FLAT),
    numbers("ceil",          np.ceil,          FLAT),
    numbers("maximum",       np.maximum,       EVEN,     ODD),
    numbers("minimum",       np.minimum,       EVEN,     ODD),
    floats ("max_share",     ref.max_share,    EVEN,     ODD),
    floats ("min_share",     ref.min_share,    EVEN,     ODD),
    numbers("clip",          ref.clip,         EVEN,     LOW,      HIGH),
    numbers("where",         np.where,         MASK,     REAL,     REAL,  wrt=(1, 2), dtypes=ALL),
    truth  ("equal",         np.equal,         TIES,     TIES),
    truth  ("not_equal",     np.not_equal,     TIES,     TIES),
    truth  ("less",          np.less,          TIES,     TIES),
    truth  ("less_equal",    np.less_equal,    TIES,     TIES),
    truth  ("greater",       np.greater,       TIES,     TIES),
    truth  ("greater_equal", np.greater_equal, TIES,     TIES),
    truth  ("same",          np.equal,         TIES,     TIES),
    truth  ("logical_and",   np.logical_and,   TIES,     TIES),
    truth  ("logical_or",    np.logical_or,    TIES,     TIES),
    truth  ("logical_xor",   np.logical_xor,   TIES,     TIES),
    truth  ("logical_not",   np.logical_not,   TIES),
    truth  ("isnan",         np.isnan,         REAL),
    truth  ("isinf",         np.isinf,         REAL),
    truth  ("isfinite",      np.isfinite,      REAL),

    # --- reductions, each over many choices of axes (support/cases.py)
    *reduction("sum",       np.sum,        REAL,     result="wide",  ulp=3.0, size=ref.sum_size),
    *reduction("mean",      ref.mean,      REAL,     result="float", ulp=3.0, size=ref.mean_size),
    *reduction("prod",      np.prod,       NONZERO,  result="wide",           size=ref.prod_size),
    *reduction("max",       np.max,        DISTINCT, empty=False),
    *reduction("min",       np.min,        DISTINCT, empty=False),
    *reduction("all",       np.all,        TIES,     result="bool",  wrt=()),
    *reduction("any",       np.any,        TIES,     result="bool",  wrt=()),
    *reduction("argmax",    np.argmax,     REAL,     result="index", wrt=(), empty=False, one=True),
    *reduction("argmin",    np.argmin,     REAL,     result="index", wrt=(), empty=False, one=True),
    *reduction("logsumexp", ref.logsumexp, REAL,     result="float", ulp=3.0, size=ref.lse_size,
               empty=False),

    # --- movement: functions of shapes, each with some calls (shape, other arguments)
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

    # --- products and indexing
    *calls("matmul", pb.matmul, np.matmul, ([(2, 3), (3, 4)],), ([(3,), (3,)],), ([(3,), (3, 2)],),
           ([(2, 3), (3,)],), ([(2, 2, 3), (3, 2)],), ([(2, 3), (4, 3, 2)],), ([(1, 1), (1, 1)],),
           ([(2, 1, 2, 3), (3, 3, 2)],), ([(2, 0), (0, 3)],), ([(0, 2), (2, 3)],),
           ([(3, 2, 2), (2,)],), ([(2,), (3, 2, 2)],), dtypes=NUMBERS, ulp=2.0,
           size=ref.matmul_size),
    *calls("matmul", ref.subscripted(pb.einsum), ref.subscripted(np.einsum),
           ([(2, 3), (3, 4)], "ij,jk"), ([(2, 3), (4, 3)], "ij,kj->ki"), ([(3, 3)], "ii"),
           ([(2, 3, 2)], "iji->ij"), ([(2, 3)], "ij->j"), ([(3,), (2,)], "i,j->ji"),
           ([(2, 3), (2, 3)], "ij,ij->i"), ([(3, 2), (2, 2, 4)], "nd,kde->nke"),
           ([(2, 3), (3, 2), (2, 3)], "ij,jk,kl->il"), ([(2, 1), (3, 2)], "ij,jk->ik"),
           ([(2, 1, 3), (4, 3, 2)], "...i,...ij->...j"), ([(0, 2), (2, 3)], "ij,jk"),
           ([(2, 0), (0, 3)], "ij,jk"), ([(), (3,)], ",i"), ([(2, 2, 2), (2, 2)], "iij,jk->ik"),
           name="einsum", dtypes=NUMBERS, ulp=3.0, size=ref.size_of(ref.subscripted(np.einsum))),
    *calls("matmul", pb.tensordot, np.tensordot, ([(2, 3), (3, 4)], 1), ([(2, 3), (2,)], 0),
           ([(2, 3, 4), (4, 3, 2)], ((1, 2), (1, 0))), ([(2, 3), (2, 3)], 2),
           ([(2, 3), (3, 2)], ((-1,), (0,))), ([(2, 0), (0, 3)], 1),
           dtypes=NUMBERS, ulp=3.0, size=ref.size_of(np.tensordot)),
    *calls("matmul", pb.dot, np.dot, ([(3,), (3,)],), ([(2, 3), (3,)],), ([(2, 3), (2, 3, 2)],),
           ([(), (2, 2)],), dtypes=NUMBERS, ulp=3.0, size=ref.size_of(np.dot)),
    *calls("matmul", pb.inner, np.inner, ([(3,), (3,)],), ([(2, 3), (4, 3)],), ([(2, 2, 3), (3,)],),
           ([(2,), ()],), dtypes=NUMBERS, ulp=3.0, size=ref.size_of(np.inner)),
    *calls("multiply", pb.outer, np.outer, ([(3,), (2,)],), ([(2, 2), (3,)],), ([(), (2,)],),
           ([(0,), (2,)],), dtypes=NUMBERS),
    *calls("sum", pb.vdot, np.vdot, ([(3,), (3,)],), ([(2, 3), (3, 2)],), ([(), ()],),
           ([(0,), (0,)],), dtypes=NUMBERS, ulp=3.0, size=ref.size_of(np.vdot)),
    *calls("sum", pb.vecdot, ref.vecdot, ([(2, 3), (2, 3)],), ([(2, 3), (4, 1, 3)],),
           dtypes=NUMBERS, ulp=3.0, size=ref.size_of(ref.vecdot)),
    *calls("transpose", pb.matrix_transpose, lambda x: np.swapaxes(x, -1, -2), ((2, 3),),
           ((2, 3, 4),), name="matrix_transpose"),
    *calls("slice", pb.diagonal, np.diagonal, ((3, 3),), ((2, 4), 1), ((4, 2), -2), ((2, 3), 5),
           ((2, 3), -2), ((2, 3, 4), 1, 0, 2), ((2, 3, 4), -1, 2, 1), ((0, 3),), ((3, 0),)),
    *calls("sum", pb.trace, np.trace, ((3, 3),), ((2, 4), 1), ((2, 3, 2), 0, 0, 2),
           dtypes=FLOATS, ulp=2.0),
    indexed("take", lambda x, i: pb.take(x, i, axis=0), lambda x, i: np.take(x, i, axis=0),
            ((4,), (5,)), ((4, 3), (2, 2)), ((4, 3), ()), ((4, 0), (3,)), ((4,), (0,))),
    indexed("take", lambda x, i: pb.take(x, i, axis=1), lambda x, i: np.take(x, i, axis=1),
            ((3, 4), (5,)), ((2, 4, 2), (2, 2)), ((2, 4, 3), (7,)), name="take axis=1"),
    indexed("take", pb.take_along_axis, ref.along(-1), ((3, 4), (3, 2)), ((4,), (7,)),
            ((2, 3, 4), (1, 3, 1)), name="take_along_axis"),
    indexed("take", lambda x, i: pb.take_along_axis(x, i, axis=0), ref.along(0),
            ((4, 3), (2, 3)), ((4, 3), (5, 1)), name="take_along_axis axis=0"),
    indexed("scatter_add", lambda x, i: _core.scatter_add(x, i, 0, 4), ref.scatter_add,
            ((5,), (5,)), ((3, 2), (3,)), ((2, 2), (2, 2)), ((0,), (0,)), ((2, 2, 3), (2, 2)),
            dtypes=NUMBERS, ulp=2.0, size=lambda x, i: ref.scatter_add(abs(x), i)),
    indexed("sum_duplicates", lambda x, i: _core.sum_duplicates(x, i), ref.sum_duplicates,
            ((5,), (5,)), ((6, 3), (6,)), ((0, 2), (0,)), ((4, 2, 3), (4,)), wrt=(), dtypes=FLOATS,
            ulp=2.0, size=lambda x, i: ref.sum_duplicates(abs(x), i)),
    indexed("pick", lambda x, i: _core.pick(x, pb.remainder(i, 4)), ref.pick,
            ((3, 4), (3,)), ((4,), ()), ((2, 3, 4), (2, 3)), ((0, 4), (0,))),
    indexed("place", lambda x, i: _core.place(x, pb.remainder(i, 4), 4), ref.place,
            ((3,), (3,)), ((), ()), ((2, 3), (2, 3)), ((0,), (0,))),
    *calls("at_window", ref.at, ref.put, ([(6,), (2,)], np.s_[1:5:2], "set"),
           ([(4, 5), ()], np.s_[1], "set"), ([(4, 5), (1, 3)], np.s_[::-1, 1:4], "set"),
           ([(6,), (6,)], np.s_[::-1], "add"), ([(4, 5), (4, 1, 2)], np.s_[:, None, 3:0:-2], "add"),
           ([(2, 3), ()], np.s_[...], "add"), ([(3,), (0,)], np.s_[2:2], "set"),
           ([(3, 4), (3,)], np.s_[:, 1], "multiply"), size=ref.put_size, name="at"),
    *calls("at_index", ref.at, ref.put, ([(4,), (3,)], [2, 0, -1], "set"),
           ([(4,), (4,)], [2, 0, 2, -2], "set"), ([(4, 3), (2, 1)], np.s_[[0, -1], ::2], "set"),
           ([(4,), (5,)], [2, 0, 2, -2, 1], "add"), ([(3, 4), (3, 2)], np.s_[:, [1, 1]], "add"),
           ([(3, 4, 2), (2, 3, 4)], np.s_[[[0], [2]], :, [[1, 0, 1]]], "add"),
           ([(3, 4), (2, 3)], np.s_[[[0], [2]], [[1, 0, 3]]], "multiply"),
           ([(4, 2), (2,)], [3, 0], "multiply"), ([(4,), (0,)], ([],), "set"),
           size=ref.put_size, ulp=2.0, name="at"),
    *updates("max", ((4, 3), (2, 2)), np.s_[[3, 1], 1:]),
    *updates("min", ((2, 4), (2, 2)), np.s_[:, [3, 0]]),
    *calls("equal", lambda i: pb.one_hot(i, 4), ref.one_hot, ((),), ((5,),), ((2, 3),), ((0,),),
           domain=Domain(-1, 4, dtype="l"), dtypes="f", wrt=(), name="one_hot"),
    *calls("iota", lambda: pb.arange(2, 11, 3), lambda: np.arange(2, 11, 3), ([],), dtypes="l",
           name="arange"),

    # --- composites
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
# fmt: on


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    sets = {
        "case": CASES,
        "differentiable": [case for case in CASES if case.wrt],
        "pointwise": [case for case in CASES if case.elementwise],
    }
    for name, cases in sets.items():
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, cases, ids=str)


@pytest.fixture(scope="session")
def cases() -> list[Case]:
    return CASES


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """Nodes and buffers return to where they were."""
    before = live()
    yield
    assert live() == before


@pytest.fixture(scope="session")
def full_mnist() -> Path:
    """The folder of the full MNIST set. Whoever names one wants these tests: a file that is missing
    there fails them."""
    folder = os.environ.get("PULLBACK_MNIST")
    if not folder:
        pytest.skip("PULLBACK_MNIST does not name the folder of the full MNIST set")
    return Path(folder)
