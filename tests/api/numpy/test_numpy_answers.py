"""What NumPy answers in corners that are easily forgotten: dtypes asked for, integers at the end of
their range, arguments that make no sense, second names of arguments."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.each import each

import pullback as pb


@each(
    ("name", "x", "dtype"),
    [
        ("sum", np.array([100, 100], np.int8), "int8"),
        ("sum", np.array([300, 1]), "uint8"),
        ("sum", np.array([1.7, 2.6]), "int32"),
        ("sum", np.array([1, 2]), "bool"),
        ("sum", np.array([1, 2]), "float64"),
        ("prod", np.array([300, 300]), "int16"),
        ("mean", np.array([1, 2]), "int64"),
        ("mean", np.array([1, 2]), "float32"),
    ],
)
def test_a_reduction_has_the_dtype_asked_for(name: str, x: Any, dtype: str) -> None:
    expected = getattr(np, name)(x, dtype=dtype)
    got = getattr(pb, name)(x, dtype=dtype)
    assert got.dtype == expected.dtype == dtype
    assert got.item() == expected.item()


def test_fmod_of_integers_is_exact() -> None:
    rng = np.random.default_rng(0)
    x = np.append(rng.integers(-1000, 1000, 200), [2**63 - 1, 2**24 + 1, -(2**63)])
    y = np.append(rng.integers(1, 30, 200) * rng.choice([-1, 1], 200), [10, 2, 7])
    got = pb.fmod(x, y)
    assert got.dtype == "int64"
    np.testing.assert_array_equal(got.numpy(), np.fmod(x, y))
    with pytest.raises(ZeroDivisionError):
        pb.fmod([1, 2], 0).numpy()


@pytest.mark.parametrize("other", ["bool", "uint8", "uint64", "float64"])
def test_fmod_of_mixed_dtypes(other: str) -> None:
    x, y = np.array([-3, 3, -7]), np.array([1, 7, 2**8 - 1]).astype(other)
    if other == "uint64":
        y = np.array([2**64 - 1, 2**63, 2], other)  # promoted to float64
    got = pb.fmod(x, y)
    assert got.dtype == np.fmod(x, y).dtype
    np.testing.assert_array_equal(got.numpy(), np.fmod(x, y))


@pytest.mark.parametrize("name", ["fmax", "fmin"])
@pytest.mark.parametrize("dtype", ["int16", "bool", "float64"])
def test_nan_is_ignored_beside_any_dtype(name: str, dtype: str) -> None:
    x, y = np.array([1, 0, 1], dtype), np.array([np.nan, 0.5, 2.0])
    for a, b in ((x, y), (y, x)):
        np.testing.assert_array_equal(getattr(pb, name)(a, b).numpy(), getattr(np, name)(a, b))


def test_no_difference_is_the_input() -> None:
    np.testing.assert_array_equal(pb.diff([1.0, 3.0], 0, prepend=7.0), [1.0, 3.0])


def test_distances_of_unsigned_coordinates() -> None:
    x, y = np.array([5, 3, 0], "uint8"), np.array([1.0, 2.0, 5.0])
    for name in ("trapezoid", "gradient"):
        got = getattr(pb, name)(y, x)
        np.testing.assert_allclose(got.numpy(), getattr(np, name)(y, x.astype(float)))


@pytest.mark.parametrize("weights", [np.array([True, True, False]), np.int8([100, 100, -1])])
def test_sums_of_weights_of_a_small_dtype(weights: Any) -> None:
    expected = [int(weights[0]) + int(weights[1]), int(weights[2])]
    assert pb.bincount([0, 0, 1], weights).tolist() == expected
    assert pb.histogram([0.0, 0.0, 1.0], 2, weights=weights)[0].tolist() == expected


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_fmod_keeps_the_sign_of_a_zero(dtype: str) -> None:
    x, y = np.array([-1, 1, -4, -0.0, 5], dtype), np.array([1, -1, 2, 3, -5], dtype)
    np.testing.assert_array_equal(np.signbit(pb.fmod(x, y).numpy()), np.signbit(np.fmod(x, y)))


def test_grids_of_complex_numbers() -> None:
    got = pb.linspace(0, 1, 5, dtype="complex64")
    np.testing.assert_array_equal(got.numpy(), np.linspace(0, 1, 5, dtype="complex64"))


def test_nan_to_num_of_bfloat16() -> None:
    x = np.array([np.nan, np.inf, -np.inf, 1.5], ml_dtypes.bfloat16)
    largest = float(ml_dtypes.finfo(ml_dtypes.bfloat16).max)
    got = pb.nan_to_num(x).numpy().astype(np.float64)
    np.testing.assert_array_equal(got, [0, largest, -largest, 1.5])


@pytest.mark.parametrize(("name", "dtype", "initial"), [("max", "int8", 300), ("min", "uint8", -1)])
def test_a_start_that_the_dtype_does_not_hold(name: str, dtype: str, initial: int) -> None:
    with pytest.raises(OverflowError, match=str(initial)):
        getattr(pb, name)(pb.asarray([1, 2], dtype=dtype), initial=initial)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_isclose_at_the_end_of_integers(dtype: str) -> None:
    low = np.iinfo(dtype).min
    x, y = np.array([low + 1, low, 5], dtype), np.array([low, low, 6], dtype)
    expected = np.isclose(x, y, rtol=0.1)
    np.testing.assert_array_equal(pb.isclose(x, y, rtol=0.1).numpy(), expected)


def test_float_power_is_of_float64() -> None:
    got = pb.float_power(np.array([3], np.int32), 33)
    assert got.dtype == "float64" and got.item() == 3.0**33
    assert pb.float_power(np.array([2], np.complex64), 2).dtype == "complex128"


@pytest.mark.parametrize("name", ["var", "std", "nanvar", "nanstd"])
def test_ddof_is_the_correction(name: str) -> None:
    x = [1.0, 2.0, 5.0]
    assert getattr(pb, name)(x, ddof=1).item() == getattr(pb, name)(x, correction=1).item()
    with pytest.raises(
        TypeError, match=rf"^{name}: expected correction or its alias ddof, got both"
    ):
        getattr(pb, name)(x, ddof=1, correction=1)
    assert pb.constant(x).std(ddof=1).item() == pytest.approx(np.std(x, ddof=1))


def test_stack_and_concat_along_a_position() -> None:
    x = np.ones((2, 3))
    assert pb.stack([x, x], 1).shape == (2, 2, 3)
    assert pb.concat([x, x], 1).shape == (2, 6)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: pb.histogram([1.0, np.nan]), "^histogram: expected a finite, increasing range"),
        (lambda: pb.histogram([1.0, np.inf]), "^histogram: expected a finite, increasing range"),
        (
            lambda: pb.histogram([1.0], range=(2, 1)),
            "^histogram: expected a finite, increasing range",
        ),
        (lambda: pb.histogram([1.0], bins=[2.0, 1.0]), "^histogram: expected increasing edges"),
        (
            lambda: pb.digitize([1.0], [3.0, 1.0, 2.0]),
            "^digitize: expected increasing or decreasing bins",
        ),
    ],
)
def test_bins_that_make_no_sense(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()


def test_a_choice_that_is_not_there() -> None:
    with pytest.raises(IndexError, match=r"^choose: index 5 is out of range for 2 choices"):
        pb.choose([0, 5], [[1, 2], [3, 4]])


def test_supports_knows_second_names_and_dtypes() -> None:
    assert pb.supports("arcsin", "second") and pb.supports("psi", "gradient")
    assert pb.supports("exp", pb.float16) and not pb.supports(pb.sort, pb.complex64)


@pytest.mark.parametrize("x", [[10**9, 10**9 + 1, 10**9 + 2], [2**24, 2**24 + 1, 2**24 + 2]])
def test_a_variance_of_integers_is_exact(x: list[int]) -> None:
    for dtype in ("int32", "int64"):
        v = np.array(x, dtype)
        assert pb.var(v).item() == np.float32(2 / 3)
        assert pb.var(v, where=[True, False, True]).item() == 1.0


@pytest.mark.parametrize(
    ("dtype", "size"),
    [("float32", 3e38), ("float32", 1e-45), ("float64", 1.7e308), ("float64", 5e-324)],
)
def test_slopes_of_hypot_at_both_ends(dtype: str, size: float) -> None:
    x, y = (pb.Variable(np.array(size, dtype)) for _ in range(2))
    for g in pb.gradients(pb.hypot(x, y), [x, y]):
        assert g.item() == pytest.approx(2**-0.5, rel=1e-6)


def test_cosine_similarity_of_equal_vectors_is_one() -> None:
    x = np.random.default_rng(0).standard_normal((200, 7))
    assert np.all(pb.nn.cosine_similarity(x, x).numpy() == 1)


def test_slopes_of_i1_do_not_overflow_before_they_must() -> None:
    x = pb.Variable(np.float32(91.7))
    assert pb.gradients(pb.special.i1(x), [x])[0].item() == pytest.approx(2.76e38, rel=1e-2)


@each("b", [1.0, 2.0, 2.5])
@each("x", [1e-3, 1e-17, 1e-20, 1e-300])
def test_curvature_of_betainc_at_the_end(b: float, x: float) -> None:
    # betainc(1, b, x) = 1 - (1 - x)^b
    v = pb.Variable(np.float64(x))
    slope = pb.gradients(pb.special.betainc(1.0, b, v), [v])[0]
    curvature = pb.gradients(slope, [v])[0].item()
    assert curvature == pytest.approx(-b * (b - 1) * (1 - x) ** (b - 2), rel=1e-14, abs=1e-300)
