"""Which dtype a result has (NumPy 2 promotion with weak Python scalars; an integer array beside a
floating one takes the floating dtype), what arrays may come in, and special values in every row of
the elementwise table."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.cases import DTYPES, FLOATS, Case, ulp_errors
from support.each import each
from support.table import (
    CASES,
    special_bessel,
    special_erf,
    special_gamma,
    special_incomplete,
    special_inverses,
)

import pullback as pb

ORDER = list(DTYPES.values())


def array(dtype: str) -> Any:
    return pb.constant(np.ones(2, dtype))


@pytest.fixture
def default_float64() -> Iterator[None]:
    pb.set_default_dtype("float64")
    yield
    pb.set_default_dtype("float32")


@each("a, b", list(itertools.product(ORDER, ORDER)))
def test_two_arrays_take_the_later_dtype(a: str, b: str) -> None:
    expected = max(a, b, key=ORDER.index)
    assert pb.where(True, array(a), array(b)).dtype == expected
    assert pb.concat([array(a), array(b)]).dtype == expected
    assert pb.stack([array(a), array(b)]).dtype == expected
    if expected == "bool":
        with pytest.raises(TypeError, match="multiply"):
            array(a) * array(b)
        return
    for result in (array(a) * array(b), pb.maximum(array(a), array(b)), array(a) @ array(b)):
        assert result.dtype == expected
    assert (array(a) / array(b)).dtype == (expected if expected in ORDER[3:] else "float32")
    assert (array(a) < array(b)).dtype == "bool"


SCALARS = {
    # array:   with True, with 2, with 2.0
    "bool": (None, "int64", "float32"),
    "int32": ("int32", "int32", "float32"),
    "int64": ("int64", "int64", "float32"),
    "float32": ("float32", "float32", "float32"),
    "float64": ("float64", "float64", "float64"),
}


@pytest.mark.parametrize("dtype", ORDER)
def test_python_scalars_take_the_dtype_of_the_array(dtype: str) -> None:
    for scalar, expected in zip((True, 2, 2.0), SCALARS[dtype], strict=True):
        if expected is None:
            continue
        assert (array(dtype) * scalar).dtype == (scalar * array(dtype)).dtype == expected
        assert pb.where(True, array(dtype), scalar).dtype == expected


def test_a_python_float_keeps_its_digits_until_its_neighbour_is_known() -> None:
    assert (array("float64") * 0.1).numpy()[0] == 0.1
    assert (array("float32") * 0.1).numpy()[0] == np.float32(0.1)
    assert pb.where(array("float64") > 0, 0.1, 0.2).dtype == "float32"
    assert pb.constant(0.1).dtype == "float32"


def test_numpy_scalars_are_arrays() -> None:
    assert (array("float32") * np.float64(0.1)).dtype == "float64"
    assert (array("int32") * np.int64(3)).dtype == "int64"


def test_integers_that_do_not_fit_are_an_error() -> None:
    with pytest.raises(OverflowError, match="int32"):
        array("int32") + 2**31
    with pytest.raises(OverflowError, match="int64"):
        array("int64") + 2**63
    assert (array("int32") * -(2**31)).numpy().tolist() == [-(2**31)] * 2
    assert (array("float32") * 2**40).dtype == "float32"


def test_default_dtype(default_float64: None) -> None:
    assert pb.constant(1.5).dtype == pb.constant([1.5]).dtype == "float64"
    assert (array("int32") / 2).dtype == pb.zeros(3).dtype == "float64"
    assert pb.exp(array("int64")).dtype == pb.mean(array("int32")).dtype == "float64"
    assert (array("float32") * 1.5).dtype == "float32"
    assert pb.random.normal(3).dtype == pb.one_hot([1], 3).dtype == "float64"
    with pytest.raises(TypeError, match="float32 or float64"):
        pb.set_default_dtype("int32")


# --- arrays that come in


KEPT = ["int8", "int16", "uint8", "uint16", "uint32", "uint64", "float16"]
SWAPPED = {">f8": "float64", ">i4": "int32", ">u2": "uint16"}


@each("source, expected", [*zip(KEPT, KEPT, strict=True), *SWAPPED.items()])
def test_arrays_keep_their_dtype_in_the_order_of_this_machine(source: str, expected: str) -> None:
    x = np.array([0, 1, 100], source)
    assert pb.constant(x).dtype == expected
    assert pb.constant(x).numpy().tolist() == x.tolist()


@pytest.mark.parametrize("dtype", ["longdouble", "clongdouble", "datetime64[s]", "U3", "O"])
def test_what_does_not_fit_is_refused(dtype: str) -> None:
    with pytest.raises(TypeError, match="expected numbers"):
        pb.constant(np.zeros(2, dtype))


def test_strange_memory_is_copied() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    packed = np.zeros(4, np.dtype([("a", "i1"), ("x", "f8")]))
    packed["x"] = [1, 2, 3, 4]
    frozen = x.copy()
    frozen.setflags(write=False)
    for odd in (
        x[::-1],
        x.T,
        x[:, ::2, ::-1],
        packed["x"],
        np.broadcast_to(x[0, 0], (3, 4)),
        frozen,
    ):
        assert np.array_equal(pb.constant(odd).numpy(), odd)
    source = np.ones(3)
    kept = pb.constant(source)
    lazy = kept + 0
    source[:] = 7
    assert kept.numpy().tolist() == lazy.numpy().tolist() == [1.0, 1.0, 1.0]


def test_masked_ragged_and_object_arrays_are_refused() -> None:
    with pytest.raises(TypeError, match="masked"):
        pb.constant(np.ma.masked_array([1.0, 2.0], [0, 1]))
    with pytest.raises(ValueError, match="ragged"):
        pb.constant([[1.0], [1.0, 2.0]])
    with pytest.raises(TypeError, match="expected numbers"):
        pb.constant([1.0, None])
    with pytest.raises(TypeError, match="expected numbers"):
        pb.constant("abc")


@each("dtype", [None, "float32", "float64"])
@each(
    "values",
    [
        [0.1],
        (0.1, 0.2),
        [[1.0, 2.0], (3.0, 1e-300)],
        [[[0.1] * 5] * 4] * 3,
        [1e300, -1e300, float("nan"), float("inf"), -0.0],
        [1.0, 2],
        [[True, 1.0]],
        [[]],
        [np.float64(0.1), 0.2],
        [0.1, np.float32(0.1)],
    ],
    ids=repr,
)
def test_lists_of_floats(values: Any, dtype: Any) -> None:
    expected = np.asarray(values)
    own = "float64" if isinstance(values[0], np.float64) else "float32"
    with np.errstate(over="ignore"):
        expected = expected.astype(dtype or own)
    x = pb.constant(values, dtype=dtype)
    assert x.dtype == expected.dtype
    assert x.numpy().tobytes() == expected.tobytes() and x.shape == expected.shape


@pytest.mark.parametrize(
    "values", [[0.1, [0.2]], [[0.1], 0.2], [[0.1], [0.1, 0.2]], [[0.1], []]], ids=repr
)
def test_ragged_lists_of_floats(values: Any) -> None:
    with pytest.raises(ValueError, match=r"constant: expected nested lists .*, got ragged lists"):
        pb.constant(values)


def test_lists_take_the_default_dtype_unless_numpy_says_otherwise() -> None:
    assert pb.constant([1.0, 2.0]).dtype == "float32"
    assert pb.constant([1, 2]).dtype == "int64"
    assert pb.constant([True]).dtype == "bool"
    assert pb.constant([np.float64(1.0)]).dtype == "float64"
    assert pb.constant([]).shape == (0,)
    mixed = pb.constant([pb.constant(np.float64(1.5)), 2, [3.5][0]])
    assert mixed.dtype == "float64" and mixed.numpy().tolist() == [1.5, 2.0, 3.5]


# --- special values

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, np.inf, -np.inf, np.nan, 1e-3, 80.0, -104.0, 1e22]
OWN_RULES = {"rsqrt", "log_slope", "pow_da", "pow_db", "max_share", "min_share", "same"}
OWN_RULES |= {"difference", "gate", "multiply_no_nan", "nextafter"}
OWN_RULES |= {
    "acosh_slope",
    "atanh_slope",
    "cosine_of",
    "over_square",
    "logaddexp_slope",
    "logaddexp2_slope",
}
# Their special values are SciPy's: test_special.py, test_incomplete.py, test_inverses.py.
SPECIAL_FAMILIES = (
    special_bessel,
    special_erf,
    special_gamma,
    special_incomplete,
    special_inverses,
)
OWN_RULES |= {case.op for family in SPECIAL_FAMILIES for case in family.CASES}
AT_THE_DTYPE = {"floor_divide", "remainder", "multiply", "add", "subtract"}


@each("pointwise", [case for case in CASES if case.elementwise], ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_special_values(pointwise: Case, dtype: str) -> None:
    """Against NumPy: zeros, infinities, NaN, huge and tiny numbers, alone and in every pair."""
    if pointwise.op in OWN_RULES or pointwise.op in ("where", "clip"):
        return
    if dtype not in pointwise.dtypes:  # bits of integers
        return
    limits = np.finfo(DTYPES[dtype])
    numbers = [*SPECIAL, limits.max, limits.tiny, -limits.smallest_subnormal, 1 + limits.eps]
    grid = itertools.product(numbers, repeat=len(pointwise.domains))
    xs = [np.array(column, DTYPES[dtype]) for column in zip(*grid, strict=True)]
    got = pointwise.run(*map(pb.constant, xs)).numpy()
    with np.errstate(all="ignore"):
        exact = xs if pointwise.op in AT_THE_DTYPE else [x.astype(np.longdouble) for x in xs]
        want = pointwise.reference(*exact)
    if pointwise.result == "bool":
        assert np.array_equal(got, want)
        return
    errors = ulp_errors(got, want, dtype)
    bad = np.argwhere(errors > pointwise.ulp).ravel()
    text = [f"{pointwise.op}{tuple(x[i] for x in xs)} = {got[i]}, not {want[i]}" for i in bad[:8]]
    assert not text, "\n".join(text)
    if len(xs) == 1:
        zero = want == 0
        assert np.array_equal(np.signbit(got[zero]), np.signbit(want[zero]))


def test_not_a_number_wins_whatever_the_order() -> None:
    for length in (1, 3, 40):
        x = np.zeros(length)
        for at in range(length):
            y = x.copy()
            y[at] = np.nan
            for operation in (pb.max, pb.min, pb.sum, pb.prod):
                assert np.isnan(operation(pb.constant(y)).item())
            assert pb.argmax(pb.constant(y)).item() == pb.argmin(pb.constant(y)).item() == at
            assert np.isnan(pb.maximum(pb.constant(y), x).numpy()[at])
            assert np.isnan(pb.minimum(x, pb.constant(y)).numpy()[at])


# --- creation


def test_creation() -> None:
    for got, want in [
        (pb.zeros((2, 3)), np.zeros((2, 3), "float32")),
        (pb.ones(3, dtype="int32"), np.ones(3, "int32")),
        (pb.zeros(()), np.zeros((), "float32")),
        (pb.full((2, 2), 7), np.full((2, 2), 7)),
        (pb.full((2,), 1.5, dtype="float64"), np.full(2, 1.5)),
        (pb.zeros_like(pb.ones((2, 1), dtype="int64")), np.zeros((2, 1), "int64")),
        (pb.ones_like([1.0, 2.0], dtype="bool"), np.ones(2, "bool")),
        (pb.arange(5), np.arange(5)),
        (pb.arange(2, 5), np.arange(2, 5)),
        (pb.arange(5, 0, -2), np.arange(5, 0, -2)),
        (pb.arange(3, 3), np.arange(3, 3)),
        (pb.arange(0.0, 1.0, 0.25), np.arange(0.0, 1.0, 0.25, dtype="float32")),
        (pb.arange(4, dtype="float64"), np.arange(4, dtype="float64")),
        (pb.eye(3), np.eye(3, dtype="float32")),
        (pb.eye(2, 4, k=1, dtype="int32"), np.eye(2, 4, k=1, dtype="int32")),
        (pb.eye(3, k=-1), np.eye(3, k=-1, dtype="float32")),
        (pb.eye(0), np.eye(0, dtype="float32")),
    ]:
        assert got.dtype == want.dtype and np.array_equal(got.numpy(), want)


def test_constants_take_no_memory_and_no_step() -> None:
    text = pb._core.describe_plan([pb.zeros((1000, 1000)) + pb.constant(np.ones((1000, 1000)))])
    assert text.count("\n0  tiles") == 1 and "arena 0 bytes" in text
