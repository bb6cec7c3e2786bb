"""Functions with the values of SciPy: values beside SciPy, derivatives beside mpmath."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath as mp
import numpy as np
import pytest
import scipy.special

import pullback as pb


class Function(NamedTuple):
    """Orders, points for the last argument, and the function in mpmath."""

    name: str
    orders: tuple[float, ...]
    points: tuple[complex, ...]
    exact: Callable[..., Any]
    results: int = 1


def spherical(f: Any, factor: Any) -> Callable[..., Any]:
    return lambda n, z: mp.sqrt(factor / z) * f(n + mp.mpf(1) / 2, z)


def owen(h: Any, a: Any) -> Any:
    return mp.quad(lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), [0, a]) / (2 * mp.pi)


def faddeeva(z: Any) -> Any:
    return mp.exp(-z * z) * mp.erfc(-1j * z)


def dawson(z: Any) -> Any:
    return mp.sqrt(mp.pi) / 2 * mp.exp(-z * z) * mp.erfi(z)


X = (0.3, 1.7, 6.5)
Z = (0.3, 1.7, 0.8 + 0.6j, -1.3 + 2.1j)
HALF_PI, TWO_OVER_PI = mp.pi / 2, 2 / mp.pi
FUNCTIONS = [
    Function("jv", (1.5,), Z, mp.besselj),
    Function("jv", (0.0,), X, mp.besselj),
    Function("yv", (0.7,), Z, mp.bessely),
    Function("kv", (1.5,), (*X, 1 + 1j), mp.besselk),
    Function("k0", (), X, lambda x: mp.besselk(0, x)),
    Function("k1", (), X, lambda x: mp.besselk(1, x)),
    Function("struve", (0.0,), X, mp.struveh),
    Function("struve", (1.5,), X, mp.struveh),
    Function("modstruve", (0.5,), X, mp.struvel),
    Function("spherical_jn", (0,), Z, spherical(mp.besselj, HALF_PI)),
    Function("spherical_jn", (3,), X, spherical(mp.besselj, HALF_PI)),
    Function("spherical_yn", (0,), X, spherical(mp.bessely, HALF_PI)),
    Function("spherical_yn", (2,), X, spherical(mp.bessely, HALF_PI)),
    Function("spherical_in", (2,), X, spherical(mp.besseli, HALF_PI)),
    Function("spherical_kn", (0,), X, spherical(mp.besselk, HALF_PI)),
    Function("spherical_kn", (2,), X, spherical(mp.besselk, HALF_PI)),
    Function(
        "airy",
        (),
        (-2.5, 0.0, 1.5, 0.5 + 1j),
        lambda z: (mp.airyai(z), mp.diff(mp.airyai, z), mp.airybi(z), mp.diff(mp.airybi, z)),
        4,
    ),
    Function("expi", (), (-1.5, 0.3, 4.0), mp.ei),
    Function("exp1", (), (0.3, 4.0, 1 + 1j), mp.e1),
    Function("expn", (0,), X, mp.expint),
    Function("expn", (3,), X, mp.expint),
    Function("sici", (), (0.3, 6.5), lambda z: (mp.si(z), mp.ci(z)), 2),
    Function("shichi", (), (0.3, 6.5), lambda z: (mp.shi(z), mp.chi(z)), 2),
    Function("fresnel", (), (0.3, 2.5, 0.4 + 0.3j), lambda z: (mp.fresnels(z), mp.fresnelc(z)), 2),
    Function("dawsn", (), (0.0, 0.3, 6.9, 7.1, 300.0, 0.5 + 0.5j), dawson),
    Function("erfi", (), (-0.5, 0.0, 2.5, 0.5 + 0.5j), mp.erfi),
    Function(
        "wofz",
        (),
        (0.3, 6.9 + 0j, 7.1 + 0j, -8.0, 1 + 2j, 60j, 7 + 7j, 9 - 1j, -200 + 1e-3j),
        faddeeva,
    ),
    Function("owens_t", (0.4,), (0.3, -2.0), owen),
    Function("hyp0f1", (1.5,), (0.3, -2.0, 1 + 1j), mp.hyp0f1),
    Function("hyp1f1", (0.5, 2.5), (0.3, -2.0, 1 + 1j), mp.hyp1f1),
    Function("hyp2f1", (0.5, 1.0, 1.75), (0.3, 0.9, -2.0, 0.5 + 0.3j), mp.hyp2f1),
    Function("ellipk", (), (-3.0, -1e-9, 0.0, 0.4, 0.6, 0.999999), mp.ellipk),
    Function("ellipe", (), (-3.0, -1e-9, 0.0, 0.4, 0.6, 0.999999), mp.ellipe),
    Function("loggamma", (), (0.3, 6.5), mp.loggamma),
]


def of(f: Function, k: int) -> Callable[..., Any]:
    """Return result k as a function of the last argument."""
    function = getattr(pb.special, f.name)

    def result(x: Any) -> Any:
        made = function(*f.orders, x)
        return made[k] if f.results > 1 else made

    return result


def exact(f: Function, k: int, x: complex, n: int) -> complex:
    def value(t: Any) -> Any:
        made = f.exact(*f.orders, t)
        return made[k] if f.results > 1 else made

    with mp.workdps(60):
        return complex(mp.diff(value, mp.mpmathify(x), n) if n else value(mp.mpmathify(x)))


def split(f: Function) -> list[Any]:
    """Return the points as a real and a complex array."""
    real = [x for x in f.points if not isinstance(x, complex)]
    return [np.array(xs) for xs in (real, [x for x in f.points if isinstance(x, complex)]) if xs]


def test_values_are_those_of_scipy() -> None:
    for f in FUNCTIONS:
        function = getattr(scipy.special, f.name)
        for x in split(f):
            made, expected = getattr(pb.special, f.name)(*f.orders, x), function(*f.orders, x)
            pairs = zip(made, expected, strict=True) if f.results > 1 else [(made, expected)]
            for got, want in pairs:
                np.testing.assert_array_equal(got.numpy(), want, err_msg=f.name)
            if x.dtype == np.float64:
                single = getattr(pb.special, f.name)(*f.orders, x.astype(np.float32))
                wide = function(*f.orders, x.astype(np.float32).astype(np.float64))
                if f.results == 1:
                    narrow = np.complex64 if np.iscomplexobj(wide) else np.float32
                    np.testing.assert_array_equal(single.numpy(), wide.astype(narrow))


def test_derivatives_are_those_of_mpmath() -> None:
    for f in FUNCTIONS:
        for k in range(f.results):
            first = result = of(f, k)
            for n in (1, 2):
                first = _derivative(first)
                for x in split(f):
                    expected = [exact(f, k, complex(t) if x.dtype == complex else float(t), n)
                                for t in x]  # fmt: skip
                    np.testing.assert_allclose(
                        first(x).numpy(), expected, rtol=2e-12, atol=1e-15,
                        err_msg=f"{f.name}{f.orders} result {k}, derivative {n}",
                    )  # fmt: skip
            x = split(f)[0]
            np.testing.assert_array_equal(pb.vmap(result)(x).numpy(), result(x).numpy())
            np.testing.assert_array_equal(pb.function(result)(x).numpy(), result(x).numpy())


def _derivative(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: pb.jvp(f, (x,), (np.ones_like(x),))[1]


def test_reverse_mode_agrees_with_forward_mode() -> None:
    for f in FUNCTIONS:
        x = split(f)[0]
        for k in range(f.results):
            g = of(f, k)
            made = pb.grad(lambda x, g=g: pb.sum(pb.real(g(x))))(x)
            np.testing.assert_allclose(
                made.numpy(), np.real(_derivative(g)(x).numpy()), rtol=1e-14, err_msg=f.name
            )


def test_lambertw() -> None:
    for k, points in ((0, (0.3, 5.0, -0.2)), (-1, (-0.2, -0.3)), (2, (1.0,))):
        x = np.array(points)
        w = pb.special.lambertw(x, k)
        np.testing.assert_array_equal(w.numpy(), scipy.special.lambertw(x, k))
        slope = _derivative(lambda z, k=k: pb.special.lambertw(z, k))(x + 0j).numpy()
        expected = [complex(mp.diff(lambda t, k=k: mp.lambertw(t, k), t)) for t in points]
        np.testing.assert_allclose(slope, expected, rtol=1e-12)
    assert float(pb.grad(lambda z: pb.special.lambertw(z).real)(0.0)) == 1.0


def test_spherical_harmonics() -> None:
    theta, phi = np.array([0.0, 0.7, 2.0, np.pi]), np.array([0.3, -1.0, 4.0, 0.0])
    for n in range(4):
        for m in range(-n, n + 1):
            f = lambda t, p, n=n, m=m: pb.special.sph_harm_y(n, m, t, p)  # noqa: E731
            np.testing.assert_array_equal(
                f(theta, phi).numpy(), scipy.special.sph_harm_y(n, m, theta, phi)
            )
            _, gradient = scipy.special.sph_harm_y(n, m, theta, phi, diff_n=1)
            by_theta = pb.jvp(lambda t: f(t, phi), (theta,), (np.ones(4),))[1].numpy()  # noqa: B023
            by_phi = pb.jvp(lambda p: f(theta, p), (phi,), (np.ones(4),))[1].numpy()  # noqa: B023
            np.testing.assert_allclose(by_theta, gradient[:, 0], atol=1e-14)
            np.testing.assert_allclose(by_phi, gradient[:, 1], atol=1e-14)


def test_owens_t_by_its_first_argument() -> None:
    for h, a in ((0.4, 0.3), (-1.2, 2.0)):
        made = pb.grad(lambda h, a=a: pb.special.owens_t(h, a))(h)
        np.testing.assert_allclose(float(made), float(mp.diff(lambda t, a=a: owen(t, a), h)), 1e-6)


def test_slopes_keep_their_digits_far_away() -> None:
    for x in (1e3, 1e8, 1e100):
        made = float(pb.grad(pb.special.dawsn)(np.float64(x)))
        assert made == pytest.approx(-0.5 / x**2 * (1 + 1.5 / x**2), rel=1e-14)
        made = complex(pb.jvp(pb.special.wofz, (np.complex128(1j * x),), (np.complex128(1),))[1])
        assert made == pytest.approx(1j / (np.sqrt(np.pi) * x * x) * (1 - 1.5 / x**2), rel=1e-11)


def test_errors() -> None:
    with pytest.raises(NotImplementedError, match=r"kv: the derivative with respect to v"):
        pb.grad(lambda v: pb.special.kv(v, 2.0))(1.5)
    with pytest.raises(NotImplementedError, match=r"hyp2f1: .* respect to c"):
        pb.grad(lambda c: pb.grad(lambda z: pb.special.hyp2f1(1.0, 2.0, c, z))(0.5))(1.5)
    with pytest.raises(TypeError, match=r"ellipk: expected real numbers, got complex"):
        pb.special.ellipk(1j)
    with pytest.raises(TypeError, match=r"jv: expected real numbers for v"):
        pb.special.jv(1j, 1.0)
    with pytest.raises(TypeError, match=r"spherical_jn: expected integer orders"):
        pb.special.spherical_jn(1.5, 1.0)
    with pytest.raises(ValueError, match=r"kv: expected shapes that broadcast"):
        pb.special.kv(np.ones(2), np.ones(3))
    with pytest.raises(NotImplementedError, match="second derivative for a complex argument"):
        f = pb.special.loggamma
        pb.jvp(_derivative(f), (np.array([1j]),), (np.array([1.0 + 0j]),))[1].numpy()


@pytest.mark.parametrize(("name", "sign"), [("sici", -1), ("shichi", 1)])
def test_higher_derivatives_of_si_and_shi_near_zero(name: str, sign: int) -> None:
    """The derivatives of sin(x) / x and sinh(x) / x at 0 are those of their power series."""

    def over(x: Any) -> Any:
        return mp.sinc(x) if sign < 0 else mp.sinh(x) / x

    for x in (0.0, 1e-9, 1e-3, 2.99, 3.0, 8.0):
        slope: Callable[..., Any] = lambda t: getattr(pb.special, name)(t)[0]  # noqa: E731
        for n in range(4):
            slope = pb.grad(slope)
            series = 0.0 if n % 2 else sign ** (n // 2) / (n + 1)
            want = series if x == 0 else float(mp.diff(over, x, n))
            got = float(slope(pb.constant(np.float64(x))))
            assert got == pytest.approx(want, rel=1e-11, abs=1e-12), (x, n)


def test_spherical_harmonics_outside_of_their_ranges() -> None:
    """The function of SciPy depends on theta by its cosine, and is 0 for |m| > n."""
    random = np.random.default_rng(5)
    for n, m in [(2, -1), (3, 2), (1, 3), (2, -4), (0, 1)]:
        for theta in random.uniform(-7, 7, 6):
            for part in ("real", "imag"):

                def value(theta: Any, part: str = part, n: int = n, m: int = m) -> Any:
                    return getattr(pb.special.sph_harm_y(n, m, theta, 0.7), part)

                step = 1e-6
                ends = [
                    getattr(scipy.special.sph_harm_y(n, m, t, 0.7), part)
                    for t in (theta + step, theta - step)
                ]
                got = float(pb.grad(value)(pb.constant(np.float64(theta))))
                assert got == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-8)


def test_derivatives_that_are_zero_beside_infinity() -> None:
    for phi, want in ((2.0, -np.inf), (-5.0, np.inf)):  # by m at m = 1: (E - F) / 2
        assert float(pb.grad(pb.special.ellipeinc, 1)(np.float64(phi), np.float64(1.0))) == want
    inside = float(pb.grad(pb.special.ellipeinc, 1)(np.float64(1.0), np.float64(1.0)))
    assert inside == pytest.approx((np.sin(1) - np.arctanh(np.sin(1))) / 2, rel=1e-12)
    assert float(pb.grad(lambda z: pb.special.hyp1f1(0, 2.0, z))(2e6)) == 0
    second = pb.grad(pb.grad(lambda z: pb.special.hyp2f1(-1, 2.0, 3.0, z)))
    assert float(second(1.0)) == 0


def test_far_derivatives_of_dawsn_and_struve() -> None:
    one = pb.constant(np.complex128(1))

    def slope(z: Any) -> Any:
        return pb.jvp(pb.special.dawsn, [z], [one])[1]

    for z in (8 + 1j, 100 + 5j, -12 + 3j, 9 + 8.9j, 50 - 1e-3j):
        at = pb.constant(np.complex128(z))
        with mp.workdps(60):
            exact = mp.mpc(z)
            first = 1 - 2 * exact * dawson(exact)
            second = -2 * dawson(exact) - 2 * exact * first
        assert complex(slope(at)) == pytest.approx(complex(first), rel=1e-12)
        assert complex(pb.jvp(slope, [at], [one])[1]) == pytest.approx(complex(second), rel=1e-12)
    # H1'' = H0' - (H1 / x)', from the values of SciPy.
    x = 2e6
    h0, h1 = (float(scipy.special.struve(v, x)) for v in (0, 1))
    want = 2 / np.pi - h1 - h0 / x + 2 * h1 / x**2
    got = float(pb.grad(pb.grad(lambda t: pb.special.struve(1, t)))(pb.constant(np.float64(x))))
    assert got == pytest.approx(want, rel=1e-6)


def test_hyp1f1_far_beyond_overflow_ends() -> None:
    z = np.array([np.inf, 1e300, 1e11])
    assert np.isinf(pb.special.hyp1f1(1.0, 0.5, z).numpy()).all()
    polynomial = 1 - 4 * z[2] + 4 / 3 * z[2] ** 2
    assert np.isclose(float(pb.special.hyp1f1(-2.0, 0.5, z[2])), polynomial, rtol=1e-14)
