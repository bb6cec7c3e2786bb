"""Scans: against NumPy over dtypes and axes, what is special, gradients at zeros, ties and NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback import _core

NUMPY = {
    "cumulative_sum": np.cumsum,
    "cumulative_prod": np.cumprod,
    "cumulative_max": np.maximum.accumulate,
    "cumulative_min": np.minimum.accumulate,
}
nan, inf = np.nan, np.inf


def slopes(f: Any, *xs: Any) -> list[Any]:
    variables = [pb.Variable(np.asarray(x, np.float64)) for x in xs]
    return [g.numpy() for g in pb.gradients(f(*variables), variables)]


@pytest.mark.parametrize("dtype", ["bool", "int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("name", NUMPY)
def test_against_numpy(name: str, dtype: str) -> None:
    rng = np.random.default_rng(0)
    for shape in ((1,), (7,), (0,), (3, 5), (2, 0, 3), (3, 300, 70), (5, 2000), (2, 3, 1)):
        x = (rng.uniform(-1.5, 1.5, shape) * (1 if "f" in dtype[0] else 3)).astype(dtype)
        for axis in range(-len(shape), len(shape)):
            for reverse in (False, True):
                flipped = np.flip(x, axis) if reverse else x
                exact = flipped.astype("float64") if dtype == "float32" else flipped
                want = NUMPY[name](exact, axis=axis)
                want = np.flip(want, axis) if reverse else want
                got = getattr(_core, name)(x, axis, reverse).numpy()
                if dtype[0] == "f":
                    tolerance = 1e-6 if dtype == "float32" else 1e-11
                    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
                else:
                    np.testing.assert_array_equal(got, want)


def test_views_are_read_as_they_lie() -> None:
    x = np.random.default_rng(0).normal(size=(6, 8))
    for view in (lambda v: v[::2, ::-1], lambda v: v.T, lambda v: v[:, 3], lambda v: v[1:4]):
        got = pb.cumulative_sum(view(pb.constant(x)), axis=0).numpy()
        np.testing.assert_allclose(got, np.cumsum(view(x), 0), rtol=1e-14)


def test_a_long_row_has_the_same_bits_for_any_number_of_threads() -> None:
    x = np.random.default_rng(0).normal(size=(2, 500_001))
    before = pb.num_threads()
    try:
        bits = []
        for threads in (1, 2, 5):
            pb.set_num_threads(threads)
            for dtype in ("float64", "float32"):
                bits.append(pb.cumulative_sum(x.astype(dtype), axis=1).numpy().tobytes())
        assert bits[:2] == bits[2:4] == bits[4:]
    finally:
        pb.set_num_threads(before)


def test_float32_sums_lose_nothing() -> None:
    x = np.random.default_rng(0).uniform(size=10**6).astype(np.float32)
    got = pb.cumulative_sum(x).numpy()
    np.testing.assert_array_max_ulp(got, np.cumsum(x.astype("float64")).astype("float32"), 1)


def test_sums_overflow_only_where_entry_by_entry_they_do() -> None:
    for length in (12, 4097, 50_000, 200_000):
        x = np.zeros(length)
        x[[0, 4, 5, -4, -3, -2]] = -1.5e308, 1.5e308, 1.2e308, -1.0e308, -1.0e308, 1.0
        x[length // 2] = -4e307
        for end in (1.0, inf, -inf, nan):
            y = np.r_[x, end, 3.0]
            for reverse in (False, True):
                with np.errstate(over="ignore", invalid="ignore"):
                    want = np.cumsum(y[::-1])[::-1] if reverse else np.cumsum(y)
                got = _core.cumulative_sum(y, 0, reverse).numpy()
                np.testing.assert_allclose(got, want, rtol=1e-15, atol=1e293)


def test_special_values() -> None:
    assert np.signbit(pb.cumulative_sum([-0.0, -0.0]).numpy()).all()
    assert np.signbit(pb.cumulative_prod([1.0, -0.0]).numpy()).tolist() == [False, True]
    x = [1.0, nan, 3.0, inf]
    for name, f in NUMPY.items():
        np.testing.assert_array_equal(getattr(pb, name)(x).numpy(), f(x))
    got = pb.cumulative_logsumexp([-inf, -inf, 0.0, 1000.0, -5.0, inf, 1.0]).numpy()
    np.testing.assert_array_equal(got, [-inf, -inf, 0.0, 1000.0, 1000.0, inf, inf])


def test_arguments() -> None:
    x = np.arange(6, dtype=np.int32).reshape(2, 3)
    assert pb.cumulative_sum(x, axis=1).dtype == "int64"
    assert pb.cumulative_sum(x, axis=1, dtype="float32").dtype == "float32"
    assert pb.cumulative_prod(x, axis=1, dtype="int32").dtype == "int32"
    got = pb.cumulative_prod(x, axis=-1, include_initial=True).numpy()
    np.testing.assert_array_equal(got, [[1, 0, 0, 0], [1, 3, 12, 60]])
    np.testing.assert_array_equal(pb.cumsum(x).numpy(), np.cumsum(x))
    for call in (lambda: pb.cumulative_sum(x), lambda: pb.cumulative_sum(1.0)):
        with pytest.raises(ValueError, match=r"^cumulative_sum: .*axis"):
            call()
    with pytest.raises(ValueError, match=r"^cumulative_max: axis 2"):
        pb.cumulative_max(x, axis=2)


@pytest.mark.parametrize("x", [[2.0, 0.0, 3.0], [0.0, 0.0, 3.0, 2.0], [5.0, 1.0, 0.0]])
def test_products_with_zeros(x: list[float]) -> None:
    n = len(x)
    want = np.zeros(n)
    for i in range(n):
        for j in range(i + 1):
            want[j] += np.prod([x[k] for k in range(i + 1) if k != j])
    np.testing.assert_allclose(slopes(pb.cumulative_prod, x)[0], want, rtol=1e-14)
    second = slopes(
        lambda v: pb.gradients(pb.sum(pb.cumulative_prod(v)), v)[0] * np.arange(1.0, n + 1), x
    )[0]
    exact = np.zeros(n)
    for i in range(n):
        for j in range(i + 1):
            for k in range(i + 1):
                if j != k:
                    rest = np.prod([x[m] for m in range(i + 1) if m not in (j, k)])
                    exact[j] += rest * (k + 1)
    np.testing.assert_allclose(second, exact, rtol=1e-14)


def test_equal_ones_share() -> None:
    x = [1.0, 3.0, 3.0, 2.0, 4.0]
    # Entries 2 and 3 of the result are for both that are equal.
    np.testing.assert_array_equal(slopes(lambda v: pb.cumulative_max(v), x)[0], [1, 2, 1, 0, 1])
    np.testing.assert_array_equal(slopes(lambda v: -pb.cumulative_min(-v), x)[0], [1, 2, 1, 0, 1])
    np.testing.assert_array_equal(slopes(pb.cumulative_max, [1.0, nan, 2.0])[0][0], 1.0)


def test_logsumexp_of_nothing_has_no_slope() -> None:
    got = slopes(pb.cumulative_logsumexp, [-inf, 0.0, 1000.0])[0]
    np.testing.assert_array_equal(got, [0, 1, 1])
    np.testing.assert_array_equal(slopes(pb.cumulative_logsumexp, [-inf, -inf])[0], [0, 0])


@pytest.mark.parametrize("name", NUMPY)
def test_structural_zeros_pass(name: str) -> None:
    """What no sum that is used contains gets an exact zero, whatever its slope below."""
    x = pb.Variable([4.0, 1.0, 0.0])
    y = getattr(pb, name)(pb.sqrt(x))
    assert np.isfinite(pb.gradients(y[:2], x)[0].numpy()).all()
    assert np.isfinite(pb.gradients(pb.where([True, False, False], y, 0.0), x)[0].numpy()).all()


def test_jacobians() -> None:
    x = np.array([0.5, 2.0, -1.0])
    for name in NUMPY:
        with pb.GradientTape() as tape:
            v = pb.constant(np.stack([x, x + 0.3]))
            tape.watch(v)
            y = getattr(pb, name)(v, axis=1)
        rows = tape.jacobian(y, v).numpy()
        for i in range(2):
            for j in range(3):
                u = pb.Variable(np.stack([x, x + 0.3]))
                row = pb.gradients(getattr(pb, name)(u, axis=1)[i, j], u)[0].numpy()
                np.testing.assert_allclose(rows[i, j], row, rtol=1e-14)


def test_inside_a_function() -> None:
    f = pb.function(lambda v: pb.cumulative_prod(v) + pb.cumulative_logsumexp(v))
    x = np.array([0.5, 2.0, -1.0])
    np.testing.assert_allclose(f(x).numpy(), np.cumprod(x) + np.logaddexp.accumulate(x), rtol=1e-6)
