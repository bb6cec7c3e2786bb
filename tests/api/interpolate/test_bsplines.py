"""`BSpline` and `make_interp_spline` beside SciPy; gradients beside finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

interpolate = pytest.importorskip("scipy.interpolate")
random = np.random.default_rng(4)
X = np.array([0.0, 0.7, 1.1, 2.0, 3.5, 4.0, 5.5, 6.0])
Y = random.normal(size=8)
AT = np.array([-0.5, 0.0, 0.3, 1.1, 2.7, 3.5, 5.9, 6.0, 6.8])


def near(got: Any, want: Any, tolerance: float = 1e-11) -> None:
    np.testing.assert_allclose(np.asarray(got), want, rtol=tolerance, atol=tolerance)


def knots(k: int) -> Any:
    """Return knots of which one is repeated."""
    return np.concatenate([[0.0] * (k + 1), [1.0, 2.5, 2.5, 4.0], [6.0] * (k + 1)])


@pytest.mark.parametrize("k", [0, 1, 2, 3, 5])
def test_values_are_those_of_scipy(k: int) -> None:
    t = knots(k)
    n = len(t) - k - 1
    for c in (random.normal(size=n), random.normal(size=(n, 2)), random.normal(size=n) * 1j):
        for rule in (True, False, "periodic"):
            ours, theirs = (one.BSpline(t, c, k, rule) for one in (pb.interpolate, interpolate))
            for nu in range(k + 2):
                near(ours(AT, nu), theirs(AT, nu), 1e-10)
            if c.dtype.kind == "f":  # an error of SciPy 1.17
                near(ours.integrate(0.4, 5.0), theirs.integrate(0.4, 5.0))
                near(ours.integrate(7.3, -1.5), theirs.integrate(7.3, -1.5))
            if k > 1 and rule is not False:
                near(ours.derivative()(AT), theirs.derivative()(AT), 1e-10)
            if rule is True:
                near(ours.antiderivative(2)(AT), theirs.antiderivative(2)(AT), 1e-10)
    c = random.normal(size=(3, n))
    near(pb.interpolate.BSpline(t, c, k, axis=1)(AT), interpolate.BSpline(t, c, k, axis=1)(AT))


def test_interpolation_is_that_of_scipy() -> None:
    ours, theirs = pb.interpolate.make_interp_spline, interpolate.make_interp_spline
    for k in (0, 1, 2, 3, 4, 5):
        near(ours(X, Y, k)(AT), theirs(X, Y, k)(AT), 1e-9)
        near(ours(X, Y, k).t, theirs(X, Y, k).t)
    for bc_type in (
        "natural", "clamped", "not-a-knot", ([(1, 0.5)], [(2, -1.0)]), ([(1, 0.0), (2, 1.0)], None),
    ):  # fmt: skip
        near(ours(X, Y, bc_type=bc_type)(AT), theirs(X, Y, bc_type=bc_type)(AT), 1e-9)
    wide = random.normal(size=(2, 8, 3))
    near(ours(X, wide, axis=1)(AT), theirs(X, wide, axis=1)(AT), 1e-9)
    near(ours(X, Y + 1j)(AT), theirs(X, Y + 1j)(AT), 1e-9)
    t = theirs(X, Y).t + 0.01 * (np.arange(12) // 4 == 1)
    near(ours(X, Y, t=t)(AT), theirs(X, Y, t=t)(AT), 1e-9)
    single = ours(X.astype(np.float32), Y.astype(np.float32))(AT.astype(np.float32))
    assert single.dtype == np.float32
    near(single, theirs(X, Y)(AT), 1e-3)


def test_gradients() -> None:
    t, at = knots(3), np.array([-0.3, 0.4, 2.2, 5.1, 6.4])
    c = random.normal(size=len(t) - 4)
    spline = lambda t, c, x: pb.interpolate.BSpline(t, c, 3)(x)  # noqa: E731
    single = np.concatenate([np.linspace(-1.0, 0.0, 4), [1.0, 2.5, 3.1, 4.0], np.linspace(6, 7, 4)])
    pb.testing.check_gradients(spline, single, c, at, order=2)
    pb.testing.check_gradients(
        lambda c, a, b: pb.interpolate.BSpline(t, c, 3).integrate(a, b), c, np.float64(0.3),
        np.float64(5.0), order=2,
    )  # fmt: skip
    through = lambda x, y: pb.interpolate.make_interp_spline(x, y)(at)  # noqa: E731
    pb.testing.check_gradients(through, X, Y, order=2)
    pb.testing.check_gradients(
        lambda y, slope: pb.interpolate.make_interp_spline(
            X, y, bc_type=([(1, slope)], "natural")
        )(at), Y, np.float64(0.4),
    )  # fmt: skip
    want = through(X, Y)
    near(pb.function(through)(X, Y), want)
    rows = np.stack([Y, 2 * Y])
    near(pb.vmap(lambda y: through(X, y))(rows), np.stack([want, 2 * want.numpy()]))
    near(pb.scan(lambda c, y: (c, through(X, y)), np.float64(0), rows)[1][0], want)
    tangent = pb.jvp(lambda y: through(X, y), (Y,), (Y,))[1]
    near(tangent, want)


def test_errors() -> None:
    make, spline = pb.interpolate.make_interp_spline, pb.interpolate.BSpline
    for error, words, call in (
        (ValueError, "BSpline: expected k >= 0", lambda: spline([0, 1], [1.0], -1)),
        (ValueError, "BSpline: .*at least 8 knots", lambda: spline(X[:7], Y, 3)),
        (ValueError, "BSpline: .*at least 4 coefficients", lambda: spline(X, Y[:3], 3)),
        (ValueError, "BSpline: .*do not decrease", lambda: spline(X[::-1].copy(), Y, 3)),
        (ValueError, "make_interp_spline: .*do not decrease",
         lambda: make([0.0, 1.0, 2.0], [0.0, 1.0, 4.0], 1, t=[0.0, 0.0, 2.0, 1.0, 2.0])),
        (ValueError, "make_interp_spline: .*at least 4 knots",
         lambda: make([0.0, 1.0], [0.0, 1.0], 1, t=[0.0, 0.0, 1.0])),
        (ValueError, "make_interp_spline: .*conditions",
         lambda: make(X, Y, bc_type=([(1, 0)], None))),
        (ValueError, "make_interp_spline: .*got 'flat'", lambda: make(X, Y, bc_type="flat")),
        (NotImplementedError, "periodic", lambda: make(X, Y, bc_type="periodic")),
        (TypeError, "check_finite", lambda: make(X, Y, check_finite=False)),
    ):  # fmt: skip
        with pytest.raises(error, match=words):
            call()
    late = pb.function(lambda t: spline(t, Y, 3)(1.0))
    assert np.isnan(float(late(X[::-1].copy())))


def test_errors_of_conditions() -> None:
    make = pb.interpolate.make_interp_spline
    form = r"expected a word or a list of pairs \(order, value\) for each end in bc_type, got "
    natural = [(2, 0.0)]
    for error, words, k, given in (
        (ValueError, "expected a word or a pair for bc_type, got 3", 3, 3),
        (ValueError, r"expected a word or a pair for bc_type, got \[None\]", 3, [None]),
        (ValueError, form + "1; write", 3, ("natural", 1)),
        (ValueError, form + r"\(2, 0.0\)", 3, ((2, 0.0), (2, 0.0))),
        (ValueError, form + r"\[\(2,\)\]", 3, ([(2,)], natural)),
        (ValueError, form + r"\[\(2, 0.0, 1\)\]", 3, (natural, [(2, 0.0, 1)])),
        (ValueError, form + "{2: 0.0}", 3, (natural, {2: 0.0})),
        (TypeError, "expected an integer for the order .* got 'a'", 3, ([("a", 0.0)], natural)),
        (TypeError, "expected an integer for the order .* got 1.5", 3, ([(1.5, 0.0)], natural)),
        (ValueError, r"from 1 to k=3 .* got \[0\]", 3, ([(0, 0.0)], natural)),
        (ValueError, r"from 1 to k=3 .* got \[-1\]", 3, ([(-1, 0.0)], natural)),
        (ValueError, r"from 1 to k=3 .* got \[4\]", 3, (natural, [(4, 0.0)])),
        (ValueError, r"from 1 to k=1 .* got \[2\]", 1, "natural"),
        (ValueError, r"distinct orders .* got \[2, 2\]", 3, ([(2, 0.0), (2, 1.0)], None)),
        (ValueError, r"shape \(\) in bc_type, got \(2,\)", 3, ([(2, [1.0, 2.0])], natural)),
        (TypeError, "bc_type: expected numbers, got a str", 3, ([(2, "z")], natural)),
        (TypeError, "real values in bc_type, got complex", 3, ([(2, 1j)], natural)),
        (ValueError, "one of 'not-a-knot', .* got 'flat'", 3, (None, "flat")),
    ):  # fmt: skip
        with pytest.raises(error, match=f"^make_interp_spline: .*{words}"):
            make(X, Y, k, bc_type=given)


def test_empty_intervals_at_the_ends() -> None:
    """The knots of `make_interp_spline` of degree 0 end with one; others may have it, too."""
    steps = pb.interpolate.make_interp_spline(X, Y, 0)
    steps_to = np.concatenate([[0.0], np.cumsum(np.diff(X) * Y[:-1])])
    near(steps.antiderivative()(X), steps_to)
    near(steps.integrate(X[0], X[-1]), steps_to[-1])
    steps.extrapolate = "periodic"
    near(steps.integrate(X[0], 2 * X[-1] - X[0]), 2 * steps_to[-1])
    line = pb.interpolate.BSpline([0.0, 0.0, 1.0, 2.0, 2.0, 2.0], np.array([1.0, 3.0, 7.0, 9.0]), 1)
    near(line([0.5, 1.5, 2.0, 2.5]), [2.0, 5.0, 7.0, 9.0])
    near(line([2.0, 2.5], 1), [4.0, 4.0])
    near(pb.grad(line)(2.0), 4.0)
    line = pb.interpolate.BSpline([0.0, 0.0, 0.0, 1.0, 2.0, 2.0], np.array([5.0, 1.0, 3.0, 2.0]), 1)
    near(line([-0.5, 0.0, 0.5]), [0.0, 1.0, 2.0])
    near(line([-0.5, 0.0], 1), [2.0, 2.0])
