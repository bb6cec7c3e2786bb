"""Dtypes that are stored and not computed in: values against NumPy, rounding after every operation,
gradients in halves against those in float64."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
BINARY = ["add", "subtract", "multiply", "floor_divide", "remainder", "maximum", "minimum"]
BINARY += ["bitwise_and", "bitwise_or", "bitwise_xor", "less", "equal"]
UNARY = ["square", "negative", "abs", "sign", "bitwise_invert"]


def any_integers(dtype: str, seed: int = 0) -> Any:
    limits = np.iinfo(dtype)
    rng = np.random.default_rng(seed)
    return rng.integers(limits.min, limits.max, 1000, dtype=dtype, endpoint=True)


def same(got: pb.Tensor, want: Any) -> bool:
    return got.dtype == want.dtype and np.array_equal(got.numpy(), want, equal_nan=True)


@each("a, b", list(itertools.product(["bool", *INTEGERS], repeat=2)))
def test_integers_promote_as_in_numpy(a: str, b: str) -> None:
    assert pb.result_type(a, b) == np.result_type(a, b)
    assert pb.can_cast(a, b) == np.can_cast(a, b)


def test_floating_dtypes_win_and_halves_meet_in_float32() -> None:
    for integer in INTEGERS:
        for real in ("float16", "bfloat16", "float32", "float64"):
            assert str(pb.result_type(integer, real)) == real
    assert pb.result_type("float16", pb.bfloat16) == pb.float32


@each("dtype", INTEGERS)
def test_integer_arithmetic_wraps_as_in_numpy(dtype: str) -> None:
    x, y = any_integers(dtype), any_integers(dtype, 1)
    y[y == 0] = 1
    a, b = pb.constant(x), pb.constant(y)
    for name in BINARY:
        assert same(getattr(pb, name)(a, b), getattr(np, name)(x, y)), name
    for name in UNARY:
        assert same(getattr(pb, name)(a), getattr(np, name.replace("bitwise_", ""))(x)), name
    for name in ("sum", "prod", "max", "min"):
        assert same(getattr(pb, name)(a), np.asarray(getattr(np, name)(x))), name
    assert pb.argmax(a).item() == x.argmax() and same(pb.sort(a), np.sort(x))
    assert same(pb.cumulative_sum(a), np.cumsum(x))
    square = x[:900].reshape(30, 30)
    assert same(pb.constant(square) @ pb.constant(square), square @ square)
    with pytest.raises(ZeroDivisionError):
        (a // pb.zeros((), dtype=dtype)).numpy()


@each("dtype", INTEGERS)
def test_programs_of_one_dtype_wrap_as_in_numpy(dtype: str) -> None:
    x, y, z = (any_integers(dtype, seed) for seed in range(3))
    low = np.iinfo(dtype).min

    def program(p: Any, a: Any, b: Any, c: Any) -> list[Any]:
        chosen = p.where(a > b, a * 3 - c, p.square(b) ^ (c & 7))
        return [
            a * b + c,
            chosen,
            p.where(a > b, low, -chosen),
            (a + b) // 3 + p.maximum(a - c, 5) * c,  # operations of both kinds
            p.sum(a * b - c),
            (a.reshape(25, 40) * b[:40]).T - c[::-1].reshape(40, 25),
            p.sum(a.reshape(25, 40) * b[:25].reshape(25, 1), axis=1) * 3,
        ]

    want = program(np, x, y, z)
    arrays = [pb.constant(v) for v in (x, y, z)]
    for f in (program, pb.function(program)):
        for k, (got, right) in enumerate(zip(f(pb, *arrays), want, strict=True)):
            assert same(got, np.asarray(right)), (k, f)
    count = 37  # shorter than a vector, from an odd address
    assert same(arrays[0][1:count] * arrays[1][2 : count + 1], x[1:count] * y[2 : count + 1])


@each("dtype", INTEGERS)
def test_a_loop_over_integers_wraps_as_in_numpy(dtype: str) -> None:
    x, y = any_integers(dtype)[:5], any_integers(dtype, 1)[:5]

    def step(state: Any) -> Any:
        i, a, b = state
        return i + 1, a * b + 1, b ^ a

    start = 0, pb.constant(x), pb.constant(y)
    _, a, b = pb.while_loop(lambda state: state[0] < 20, step, start)
    for _ in range(20):
        x, y = x * y + np.array(1, dtype), y ^ x
    assert same(a, x) and same(b, y)


@each("dtype", INTEGERS)
def test_floats_saturate_and_numbers_must_fit(dtype: str) -> None:
    limits = np.iinfo(dtype)
    floats = pb.constant(np.array([1e30, -1e30, np.nan, 3.7, np.inf]))
    want = [limits.max, limits.min, 0, 3, limits.max]
    assert pb.cast(floats, dtype).numpy().tolist() == want
    x = pb.ones(1, dtype=dtype)
    for number in (limits.max + 1, limits.min - 1):
        with pytest.raises(OverflowError):
            x + number
    assert (x * limits.max).numpy().tolist() == [limits.max]


def test_conversions_of_halves_are_exact_and_round_once() -> None:
    rng = np.random.default_rng(0)
    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    assert same(pb.cast(pb.constant(halves), "float32"), halves.astype("float32"))
    singles = rng.integers(0, 2**32, 10**5, dtype=np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        assert same(pb.cast(pb.constant(singles), "float16"), singles.astype("float16"))
        doubles = rng.normal(size=10**5) * 10.0 ** rng.uniform(-9, 5, 10**5)
        assert same(pb.cast(pb.constant(doubles), "float16"), doubles.astype("float16"))
    bits = singles.view(np.uint32)
    cut = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint32) << 16
    want = np.where(np.isnan(singles), np.float32(np.nan), cut.view(np.float32))
    assert same(pb.cast(pb.cast(pb.constant(singles), pb.bfloat16), "float32"), want)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8", "uint16", "uint32", "uint64"])
def test_fusion_changes_no_bits(dtype: str) -> None:
    rng = np.random.default_rng(0)
    a, b = (pb.cast(pb.constant(rng.normal(size=(40, 33)) * 50), dtype) for _ in range(2))

    def steps(look: Any) -> Any:
        x = a
        for step in (
            lambda x: x * b,
            lambda x: x + a,
            lambda x: pb.where(x > b, x, b * 3),
            lambda x: pb.maximum(x, a) - b,
            lambda x: x * x - pb.max(x, axis=1, keepdims=True),
        ):
            x = step(x)
            look(x)
        return pb.cast(pb.concat([x, x + pb.sum(x)]), "float64").numpy()

    assert np.array_equal(steps(lambda x: None), steps(pb.evaluate), equal_nan=True)


@pytest.mark.parametrize("dtype", ["int8", "int16", "uint8", "uint16", "uint32"])
def test_sums_and_products_wrap_where_something_looks_at_all_bits(dtype: str) -> None:
    """Between sums and products only the low bits need be right; comparisons, quotients, shifts,
    extremes and reductions see the number that is stored."""
    rng = np.random.default_rng(1)
    limits = np.iinfo(dtype)
    a, b = (rng.integers(limits.min, limits.max, (30, 17), dtype, True) for _ in range(2))
    x, y = pb.constant(a), pb.constant(b)
    n, t = a * b + a, x * y + x
    cases = [
        (t, n),
        (t * t - (t & y), n * n - (n & b)),
        (~t ^ (y | -t), ~n ^ (b | -n)),
        (t > y, n > b),
        (t // (y | 1), n // (b | 1)),
        (pb.maximum(t, y) + t, np.maximum(n, b) + n),
        (pb.bitwise_right_shift(t, 3) + t, np.right_shift(n, np.asarray(3, dtype)) + n),
        (pb.where(t < x, t, y) * t, np.where(n < a, n, b) * n),
        (pb.cast(t, "float64") / 3, n.astype("float64") / 3),
        (pb.cast(t * t, "int64"), (n * n).astype("int64")),
        (pb.sum(t), np.sum(n)),
        (pb.max(t, axis=0), np.max(n, axis=0)),
    ]
    for k, (got, want) in enumerate(cases):
        np.testing.assert_array_equal(got.numpy(), want, err_msg=str(k))


@pytest.mark.parametrize("dtype, tolerance", [("float16", 4e-3), ("bfloat16", 3e-2)])
def test_gradients_in_halves(dtype: str, tolerance: float) -> None:
    def loss(x: Any) -> Any:
        return pb.sum(pb.tanh(x @ pb.transpose(x)) * 0.5) + pb.mean(x * x) + pb.sum(x[1:] * x[:-1])

    start = pb.cast(pb.constant(np.random.default_rng(0).normal(size=(5, 7))), dtype)
    narrow, wide = pb.Variable(start), pb.Variable(pb.cast(start, "float64"))
    (got,), (want,) = (pb.gradients(loss(x), [x]) for x in (narrow, wide))
    assert got.dtype == dtype
    error = np.abs(pb.cast(got, "float64").numpy() - want.numpy()).max()
    assert error <= tolerance * np.abs(want.numpy()).max()


def test_limits_and_kinds() -> None:
    assert pb.iinfo("uint64").max == 2**64 - 1
    assert pb.finfo(pb.bfloat16).smallest_normal == pb.finfo(pb.float32).smallest_normal
    assert pb.isdtype(pb.uint8, ("bool", "unsigned integer"))
    with pytest.raises(TypeError, match="iinfo"):
        pb.iinfo("float16")
    with pytest.raises(ValueError, match="isdtype"):
        pb.isdtype("int8", "whole")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_the_entry_of_a_row_of_halves_that_is_stored_for_elements(dtype: str) -> None:
    x = pb.Variable(np.array([[-1.5, 0.5], [-1.5, 0.0]], np.float32))
    halves = pb.astype(pb.clip_by_norm(x, 1.3, axis=1), dtype)
    y = pb.astype(pb.sum(halves, axis=-1), "float32")
    (g,) = pb.gradients(pb.sum(y * pb.constant([1.0, 2.0])), [x])
    n = np.sqrt(2.5)
    first = 1.3 / n * (np.array([1, 1]) + np.array([1.5, -0.5]) / n * (-1 / n))
    expected = [first, [0.0, 2 * 1.3 / 1.5]]
    np.testing.assert_allclose(g.numpy(), expected, rtol=1e-5, atol=1e-6)


@each("dtype", ["float16", "bfloat16"])
def test_a_number_that_is_stored_beside_the_sums_of_rows(dtype: str) -> None:
    def f(x: Any) -> Any:
        return pb.sum(x, axis=-1, keepdims=True) * x, pb.full(x.shape, 0.25, dtype)

    x = pb.cast(pb.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), dtype)
    product, quarter = pb.function(f)(x)
    assert product.tolist() == [[6, 12, 18], [60, 75, 90]]
    assert quarter.dtype == dtype and quarter.tolist() == [[0.25] * 3] * 2
    found = pb.function(pb.grad(lambda x, y: pb.sum(pb.max(x, -1)), argnums=(0, 1)))(x, x)
    assert [g.tolist() for g in found] == [[[0, 0, 1]] * 2, [[0] * 3] * 2]
