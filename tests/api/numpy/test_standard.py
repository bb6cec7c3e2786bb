"""The Array API standard beside its functions (test_standard_functions): names, signatures, dtypes,
and what arrays do."""

from __future__ import annotations

import inspect
from typing import Any

import array_api_strict as xp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn
from support.each import each
from support.standard import (
    ALL,
    BOOL,
    FLOATS,
    INTEGERS,
    REAL,
    arrays,
    call,
    few,
    pairs,
    promotable,
    same,
)

import pullback as pb

# --- names and signatures


NAMES = sorted(
    name
    for name in xp.__all__
    if "array_api_strict" not in name.lower() and name not in ("ArrayAPIStrictFlags", "Device")
)
LATER = {"fft", "linalg"}


ARITHMETIC = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "matmul", "pow", "and", "or", "xor",
    "lshift", "rshift",
)  # fmt: skip


class _Empty:
    pass


def test_every_name_is_there() -> None:
    assert [name for name in NAMES if not hasattr(pb, name) and name not in LATER] == []
    x = pb.asarray([[1.0]])
    own = dir(type(xp.asarray(1)))
    # In-place operators are the plain ones and a new name for the result, as Python does it.
    inplace = {f"__i{name}__" for name in ARITHMETIC}
    public = [n for n in own if n.startswith("__") or not n.startswith("_")]
    # Python adds names to every class, 3.13 more than 3.12.
    python = {*dir(_Empty), "__annotations__", "__buffer__", "__slots__"}
    assert [n for n in public if not hasattr(x, n) and n not in inplace | python] == []


FUNCTIONS = [n for n in NAMES if inspect.isfunction(getattr(xp, n)) and hasattr(pb, n)]


@each("name", FUNCTIONS)
def test_signatures(name: str) -> None:
    """What the standard passes by position or by name, one may; its required ones suffice."""
    theirs = inspect.signature(getattr(xp, name)).parameters
    ours = inspect.signature(getattr(pb, name)).parameters
    taken = list(ours.values())
    anything = any(p.kind is p.VAR_POSITIONAL for p in taken)
    for k, (key, wanted) in enumerate(theirs.items()):
        if wanted.kind is wanted.VAR_POSITIONAL:
            assert anything
        elif wanted.kind is wanted.KEYWORD_ONLY:
            assert ours[key].kind in (wanted.KEYWORD_ONLY, wanted.POSITIONAL_OR_KEYWORD), key
            assert wanted.default is inspect.Parameter.empty or _default(wanted, ours[key]), key
        else:
            assert anything or taken[k].kind in (
                wanted.POSITIONAL_ONLY,
                wanted.POSITIONAL_OR_KEYWORD,
            )
            if wanted.kind is wanted.POSITIONAL_OR_KEYWORD:
                assert taken[k].name == key
    extra = [p for n, p in ours.items() if n not in theirs and p.default is inspect.Parameter.empty]
    positional = [p for p in theirs.values() if p.kind is p.POSITIONAL_ONLY]
    assert len([p for p in extra if p.kind is not p.VAR_POSITIONAL]) <= len(positional)


def _default(wanted: inspect.Parameter, ours: inspect.Parameter) -> bool:
    return ours.default == wanted.default or "Undef" in type(wanted.default).__name__


# --- dtypes


@each("a", ALL)
@each("b", ALL)
def test_promotion(a: str, b: str) -> None:
    if promotable(ALL, a, b):
        wanted = np.result_type(np.dtype(a), np.dtype(b))
        assert pb.result_type(getattr(pb, a), getattr(pb, b)) == wanted
        assert (pb.ones(2, dtype=a) == pb.ones((), dtype=b)).dtype == "bool"
    if promotable(ALL, a, b) or xp.can_cast(getattr(xp, a), getattr(xp, b)):
        strict = xp.can_cast(getattr(xp, a), getattr(xp, b))
        assert pb.can_cast(getattr(pb, a), getattr(pb, b)) == strict


@each("dtype", ALL)
def test_what_a_dtype_is(dtype: str) -> None:
    ours, theirs = getattr(pb, dtype), getattr(xp, dtype)
    kinds = ("bool", "signed integer", "unsigned integer", "integral", "real floating",
             "complex floating", "numeric")  # fmt: skip
    for kind in kinds:
        assert pb.isdtype(ours, kind) == xp.isdtype(theirs, kind)
        info = pb.__array_namespace_info__().dtypes(kind=kind)
        assert (dtype in info) == pb.isdtype(ours, kind)
    assert pb.isdtype(ours, ("bool", "numeric")) and pb.isdtype(ours, ours)
    if dtype in FLOATS:
        a, b = pb.finfo(ours), xp.finfo(theirs)
        fields = ("bits", "eps", "max", "min", "smallest_normal")
        assert [getattr(a, f) for f in fields] == [getattr(b, f) for f in fields]
        assert {type(getattr(a, f)) for f in fields[1:]} == {float} and a.dtype == dtype
    elif dtype in INTEGERS:
        a, b = pb.iinfo(ours), xp.iinfo(theirs)
        assert (a.bits, a.max, a.min, a.dtype) == (b.bits, b.max, b.min, dtype)


@few
@given(data=st.data())
def test_astype(data: Any) -> None:
    x = data.draw(arrays(ALL, low=0, high=100))
    dtype = np.dtype(data.draw(st.sampled_from(ALL)))
    call("astype", x, dtype)
    call("astype", x, dtype, copy=False)


# --- arrays


@few
@given(data=st.data())
def test_items(data: Any) -> None:
    x = data.draw(arrays(ALL, hn.array_shapes(min_dims=0, max_dims=3, min_side=1, max_side=4)))
    key = data.draw(hn.basic_indices(x.shape, allow_newaxis=True))
    np.testing.assert_array_equal(pb.asarray(x)[key].numpy(), x[key])
    y, z = pb.asarray(x), x.copy()
    y[key] = z[key] = x.flat[0]
    np.testing.assert_array_equal(y.numpy(), z)
    mask = data.draw(hn.arrays("bool", st.sampled_from([x.shape, x.shape[:1], ()])))
    np.testing.assert_array_equal(pb.asarray(x)[pb.asarray(mask)].numpy(), x[mask])
    y, z = pb.asarray(x), x.copy()
    y[pb.asarray(mask)] = z[mask] = x.flat[-1]
    np.testing.assert_array_equal(y.numpy(), z)


@pytest.mark.parametrize("name", [name for name in ARITHMETIC if name not in ("matmul", "pow")]
                         + ["lt", "le", "eq", "ne", "gt", "ge"])  # fmt: skip
@few
@given(data=st.data())
def test_operators(name: str, data: Any) -> None:
    if name in ("and", "or", "xor"):
        dtypes: tuple[str, ...] = BOOL + INTEGERS
    elif name in ("lshift", "rshift"):
        dtypes = INTEGERS
    else:
        dtypes = FLOATS if name == "truediv" else REAL
    shift = name in ("lshift", "rshift")
    a, b = data.draw(pairs(dtypes, low=1, high=7 if shift else 100))
    operator = f"__{name}__"
    ours = getattr(pb.asarray(a), operator)(pb.asarray(b))
    with np.errstate(all="ignore"):
        same(ours, getattr(xp.asarray(a), operator)(xp.asarray(b)))
        number = b.flat[0].item() if b.size else a.dtype.type(1).item()
        if a.dtype == b.dtype:
            same(getattr(pb.asarray(a), operator)(number), getattr(xp.asarray(a), operator)(number))
            if name not in ("lt", "le", "eq", "ne", "gt", "ge"):
                turned = f"__r{name}__"
                wanted = getattr(xp.asarray(a), turned)(number)
                same(getattr(pb.asarray(a), turned)(number), wanted)


def test_python_numbers_out_of_a_tensor() -> None:
    for dtype in ALL:
        x = pb.ones((), dtype=dtype)
        assert (bool(x), int(x), float(x), complex(x)) == (True, 1, 1.0, 1 + 0j)
        if dtype in INTEGERS:
            assert x.__index__() == 1
        else:
            with pytest.raises(TypeError):
                x.__index__()
