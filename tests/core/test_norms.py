"""Euclidean norms of rows, columns and all entries, from the smallest numbers to the largest."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
from support.each import each

import pullback as pb

LENGTHS = (1, 2, 3, 7, 15, 16, 33, 2047, 2048, 2049, 5000)
SCALES = {
    "float64": (1.0, 1e-150, 1.5e-155, 1.3e154, 1e160, 1e-300, 1e300, 3e-310),
    "float32": (1.0, 1e-20, 1e20, 1e37, 1e-44),
}


def draw(n: int, scale: float, dtype: str) -> Any:
    return (np.random.default_rng(n).standard_normal(n) * scale).astype(dtype)


def exact(x: Any) -> Any:
    with mp.workprec(200):
        return mp.sqrt(mp.fsum(mp.mpf(float(v)) ** 2 for v in x))


@each("dtype", ["float32", "float64"])
def test_values_and_gradients_at_every_scale(dtype: str) -> None:
    info = np.finfo(dtype)
    for n in LENGTHS:
        for scale in SCALES[dtype]:
            x = draw(n, scale, dtype)
            want = exact(x)
            c = pb.constant(x)
            rows = pb.stack([c, 0 * c, c[::-1]] * 13)
            values = [
                pb.linalg.norm(c),
                pb.linalg.norm(c * 1.0 + 0.0),
                pb.linalg.norm(rows, axis=1)[36],
            ]
            for value in values:
                if want > float(info.max):
                    assert np.isposinf(value.numpy())
                    continue
                unit = max(float(np.spacing(np.array(want, dtype))), float(info.smallest_subnormal))
                assert abs(mp.mpf(float(value.numpy())) - want) < 1.5 * unit, (n, scale)
            slope = pb.grad(pb.linalg.norm)(c).numpy()
            true = np.array([float(mp.mpf(float(v)) / want) for v in x])
            np.testing.assert_allclose(slope, true, 8 * float(info.eps), 4 * float(info.tiny))


def test_parts_of_different_size() -> None:
    """Each leaf of a sum has its own scale."""
    for tail in (1e-200, 1e-310, 1e200, 1e300):
        for n in (3, 2048, 10_000):
            x = np.concatenate([draw(n, 1.0, "float64"), draw(n, tail, "float64")])
            got = pb.linalg.norm(pb.constant(x)).numpy()
            assert abs(mp.mpf(float(got)) / exact(x) - 1) < 4e-16


def test_zeros_infinities_and_nan() -> None:
    for n in (2, 20, 3000):
        for special in (
            (0.0, 0.0),
            (np.inf, 1.0),
            (-np.inf, 1e300),
            (np.nan, 1.0),
            (np.inf, np.nan),
        ):
            x = np.zeros(n)
            x[[0, -1]] = special
            with np.errstate(over="ignore"):  # some kernels of NumPy square 1e300
                expected = np.linalg.norm(x)
            np.testing.assert_array_equal(pb.linalg.norm(x), expected)
            rows = np.stack([np.ones(n), x] * 20)
            np.testing.assert_array_equal(pb.linalg.norm(rows, axis=1)[1::2], [expected] * 20)
    zero = pb.constant(np.zeros(5))
    np.testing.assert_array_equal(pb.grad(pb.linalg.norm)(zero), np.zeros(5))
    np.testing.assert_array_equal(pb.hessian(lambda x: pb.linalg.norm(x) ** 2)(zero), 0)


def test_gradients_of_norms_that_overflow() -> None:
    for dtype in ("float16", "float32", "float64"):
        x = np.full(9, np.finfo(dtype).max, dtype)
        assert np.isposinf(pb.linalg.norm(x).numpy())
        np.testing.assert_allclose(pb.grad(pb.linalg.norm)(pb.constant(x)), np.full(9, 1 / 3), 1e-3)


def test_bits_do_not_depend_on_what_is_computed_together() -> None:
    rng = np.random.default_rng(5)
    for dtype in ("float32", "float64"):
        for shape in ((100_003,), (70, 3), (300, 5000), (1000, 17)):
            x = pb.constant(rng.standard_normal(shape).astype(dtype))
            y = x * x + pb.sin(x)
            alone = pb.constant(y.numpy())
            for axis in (None, -1):
                fused = pb.linalg.norm(x * x + pb.sin(x), axis=axis).numpy()
                assert fused.tobytes() == pb.linalg.norm(alone, axis=axis).numpy().tobytes()


@each("dtype", ["float32", "float64"])
def test_columns_of_every_scale(dtype: str) -> None:
    eps = float(np.finfo(dtype).eps)
    for shape in ((1, 3), (50, 3), (7, 40), (40, 100), (9, 2100), (5, 30, 4)):
        n = shape[-2]
        scales = np.resize([s for s in SCALES[dtype] if s < 1e300], shape[-1])
        x = (np.random.default_rng(n).standard_normal(shape) * scales).astype(dtype)
        got = pb.linalg.norm(pb.constant(x), axis=-2)
        slope = pb.grad(lambda x: pb.sum(pb.linalg.norm(x, axis=-2)))(pb.constant(x))
        assert got.shape == shape[:-2] + shape[-1:]
        columns = np.moveaxis(x, -2, -1).reshape(-1, n)[:60]
        want = [exact(column) for column in columns]
        for value, norm in zip(got.numpy().ravel(), want, strict=False):
            unit = max(2 * eps * norm, float(np.finfo(dtype).smallest_subnormal))
            assert abs(mp.mpf(float(value)) - norm) <= unit, (shape, norm)
        units = [
            [float(mp.mpf(float(v)) / norm) for v in column]
            for column, norm in zip(columns, want, strict=False)
        ]
        slopes = np.moveaxis(slope.numpy(), -2, -1).reshape(-1, n)[:60]
        np.testing.assert_allclose(slopes, units, 16 * eps, 4 * float(np.finfo(dtype).tiny))


def test_columns_with_entries_of_different_size() -> None:
    rng = np.random.default_rng(3)
    for n in (3, 200, 3000):
        for width in (2, 70):
            for sizes in ((1e-200, 1.0), (1e160, 1.0), (1e-310, 1e-140), (1e300, 1e-300), (1e145,)):
                x = rng.standard_normal((n, width)) * np.resize(sizes, (n, 1))
                x[:, 1] = x[::-1, 0]
                got = pb.linalg.norm(pb.constant(x), axis=0).numpy()
                for k in (0, 1, width - 1):
                    assert abs(mp.mpf(float(got[k])) / exact(x[:, k]) - 1) < 1e-15, (n, sizes)
                fused = pb.linalg.norm(pb.sqrt(pb.square(pb.constant(x))) * 1.0, axis=0)
                sizes_alone = pb.sqrt(pb.square(pb.constant(x))).numpy()
                alone = pb.linalg.norm(pb.constant(sizes_alone), axis=0)
                assert fused.numpy().tobytes() == alone.numpy().tobytes()


def test_columns_of_zeros_infinities_and_nan() -> None:
    for n in (2, 20, 3000):
        for width in (5, 100):
            x = np.ones((n, width))
            x[:, 0] = 0
            x[-1, 1:5] = [np.inf, -np.inf, np.nan, np.inf]
            x[0, 4] = np.nan
            want = np.full(width, np.sqrt(n))
            want[:5] = [0, np.inf, np.inf, np.nan, np.nan]
            c = pb.constant(x)
            np.testing.assert_allclose(pb.linalg.norm(c, axis=0), want, 1e-14)
            slope = pb.grad(lambda x: pb.sum(pb.linalg.norm(x, axis=0)))(c).numpy()
            np.testing.assert_array_equal(slope[:, 0], 0)
            np.testing.assert_allclose(slope[:, 5:], 1 / np.sqrt(n), 1e-14)


def test_columns_in_every_mode() -> None:
    x = np.random.default_rng(7).standard_normal((3, 6, 4)) * [1.0, 1e-200, 1e200, 0.0]
    c = pb.constant(x)
    norms = np.stack([[float(exact(m[:, k])) for k in range(4)] for m in x])

    def norm(m: pb.Tensor) -> pb.Tensor:
        return pb.linalg.norm(m, axis=0)

    np.testing.assert_allclose(pb.vmap(norm)(c), norms, 1e-15)
    np.testing.assert_allclose(pb.linalg.norm(c, axis=1), norms, 1e-15)
    np.testing.assert_allclose(
        pb.linalg.norm(c, axis=(0, 1))[0], float(exact(x[..., 0].ravel())), 1e-15
    )
    _, in_loop = pb.scan(lambda s, m: (s, norm(m)), 0.0, c)
    np.testing.assert_allclose(in_loop, norms, 1e-15)
    t = np.random.default_rng(8).standard_normal(x.shape)
    units = np.divide(x, norms[:, None], out=np.zeros_like(x), where=x != 0)
    _, tangent = pb.jvp(pb.vmap(norm), (c,), (pb.constant(t),))
    np.testing.assert_allclose(tangent, (units * t).sum(1), 1e-13, 1e-14)
    hessian = pb.hessian(lambda v: pb.linalg.norm(pb.reshape(v, (6, 1)), axis=0)[0])(c[0, :, 0])
    unit = units[0, :, 0]
    np.testing.assert_allclose(hessian, (np.eye(6) - np.outer(unit, unit)) / norms[0, 0], 0, 1e-14)


def test_every_mode() -> None:
    x = np.random.default_rng(6).standard_normal((4, 5))
    norms = np.linalg.norm(x, axis=1)
    c = pb.constant(x)
    np.testing.assert_allclose(pb.vmap(pb.linalg.norm)(c), norms, 1e-15)
    t = np.ones_like(x)
    _, tangent = pb.jvp(lambda x: pb.linalg.norm(x, axis=1), (c,), (pb.constant(t),))
    np.testing.assert_allclose(tangent, (x * t).sum(1) / norms, 1e-14)
    unit = x[0] / norms[0]
    want = (np.eye(5) - np.outer(unit, unit)) / norms[0]
    np.testing.assert_allclose(pb.hessian(pb.linalg.norm)(c[0]), want, 0, 1e-14)
    _, each_norm = pb.scan(lambda s, r: (s + pb.linalg.norm(r), pb.linalg.norm(r)), 0.0, c)
    np.testing.assert_allclose(each_norm, norms, 1e-14)
    slope = pb.grad(lambda x: pb.sum(pb.where(x[:, 0] > 0, pb.linalg.norm(x, axis=1), 0.0)))
    want = np.where(x[:, :1] > 0, x / norms[:, None], 0.0)
    x[1] = [-1, *[np.inf] * 4]
    want[1] = 0
    np.testing.assert_allclose(slope(pb.constant(x)), want, 1e-14)


def test_second_derivatives_of_tiny_vectors() -> None:
    for dtype, size in (("float32", 1e-37), ("float64", 1e-300)):
        x = pb.constant(np.array([3.0, 4.0]) * size, dtype)
        want = np.array([[0.64, -0.48], [-0.48, 0.36]]) / (5 * size)
        got = pb.hessian(pb.linalg.norm)(x).numpy()
        np.testing.assert_allclose(got, want, rtol=1e-5)
