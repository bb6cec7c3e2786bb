"""The vector code of the Bessel functions where its formulas end: seams, roots, large and tiny
arguments, infinities, NaN, large orders, and in each lane of a vector alike."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
from support.each import each

import pullback as pb
from pullback import special as s

WAVES = {
    "j0": lambda x: mp.besselj(0, x),
    "j1": lambda x: mp.besselj(1, x),
    "y0": lambda x: mp.bessely(0, x),
    "y1": lambda x: mp.bessely(1, x),
}
MODIFIED = {
    "i0": lambda x: mp.besseli(0, x),
    "i1": lambda x: mp.besseli(1, x),
    "i0e": lambda x: mp.exp(-abs(x)) * mp.besseli(0, x),
    "i1e": lambda x: mp.exp(-abs(x)) * mp.besseli(1, x),
}
INF, NAN = np.inf, np.nan
# Value, slope
ENDS = {
    "j0": [(0.0, 1.0, 0.0), (-0.0, 1.0, 0.0), (INF, 0.0, 0.0), (-INF, 0.0, 0.0)],
    "j1": [(0.0, 0.0, 0.5), (-0.0, 0.0, 0.5), (INF, 0.0, 0.0), (-INF, 0.0, 0.0)],
    "y0": [(0.0, -INF, INF), (-0.0, -INF, INF), (INF, 0.0, 0.0), (-1.0, NAN, NAN)],
    "y1": [(0.0, -INF, INF), (-0.0, -INF, INF), (INF, 0.0, 0.0), (-INF, NAN, NAN)],
    "i0": [(0.0, 1.0, 0.0), (INF, INF, INF), (-INF, INF, -INF), (800.0, INF, INF)],
    "i1": [(0.0, 0.0, 0.5), (INF, INF, INF), (-INF, -INF, INF), (-800.0, -INF, INF)],
    "i0e": [(0.0, 1.0, 0.0), (-0.0, 1.0, 0.0), (INF, 0.0, 0.0), (-INF, 0.0, 0.0)],
    "i1e": [(0.0, 0.0, 0.5), (-0.0, 0.0, 0.5), (INF, 0.0, 0.0), (-INF, 0.0, 0.0)],
}
SEAM = [2 - 2.0**-52, 2.0, 2 + 2.0**-51]
FAR = [-7.5, 2.0**20, 2.0**20 + 2.0**-32, 1e6, 1e15, 6381956970095103 * 2.0**797, 1e300, 1.7e308]


def reference(x: float) -> Any:
    """A context with the digits that a period of the argument needs."""
    return mp.workdps(40 + max(0, int(np.log10(abs(x) or 1))))


def value_and_slope(f: Any, x: Any) -> tuple[Any, Any]:
    at = pb.Variable(x)
    y = f(at)
    (slope,) = pb.gradients(y, [at])
    return y.numpy(), slope.numpy()


@each("name, dtype", [(n, d) for n in ENDS for d in ("float32", "float64")])
def test_ends(name: str, dtype: str) -> None:
    x, values, slopes = zip(*ENDS[name], (NAN, NAN, NAN), strict=False)
    got = value_and_slope(getattr(s, name), np.array(x, dtype))
    np.testing.assert_array_equal(got[0], np.array(values, dtype))
    np.testing.assert_array_equal(got[1], np.array(slopes, dtype))


@each("name", list(WAVES))
def test_waves_have_an_error_below_an_ulp_of_their_amplitude(name: str) -> None:
    x = [5e-324, 1e-310, 1e-30, 0.3, *SEAM, 2.4048255576957724, 30.0, *FAR]
    x = [at for at in x if at > 0 or name[0] == "j"]
    got = getattr(s, name)(pb.constant(np.array(x))).numpy()
    for at, y in zip(x, got, strict=True):
        with reference(at):
            # DLMF 10.17.3 and 10.17.4: mpmath sums far too many terms for large arguments
            z = mp.mpf(at)
            true = large(name, z) if at > 1e5 else WAVES[name](z)
            size = max(float(abs(true)), np.sqrt(2 / np.pi / at) if at > 1 else 0.0)
            if np.isinf(y):
                assert abs(true) > 1.7e308 and (y > 0) == (true > 0), at
            else:
                assert abs(mp.mpf(float(y)) - true) <= np.spacing(size), at


def large(name: str, z: Any) -> Any:
    v = int(name[1])
    angle = z - (2 * v + 1) * mp.pi / 4
    wave, other = (mp.cos, mp.sin) if name[0] == "j" else (mp.sin, lambda t: -mp.cos(t))
    p, q, term = mp.mpf(1), mp.mpf(0), mp.mpf(1)
    for k in range(1, 12):
        term *= (4 * v * v - (2 * k - 1) ** 2) / (8 * k * z)
        signed = -term if k // 2 % 2 else term
        p, q = (p, q + signed) if k % 2 else (p + signed, q)
    return mp.sqrt(2 / mp.pi / z) * (p * wave(angle) - q * other(angle))


@each("name", list(MODIFIED))
def test_modified_functions(name: str) -> None:
    x = [5e-324, 1e-310, -1e-30, 1e-3, 0.3, -1.5, 7.999, 8.0, 8 + 2.0**-49, -25.0, 700.0, 713.0]
    x += [1e20, 1e200, 1e308] if name.endswith("e") else []
    got = getattr(s, name)(pb.constant(np.array(x))).numpy()
    for at, y in zip(x, got, strict=True):
        with mp.workdps(40):
            z = mp.mpf(at)
            true = 1 / mp.sqrt(2 * mp.pi * z) if at > 1e14 else MODIFIED[name](z)
            assert abs(mp.mpf(float(y)) - true) <= 1.5 * np.spacing(abs(float(true))), at


@each("dtype", ["float32", "float64"])
def test_each_element_has_the_same_bits_alone(dtype: str) -> None:
    x = np.array([1e-9, 0.5, 1.99, 2.0, 5.0, 7.9, 8.1, 40.0, 1e5, 1e7, 1e30, INF, NAN], dtype)
    functions = [getattr(s, name) for name in [*WAVES, *MODIFIED]]
    functions += [lambda x, n=n: s.jn(n, x) for n in (2, 5, 40)]
    functions += [lambda x, n=n: s.yn(n, x) for n in (2, 5, 40)]
    for f in functions:
        together = value_and_slope(f, np.tile(x, 9)[: 8 * 13 + 5])
        for k, at in enumerate(x):
            alone = value_and_slope(f, np.array([at]))
            for many, one in zip(together, alone, strict=True):
                np.testing.assert_array_equal(many[k::13], np.full(len(many[k::13]), one[0]))


def test_orders_of_one_array() -> None:
    n = np.array([0, 1, 2, 3, 3, 3, 3, 3, -4, -4, -5, 50, 50, 50, 50, 50, 1 << 20, (1 << 20) + 1])
    x = np.linspace(0.1, 30, len(n))
    for f, exact in ((s.jn, mp.besselj), (s.yn, mp.bessely)):
        got = f(pb.constant(n), pb.constant(x)).numpy()
        assert np.isnan(got[-1])
        for order, at, y in zip(n[:-2], x, got, strict=False):
            with mp.workdps(40):
                true = exact(int(order), mp.mpf(float(at)))
            assert abs(mp.mpf(float(y)) - true) <= 2 * np.spacing(abs(float(true))), (order, at)
    assert s.jn(1 << 20, pb.constant(29.0)).item() == 0
    assert s.yn(1 << 20, pb.constant(29.0)).item() == -INF


@each("n", [2, 7, -7, 30, 200])
def test_orders_at_their_seams(n: int) -> None:
    size = abs(n)
    x = np.array([1e-300, 1e-8, 0.9, 1.1, 2.1, size - 1e-9, size, size + 0.5, 3.0 * size, 2e6])
    for sign in (1, -1):
        got, slope = value_and_slope(lambda x: s.jn(n, x), sign * x)
        for at, y, dy in zip(sign * x, got, slope, strict=True):
            with mp.workdps(60):
                z = mp.mpf(float(at))
                true, rate = mp.besselj(n, z), mp.besselj(n, z, derivative=1)
            for a, b in ((y, true), (dy, rate)):
                bound = max(float(abs(b)), 0.1 / np.sqrt(abs(at)) if abs(at) > size else 0)
                assert abs(mp.mpf(float(a)) - b) <= 2 * np.spacing(bound), at
    got, slope = value_and_slope(lambda x: s.yn(n, x), x)
    for at, y, dy in zip(x, got, slope, strict=True):
        with mp.workdps(60):
            z = mp.mpf(float(at))
            true = mp.bessely(n, z)
            rate = (mp.bessely(n - 1, z) - mp.bessely(n + 1, z)) / 2
        for a, b in ((y, true), (dy, rate)):
            if abs(b) > 1.79e308:
                assert np.isinf(a) and (a > 0) == (b > 0), at
            else:
                bound = max(float(abs(b)), 0.1 / np.sqrt(at))
                assert abs(mp.mpf(float(a)) - b) <= 2 * np.spacing(bound), at


@each("v", [0.0, 0.5, 2.5, 20.0])
def test_real_orders_at_large_arguments(v: float) -> None:
    x = np.array([700.0, 1e3, 1e81, 1e300, INF])
    at = pb.constant(np.full(len(x), v))
    got = s.iv(at, pb.constant(x)).numpy()
    np.testing.assert_array_equal(got[1:], INF)
    with mp.workdps(40):
        want = float(mp.besseli(v, 700))
        far = [float(1 / mp.sqrt(2 * mp.pi * z)) for z in x[2:4]]
    assert abs(got[0] - want) <= 2 * np.spacing(want)
    scaled = s.ive(at, pb.constant(x)).numpy()
    np.testing.assert_allclose(scaled[2:], [*far, 0.0], rtol=4e-16)


def test_slopes_at_orders_whose_successor_is_rounded() -> None:
    rng = np.random.default_rng(3)
    v, x = rng.uniform(0.0, 8.0, 40), rng.uniform(0.01, 25.0, 40)
    v[0], x[0] = 0.11586561247077032, 23.000039680110184
    for order, at in zip(v, x, strict=True):
        got = float(pb.grad(lambda x, order=order: s.ive(order, x))(pb.constant(at, "float64")))
        with mp.workdps(40):
            a, b = mp.mpf(order), mp.mpf(at)
            own = mp.besseli(a, b)
            exact = mp.exp(-b) * (mp.besseli(a + 1, b) + (a / b - 1) * own)
        assert abs(got - exact) <= 2 * np.spacing(abs(float(exact))) + 1e-18, (order, at)


def test_large_orders_end_at_zero() -> None:
    for order, x in ((20000, 17000.0), (2**20, 1e6)):
        assert float(s.jn(order, pb.constant(x, "float64"))) == 0.0
    with mp.workdps(60):
        exact = float(mp.besselj(185, mp.mpf(3)))  # a subnormal number
    assert 0 < exact < 1e-308
    got = float(s.jn(185, pb.constant(3.0, "float64")))
    assert abs(got - exact) <= np.spacing(exact)
