"""Values of complex functions: against mpmath over the whole range of exponents, against the tables
of C99 (Annex G) at infinities, NaN and zeros, on cuts, and in every layout."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.complex_cases import BY_NAME, FUNCTIONS, UNARY, away, draw, error, exact
from support.each import each, examples
from support.process import run

import pullback as pb

EPSILON = {"complex64": 2.0**-23, "complex128": 2.0**-52}
# How far a result may be off, in epsilons of its size, of complex128; complex64 is computed in
# float64 and rounded once.
ROOM = {"pow": 40.0, "tan": 12.0, "tanh": 12.0, "log2": 6.0, "log10": 6.0, "rsqrt": 8.0}
inf, nan, pi = float("inf"), float("nan"), float(np.pi)


@each("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", [f.name for f in FUNCTIONS])
def test_values_are_those_of_mpmath(name: str, dtype: str) -> None:
    f = BY_NAME[name]
    rng = np.random.default_rng(0)
    zs = [away(draw(rng, (60,), dtype), f.poles).astype(dtype) for _ in range(f.arity)]
    got = f(*zs).numpy()
    assert got.dtype == (f.of_numpy(*zs)).dtype
    room = 2.5 if dtype == "complex64" else ROOM.get(name, 5.0)
    for i in range(60):
        wanted = exact(f, *(z[i] for z in zs))
        assert error(got[i], wanted, EPSILON[dtype]) <= room, (zs[0][i], got[i], wanted)


def parts(low: int, high: int) -> st.SearchStrategy[float]:
    """Numbers of any size, both signs."""
    return st.builds(
        lambda sign, fraction, power: sign * fraction * 2.0**power,
        st.sampled_from([-1.0, 1.0]), st.floats(1, 2, exclude_max=True), st.integers(low, high),
    )  # fmt: skip


# What stays accurate wherever arguments and result are normal numbers.
WIDE = ["log", "log1p", "sqrt", "abs", "atan", "atanh", "asin", "acos", "asinh", "acosh", "log10"]


@pytest.mark.parametrize("name", WIDE)
def test_no_argument_is_too_large_or_too_small(name: str) -> None:
    f = BY_NAME[name]

    @settings(max_examples=examples(50))
    @given(parts(-1000, 1000), parts(-1000, 1000))
    def check(x: float, y: float) -> None:
        z = complex(x, y)
        got = complex(f(pb.constant(z, "complex128")))
        wanted = exact(f, z, digits=700)
        if abs(wanted) > 2.0**-1000:
            assert error(got, wanted, 2.0**-52) <= 8.0, (z, got, wanted)

    check()


@settings(max_examples=examples(100))
@given(parts(-1000, 1000), parts(-1000, 1000), parts(-1000, 1000), parts(-1000, 1000))
def test_quotients_do_not_overflow_on_the_way(a: float, b: float, c: float, d: float) -> None:
    x, y = complex(a, b), complex(c, d)
    wanted = exact(BY_NAME["divide"], x, y)
    if 2.0**-1000 < abs(wanted) < 2.0**1020:
        got = complex(pb.constant(x, "complex128") / pb.constant(y, "complex128"))
        assert error(got, wanted, 2.0**-52) <= 8.0, (x, y, got, wanted)


@pytest.mark.parametrize("size", [1e-16, 1e-12, 1e-8, 1e-4])
def test_the_logarithm_beside_one(size: float) -> None:
    rng = np.random.default_rng(1)
    turns = np.exp(1j * rng.uniform(-3, 3, 100)) * (1 + size * rng.normal(size=100))
    for z, got in zip(turns, pb.log(turns).numpy(), strict=True):
        wanted = exact(BY_NAME["log"], z)
        assert abs(got.real - wanted.real) <= 4e-16 * abs(wanted.real), (z, got, wanted)


def test_far_exponentials_do_not_overflow_early() -> None:
    for name, z in [
        ("exp", 710 + 0.785j), ("sinh", 710.6 + 0.785j), ("cosh", -710.6 + 0.785j),
        ("sin", 0.785 + 710.6j), ("cos", 0.785 - 710.6j), ("tanh", 300 + 1j), ("tan", 1 - 300j),
        ("exp", -700 + 1j), ("expm1", 1e-17 + 1e-18j), ("expm1", 40 + 2j),
    ]:  # fmt: skip
        got, wanted = complex(BY_NAME[name](np.complex128(z))), exact(BY_NAME[name], z)
        assert error(got, wanted, 2.0**-52) <= 600, (name, z, got, wanted)


# z, f(z) from C99 (Annex G.6) for the upper half plane; f(conj z) = conj f(z) gives the other. A
# text stands for a number of which only what it says matters: "?" for anything.
TABLE: dict[str, list[tuple[complex, tuple[Any, Any]]]] = {
    "exp": [
        (complex(0, 0), (1, 0)), (complex(-0.0, 0), (1, 0)), (complex(1, inf), (nan, nan)),
        (complex(1, nan), (nan, nan)), (complex(inf, 0), (inf, 0)), (complex(-inf, 2), (-0.0, 0)),
        (complex(inf, 2), (-inf, inf)), (complex(-inf, inf), ("0", "0")),
        (complex(inf, inf), ("inf", nan)), (complex(-inf, nan), ("0", "0")),
        (complex(inf, nan), ("inf", nan)), (complex(nan, 0), (nan, 0)),
        (complex(nan, 2), (nan, nan)), (complex(nan, nan), (nan, nan)),
    ],
    "log": [
        (complex(-0.0, 0), (-inf, pi)), (complex(0, 0), (-inf, 0)),
        (complex(2, inf), (inf, pi / 2)),
        (complex(2, nan), (nan, nan)), (complex(-inf, 2), (inf, pi)), (complex(inf, 2), (inf, 0)),
        (complex(-inf, inf), (inf, 3 * pi / 4)), (complex(inf, inf), (inf, pi / 4)),
        (complex(inf, nan), (inf, nan)), (complex(-inf, nan), (inf, nan)),
        (complex(nan, 2), (nan, nan)), (complex(nan, inf), (inf, nan)),
        (complex(nan, nan), (nan, nan)), (complex(-1, 0), (0, pi)), (complex(-1, -0.0), (0, -pi)),
    ],
    "sqrt": [
        (complex(0, 0), (0, 0)), (complex(-0.0, 0), (0, 0)), (complex(2, inf), (inf, inf)),
        (complex(nan, inf), (inf, inf)), (complex(-inf, inf), (inf, inf)),
        (complex(2, nan), (nan, nan)), (complex(-inf, 2), (0, inf)), (complex(inf, 2), (inf, 0)),
        (complex(-inf, nan), (nan, "inf")), (complex(inf, nan), (inf, nan)),
        (complex(nan, 2), (nan, nan)), (complex(nan, nan), (nan, nan)),
        (complex(-4, 0), (0, 2)), (complex(-4, -0.0), (0, -2)),
    ],
    "sinh": [
        (complex(0, 0), (0, 0)), (complex(0, inf), ("0", nan)), (complex(0, nan), ("0", nan)),
        (complex(2, inf), (nan, nan)), (complex(2, nan), (nan, nan)), (complex(inf, 0), (inf, 0)),
        (complex(inf, 2), (-inf, inf)), (complex(inf, inf), ("inf", nan)),
        (complex(inf, nan), ("inf", nan)), (complex(nan, 0), (nan, 0)),
        (complex(nan, 2), (nan, nan)), (complex(nan, nan), (nan, nan)),
        (complex(-0.0, 2), (0, np.sin(2.0))),
    ],
    "cosh": [
        (complex(0, 0), (1, 0)), (complex(0, inf), (nan, "0")), (complex(0, nan), (nan, "0")),
        (complex(2, inf), (nan, nan)), (complex(2, nan), (nan, nan)), (complex(inf, 0), (inf, 0)),
        (complex(inf, 2), (-inf, inf)), (complex(inf, inf), ("inf", nan)),
        (complex(inf, nan), (inf, nan)), (complex(nan, 0), (nan, "0")),
        (complex(nan, 2), (nan, nan)), (complex(nan, nan), (nan, nan)),
    ],
    "tanh": [
        (complex(0, 0), (0, 0)), (complex(2, inf), (nan, nan)), (complex(2, nan), (nan, nan)),
        (complex(inf, 2), (1, "0")), (complex(inf, inf), (1, "0")), (complex(inf, nan), (1, "0")),
        (complex(nan, 0), (nan, 0)), (complex(nan, 2), (nan, nan)), (complex(nan, nan), (nan, nan)),
    ],
    "asinh": [
        (complex(0, 0), (0, 0)), (complex(2, inf), (inf, pi / 2)), (complex(2, nan), (nan, nan)),
        (complex(inf, 2), (inf, 0)), (complex(inf, inf), (inf, pi / 4)),
        (complex(inf, nan), (inf, nan)), (complex(nan, 0), (nan, 0)),
        (complex(nan, 2), (nan, nan)), (complex(nan, inf), ("inf", nan)),
        (complex(nan, nan), (nan, nan)),
    ],
    "acosh": [
        (complex(0, 0), (0, pi / 2)), (complex(-0.0, 0), (0, pi / 2)),
        (complex(2, inf), (inf, pi / 2)), (complex(2, nan), (nan, nan)),
        (complex(0, nan), (nan, "pi/2")), (complex(-inf, 2), (inf, pi)),
        (complex(inf, 2), (inf, 0)), (complex(-inf, inf), (inf, 3 * pi / 4)),
        (complex(inf, inf), (inf, pi / 4)), (complex(inf, nan), (inf, nan)),
        (complex(-inf, nan), (inf, nan)), (complex(nan, 2), (nan, nan)),
        (complex(nan, inf), (inf, nan)), (complex(nan, nan), (nan, nan)),
    ],
    "acos": [
        (complex(0, 0), (pi / 2, -0.0)), (complex(-0.0, 0), (pi / 2, -0.0)),
        (complex(0, nan), (pi / 2, nan)), (complex(2, inf), (pi / 2, -inf)),
        (complex(2, nan), (nan, nan)), (complex(-inf, 2), (pi, -inf)),
        (complex(inf, 2), (0, -inf)), (complex(-inf, inf), (3 * pi / 4, -inf)),
        (complex(inf, inf), (pi / 4, -inf)), (complex(inf, nan), (nan, "inf")),
        (complex(nan, 2), (nan, nan)), (complex(nan, inf), (nan, -inf)),
        (complex(nan, nan), (nan, nan)),
    ],
    "atanh": [
        (complex(0, 0), (0, 0)), (complex(0, nan), (0, nan)), (complex(1, 0), (inf, 0)),
        (complex(2, inf), (0, pi / 2)), (complex(2, nan), (nan, nan)),
        (complex(inf, 2), (0, pi / 2)), (complex(inf, inf), (0, pi / 2)),
        (complex(inf, nan), (0, nan)), (complex(nan, 2), (nan, nan)),
        (complex(nan, inf), ("0", pi / 2)), (complex(nan, nan), (nan, nan)),
    ],
}  # fmt: skip


def is_as(got: float, wanted: Any) -> bool:
    if isinstance(wanted, str):
        size = {"0": 0.0, "inf": inf, "pi/2": pi / 2}[wanted]
        return bool(abs(got) == size)
    if wanted != wanted:
        return got != got
    close = got == wanted or abs(got - wanted) <= 4e-16 * abs(wanted)
    return bool(close and (wanted != 0 or np.signbit(got) == np.signbit(wanted)))


@each("name, z, wanted", [
    (name, z, wanted) for name, rows in TABLE.items() for z, wanted in rows
], ids=str)  # fmt: skip
def test_special_values_of_c99(name: str, z: complex, wanted: tuple[Any, Any]) -> None:
    for conjugated in (False, True):
        at = z.conjugate() if conjugated else z
        got = complex(getattr(pb, name)(np.complex128(at)))
        assert is_as(got.real, wanted[0]), (at, got)
        of = wanted[1] if isinstance(wanted[1], str) or not conjugated else -float(wanted[1])
        assert is_as(got.imag, of), (at, got)


# NumPy's names. Left out are reciprocal, sign and expm1: here a reciprocal of an infinity is 0 and
# expm1 is exp less one, where NumPy has NaN.
LIKE_NUMPY = [
    "exp", "exp2", "log", "log2", "log10", "log1p", "sqrt", "sin", "cos", "tan", "sinh", "cosh",
    "tanh", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "abs", "angle",
]  # fmt: skip


def agree(z: complex, got: complex, wanted: complex) -> bool:
    """The sign of a zero or an infinity counts unless the angle that it depends on is undefined."""
    pairs = [(got.real, wanted.real), (got.imag, wanted.imag)]
    signs = not any(np.isnan(b) for _, b in pairs) and bool(np.isfinite([z.real, z.imag]).any())
    if not signs:
        pairs = [(abs(a), abs(b)) for a, b in pairs]
    return all(
        np.isnan(a) if np.isnan(b) else is_as(a, b) or abs(a - b) <= 4e-15 * abs(wanted)
        for a, b in pairs
    )


@each("name", LIKE_NUMPY)
def test_special_values_are_those_of_numpy(name: str) -> None:
    ends = [-inf, -1.5, -1.0, -0.0, 0.0, 1.0, 1.5, inf, nan]
    z = np.array([complex(x, y) for x in ends for y in ends])
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(z)
    got = getattr(pb, name)(z).numpy()
    wrong = [
        (at, g, w)
        for at, g, w in zip(z.tolist(), got.tolist(), wanted.tolist(), strict=True)
        if not agree(at, complex(g), complex(w))
    ]
    assert not wrong


def test_a_zero_beside_nan_keeps_its_sign() -> None:
    """The sign of cosh(NaN) differs in vectors and in what is left of them."""
    code = """if True:
    import numpy as np
    import pullback as pb
    sinh = pb.sinh(np.full(9, complex(np.nan, 0.0))).numpy()
    sin = pb.sin(np.full(9, complex(0.0, np.nan))).numpy()
    print(np.signbit(sinh.imag).any(), np.signbit(sin.real).any())
    """
    assert run(code, PULLBACK_CPU_LEVEL="baseline") == "False False\n"


ENDS = [-inf, -2.0, -0.0, 0.0, 2.0, inf, nan]


@pytest.mark.parametrize(
    "ofs", [("sin", "sinh"), ("tan", "tanh"), ("asin", "asinh"), ("atan", "atanh")]
)
def test_circular_functions_are_turned_hyperbolic_ones(ofs: tuple[str, str]) -> None:
    circular, hyperbolic = (getattr(pb, name) for name in ofs)
    for x, y in itertools.product(ENDS, ENDS):
        got = complex(circular(np.complex128(complex(x, y))))
        turned = complex(hyperbolic(np.complex128(complex(-y, x))))
        wanted = (turned.imag, -turned.real)
        same = [
            a == b or (a != a and b != b) for a, b in zip((got.real, got.imag), wanted, strict=True)
        ]
        assert all(same), (x, y, got, wanted)


def test_products_and_quotients_of_infinities() -> None:
    z = pb.constant(complex(inf, 2.0), "complex128")
    assert complex(1 / z) == 0 and complex(z / 2).real == inf and complex(z / 2).imag == 1
    assert complex(z * 2.0) == complex(inf, 4) and complex(2.0 * z) == complex(inf, 4)
    zero = pb.constant(0j, "complex128")
    assert complex((1 + 1j) / zero) == complex(inf, inf) and complex(zero / (1 + 1j)) == 0
    assert np.isnan(complex(zero / zero).real)
    assert complex(pb.constant(complex(inf, inf), "complex128") / (2 + 0j)) == complex(inf, inf)
    assert complex(pb.reciprocal(complex(inf, nan))) == 0
    assert [complex(zero**n) for n in (0, 1, 2.5, 1j * 0)] == [1, 0, 0, 1]
    assert complex(pb.constant(-8 + 0j, "complex128") ** (1 / 3)).imag > 1.7
    assert complex(pb.sign(zero)) == 0 and complex(pb.abs(complex(-inf, nan))) == inf


@each("name", [f.name for f in UNARY])
def test_every_layout_gives_the_same_bits(name: str) -> None:
    f = BY_NAME[name]
    z = away(draw(np.random.default_rng(2), (6, 5), "complex128"), f.poles)
    whole = f(z).numpy()
    for key in (np.s_[::2], np.s_[::-1, ::3], np.s_[:, 1], np.s_[3, 2], np.s_[:0], np.s_[None, 1:]):
        assert np.array_equal(f(pb.constant(z)[key]).numpy(), whole[key])
        assert np.array_equal(f(z[key]).numpy(), whole[key])
    assert np.array_equal(f(pb.constant(z).T).numpy(), whole.T)
    together = pb.sum(pb.real(f(pb.constant(z))) * 1.0, 0)
    assert together.shape == (5,)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "pow"])
def test_operands_broadcast_and_may_be_real(name: str) -> None:
    f = BY_NAME[name]
    z, x = draw(np.random.default_rng(3), (2, 3), "complex128"), np.array([0.5, 1.5, 2.0])
    for a, b in [
        (z, x),
        (x, z),
        (z[:, :1], x),
        (z[0, 0], z),
        (x, 1 + 1j),
        (2j, x[:, None]),
        (z, 2),
    ]:
        np.testing.assert_allclose(f(a, b).numpy(), f.of_numpy(a, b), rtol=4e-15)


def test_powers_of_zero() -> None:
    exponents = np.array([0.5 + 1j, 1 + 1j, 0.25 - 3j, 2 + 0.5j, 0.5])
    found = pb.pow(pb.zeros(5, dtype="complex128"), pb.constant(exponents)).numpy()
    np.testing.assert_array_equal(found, np.zeros(5))
