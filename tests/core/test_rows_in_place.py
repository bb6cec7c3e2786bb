"""Slices of matrices, whose rows kernels read in place, and the sums of products beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
from support.each import each

import pullback as pb

WIDTHS = (50, 96, 127, 499, 1000, 2002, 4001, 6000)


def draw(shape: tuple[int, ...], dtype: str) -> Any:
    return np.random.default_rng(shape[-1]).standard_normal(shape).astype(dtype)


def same(f: Any, *arrays: Any) -> None:
    """Compare with NumPy, bit by bit, on one thread and on two."""
    got = [np.asarray(f(*map(pb.constant, arrays)))]
    threads = pb.get_num_threads()
    try:
        for n in (1, 2):
            pb.set_num_threads(n)
            got.append(np.asarray(pb.function(f)(*map(pb.constant, arrays))))
    finally:
        pb.set_num_threads(threads)
    want = f(*arrays)
    for value in got:
        assert value.dtype == want.dtype and value.tobytes() == want.tobytes(), arrays[0].shape


@each("width", WIDTHS)
def test_slices_of_every_width(width: int) -> None:
    rows = max(7, 9000 // width)
    for dtype in ("float32", "float64", "int32", "bool"):
        x = draw((rows, 3 * width + 5), "float64")
        x = x > 0 if dtype == "bool" else (x * 100).astype(dtype)
        bias = draw((width,), "float64").astype(x.dtype)
        dense = draw((rows, width), "float64").astype(x.dtype)
        if dtype == "bool":
            same(lambda x: x[:, :width] ^ x[:, 5 : width + 5], x)
            continue
        same(lambda x: x[:, :width] * x[:, 5 : width + 5], x)
        same(lambda x: x[1:, width : 2 * width] - x[:-1, 2 * width : 3 * width], x)
        same(lambda x, b, d: (x[:, :width] + b) * d - x[:, 2 * width : 3 * width], x, bias, dense)
        same(lambda x, d: x[:, 2 : width + 2] * d + x[:, 1 : width + 1] * x[:, :width], x, dense)


def test_slices_of_more_axes_and_dtypes() -> None:
    x = draw((6, 9, 11, 130), "float64")
    same(lambda x: x[1:, ::2, 3:8, 1:129] * x[:-1, 1:6, :5, 2:], x)
    y = draw((9, 11, 128), "float64")
    same(lambda x, y: x[1:3, :, :, 2:] * y - x[2:4, :, :, :128], x, y)
    k = (draw((9, 11, 128), "float64") * 9).astype("int32")
    same(lambda x, k: x[1, :, :, :128] * k + x[2, :, :, 1:129], x, k)
    same(lambda x: x[:, 1:, :, 1:129].astype("float32") * x[:, :-1, :, 2:].astype("float32"), x)


def test_rows_of_slices_are_folded() -> None:
    def f(x: Any) -> Any:
        width = x.shape[1] // 2
        y = x[:, :width] * x[:, width:]
        return y - y.max(1, keepdims=True)

    for width in (100, 512, 1300):
        x = draw((300, 2 * width), "float64")
        same(f, x)
        total = pb.sum(pb.constant(x)[:, :width] * pb.constant(x)[:, width:], axis=1)
        want = (x[:, :width] * x[:, width:]).astype(np.longdouble).sum(1)
        np.testing.assert_allclose(total.numpy(), want.astype("float64"), 1e-12, 1e-12)


def test_products_of_rows() -> None:
    for shape in ((40, 1000), (9, 333), (100, 130), (3, 5, 260)):
        x = 1 + 0.01 * draw(shape, "float64")
        got = pb.prod(pb.constant(x), axis=-1).numpy()
        np.testing.assert_allclose(got, np.prod(x.astype(np.longdouble), axis=-1), 1e-12)


def test_sums_of_two_products() -> None:
    for dtype in ("float32", "float64"):
        for n in (5, 1024, 3001):
            a, b, c, d = (draw((n + k,), dtype)[:n] for k in range(4))
            same(lambda a, b, c, d: a * b + c * d, a, b, c, d)
            same(lambda a, b, c, d: a * b - c * d, a, b, c, d)
            same(lambda a, b, c, d: (c * d - a * b) * a, a, b, c, d)
            same(lambda a, b, c, d: a * a + b * a - (c * c - d * d), a, b, c, d)
        rows, m = draw((700, 64), dtype), draw((700, 1), dtype)
        same(lambda x, m: x * m + x[:, ::-1] * x, rows, m)
        same(lambda x, m: x * x - x * m, rows, m)
