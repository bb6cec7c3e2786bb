"""Batches of small products: sides around a vector's, counts that leave lanes empty, operands
turned, shared, spread out in memory or read backwards. Small integers, so NumPy's answer to the
last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

SIDES = [
    *[(1, 4, 4), (2, 2, 2), (3, 3, 3), (3, 1, 5), (4, 4, 1), (4, 1, 4), (5, 7, 3), (7, 2, 9)],
    *[(8, 8, 8), (8, 3, 12), (9, 16, 4), (13, 5, 2), (16, 16, 1), (16, 16, 7), (16, 8, 16)],
]


def integers(shape: tuple[int, ...], dtype: str, seed: int) -> Any:
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


def stored(x: Any, way: str) -> Any:
    if way == "turned":
        return pb.matrix_transpose(pb.constant(np.ascontiguousarray(np.swapaxes(x, -1, -2))))
    if way == "spread":
        return pb.constant(np.repeat(np.repeat(x, 2, -1), 3, -2))[..., ::3, ::2]
    if way == "backwards":
        return pb.constant(np.ascontiguousarray(x[..., ::-1]))[..., ::-1]
    return pb.constant(x)


@each("dtype", ["float32", "float64"])
@each("count", [1, 3, 8, 17, 300])
@pytest.mark.parametrize("m, k, n", SIDES)
def test_values_and_gradients(m: int, k: int, n: int, count: int, dtype: str) -> None:
    for seed, ways in enumerate(
        [("", ""), ("turned", "turned"), ("spread", "backwards"), ("backwards", "spread")]
    ):
        for left, right in (((count,), (count,)), ((), (count,)), ((count,), ())):
            a, b = integers((*left, m, k), dtype, seed), integers((*right, k, n), dtype, seed + 9)
            x, y = stored(a, ways[0]), stored(b, ways[1])
            # NumPy's BLAS computes lanes beyond a matrix, too, on whatever lies there.
            with np.errstate(invalid="ignore", over="ignore"):
                want = a @ b
                c = integers(want.shape, dtype, 5)
                by_a, by_b = c @ np.swapaxes(b, -1, -2), np.swapaxes(a, -1, -2) @ c
            ga, gb = pb.grad(lambda x, y, c=c: pb.sum(x @ y * c), argnums=(0, 1))(x, y)
            assert np.array_equal((x @ y).numpy(), want)
            assert np.array_equal(ga.numpy(), by_a if left else by_a.sum(0))
            assert np.array_equal(gb.numpy(), by_b if right else by_b.sum(0))


def test_two_axes_of_matrices() -> None:
    """Batches whose axes are not one in memory, since an operand is shared along one of them."""
    for m, k, n in SIDES:
        for left, right in (
            ((3, 40), (3, 1)),
            ((1, 40), (3, 40)),
            ((3, 1), (1, 40)),
            ((40,), (7, 1)),
        ):
            a, b = integers((*left, m, k), "float64", 3), integers((*right, k, n), "float64", 4)
            assert np.array_equal((pb.constant(a) @ pb.constant(b)).numpy(), a @ b)


def test_matrices_do_not_mix() -> None:
    """A NaN stays in its own product, whichever lane or neighbour in memory that has."""
    for m, k, n in SIDES:
        a, b = integers((21, m, k), "float32", 1), integers((21, k, n), "float32", 2)
        for i in (0, 6, 7, 8, 20):
            bad = a.copy()
            bad[i] = np.nan
            value = (pb.constant(bad) @ pb.constant(b)).numpy()
            assert np.isnan(value[i]).all()
            assert np.array_equal(np.delete(value, i, 0), np.delete(a @ b, i, 0))


def test_none_of_them() -> None:
    for shape in ((0, 3, 4), (5, 0, 4), (5, 3, 0)):
        value = pb.zeros(shape) @ pb.ones((*shape[:-2], shape[-1], 2))
        assert np.array_equal(value.numpy(), np.zeros((*shape[:-1], 2), "float32"))


@pytest.mark.parametrize("formula", ["bi,oij,bj->bo", "bj,oij,bi->bo", "oij,bi,bj->ob"])
def test_bilinear(formula: str) -> None:
    shapes = {"b": 5, "i": 6, "j": 7, "o": 4}
    inputs = formula.split("->")[0].split(",")
    arrays = [integers(tuple(shapes[x] for x in names), "float64", i)
              for i, names in enumerate(inputs)]  # fmt: skip
    want = np.einsum(formula, *arrays)
    tensors = [pb.constant(x) for x in arrays]
    assert np.array_equal(pb.einsum(formula, *tensors).numpy(), want)
    gradients = pb.grad(lambda *x: pb.sum(pb.einsum(formula, *x)), argnums=(0, 1, 2))(*tensors)
    for i, names in enumerate(inputs):
        others = ",".join(x for k, x in enumerate(inputs) if k != i)
        rest = [x for k, x in enumerate(arrays) if k != i]
        ones = np.ones(tuple(shapes[x] for x in formula.split("->")[1]))
        expected = np.einsum(f"{formula.split('->')[1]},{others}->{names}", ones, *rest)
        assert np.array_equal(gradients[i].numpy(), expected)
