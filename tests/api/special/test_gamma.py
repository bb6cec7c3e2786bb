"""The gamma family and zeta beside mpmath; elements do not depend on their neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
from support.each import each

import pullback as pb

s = pb.special
# Both sides of every change of formula, next to poles and roots, and outside of all formulas.
POINTS = [-1e300, -(2.0**51) - 0.5, -(2.0**49) - 0.5, -190.5, -184.5, -177.25, -60.5, -7.999, -3.5]
POINTS += [-3.0 + 1e-9, -2.0, -1.5, -0.5, -1e-30, -1e-80, -1e-310, -0.0, 0.0, 1e-310, 1e-160, 1e-80]
POINTS += [1e-30, 0.3, 0.5, 1.0, 1.4616321449683622, 1.5, 2.0, 2.5, 7.999, 8.0, 8.001, 25.5, 171.6]
POINTS += [171.7, 178.0, 191.0, 1e20, 1e300, np.inf, -np.inf, np.nan]
EXACT: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "gammaln": (lambda x: mp.log(abs(mp.gamma(x))), mp.digamma),
    "digamma": (mp.digamma, lambda x: mp.psi(1, x)),
    "gamma": (mp.gamma, lambda x: mp.gamma(x) * mp.digamma(x)),
    "rgamma": (mp.rgamma, lambda x: -mp.rgamma(x) * mp.digamma(x)),
}


def slope(f: Any, x: Any) -> Any:
    return pb.grad(lambda v: pb.sum(f(v)))(x)


def same_bits(a: Any, b: Any) -> None:
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(np.signbit(a), np.signbit(b))


@each("name", [*EXACT, "gammasgn"])
def test_elements_do_not_depend_on_their_neighbours(name: str) -> None:
    f = getattr(s, name)
    for dtype in (np.float32, np.float64):
        with np.errstate(over="ignore", under="ignore"):
            x = np.array(POINTS).astype(dtype)
        for g in (f, lambda v: slope(f, v)):
            alone = np.concatenate([g(pb.constant(x[i : i + 1])).numpy() for i in range(len(x))])
            same_bits(g(pb.constant(x)).numpy(), alone)
            positive = x[x > 0]
            same_bits(g(pb.constant(positive)).numpy(), alone[x > 0])


@each("name", list(EXACT))
def test_negative_numbers(name: str) -> None:
    rng = np.random.default_rng(5)
    x = np.concatenate([-rng.uniform(0, 12, 150), -rng.uniform(12, 160, 50)])
    x = np.concatenate([x, np.round(x[:40]) - 10.0 ** -rng.uniform(1, 12, 40)])
    f = getattr(s, name)
    value = f(x).numpy()
    # Terms of this size cancel next to the roots of the value and of the slope.
    terms = {"gammaln": (1, 1), "digamma": (1, 0)}.get(name, (0, np.abs(value)))
    with mp.workdps(50):
        for k, got in enumerate((value, slope(f, x).numpy())):
            want = np.array([float(EXACT[name][k](mp.mpf(float(v)))) for v in x])
            size = np.maximum(np.abs(want), terms[k])
            np.testing.assert_array_less(np.abs(got - want), 4e-16 * size + 5e-324)


def test_beta_on_both_sides_of_its_formulas() -> None:
    a = np.array([1e-120, 1e-30, 0.3, 1.0, 1.001, 2.5, 7.9, 60.0, 94.9, 189.0, 190.5, 1e-40, 3.0])
    x, y = (np.ravel(part) for part in np.meshgrid(a, a))
    with mp.workdps(50):
        want = [mp.beta(*map(mp.mpf, xy)) for xy in zip(x, y, strict=True)]
        logs = np.array([float(mp.log(v)) for v in want])
    value = np.array([float(v) for v in want])
    np.testing.assert_allclose(s.beta(x, y).numpy(), value, rtol=4e-16)
    np.testing.assert_allclose(s.betaln(x, y).numpy(), logs, rtol=4e-16, atol=2e-17)


def test_zeta_and_its_slopes() -> None:
    rng = np.random.default_rng(6)
    # Neighbours with different numbers of terms; the last ones have other formulas.
    exponent = np.concatenate([rng.uniform(1, 30, 30), 1 + 10.0 ** -rng.uniform(1, 14, 10)])
    offset = np.concatenate([rng.uniform(0, 30, 20), np.ones(10), 10.0 ** rng.uniform(-3, 4, 10)])
    exponent = np.concatenate([exponent, [2.0, 700.0, 350.0, 4.0, -2.5, 0.5, 3.0, 2.0]])
    offset = np.concatenate([offset, [1e25, 2.0, 0.01, 1e30, 1.0, 1.0, -2.5, np.inf]])
    q = pb.constant(offset)
    got = s.zeta(exponent, offset).numpy()
    by_s = slope(lambda v: s.zeta(v, q), exponent).numpy()
    by_q = slope(lambda v: s.zeta(exponent, v), q).numpy()
    assert got[-1] == 0.0 and by_q[-1] == 0.0
    with mp.workdps(40):
        for i, (t, v) in enumerate(
            zip(map(mp.mpf, exponent[:-2]), map(mp.mpf, offset), strict=False)
        ):
            with mp.workdps(40 + int(t * max(mp.log10(v), 1))):  # mpmath's errors are absolute
                want = (mp.zeta(t, v), mp.zeta(t, v, 1), -t * mp.zeta(t + 1, v))
            for value, exact in zip((got[i], by_s[i], by_q[i]), map(float, want), strict=True):
                assert value == exact or abs(value - exact) <= 4e-16 * abs(exact), (t, v)
    alone = np.array([float(s.zeta(t, v)) for t, v in zip(exponent, offset, strict=True)])
    same_bits(got, alone)
