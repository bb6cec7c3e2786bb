"""A sum has the same bits whatever is computed together with it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from support.each import each

import pullback as pb

SHAPES = [
    (99_991,), (513,), (8192,), (300, 7), (7, 300), (1000, 50), (333, 99), (99, 1000),
    (5000, 3), (3, 5000), (50, 20_000), (20_000, 33), (7, 33, 50), (40, 3000, 2), (4, 1, 9),
]  # fmt: skip


def stored(y: Any) -> list[Any]:
    pb.evaluate([y])
    return []


def expensive(y: Any) -> list[Any]:
    return [pb.exp(pb.sin(y)) + pb.tanh(y) ** 3.1]


def many_live(y: Any) -> list[Any]:
    terms = [pb.exp(y * k) for k in range(12)]
    return [*terms, pb.sum(sum(terms))]


def rows(y: Any) -> list[Any]:
    return [pb.nn.softmax(y, axis=-1), pb.mean(y), pb.sum(y, axis=-1)]


def columns(y: Any) -> list[Any]:
    return [pb.sum(y, axis=0), pb.max(y, axis=0), y + y[0]]


def sums(x: Any, axis: Any, company: Callable[[Any], list[Any]]) -> bytes:
    y = pb.constant(x) * 1.5
    others = company(y)
    total = pb.sum(y, axis=axis)
    pb.evaluate([*others, total])
    return bytes(total.numpy().tobytes())


@each("dtype, shape", [(d, s) for d in ("float32", "float64") for s in SHAPES])
def test_a_sum_does_not_depend_on_its_company(dtype: str, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    axes = range(len(shape))
    for axis in [None, *(c for n in axes for c in combinations(axes, n) if c)]:
        alone = sums(x, axis, lambda y: [])
        for company in (stored, expensive, many_live, rows, columns):
            assert sums(x, axis, company) == alone, (axis, company.__name__)


@each("n", [7, 64, 99, 257])
def test_a_sum_does_not_depend_on_the_product_that_it_follows(n: int) -> None:
    random = np.random.default_rng(1)
    a, b = random.standard_normal((999, n)), random.standard_normal((n, n))
    for axis in (None, 0, 1):
        product = pb.matmul(pb.constant(a), pb.constant(b))
        fused = pb.sum(product * 1.5, axis=axis).numpy()
        product = pb.matmul(pb.constant(a), pb.constant(b))
        pb.evaluate([product])
        assert pb.sum(product * 1.5, axis=axis).numpy().tobytes() == fused.tobytes()


def test_folds_that_compute_squares_and_absolute_values() -> None:
    """Bits are those of the fold of stored squares, for rows, columns, middle axes and views."""
    rng = np.random.default_rng(3)
    shapes = [(5,), (100_003,), (33, 2), (70, 17), (40, 16), (11, 300), (9, 200, 33), (300, 1000)]
    for dtype in (np.float32, np.float64):
        for shape in shapes:
            x = rng.normal(size=shape).astype(dtype)
            x.flat[3] = -np.inf
            for c in (pb.constant(x), pb.transpose(pb.constant(x))):
                squares, sizes = pb.constant(np.square(c.numpy())), pb.constant(abs(c.numpy()))
                for axis in (None, *range(len(shape))):
                    for got, want in (
                        (pb.sum(pb.square(c), axis=axis), pb.sum(squares, axis=axis)),
                        (pb.sum(c * c, axis=axis), pb.sum(squares, axis=axis)),
                        (pb.max(pb.abs(c), axis=axis), pb.max(sizes, axis=axis)),
                        (-pb.max(-pb.abs(c), axis=axis), pb.min(sizes, axis=axis)),
                    ):
                        assert got.numpy().tobytes() == want.numpy().tobytes()
                row = pb.sqrt(pb.sum(pb.square(c), axis=-1, keepdims=True) + 1)
                stored = pb.sqrt(pb.sum(squares, axis=-1, keepdims=True) + 1)
                assert (c / row).numpy().tobytes() == (c / stored).numpy().tobytes()
            x.flat[4] = np.nan
            assert np.isnan(pb.max(pb.abs(pb.constant(x))).numpy())
            v = pb.Variable(x := rng.normal(size=shape).astype(dtype))
            v.assign(v - pb.sum(pb.square(v)))  # in place, after the sum
            np.testing.assert_allclose(v.numpy(), x - np.sum(np.square(x, dtype=float)), 1e-5)


def test_folds_of_squares_whose_input_is_updated_in_place() -> None:
    rng = np.random.default_rng(4)
    for shape, axis in (((50,), None), ((3, 1), -1), ((70, 17), -1), ((70, 17), 0)):
        x = rng.normal(size=shape)
        v = pb.Variable(x)

        @pb.function
        def step(v: pb.Variable = v, axis: int | None = axis) -> tuple[pb.Tensor, pb.Tensor]:
            squares, sizes = pb.square(v), pb.abs(v)
            v.assign(0.75 * v - 2)
            return pb.sum(squares, axis=axis), pb.max(sizes, axis=axis)

        total, largest = step()
        np.testing.assert_allclose(total, np.sum(x * x, axis=axis), 1e-12)
        np.testing.assert_array_equal(largest, np.max(abs(x), axis=axis))
        np.testing.assert_array_equal(v.numpy(), 0.75 * x - 2)


def test_sums_of_squares_in_parts_of_leaves() -> None:
    """Bits are those of the sum of stored squares if a tile is smaller than a leaf of the sum."""
    rng = np.random.default_rng(5)
    x, y = (pb.constant(rng.normal(size=100_003)) for _ in range(2))
    total = pb.sum(pb.square(x * y + pb.sin(y)))
    total_of_stored = pb.sum(pb.constant(np.square((x * y + pb.sin(y)).numpy())))
    assert total.numpy().tobytes() == total_of_stored.numpy().tobytes()


def test_sums_of_products_have_the_bits_of_their_operations() -> None:
    rng = np.random.default_rng(6)
    for dtype in (np.float32, np.float64):
        for shape in ((5000,), (40, 300), (700, 3)):
            a, b, c, d = (rng.standard_normal(shape).astype(dtype) for _ in range(4))
            row, column = a[:1], a[..., :1]
            x, y, z, w = (pb.constant(v) for v in (a, b, c, d))
            for got, want in (
                (x * y + z, a * b + c),
                (z + x * y, c + a * b),
                (x * y - z, a * b - c),
                (z - x * y, c - a * b),
                (x * y - z * w, a * b - c * d),
                (x * x + x, a * a + a),
                (x * 3 + 1, a * dtype(3) + dtype(1)),
                (1 - x * pb.constant(row), dtype(1) - a * row),
                (x * pb.constant(column) + pb.constant(column), a * column + column),
                (((x * y + z) * w - x) * y + w, ((a * b + c) * d - a) * b + d),
            ):
                assert got.numpy().tobytes() == want.tobytes()
    v = pb.Variable(a := rng.standard_normal(5000))
    v.assign(v * v + v)  # in place
    np.testing.assert_array_equal(v.numpy(), a * a + a)
    p = pb.constant(a)

    @pb.function
    def step(v: pb.Variable = v) -> pb.Tensor:
        product = v * p
        v.assign(v + 1)
        return p - product  # of the value before

    np.testing.assert_array_equal(step().numpy(), a - (a * a + a) * a)


def test_a_large_product_has_the_bits_of_its_columns() -> None:
    x = 0.5 + np.random.default_rng(0).random((1001, 1009))  # more than 8 MB
    whole = pb.prod(pb.constant(x), axis=0).numpy()
    for column in (0, 500, 1008):
        assert whole[column] == pb.prod(pb.constant(x[:, column])).numpy()
    np.testing.assert_allclose(whole, x.prod(axis=0), rtol=1e-12)
