"""Calls of a function of ours and of the reference implementation of the Array API standard, on
arrays that hypothesis draws, and what "the same" means. `array_api_strict` computes with NumPy, and
refuses what the standard leaves open.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_strict as xp
import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

import pullback as pb

BOOL = ("bool",)
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
FLOATS = ("float32", "float64")
REAL = INTEGERS + FLOATS
ALL = BOOL + REAL

few = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
SHAPES = hn.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


def elements(
    dtype: str, low: int | None = None, high: int | None = None, whole: bool = False
) -> Any:
    kind = np.dtype(dtype).kind
    if kind in "iu":
        info = np.iinfo(dtype)
        least = int(info.min) if low is None else max(low, int(info.min))
        most = int(info.max) if high is None else min(high, int(info.max))
        return st.integers(least, most)
    if kind == "f":
        width = 32 if dtype == "float32" else 64
        if whole:
            return st.integers(-5, 5).map(float)
        finite = low is not None or high is not None
        return st.floats(low, high, width=width, allow_nan=not finite, allow_infinity=not finite)
    return st.booleans()


@st.composite
def arrays(
    draw: Any,
    dtypes: tuple[str, ...],
    shapes: Any = SHAPES,
    low: int | None = None,
    high: int | None = None,
    whole: bool = False,
) -> Any:
    dtype = draw(st.sampled_from(dtypes))
    return draw(hn.arrays(dtype, shapes, elements=elements(dtype, low, high, whole)))


def same(ours: Any, theirs: Any, exact: bool = False) -> None:
    """One dtype, one shape, and the values: exactly, or as near as anybody computes them."""
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            same(a, b, exact)
        return
    assert isinstance(ours, pb.Tensor)
    a, b = ours.numpy(), np.asarray(theirs._array)
    assert a.dtype == b.dtype and a.shape == b.shape, (a.dtype, b.dtype, a.shape, b.shape)
    if a.dtype.kind != "f" or exact:
        np.testing.assert_array_equal(a, b)
        return
    eps = float(np.finfo(a.dtype).eps)
    np.testing.assert_allclose(a, b, rtol=32 * eps, atol=float(np.finfo(a.dtype).tiny))


def call(name: str, *xs: Any, exact: bool = False, **options: Any) -> None:
    """The same call on both; what one refuses, the other need not."""
    with np.errstate(all="ignore"):
        theirs = getattr(xp, name)(*[_strict(x) for x in xs], **_each(options, _strict))
    ours = getattr(pb, name)(*[_ours(x) for x in xs], **_each(options, _ours))
    same(ours, theirs, exact)


def _each(options: dict[str, Any], convert: Callable[[Any], Any]) -> dict[str, Any]:
    return {name: convert(value) for name, value in options.items()}


def _strict(x: Any) -> Any:
    if isinstance(x, list):
        return [_strict(entry) for entry in x]
    if isinstance(x, np.dtype):
        return getattr(xp, x.name)
    return xp.asarray(x) if isinstance(x, np.ndarray) else x


def _ours(x: Any) -> Any:
    if isinstance(x, list):
        return [_ours(entry) for entry in x]
    return pb.asarray(x) if isinstance(x, np.ndarray) else x


def promotable(dtypes: tuple[str, ...], a: str, b: str) -> bool:
    kinds = {np.dtype(a).kind, np.dtype(b).kind}
    if not (kinds <= {"f"} or kinds <= {"i", "u"} or kinds <= {"b"}):
        return False
    return not (kinds == {"i", "u"} and "uint64" in (a, b)) and a in dtypes and b in dtypes


@st.composite
def pairs(draw: Any, dtypes: tuple[str, ...], **bounds: Any) -> Any:
    """Two arrays whose dtypes the standard promotes and whose shapes broadcast."""
    both = [(a, b) for a in dtypes for b in dtypes if promotable(dtypes, a, b)]
    shapes = draw(
        hn.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, min_side=0, max_side=3)
    )
    chosen = draw(st.sampled_from(both))
    return tuple(
        draw(hn.arrays(dtype, shape, elements=elements(dtype, *_bounds(bounds))))
        for dtype, shape in zip(chosen, shapes.input_shapes, strict=True)
    )


def _bounds(bounds: dict[str, Any]) -> tuple[Any, Any]:
    return bounds.get("low"), bounds.get("high")


@st.composite
def with_axis(draw: Any, dtypes: tuple[str, ...], many: bool = True, **bounds: Any) -> Any:
    shapes = hn.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4)
    x = draw(arrays(dtypes, shapes, **bounds))
    one = st.integers(-x.ndim, x.ndim - 1)
    several = hn.valid_tuple_axes(x.ndim) if many else st.none()
    return x, draw(st.one_of(st.none(), one, several))
