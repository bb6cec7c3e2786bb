"""Rows of a few numbers: sums, largest and smallest numbers, and views of short axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from support.each import each

import pullback as pb

ROWS = (1, 3, 15, 16, 17, 33, 130)


def draw(rows: int, length: int, dtype: str) -> Any:
    x = np.random.default_rng(rows * 100 + length).standard_normal((rows, length)) * 100
    return x.astype(dtype)


@each("dtype, length", [(d, n) for d in ("float32", "float64", "int32") for n in range(1, 18)])
def test_sums_add_the_entries_of_a_row_in_order(dtype: str, length: int) -> None:
    for rows in ROWS:
        x = draw(rows, length, dtype)
        got = pb.sum(pb.constant(x), axis=1).numpy()
        wide = x.astype(np.float64 if x.dtype.kind == "f" else np.int64)
        if length < 16 or x.dtype.kind == "i":
            total = np.zeros(rows, wide.dtype)
            for column in wide.T:
                total = total + column
            assert got.tobytes() == total.astype(got.dtype).tobytes(), rows
        else:
            np.testing.assert_allclose(got, wide.sum(1), 1e-6)


@each("dtype, length", [(d, n) for d in ("float32", "float64", "int32") for n in range(1, 18)])
def test_extremes_of_special_numbers(dtype: str, length: int) -> None:
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0])
    for rows in ROWS:
        x = draw(rows, length, dtype)
        if x.dtype.kind == "f":
            random = np.random.default_rng(length)
            for _ in range(rows):
                x[random.integers(rows), random.integers(length)] = random.choice(special)
        for name, fold in (("max", np.maximum), ("min", np.minimum)):
            got = getattr(pb, name)(pb.constant(x), axis=1).numpy()
            np.testing.assert_array_equal(got, fold.reduce(x, axis=1))
            # A positive zero is larger than a negative one.
            zero = got == 0
            signs = np.signbit(np.where(x == 0, x, np.nan)) if x.dtype.kind == "f" else x < 0
            none = (x == 0) & ~signs if name == "max" else (x == 0) & signs
            if x.dtype.kind == "f":
                negative = ~none.any(1) if name == "max" else none.any(1)
                np.testing.assert_array_equal(np.signbit(got[zero]), negative[zero])


@each("dtype", ["bool", "float16", "float32", "float64"])
def test_views_of_short_axes(dtype: str) -> None:
    x = draw(700, 11, "float64").astype(dtype)
    y = x.reshape(700, 11, 1)[:, 3:6]
    t = pb.constant(x)
    z = x[:600].reshape(-1)
    u = pb.constant(z)
    one = np.zeros((), dtype)
    cases = [
        # Columns far apart, repeated entries with a step, and rows longer than a vector.
        *((pb.transpose(pb.reshape(u, (n, -1))), z.reshape(n, -1).T) for n in (2, 3, 4, 5, 6)),
        *(
            (pb.broadcast_to(u[::2, None], (3300, n)), np.broadcast_to(z[::2, None], (3300, n)))
            for n in (2, 3, 4, 8, 9, 15)
        ),
        *(
            (
                pb.broadcast_to(t[:2, None, :n], (2, m, n)),
                np.broadcast_to(x[:2, None, :n], (2, m, n)),
            )
            for m, n in ((127, 3), (130, 3), (900, 4), (600, 10))
        ),
        (
            pb.broadcast_to(t[:, 1:5, None], (700, 4, 3)),
            np.broadcast_to(x[:, 1:5, None], (700, 4, 3)),
        ),
        (t[:, 3:6], x[:, 3:6]),
        (t[:, 2::4], x[:, 2::4]),
        (pb.flip(t, 1), x[:, ::-1]),
        (t[:, None, 3:6], x[:, None, 3:6]),
        (
            pb.transpose(pb.reshape(t, (70, 10, 11)), (0, 2, 1)),
            x.reshape(70, 10, 11).swapaxes(1, 2),
        ),
        (pb.broadcast_to(t[:, :1], (700, 7)), np.broadcast_to(x[:, :1], (700, 7))),
        (pb.broadcast_to(t[:, 3:6, None], (700, 3, 5)), np.broadcast_to(y, (700, 3, 5))),
        (
            pb.broadcast_to(t[:, None, 3:6], (700, 5, 3)),
            np.broadcast_to(x[:, None, 3:6], (700, 5, 3)),
        ),
    ]
    for k, (view, expected) in enumerate(cases):
        # As a copy, as an operand, and as an operand next to a dense one.
        assert np.array_equal(pb.concat([view, view], 0).numpy(), np.concatenate([expected] * 2)), k
        assert np.array_equal((view == one).numpy(), expected == one), k
        assert np.array_equal(pb.where(view == one, one, view).numpy(), expected), k


def test_parts_of_rows_are_written_in_place() -> None:
    x = draw(500, 13, "float64")
    t = pb.constant(x)
    parts = [t[:, 5:8] * 2, t[:, :2] + 1, t[:, 8:] - 1]
    joined = pb.concat(parts, 1).numpy()
    assert np.array_equal(joined, np.concatenate([x[:, 5:8] * 2, x[:, :2] + 1, x[:, 8:] - 1], 1))
    grad = pb.grad(lambda t: pb.sum(t[:, 5:8] * t[:, 1:4]))(t).numpy()
    expected = np.zeros_like(x)
    expected[:, 5:8] += x[:, 1:4]
    expected[:, 1:4] += x[:, 5:8]
    assert np.array_equal(grad, expected)
