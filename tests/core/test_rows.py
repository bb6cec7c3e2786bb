"""Pieces of graph over rows: every operation of the case table, alone and in a jacobian, says for
all rows at once what it says for each of them."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from support.cases import Case

import pullback as pb
from pullback import _core

ROWS = 3


def over_rows(case: Case, rows: dict[int, Any], fixed: list[Any]) -> Any:
    """The operation with rows in the place of some arguments."""
    trace = _core.Trace()
    stand_ins = {k: trace.argument(str(r.dtype), r.shape[1:], False) for k, r in rows.items()}
    y = case.run(*(stand_ins.get(k, pb.constant(x)) for k, x in enumerate(fixed)))
    given = [pb.constant(r) for r in rows.values()]
    return _core.over_rows([y], list(stand_ins.values()), given)[0]


def test_values(case: Case):
    for shapes in case.shapes:
        draws = [case.arrays(shapes, "f" if "f" in case.dtypes else case.dtypes[0], str(row))
                 for row in range(ROWS)]  # fmt: skip
        count = len(case.domains)
        for size in range(1, count + 1):
            for chosen in combinations(range(count), size):
                rows = {k: np.stack([np.asarray(draw[k]) for draw in draws]) for k in chosen}
                single = [
                    case.run(*(pb.constant(draw[k] if k in rows else draws[0][k])
                               for k in range(count)))
                    for draw in draws
                ]  # fmt: skip
                got = over_rows(case, rows, draws[0])
                assert got.dtype == single[0].dtype
                expected = np.stack([y.numpy() for y in single])
                np.testing.assert_allclose(got.numpy(), expected, rtol=1e-6, atol=1e-6)


def test_jacobians(differentiable: Case):
    case = differentiable
    for shapes in case.shapes:
        arrays = case.arrays(shapes, "d")
        xs = [pb.Variable(x) if k in case.wrt else x for k, x in enumerate(arrays)]
        with pb.GradientTape(persistent=True) as tape:
            y = case.run(*xs)
        wrt = [xs[k] for k in case.wrt]
        found = tape.jacobian(y, wrt, unconnected_gradients="zero")
        count = int(np.prod(y.shape))
        rows = np.eye(count).reshape(count, *y.shape)
        for x, jacobian in zip(wrt, found, strict=True):
            assert jacobian.shape == (*y.shape, *x.shape)
            expected = [
                tape.gradient(y, x, row, unconnected_gradients="zero").numpy() for row in rows
            ]
            got = jacobian.numpy().reshape(count, *x.shape)
            np.testing.assert_allclose(got, np.reshape(expected, got.shape), rtol=1e-12, atol=1e-12)


def test_rows_of_what_does_not_depend_on_them():
    x = _core.Trace().argument("float32", (2,), False)
    rows = pb.constant(np.ones((ROWS, 2), np.float32))
    (y,) = _core.over_rows([pb.constant([1.0, 2.0])], [x], [rows])
    np.testing.assert_array_equal(y.numpy(), [[1, 2]] * ROWS)


def test_rows_of_another_shape_are_refused():
    x = _core.Trace().argument("float32", (2,), False)
    with pytest.raises(ValueError, match=r"rows of shape \(3, 4\) for an input of shape \(2,\)"):
        _core.over_rows([x], [x], [pb.constant(np.ones((3, 4), np.float32))])
