"""The functions of the Array API standard, value by value and dtype by dtype, beside the reference
implementation of the standard.

The tables say which dtypes the standard gives to each function. Values of floating functions are
compared roughly: how exact they are is the business of test_ops and test_accuracy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn
from support.standard import (
    ALL,
    BOOL,
    FLOATS,
    INTEGERS,
    REAL,
    SHAPES,
    SIGNED,
    UNSIGNED,
    arrays,
    call,
    elements,
    few,
    pairs,
    with_axis,
)

import pullback as pb

# --- elementwise


FLOATING = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "expm1", "log",
    "log10", "log1p", "log2", "reciprocal", "sin", "sinh", "sqrt", "tan", "tanh", "signbit",
)  # fmt: skip
NUMERIC = ("abs", "ceil", "floor", "negative", "positive", "round", "sign", "square", "trunc")
UNARY: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(FLOATING, FLOATS),
    **dict.fromkeys((*NUMERIC, "isfinite", "isinf", "isnan"), REAL),
    "bitwise_invert": BOOL + INTEGERS,
    "logical_not": BOOL,
}
BINARY: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("atan2", "copysign", "divide", "hypot", "logaddexp", "nextafter"), FLOATS),
    **dict.fromkeys(("add", "multiply", "subtract", "maximum", "minimum"), REAL),
    **dict.fromkeys(("greater", "greater_equal", "less", "less_equal"), REAL),
    **dict.fromkeys(("equal", "not_equal"), ALL),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), BOOL + INTEGERS),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor"), BOOL),
}
# Large arguments lose all digits of an angle in NumPy's single precision, and sums of logarithms
# meet overflow there; those of ours are measured elsewhere.
BOUNDED = {"sin", "cos", "tan", "sinh", "cosh", "hypot", "logaddexp", "exp", "expm1"}


@pytest.mark.parametrize("name", UNARY)
@few
@given(data=st.data())
def test_unary(name: str, data: Any) -> None:
    bound = 30 if name in BOUNDED else None
    x = data.draw(arrays(UNARY[name], low=bound and -bound, high=bound))
    if name == "negative" and x.dtype.kind == "u":
        return  # wraps; the standard leaves it open
    if name == "sign" and x.dtype.kind == "f":
        x = np.where(np.isnan(x), x.dtype.type(0), x)
    call(name, x)


@pytest.mark.parametrize("name", BINARY)
@few
@given(data=st.data())
def test_binary(name: str, data: Any) -> None:
    bound = 30 if name in BOUNDED else None
    call(name, *data.draw(pairs(BINARY[name], low=bound and -bound, high=bound)))


@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
@few
@given(data=st.data())
def test_integer_division(name: str, data: Any) -> None:
    a, b = data.draw(pairs(INTEGERS))
    b = np.where(b == 0, b.dtype.type(1), b)
    low = np.iinfo(np.result_type(a, b)).min
    if low < 0:
        b = np.where(b == -1, b.dtype.type(1), b)
    call(name, a, b)


@pytest.mark.parametrize("name", ["bitwise_left_shift", "bitwise_right_shift"])
@few
@given(data=st.data())
def test_shifts(name: str, data: Any) -> None:
    a, b = data.draw(pairs(INTEGERS, low=0, high=7))
    call(name, a, b)


@few
@given(data=st.data())
def test_powers(data: Any) -> None:
    a, b = data.draw(pairs(INTEGERS, low=0, high=7))
    call("pow", a, b)
    a, b = data.draw(pairs(FLOATS, low=0, high=9))
    call("pow", a, b)


@few
@given(data=st.data())
def test_clip_and_where(data: Any) -> None:
    x = data.draw(arrays(REAL))
    low, high = (data.draw(arrays((x.dtype.name,), shapes=st.just(()))) for _ in range(2))
    if x.dtype.kind != "f" or not np.isnan(low + high):
        low, high = np.asarray(np.minimum(low, high)), np.asarray(np.maximum(low, high))
        call("clip", x, low, high)
        call("clip", x, min=low)
        call("clip", x, max=high)
    a, b = data.draw(pairs(ALL))
    condition = data.draw(hn.arrays("bool", st.sampled_from([a.shape, b.shape, (), (1, 1)])))
    call("where", condition, a, b)


@few
@given(data=st.data())
def test_python_numbers_take_the_dtype_of_the_array(data: Any) -> None:
    x = data.draw(arrays(REAL))
    number = data.draw(elements(x.dtype.name))
    for name in ("add", "multiply", "less", "equal", "maximum"):
        call(name, x, number)
        call(name, number, x)


# --- reductions, scans, sorting, searching


REDUCTIONS = {"sum": REAL, "prod": REAL, "max": REAL, "min": REAL, "all": ALL, "any": ALL,
              "mean": FLOATS, "std": FLOATS, "var": FLOATS, "count_nonzero": ALL}  # fmt: skip


@pytest.mark.parametrize("name", REDUCTIONS)
@few
@given(data=st.data(), keepdims=st.booleans())
def test_reductions(name: str, data: Any, keepdims: bool) -> None:
    floats = name in ("sum", "prod", "mean", "std", "var")
    x, axis = data.draw(with_axis(REDUCTIONS[name], low=-3 if floats else None,
                                  high=3 if floats else None, whole=True))  # fmt: skip
    if name == "count_nonzero" and axis == ():
        return  # the reference counts all
    call(name, x, axis=axis, keepdims=keepdims)
    if name in ("sum", "prod") and x.dtype.kind == "f":
        call(name, x, axis=axis, dtype=np.dtype("float64"))


@few
@given(data=st.data(), keepdims=st.booleans())
def test_positions_of_extremes(data: Any, keepdims: bool) -> None:
    x, axis = data.draw(with_axis(REAL, many=False))
    call("argmax", x, axis=axis, keepdims=keepdims)
    call("argmin", x, axis=axis, keepdims=keepdims)


@few
@given(data=st.data(), initial=st.booleans())
def test_scans(data: Any, initial: bool) -> None:
    x, axis = data.draw(with_axis(REAL, many=False, low=-3, high=3, whole=True))
    axis = -1 if axis is None else axis
    call("cumulative_sum", x, axis=axis, include_initial=initial)
    call("cumulative_prod", x, axis=axis, include_initial=initial)
    call("diff", x, axis=axis, n=data.draw(st.integers(0, 2)))


@few
@given(data=st.data(), descending=st.booleans())
def test_sorting(data: Any, descending: bool) -> None:
    x, axis = data.draw(with_axis(REAL, many=False, low=-3, high=3))
    axis = -1 if axis is None else axis
    call("sort", x, axis=axis, descending=descending, exact=True)
    call("argsort", x, axis=axis, descending=descending, stable=True)


@few
@given(data=st.data())
def test_sets_and_searching(data: Any) -> None:
    x = data.draw(arrays(ALL, hn.array_shapes(min_dims=1, max_dims=3, min_side=0), -3, 3))
    call("nonzero", x)
    for name in ("unique_values", "unique_counts", "unique_inverse", "unique_all"):
        call(name, x)
    if x.dtype.kind in "iu":
        invert = data.draw(st.booleans())
        wanted = np.isin(x, [1, 2], invert=invert)
        np.testing.assert_array_equal(pb.isin(x, [1, 2], invert=invert).numpy(), wanted)
    ordered = np.sort(data.draw(arrays(REAL, st.integers(0, 5).map(lambda n: (n,)), -3, 3)))
    wanted = data.draw(arrays((ordered.dtype.name,), low=-3, high=3))
    call("searchsorted", ordered, wanted, side=data.draw(st.sampled_from(["left", "right"])))


# --- shape


@few
@given(data=st.data())
def test_manipulation(data: Any) -> None:
    x = data.draw(arrays(ALL))
    shape, n = x.shape, x.ndim
    axis = data.draw(st.integers(-n, n - 1)) if n else None
    call("reshape", x, (-1,) if x.size else (0,))
    call("flip", x, exact=True)
    call("roll", x, 2, exact=True)
    call("expand_dims", x, axis=data.draw(st.integers(-n - 1, n)), exact=True)
    call("permute_dims", x, tuple(data.draw(st.permutations(range(n)))), exact=True)
    call("stack", [x, x], axis=data.draw(st.integers(-n - 1, n)), exact=True)
    call("concat", [x.reshape(-1), x.reshape(-1)], exact=True)
    call("concat", [x, x], axis=None, exact=True)
    call("broadcast_to", x, (2, *shape), exact=True)
    call("broadcast_arrays", x, np.ones((2, *shape)), exact=True)
    call("tile", x, tuple(data.draw(st.lists(st.integers(0, 2), max_size=4))), exact=True)
    if n:
        call("flip", x, axis=axis, exact=True)
        call("roll", x, data.draw(st.integers(-9, 9)), axis=axis, exact=True)
        call("moveaxis", x, axis, data.draw(st.integers(-n, n - 1)), exact=True)
        call("unstack", x, axis=axis, exact=True)
        call("repeat", x, 2, axis=axis, exact=True)
        call("concat", [x, x], axis=axis, exact=True)
        call("squeeze", x[None], (0,), exact=True)
    if n >= 2:
        k = data.draw(st.integers(-4, 4))
        call("tril", x, k=k, exact=True)
        call("triu", x, k=k, exact=True)
        call("matrix_transpose", x, exact=True)


@few
@given(data=st.data())
def test_taking(data: Any) -> None:
    x, axis = data.draw(with_axis(ALL, many=False))
    axis = -1 if axis is None else axis
    entries = st.integers(-x.shape[axis], x.shape[axis] - 1)
    indices = data.draw(hn.arrays(st.sampled_from(SIGNED), st.integers(0, 5), elements=entries))
    call("take", x, np.asarray(indices, np.int64), axis=axis, exact=True)
    assert pb.take(x, indices, axis=axis).numpy().shape == np.take(x, indices, axis).shape
    along = np.argsort(x, axis=axis)
    call("take_along_axis", x, along, axis=axis, exact=True)


@few
@given(data=st.data())
def test_products(data: Any) -> None:
    dtypes = data.draw(st.sampled_from([SIGNED, UNSIGNED, FLOATS]))
    m, n, k = (data.draw(st.integers(0, 3)) for _ in range(3))
    batch = data.draw(hn.array_shapes(min_dims=0, max_dims=2, max_side=2))
    a = data.draw(arrays(dtypes, st.just((*batch, m, k)), -3, 3, whole=True))
    b = data.draw(arrays(dtypes, st.just((k, n)), -3, 3, whole=True))
    call("matmul", a, b)
    call("tensordot", a, b, axes=1)
    call("vecdot", a, data.draw(arrays(dtypes, st.just((k,)), -3, 3, whole=True)))


# --- creation


@few
@given(data=st.data())
def test_creation(data: Any) -> None:
    dtype = np.dtype(data.draw(st.sampled_from(ALL)))
    shape = data.draw(SHAPES)
    for name in ("zeros", "ones"):
        call(name, shape, dtype=dtype)
        call(f"{name}_like", np.ones(shape, dtype))
    number = data.draw(elements(dtype.name))
    call("full", shape, number, dtype=dtype, exact=True)
    call("full_like", np.ones(shape, dtype), number, exact=True)
    rows, columns = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 4))
    if dtype != "bool":
        call("eye", rows, columns, k=data.draw(st.integers(-5, 5)), dtype=dtype)
    assert pb.empty(shape, dtype=dtype).dtype == dtype
    assert pb.empty_like(np.ones(shape, dtype)).shape == shape


@few
@given(start=st.integers(-20, 20), stop=st.integers(-20, 20), step=st.integers(-5, 5),
       num=st.integers(0, 9), endpoint=st.booleans())  # fmt: skip
def test_ranges(start: int, stop: int, step: int, num: int, endpoint: bool) -> None:
    call("arange", start)
    call("arange", start, stop, step or 1)
    call("arange", start, stop, step or 1, dtype=np.dtype("int16"))
    call("arange", start / 4, stop / 4, (step or 1) / 4, dtype=np.dtype("float64"))
    row = pb.linspace(start, stop, num, endpoint=endpoint, dtype="float64")
    assert row.dtype == "float64" and row.shape == (num,)
    np.testing.assert_allclose(row.numpy(), np.linspace(start, stop, num, endpoint), atol=1e-14)
    whole = pb.linspace(start, stop, num, endpoint=endpoint, dtype="int32")
    assert np.abs(whole.numpy() - np.floor(row.numpy())).max(initial=0) <= 1


@few
@given(data=st.data(), indexing=st.sampled_from(["xy", "ij"]))
def test_meshgrid(data: Any, indexing: str) -> None:
    dtype = data.draw(st.sampled_from(ALL))
    count = data.draw(st.integers(1, 3))
    rows = [
        data.draw(arrays((dtype,), st.integers(0, 3).map(lambda n: (n,)))) for _ in range(count)
    ]
    call("meshgrid", *rows, indexing=indexing, exact=True)
