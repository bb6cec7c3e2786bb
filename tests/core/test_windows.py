"""Pieces of one memory that several steps fill: gradients of what slices take apart, and
concatenations of what is computed. Values against NumPy; that zeros and copies are gone, from the
plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.each import each
from support.plans import plan_of

import pullback as pb

SLICES: dict[str, list[Any]] = {
    "columns": [np.s_[:, 0], np.s_[:, 1], np.s_[:, 2]],
    "columns in another order": [np.s_[:, 2], np.s_[:, 0], np.s_[:, 1]],
    "two of three columns": [np.s_[:, 0], np.s_[:, 2]],
    "a column twice": [np.s_[:, 0], np.s_[:, 0], np.s_[:, 1:]],
    "halves": [np.s_[:, :1], np.s_[:, 1:]],
    "rows": [np.s_[:3], np.s_[3:4], np.s_[4:]],
    "overlapping rows": [np.s_[:-1], np.s_[1:]],
    "every other row": [np.s_[::2], np.s_[1::2]],
    "every other row, backwards": [np.s_[::-2], np.s_[-2::-2]],
    "quarters": [np.s_[:4, :2], np.s_[:4, 2:], np.s_[4:, :2], np.s_[4:, 2:]],
    "corners": [np.s_[:4, :2], np.s_[4:, 2:]],
    "nothing": [np.s_[:0], np.s_[:, 1]],
}


def gradient(x: Any, slices: list[Any]) -> Any:
    """Of the sum of k + 1 times the squares of the k-th slice."""
    out = np.zeros_like(x)
    for k, index in enumerate(slices):
        out[index] += 2 * (k + 1) * x[index]
    return out


@each("dtype", ["float32", "float64"])
@each("rows", [7, 700, 9001])
@pytest.mark.parametrize("slices", SLICES.values(), ids=SLICES)
def test_gradients_of_slices(slices: list[Any], rows: int, dtype: str) -> None:
    x = np.random.default_rng(0).integers(-9, 9, (rows, 3)).astype(dtype)

    def f(x: Any) -> Any:
        return sum(((k + 1) * pb.sum(pb.square(x[i])) for k, i in enumerate(slices)), pb.zeros(()))

    for way in (pb.grad(f), pb.function(pb.grad(f))):
        assert np.array_equal(way(pb.constant(x)).numpy(), gradient(x, slices))
    (second,) = pb.gradients(pb.sum(pb.square(pb.grad(f)(w := pb.Variable(x)))), [w])
    weight = gradient(np.ones_like(x), slices)
    assert np.array_equal(second.numpy(), 2 * weight * weight * x)


def test_columns_are_stored_in_place() -> None:
    x = pb.Variable(np.ones((5000, 3), np.float32))
    y = pb.sum(pb.sqrt(x[:, 0] * x[:, 0] + x[:, 1] * x[:, 1] + x[:, 2] * x[:, 2]))
    steps, text = plan_of(y, *pb.gradients(y, [x]))
    assert steps == {"tiles": 1} and text.count("strides(3") == 6
    y = pb.sum(x[:, 0] * x[:, 2])
    steps, text = plan_of(*pb.gradients(y, [x]))
    assert text.count("embed") == 1 and "add tmp" not in text  # a column of zeros stays


def test_a_piece_that_others_read_keeps_its_memory() -> None:
    a, b = (np.random.default_rng(i).standard_normal((40, 50)) for i in range(2))
    x, y = pb.constant(a), pb.constant(b)
    left = pb.exp(x)
    both = pb.concat([left, pb.sin(y)], axis=1)
    total = pb.sum(left @ pb.transpose(y))
    got = pb.evaluate([both, total])
    np.testing.assert_allclose(got[0], np.concatenate([np.exp(a), np.sin(b)], 1))
    np.testing.assert_allclose(got[1], np.sum(np.exp(a) @ b.T))


JOINS: dict[str, Callable[..., Any]] = {
    "rows": lambda xp, a, b: xp.concatenate([a + 1, b * 2, a - b], axis=0),
    "columns": lambda xp, a, b: xp.concatenate([a + 1, b * 2, a - b], axis=1),
    "layers": lambda xp, a, b: xp.stack([a + 1, b * 2, a - b], axis=-1),
    "pairs": lambda xp, a, b: xp.stack([a + b, a - b], axis=-1),
    "what is given, what is computed": lambda xp, a, b: xp.stack([a, a * b, b], axis=-1),
    "the same twice": lambda xp, a, b: xp.concatenate([c := a * b, c], axis=1),
    "sums of rows": lambda xp, a, b: xp.stack([xp.sum(a, axis=1), xp.sum(b, axis=1)], axis=1),
}


@each("dtype", ["float32", "float64", "int32", "int64"])
@each("shape", [(3, 4), (17, 5), (300, 40), (70_001, 1)])
@pytest.mark.parametrize("join", JOINS.values(), ids=JOINS)
def test_concatenations(join: Callable[..., Any], shape: tuple[int, int], dtype: str) -> None:
    class Ours:
        concatenate, stack, sum = pb.concat, pb.stack, pb.sum

    a, b = (np.random.default_rng(i).integers(-9, 9, shape).astype(dtype) for i in range(2))
    want, before = join(np, a, b), pb.num_threads()
    try:
        for threads in (1, 3):
            pb.set_num_threads(threads)
            assert np.array_equal(join(Ours, pb.constant(a), pb.constant(b)).numpy(), want)
    finally:
        pb.set_num_threads(before)
