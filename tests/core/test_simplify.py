"""What a plan leaves out, and what it may not: no rewrite changes a NaN, an infinity or a zero's
sign."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from support.each import each
from support.plans import operations, plan_of

import pullback as pb
from pullback import _core

A = np.linspace(-2, 2, 600).reshape(30, 20)
SPECIAL = np.array([0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e308])


# --- the same twice


def test_the_same_expression_is_computed_once() -> None:
    x, w = pb.constant(A), pb.constant(np.ones((20, 4)))
    steps, text = plan_of(
        pb.exp(pb.sin(x)) + pb.exp(pb.sin(x)), pb.sum(pb.sin(x), 1) * pb.sum(pb.sin(x), 1)
    )
    counts = operations(text)
    assert counts["sin"] == counts["exp"] == counts["sum"] == 1
    steps, _ = plan_of(pb.relu(x @ w), pb.sin(x @ w))
    assert steps["gemm"] == 1
    a, b = pb.sin(x), pb.sin(x)
    pb.evaluate(a, b)
    assert a.numpy().tobytes() == b.numpy().tobytes()


def test_different_operations_on_the_same_are_not_the_same() -> None:
    def many(x: Any) -> list[Any]:
        return [
            pb.sum(x, 0), pb.sum(x, 1), pb.max(x, 1), pb.min(x, 1), pb.argmax(x, 0),
            pb.argmin(x, 0), x[1:], x[:-1], x[::-1], x.T, pb.take(x, [1], axis=0),
            pb.take(x, [1], axis=1), pb.take(x, [2], axis=0), pb.astype(x, np.float32),
            pb.astype(x, np.int64), pb.clip(x, 0, 1), pb.clip(x, -1, 1), x * 2.0, x * 3.0,
            pb.concat([x, x], axis=0), pb.concat([x, x], axis=1), x.at[0].set(1.0),
            x.at[1].set(1.0), x.at[0].add(1.0),
        ]  # fmt: skip

    whole = np.arange(-300.0, 300.0).reshape(30, 20)
    alone = [result.numpy() for result in many(pb.constant(whole))]
    together = many(pb.constant(whole))
    pb.evaluate(together)
    for k, (x, y) in enumerate(zip(alone, together, strict=True)):
        assert np.array_equal(x, y.numpy()), k


def test_numbers_of_the_user_are_never_merged() -> None:
    """They are arguments of the plan: the next call may bring others."""

    def two(a: float, b: float) -> list[float]:
        x = pb.constant(np.ones(3))
        return (x * a + x * b).numpy().tolist()

    assert two(2.0, 2.0) == [4.0] * 3
    before = _core.status()["plan_misses"]
    assert two(2.0, 3.0) == [5.0] * 3 and two(1.0, 0.0) == [1.0] * 3
    assert _core.status()["plan_misses"] == before


def test_random_numbers_are_never_merged() -> None:
    a, b = pb.random.normal((50,)), pb.random.normal((50,))
    pb.evaluate(a, b)
    assert not np.array_equal(a.numpy(), b.numpy())


# --- constants of the library's own formulas


def test_a_seed_of_ones_leaves_no_multiplication() -> None:
    x, w = pb.Variable(A), pb.constant(A)
    _, text = plan_of(*pb.gradients(pb.sum(x * w + w), [x]))
    assert not operations(text)
    _, text = plan_of(*pb.gradients(pb.sum(pb.sin(x)), [x]))
    assert operations(text) == {"cos": 1}
    _, text = plan_of(*pb.gradients(pb.sum(pb.negative(-x) - 0), [x]))
    assert not operations(text)


def test_negating_twice_is_nothing() -> None:
    x = pb.constant(A)
    assert operations(plan_of(pb.exp(pb.negative(-x)))[1]) == {"exp": 1}
    assert operations(plan_of(pb.exp(-pb.negative(-x)))[1]) == {"exp": 1, "negative": 1}
    assert np.array_equal(pb.negative(-x).numpy(), A)
    transposed = -(pb.transpose(-x))
    assert np.array_equal(transposed.numpy(), A.T)


def test_a_choice_between_equals_is_none() -> None:
    x, c = pb.constant(A), pb.constant(A > 0)
    assert operations(plan_of(pb.exp(pb.where(c, x, x)))[1]) == {"exp": 1}


def test_what_nobody_reads_is_not_computed() -> None:
    x = pb.Variable(A)
    y = pb.exp(x) * pb.sin(x)
    del y
    loss = pb.sum(x * 2.0)
    unused = pb.gradients(pb.sum(pb.tanh(x)), [x])
    del unused
    assert "tanh" not in operations(plan_of(loss, *pb.gradients(loss, [x]))[1])


# --- what must stay


@each(
    "formula",
    [
        lambda n, x: x + 0.0,
        lambda n, x: 0.0 + x,
        lambda n, x: x - 0.0,
        lambda n, x: 0.0 - x,
        lambda n, x: n.negative(-x),
        lambda n, x: x * 0.0,
        lambda n, x: x * 1.0,
        lambda n, x: x / 1.0,
        lambda n, x: x - x,
        lambda n, x: x / x,
        lambda n, x: (x + 1.0) - 1.0,
        lambda n, x: (x * 2.0) / 2.0,
        lambda n, x: n.where(x == x, x, x),
        lambda n, x: n.where(x > 0, x * 0.0, -x),
        lambda n, x: n.maximum(x, x),
        lambda n, x: n.square(n.sqrt(n.abs(x))),
        lambda n, x: x + n.zeros((10,), dtype=np.float64),
        lambda n, x: x * n.ones((10,), dtype=np.float64) - n.zeros((10,), dtype=np.float64),
        lambda n, x: n.sum(x * 0.0),
        lambda n, x: n.sum(-n.zeros((10,), dtype=np.float64)),
        lambda n, x: n.max(x) - n.max(x),
    ],
)
@each("dtype", [np.float32, np.float64])
def test_special_values_flow_as_in_numpy(formula: Callable[[Any, Any], Any], dtype: Any) -> None:
    with np.errstate(all="ignore"):
        x = SPECIAL.astype(dtype)
        expected = np.asarray(formula(np, x))
    got = formula(pb, pb.constant(x)).numpy()
    assert np.array_equal(got, expected, equal_nan=True)
    numbers = ~np.isnan(expected)
    if expected.ndim:  # the sign of a sum of zeros is that of NumPy's first summand, or plus
        assert np.array_equal(np.signbit(got)[numbers], np.signbit(expected)[numbers])


def test_gradients_keep_infinities() -> None:
    x = pb.Variable(np.array([np.inf, 0.0, -0.0, np.nan]))
    (g,) = pb.gradients(pb.sum(x * 0.0), [x])
    assert g is not None and g.numpy().tolist() == [0.0] * 4
    (g,) = pb.gradients(pb.sum(x * x), [x])
    assert g is not None
    assert np.array_equal(g.numpy(), [np.inf, 0.0, -0.0, np.nan], equal_nan=True)
    (g,) = pb.gradients(pb.sum(x - x), [x])
    assert g is not None and g.numpy().tolist() == [0.0] * 4


# --- masks of a trace


def test_masks_that_are_the_same_everywhere_are_constants() -> None:
    x = pb.constant(np.array([[1.0, np.inf, np.nan], [2.0, -0.0, 5.0]]))
    masks = [np.ones((2, 3), bool), np.zeros((2, 3), bool), np.ones((3,), bool), np.zeros((), bool)]
    masks += [np.array([True, False, True]), np.array([[True], [False]])]

    def chosen(mask: Any) -> Any:
        return pb.function(lambda x: pb.where(pb.constant(mask), x * 2, x + 1))

    for mask in [*masks, *masks]:  # plans of equal shapes are in the cache by then
        f = chosen(mask)
        expected = np.where(mask, x.numpy() * 2, x.numpy() + 1)
        assert f(x).numpy().tobytes() == expected.tobytes(), mask
        assert (operations(f.plan(x))["where"] == 0) == (len(set(mask.flat)) == 1), mask


def test_constant_masks_as_other_operands() -> None:
    x, y = pb.constant(np.arange(6.0).reshape(2, 3)), np.arange(6.0).reshape(2, 3)
    for mask in (np.ones((2, 3), bool), np.zeros((2, 3), bool)):
        m = pb.constant(mask)
        f = pb.function(
            lambda x, m=m: [
                pb.logical_and(m, x > 2), pb.logical_or(x > 2, m), pb.logical_xor(x > 2, m),
                pb.any(m, axis=0), pb.all(pb.logical_or(m, x > 2)), pb.cast(m, "float64") * x,
                pb.concat([m, x > 2], 0), pb.sum(m), m, pb.cumsum(pb.cast(m, "int32"), 0),
                pb.take(m, pb.constant([1, 0]), axis=0), pb.sort(m, 1),
                pb.fori_loop(0, 3, lambda i, s, m=m: pb.where(m, s + 1, s * 2), x),
            ]
        )  # fmt: skip
        z = y
        for _ in range(3):
            z = np.where(mask, z + 1, z * 2)
        expected = [
            mask & (y > 2), mask | (y > 2), mask ^ (y > 2), mask.any(0), (mask | (y > 2)).all(),
            mask * y, np.concatenate([mask, y > 2]), mask.sum(), mask,
            np.cumsum(mask.astype(np.int32), 0), mask[[1, 0]], np.sort(mask, 1), z,
        ]  # fmt: skip
        for k, (got, wanted) in enumerate(zip(f(x), expected, strict=True)):
            assert np.array_equal(got.numpy(), wanted), k
