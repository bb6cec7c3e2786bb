"""Special functions at special values, as SciPy's; what is refused; digits where they are easily
lost."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest
from support.each import each

import pullback as pb

scipy_special = pytest.importorskip("scipy.special")

NUMBERS = [-np.inf, -104.0, -1.0, -0.5, -0.0, 0.0, 1e-310, 0.5, 1.0, 2.0, 30.0, np.inf, np.nan]
ONE = ["erfc", "erfcx", "erfinv", "erfcinv", "ndtr", "ndtri", "log_ndtr", "logit", "entr"]
ONE += ["i0", "i0e", "i1e", "j0", "j1", "expit", "log_expit"]
ONE += ["gammaln", "gamma", "rgamma", "gammasgn", "digamma", "psi"]
TWO = ["rel_entr", "kl_div"]


@each("name", ONE + TWO)
def test_special_values(name: str) -> None:
    count = 1 if name in ONE else 2
    x = [np.ravel(part) for part in np.meshgrid(*[NUMBERS] * count)]
    if name in ("j0", "j1", "i0", "i0e", "i1e"):
        x = [x[0][np.isfinite(x[0])]]
    if name == "kl_div":  # SciPy's is infinite where x / y is
        x = [part[np.abs(x[1]) != 1e-310] for part in x]
    if name in ("gammaln", "j1"):  # SciPy's lose subnormal numbers
        x = [x[0][np.abs(x[0]) != 1e-310]]
    got = getattr(pb.special, name)(*map(pb.constant, x)).numpy()
    with np.errstate(all="ignore"):
        want = getattr(scipy_special, name)(*x)
    np.testing.assert_allclose(got, want, rtol=2e-13, atol=0)


@pytest.mark.parametrize("order", [0, 1, 2, 5])
def test_orders_of_polygamma(order: int) -> None:
    x = np.array([-104.0, -2.5, -1.0, -0.0, 0.0, 1e-300, 0.5, 30.0, 1e22, np.inf, np.nan])
    got = pb.special.polygamma(order, pb.constant(x)).numpy()
    with np.errstate(all="ignore"):
        want = scipy_special.polygamma(order, x)
    np.testing.assert_allclose(got, want, rtol=2e-13, atol=0)


def test_beta_in_its_domain_and_at_its_edges() -> None:
    numbers = [-104.5, -2.5, -0.75, 1e-300, 0.5, 1.0, 30.0, 171.5, 1e22]
    a, b = (np.ravel(part) for part in np.meshgrid(numbers, numbers))
    whole = ((a + b) <= 0) & (np.floor(a + b) == a + b)  # where it is 0
    cases = zip(whole, a, b, strict=True)
    with mp.workdps(80):
        want = [mp.mpf(0) if w else mp.beta(*map(mp.mpf, ab)) for w, *ab in cases]
        logs = [mp.log(abs(v)) if v else -mp.inf for v in want]
    got = pb.special.beta(a, b).numpy()
    np.testing.assert_allclose(got, np.array(want, float), rtol=1e-15, atol=1e-323)
    got = pb.special.betaln(a, b).numpy()
    np.testing.assert_allclose(got, np.array(logs, float), rtol=1e-14, atol=0)
    edges = [(np.inf, 2.0, 0.0), (0.0, 2.0, np.inf), (-0.0, 2.0, -np.inf), (np.nan, 0.0, np.nan)]
    for x, y, value in edges:
        for pair in ((x, y), (y, x)):
            np.testing.assert_equal(pb.special.beta(*map(np.float64, pair)).item(), value)


@pytest.mark.parametrize("order", [-2, -1, 0, 1, 3])
def test_whole_orders(order: int) -> None:
    x = np.array([-3.0, 0.0, 0.25, 7.0, 40.0, np.nan])
    names = {"jn": "jv", "yn": "yn", "iv": "iv", "ive": "ive"}
    for name, theirs in names.items():
        got = getattr(pb.special, name)(order, pb.constant(x)).numpy()
        want = getattr(scipy_special, theirs)(order, x)
        finite = np.isfinite(want)
        np.testing.assert_allclose(got[finite], want[finite], rtol=1e-11, atol=0)
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want))


def test_orders_that_are_not_whole_are_refused() -> None:
    for name in ("jn", "yn"):
        with pytest.raises(TypeError, match=f"^{name}: expected integer orders"):
            getattr(pb.special, name)(0.5, 1.0)


def derivatives(f: Any, at: list[float]) -> list[Any]:
    x = pb.Variable(np.array(at))
    y = f(x)
    (g,) = pb.gradients(y, [x])
    (h,) = pb.gradients(g, [x])
    return [part.numpy() for part in (y, g, h)]


def test_no_derivative_loses_its_digits() -> None:
    """Where forms made of the value cancel."""
    s = pb.special
    for f, exact, at in (
        (s.erfcx, lambda x: mp.exp(x * x) * mp.erfc(x), [-3.0, 0.5, 5.0, 50.0]),
        (s.log_ndtr, lambda x: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2), [-30.0, -8.0, 0.5, 8.0]),
        (s.erfinv, mp.erfinv, [1e-9, 0.5, 0.999, -0.999999]),
        (s.i0e, lambda x: mp.exp(-abs(x)) * mp.besseli(0, x), [0.1, 5.0, 24.0, 26.0, 300.0]),
        (s.i1e, lambda x: mp.exp(-abs(x)) * mp.besseli(1, x), [0.1, 5.0, 24.0, 26.0, 300.0]),
        (pb.sinc, lambda x: mp.sinc(mp.pi * x), [1e-9, 1e-3, 0.7, 0.9, 10.3]),
    ):
        got = derivatives(f, at)
        with mp.workdps(60):
            for k, x in enumerate(at):
                for order, bound in enumerate((1.0, 4.0, 16.0)):
                    true = mp.diff(exact, mp.mpf(x), order) if order else exact(mp.mpf(x))
                    error = abs(mp.mpf(float(got[order][k])) - true)
                    assert error <= bound * mp.mpf(float(np.spacing(abs(float(true))))), (x, order)


def test_kl_div_near_equality_and_at_zero() -> None:
    x = pb.Variable(np.array([0.0, 1.0]))
    y = pb.Variable(np.array([0.0, 1.0 + 2.0**-50]))
    value = pb.special.kl_div(x, y)
    assert value.numpy()[0] == 0 and abs(value.numpy()[1] / 2.0**-101 - 1) < 1e-12
    dx, dy = pb.gradients(value, [x, y])
    assert dx.numpy()[0] == 0 and dy.numpy()[0] == 0
    tiny = [0.0, 1e-310, 0.5, 30.0, np.inf, np.nan]
    far = pb.special.kl_div(np.array(tiny), np.array([1e-310] * 6)).numpy()
    np.testing.assert_array_equal(far[[0, 1, 4, 5]], [1e-310, 0.0, np.nan, np.nan])
    with mp.workdps(30):
        want = [float(x * mp.log(x / mp.mpf(1e-310)) - x) for x in map(mp.mpf, tiny[2:4])]
    np.testing.assert_allclose(far[2:4], want, rtol=2e-16)


@each(
    ("name", "ends"),
    [
        ("erfinv", {-1.0: np.inf, 1.0: np.inf}),
        ("erfcinv", {0.0: -np.inf, 2.0: -np.inf}),
        ("ndtri", {0.0: np.inf, 1.0: np.inf}),
        ("logit", {0.0: np.inf, 1.0: np.inf}),
    ],
)
@each("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_inverse_functions_are_vertical_at_the_ends(
    name: str, ends: dict[float, float], dtype: str
) -> None:
    x = pb.Variable(pb.constant(list(ends), dtype))
    (slope,) = pb.gradients(getattr(pb.special, name)(x), [x])
    assert slope.dtype == x.dtype
    np.testing.assert_array_equal(pb.astype(slope, "float64").numpy(), list(ends.values()))


@each("name", [*ONE, *TWO, "gammainc", "gammaincc", "betainc", "zeta"])
def test_bool_arguments_are_numbers(name: str) -> None:
    """And the result is of the default dtype, as for integers. With q = 1 zeta is Riemann's at 0
    too, where SciPy's of two arguments is NaN."""
    count = {"betainc": 3}.get(name, 1 if name in ONE else 2)
    x = [np.ravel(part) for part in np.meshgrid(*[[False, True]] * count)]
    got = getattr(pb.special, name)(*map(pb.constant, x))
    with np.errstate(all="ignore"):
        want = getattr(scipy_special, name)(*[part.astype(np.float64) for part in x])
    if name == "zeta":
        want = np.where((x[0] == 0) & (x[1] == 1), -0.5, want)
    assert got.dtype == "float32"
    np.testing.assert_allclose(got.numpy(), want, rtol=2e-7)


@each("name", ["softmax", "log_softmax"])
@each("axis", [None, 0, -1, (0, 2), (2, 1), (0, 1, 2), ()])
def test_softmax_over_any_axes(name: str, axis: Any) -> None:
    x = np.random.default_rng(3).normal(size=(2, 3, 4)) * 300
    got = getattr(pb.special, name)(pb.constant(x), axis).numpy()
    want = getattr(scipy_special, name)(x, axis=axis)
    np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-300)
    v = pb.Variable(x / 100)
    (g,) = pb.gradients(pb.sum(pb.special.log_softmax(v, axis)), v)
    along = tuple(range(3)) if axis is None else axis
    count = np.prod([x.shape[k] for k in np.atleast_1d(along).astype(int)])
    soft = scipy_special.softmax(x / 100, axis=axis)
    np.testing.assert_allclose(g.numpy(), 1 - count * soft, rtol=1e-12, atol=1e-13)


def test_softmax_of_a_number() -> None:
    assert float(pb.special.softmax(3.0)) == 1.0 and float(pb.special.log_softmax(3)) == 0.0


@pytest.mark.parametrize("name, order, root", [("j1", 1, 1.8411838), ("jn", 2, 3.0542369)])
def test_slopes_of_bessel_functions_near_their_roots(name: str, order: int, root: float) -> None:
    at = np.float32(root)
    x = pb.Variable(at)
    f = getattr(pb.special, name)
    (got,) = pb.gradients(f(x) if name == "j1" else f(order, x), [x])
    with mp.workdps(40):
        want = float(mp.besselj(order, mp.mpf(float(at)), derivative=1))
    assert abs(got.item() - want) <= 2.0**-23 * abs(want)


def test_slopes_of_bessel_functions_at_their_pole() -> None:
    x = pb.Variable(np.zeros(1))
    for y in (pb.special.y0(x), pb.special.y1(x), pb.special.yn(3, x)):
        assert pb.gradients(y, [x])[0].numpy()[0] == np.inf


def test_slope_of_the_relative_entropy_near_its_root() -> None:
    x, y = pb.Variable(np.float32(0.36787945)), np.float32(1)
    (got,) = pb.gradients(pb.special.rel_entr(x, y), [x])
    with mp.workdps(40):
        want = float(1 + mp.log(mp.mpf(float(np.float32(0.36787945)))))
    assert abs(got.item() - want) <= 2.0**-23 * abs(want)


@pytest.mark.parametrize(
    ("order", "x"), [(-0.5, 1e30), (-0.5, 1e300), (-0.7, 6e3), (-300.5, 6e3), (-9000.5, 6e3)]
)
def test_bessel_functions_of_negative_orders_far_out(order: float, x: float) -> None:
    """Where the function of the second kind in their formula is too small for a number, or not."""
    with mp.workdps(40):
        v, z = mp.mpf(order), mp.mpf(x)
        first = 1 / mp.sqrt(2 * mp.pi * z)  # of the expansion DLMF 10.40.1
        want = first if x > 1e6 else mp.exp(-z) * mp.besseli(v, z)
    got = float(pb.special.ive(pb.constant(order, "float64"), pb.constant(x, "float64")))
    assert got == pytest.approx(float(want), rel=4e-15)


def test_orders_have_no_gradient() -> None:
    """A zero or None would say that the function does not depend on its order."""
    for f in (pb.special.iv, pb.special.ive, pb.special.polygamma):
        v, x = pb.Variable(2.0), pb.Variable(1.5)
        y = f(v, x)
        assert pb.gradients(y, x) is not None
        with pytest.raises(NotImplementedError, match="expected an order without a gradient"):
            pb.gradients(y, v)
        with pytest.raises(NotImplementedError, match=f"^{f.__name__}: "):
            pb.grad(f)(2.0, 1.5)


def test_second_derivatives_of_kl_div_where_its_slope_nears_one() -> None:
    x = np.array([1e-17, 1e-8, 1.6e-165, 0.5, 2.0])
    y = np.array([1.0, 1.0, 2.6e-109, 0.5, 1.0])
    at = pb.constant(y)
    first = pb.grad(lambda y: pb.sum(pb.special.kl_div(x, y)))
    second = pb.grad(lambda y: pb.sum(first(y)))
    np.testing.assert_allclose(second(at), x / y / y, rtol=4e-16)
    np.testing.assert_allclose(first(at), (y - x) / y, rtol=4e-16)


def test_slopes_of_rel_entr_of_float32_next_to_their_root() -> None:
    x, y = np.float32(5394991), np.float32(14665106)
    (got,) = pb.gradients(*(lambda v: (pb.special.rel_entr(v, y), [v]))(pb.Variable(x)))
    with mp.workdps(40):
        exact = float(1 + mp.log(mp.mpf(float(x)) / mp.mpf(float(y))))
    assert abs(float(got) - exact) < 2e-7 * abs(exact)
