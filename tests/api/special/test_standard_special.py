"""The special cases of the Array API standard (its section "Special cases" of each elementwise
function; those of C99's annex F where it leaves one open), and the edges of integers.

Every table is run in each floating dtype and at every position of a longer array, so that whole
vectors, their rests and single numbers all meet each case. Zeros are compared with their signs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

FLOATS = ("float16", "bfloat16", "float32", "float64")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
PI = math.pi
NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf, "pi": PI, "pi/2": PI / 2,
           "pi/4": PI / 4, "3pi/4": 3 * PI / 4, "ln2": math.log(2)}  # fmt: skip

# argument: result
UNARY = """
abs         nan:nan -0:0 0:0 -inf:inf inf:inf -2:2
acos        nan:nan 2:nan -2:nan inf:nan -inf:nan 1:0 -1:pi 0:pi/2
acosh       nan:nan 0.5:nan 0:nan -2:nan -inf:nan 1:0 inf:inf
asin        nan:nan 2:nan -2:nan inf:nan -inf:nan 0:0 -0:-0 1:pi/2 -1:-pi/2
asinh       nan:nan 0:0 -0:-0 inf:inf -inf:-inf
atan        nan:nan 0:0 -0:-0 inf:pi/2 -inf:-pi/2 1:pi/4
atanh       nan:nan -2:nan 2:nan inf:nan -inf:nan -1:-inf 1:inf 0:0 -0:-0
ceil        nan:nan 0:0 -0:-0 inf:inf -inf:-inf -0.5:-0 0.5:1 3:3 -1.5:-1
cos         nan:nan 0:1 -0:1 inf:nan -inf:nan
cosh        nan:nan 0:1 -0:1 inf:inf -inf:inf
exp         nan:nan 0:1 -0:1 inf:inf -inf:0
expm1       nan:nan 0:0 -0:-0 inf:inf -inf:-1
floor       nan:nan 0:0 -0:-0 inf:inf -inf:-inf 0.5:0 -0.5:-1 3:3
log         nan:nan -2:nan -inf:nan 0:-inf -0:-inf 1:0 inf:inf
log1p       nan:nan -2:nan -inf:nan -1:-inf -0:-0 0:0 inf:inf
log2        nan:nan -2:nan -inf:nan 0:-inf -0:-inf 1:0 inf:inf 8:3
log10       nan:nan -2:nan -inf:nan 0:-inf -0:-inf 1:0 inf:inf 100:2
negative    nan:nan 0:-0 -0:0 inf:-inf -inf:inf 2:-2
positive    nan:nan 0:0 -0:-0 inf:inf -inf:-inf
reciprocal  nan:nan 0:inf -0:-inf inf:0 -inf:-0
round       nan:nan 0:0 -0:-0 inf:inf -inf:-inf 0.5:0 1.5:2 2.5:2 -0.5:-0 -1.5:-2 3:3
sign        nan:nan 0:0 -0:0 -inf:-1 inf:1 -3:-1 3:1
sin         nan:nan 0:0 -0:-0 inf:nan -inf:nan
sinh        nan:nan 0:0 -0:-0 inf:inf -inf:-inf
sqrt        nan:nan -2:nan -inf:nan 0:0 -0:-0 inf:inf
square      nan:nan 0:0 -0:0 inf:inf -inf:inf
tan         nan:nan 0:0 -0:-0 inf:nan -inf:nan
tanh        nan:nan 0:0 -0:-0 inf:1 -inf:-1
trunc       nan:nan 0:0 -0:-0 inf:inf -inf:-inf 0.5:0 -0.5:-0 -1.5:-1 3:3
rsqrt       nan:nan -2:nan 0:inf inf:0
cbrt        nan:nan 0:0 -0:-0 inf:inf -inf:-inf -8:-2
exp2        nan:nan 0:1 inf:inf -inf:0 3:8
"""

# What stands left of a row is the first argument, what stands above a column the second.
BINARY = """
add         nan  -inf   -2    -0     0     2   inf
nan         nan   nan  nan   nan   nan   nan   nan
-inf        nan  -inf -inf  -inf  -inf  -inf   nan
-2          nan  -inf   -4    -2    -2     0   inf
-0          nan  -inf   -2    -0     0     2   inf
0           nan  -inf   -2     0     0     2   inf
2           nan  -inf    0     2     2     4   inf
inf         nan   nan  inf   inf   inf   inf   inf

subtract    nan  -inf   -2    -0     0     2   inf
nan         nan   nan  nan   nan   nan   nan   nan
-inf        nan   nan -inf  -inf  -inf  -inf  -inf
-2          nan   inf    0    -2    -2    -4  -inf
-0          nan   inf    2     0    -0    -2  -inf
0           nan   inf    2     0     0    -2  -inf
2           nan   inf    4     2     2     0  -inf
inf         nan   inf  inf   inf   inf   inf   nan

multiply    nan  -inf   -2    -0     0     2   inf
nan         nan   nan  nan   nan   nan   nan   nan
-inf        nan   inf  inf   nan   nan  -inf  -inf
-2          nan   inf    4     0    -0    -4  -inf
-0          nan   nan    0     0    -0    -0   nan
0           nan   nan   -0    -0     0     0   nan
2           nan  -inf   -4    -0     0     4   inf
inf         nan  -inf -inf   nan   nan   inf   inf

divide      nan  -inf   -2    -0     0     2   inf
nan         nan   nan  nan   nan   nan   nan   nan
-inf        nan   nan  inf   inf  -inf  -inf   nan
-2          nan     0    1   inf  -inf    -1    -0
-0          nan     0    0   nan   nan    -0    -0
0           nan    -0   -0   nan   nan     0     0
2           nan    -0   -1  -inf   inf     1     0
inf         nan   nan -inf  -inf   inf   inf   nan

remainder   nan  -inf   -2    -0     0     2   inf
nan         nan   nan  nan   nan   nan   nan   nan
-inf        nan   nan  nan   nan   nan   nan   nan
-3          nan    -3   -1   nan   nan     1   inf
-0          nan    -0   -0   nan   nan     0     0
0           nan    -0   -0   nan   nan     0     0
3           nan  -inf   -1   nan   nan     1     3
inf         nan   nan  nan   nan   nan   nan   nan

fmod        nan  -inf   -2    -0     0     2   inf
nan         nan   nan  nan   nan   nan   nan   nan
-inf        nan   nan  nan   nan   nan   nan   nan
-3          nan    -3   -1   nan   nan    -1    -3
-0          nan    -0   -0   nan   nan    -0    -0
0           nan     0    0   nan   nan     0     0
3           nan     3    1   nan   nan     1     3
inf         nan   nan  nan   nan   nan   nan   nan

pow         nan  -inf   -3    -2  -0.5    -0     0   0.5     2     3   inf
nan         nan   nan  nan   nan   nan     1     1   nan   nan   nan   nan
-inf        nan     0   -0     0     0     1     1   inf   inf  -inf   inf
-2          nan     0 -0.125 0.25  nan     1     1   nan     4    -8   inf
-1          nan     1   -1     1   nan     1     1   nan     1    -1     1
-0.5        nan   inf   -8     4   nan     1     1   nan  0.25 -0.125    0
-0          nan   inf -inf   inf   inf     1     1     0     0    -0     0
0           nan   inf  inf   inf   inf     1     1     0     0     0     0
0.25        nan   inf   64    16     2     1     1   0.5 0.0625 0.015625 0
1             1     1    1     1     1     1     1     1     1     1     1
4           nan     0 0.015625 0.0625 0.5  1     1     2    16    64   inf
inf         nan     0    0     0     0     1     1   inf   inf   inf   inf

atan2       nan  -inf     -2    -0     0     2   inf
nan         nan   nan    nan   nan   nan   nan   nan
-inf        nan -3pi/4 -pi/2 -pi/2 -pi/2 -pi/2 -pi/4
-2          nan   -pi -3pi/4 -pi/2 -pi/2 -pi/4    -0
-0          nan   -pi    -pi   -pi    -0    -0    -0
0           nan    pi     pi    pi     0     0     0
2           nan    pi  3pi/4  pi/2  pi/2  pi/4     0
inf         nan 3pi/4   pi/2  pi/2  pi/2  pi/2  pi/4

hypot       nan  -inf   -4    -0     0     4   inf
nan         nan   inf  nan   nan   nan   nan   inf
-inf        inf   inf  inf   inf   inf   inf   inf
-3          nan   inf    5     3     3     5   inf
-0          nan   inf    4     0     0     4   inf
0           nan   inf    4     0     0     4   inf
inf         inf   inf  inf   inf   inf   inf   inf

copysign   -inf    -2   -0     0     2   inf
-inf       -inf  -inf -inf   inf   inf   inf
-2           -2    -2   -2     2     2     2
-0           -0    -0   -0     0     0     0
0            -0    -0   -0     0     0     0
inf        -inf  -inf -inf   inf   inf   inf
nan         nan   nan  nan   nan   nan   nan

maximum     nan  -inf   -2     0     2   inf
nan         nan   nan  nan   nan   nan   nan
-inf        nan  -inf   -2     0     2   inf
2           nan     2    2     2     2   inf
inf         nan   inf  inf   inf   inf   inf

minimum     nan  -inf   -2     0     2   inf
nan         nan   nan  nan   nan   nan   nan
-inf        nan  -inf -inf  -inf  -inf  -inf
2           nan  -inf   -2     0     2     2
inf         nan  -inf   -2     0     2   inf

logaddexp   nan  -inf     0   inf
nan         nan   nan   nan   nan
-inf        nan  -inf     0   inf
0           nan     0   ln2   inf
inf         nan   inf   inf   inf

floor_divide nan -inf   -2    -0     0     2   inf
nan         nan   nan  nan   nan   nan   nan   nan
-inf        nan   nan  inf   inf  -inf  -inf   nan
-3          nan     0    1   inf  -inf    -2    -0
-0          nan     0    0   nan   nan    -0    -0
0           nan    -0   -0   nan   nan     0     0
3           nan    -0   -2  -inf   inf     1     0
inf         nan   nan -inf  -inf   inf   inf   nan
"""
# "Libraries may return NaN, or -1.0, to match Python": a // b and a % b belong together, as Python
# and NumPy have it.
PYTHON = {("floor_divide", a, b): "nan" for a in ("inf", "-inf") for b in ("2", "-2")} | {
    ("floor_divide", "-3", "inf"): "-1",
    ("floor_divide", "3", "-inf"): "-1",
}


def number(text: str) -> float:
    if text in NUMBERS:
        return NUMBERS[text]
    return -NUMBERS[text[1:]] if text[1:] in NUMBERS else float(text)


def unary_cases() -> list[tuple[str, float, float]]:
    rows = [line.split() for line in UNARY.strip().splitlines()]
    pairs = [(name, entry.split(":")) for name, *entries in rows for entry in entries]
    return [(name, number(x), number(y)) for name, (x, y) in pairs]


def binary_cases() -> list[tuple[str, float, float, float]]:
    found = []
    for table in BINARY.strip().split("\n\n"):
        (name, *columns), *rows = (line.split() for line in table.splitlines())
        for a, *results in rows:
            for b, y in zip(columns, results, strict=True):
                y = PYTHON.get((name, a, b), y)
                found.append((name, number(a), number(b), number(y)))
    return found


def check(got: Any, wanted: np.ndarray, dtype: str, says: Any) -> None:
    assert got.dtype == dtype
    values = pb.astype(got, "float64").numpy()
    slack = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1e-6, "float64": 1e-15}[dtype]
    close = np.isclose(values, wanted, rtol=slack, atol=0, equal_nan=True)
    signs = (np.signbit(values) == np.signbit(wanted)) | np.isnan(wanted)
    wrong = np.flatnonzero(~(close & signs))
    assert wrong.size == 0, says(wrong[0], values[wrong[0]])


@pytest.mark.parametrize("dtype", FLOATS)
@each("name", sorted({case[0] for case in unary_cases()}))
def test_unary(name: str, dtype: str) -> None:
    cases = [case[1:] for case in unary_cases() if case[0] == name] * 19
    x, wanted = (np.array(column) for column in zip(*cases, strict=True))
    got = getattr(pb, name)(pb.constant(x, dtype))
    check(got, wanted, dtype, lambda k, y: f"{name}({x[k]}) is {y}, not {wanted[k]}")
    for a, y in cases[: len(cases) // 19]:
        alone = getattr(pb, name)(pb.constant(a, dtype))
        check(alone[None], np.array([y]), dtype, lambda k, got, a=a: f"{name}({a}) is {got}")


@pytest.mark.parametrize("dtype", FLOATS)
@each("name", sorted({case[0] for case in binary_cases()}))
def test_binary(name: str, dtype: str) -> None:
    cases = [case[1:] for case in binary_cases() if case[0] == name] * 3
    a, b, wanted = (np.array(column) for column in zip(*cases, strict=True))
    got = getattr(pb, name)(pb.constant(a, dtype), pb.constant(b, dtype))
    check(got, wanted, dtype, lambda k, y: f"{name}({a[k]}, {b[k]}) is {y}, not {wanted[k]}")
    for x, y, z in cases[: len(cases) // 3]:  # with a Python number on either side
        left = getattr(pb, name)(x, pb.constant([y], dtype))
        right = getattr(pb, name)(pb.constant([x], dtype), y)
        for one in (left, right):
            says = lambda k, got, x=x, y=y: f"{name}({x}, {y}) is {got} with a number"  # noqa: E731
            check(one, np.array([z]), dtype, says)


def test_how_many_there_are() -> None:
    assert len(unary_cases()) > 200 and len(binary_cases()) > 650


@pytest.mark.parametrize("dtype", FLOATS)
def test_questions_about_floats(dtype: str) -> None:
    x = pb.constant([np.nan, -np.inf, -1.0, -0.0, 0.0, 1.0, np.inf] * 9, dtype)
    for name, row in {
        "isnan": [1, 0, 0, 0, 0, 0, 0],
        "isinf": [0, 1, 0, 0, 0, 0, 1],
        "isfinite": [0, 0, 1, 1, 1, 1, 0],
    }.items():
        assert getattr(pb, name)(x).numpy().astype(int).tolist() == row * 9
    assert pb.signbit(x[1:7]).numpy().astype(int).tolist() == [1, 1, 1, 0, 0, 0]
    assert pb.equal(x, x).numpy()[:4].tolist() == [False, True, True, True]
    assert pb.not_equal(x, x).numpy()[:4].tolist() == [True, False, False, False]
    assert pb.equal(x[3:4], x[4:5]).numpy().tolist() == [True]
    for name in ("less", "less_equal", "greater", "greater_equal", "equal"):
        assert not getattr(pb, name)(x, np.nan).numpy().any()
        assert not getattr(pb, name)(np.nan, x).numpy().any()


def test_the_next_number() -> None:
    for dtype in ("float32", "float64"):
        tiny = np.nextafter(np.zeros((), dtype), np.ones((), dtype))
        a, b = (
            np.array([0, -0.0, 1, np.inf, 2, np.nan], dtype),
            np.array([1, -1, 0, 0, 2, 1], dtype),
        )
        got = pb.nextafter(a, b).numpy()
        np.testing.assert_array_equal(got, np.nextafter(a, b))
        assert got[0] == tiny and got[1] == -tiny
        zeros = pb.nextafter(np.array([0.0], dtype), np.array([-0.0], dtype)).numpy()
        assert np.signbit(zeros).all()


# --- integers


@pytest.mark.parametrize("dtype", SIGNED)
def test_the_smallest_integer(dtype: str) -> None:
    low = int(np.iinfo(dtype).min)
    x = pb.constant([low] * 37, dtype)
    for y, wanted in [
        (x // -1, low),
        (x % -1, 0),
        (-x, low),
        (abs(x), low),
        (x * -1, low),
        (x - 1, -low - 1),
        (x + x, 0),
        (pb.square(x), 0),
        (pb.sign(x), -1),
        (~x, -low - 1),
    ]:
        assert y.dtype == dtype and set(y.numpy().tolist()) == {wanted}


@each("dtype", SIGNED + UNSIGNED)
def test_edges_of_integers(dtype: str) -> None:
    info = np.iinfo(dtype)
    low, high, bits = int(info.min), int(info.max), int(info.bits)
    one, top = pb.constant([1] * 37, dtype), pb.constant([high] * 37, dtype)

    def entries(y: pb.Tensor) -> set[int]:
        assert y.dtype == dtype
        return set(y.numpy().tolist())

    assert entries(top + 1) == {low} and entries(top * top) == {1}
    for divide in (pb.floor_divide, pb.remainder):
        with pytest.raises(ZeroDivisionError, match=f"{divide.__name__}: integer division by zero"):
            divide(one, one * 0).numpy()
    assert entries(one << bits) == {0}
    assert entries(one << (bits - 1)) == {low if low else 1 << (bits - 1)}
    assert entries(top >> bits) == {0} and entries(top >> (bits - 1)) == {int(low == 0)}
    if low:
        assert entries(pb.constant([-1], dtype) >> bits) == {-1}
        with pytest.raises(ValueError, match="pow: expected exponents >= 0"):
            (one * 2 ** pb.constant([-1], dtype)).numpy()
    sums = pb.sum(pb.ones(300, dtype=dtype))
    assert int(sums) == 300 and sums.dtype == ("int64" if low else "uint64")
    floats = pb.constant([np.nan, np.inf, -np.inf, 1e30, -1e30, 1.9, -0.9], "float64")
    assert pb.astype(floats, dtype).numpy().tolist() == [0, high, low, high, low, 1, 0]


@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED)
def test_python_integers_that_a_dtype_does_not_hold(dtype: str) -> None:
    """Comparisons answer, arithmetic is an error: both are NumPy 2's."""
    info = np.iinfo(dtype)
    x = np.array([info.min, 0, 1, info.max], dtype)
    for n in (int(info.min) - 1, int(info.max) + 1, -(2**63) - 1, 2**64, -(10**30), 10**30):
        for name in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"):
            wanted = getattr(np, name)(x, n)
            np.testing.assert_array_equal(getattr(pb, name)(x, n).numpy(), wanted)
            np.testing.assert_array_equal(getattr(pb, name)(n, x).numpy(), getattr(np, name)(n, x))
        t = pb.constant(x)
        assert (t < n).numpy().tolist() == (x < n).tolist() and n not in t
        assert (n >= t).numpy().tolist() == (n >= x).tolist()
        for name in ("add", "multiply", "maximum", "bitwise_and"):
            with pytest.raises(OverflowError, match=f"^{name}: the Python integer .*does not fit"):
                getattr(pb, name)(x, n)
        with pytest.raises(OverflowError, match=r"^add: "):
            t + n
    assert pb.less(pb.zeros((0, 3), dtype=dtype), 10**30).shape == (0, 3)


def test_shapes_with_nothing_in_them() -> None:
    with pytest.raises(ValueError, match="reshape: expected a shape for 0 elements"):
        pb.reshape(pb.zeros((0, 3)), (0, -1))
    assert pb.reshape(pb.zeros((0, 3)), (-1, 3)).shape == (0, 3)
