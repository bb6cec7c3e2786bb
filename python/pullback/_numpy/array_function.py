"""NumPy's functions called with tensors (`__array_function__`, NEP 18).

These functions have no gradients. They take the value of a tensor that is not tracked. They take
the value of a tracked tensor if the result has no derivative: a bool, an integer, a string, None.
Otherwise a TypeError names the function to use instead. Exceptions are the functions by which other
libraries convert their input: they return values, as `numpy.asarray` does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

from .. import _core
from .._core import Tensor, Variable

# Their results depend only on shapes and dtypes.
_OF_TYPES = {"shape", "ndim", "size", "iscomplexobj", "isrealobj"}
_LIKE = {"empty_like", "zeros_like", "ones_like"}
_TAKE_IN = {"atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "ravel", "vstack"}
_VALUES = _LIKE | _TAKE_IN | {"histogram", "histogram2d", "histogramdd"}
# They write values into an array, through which no gradient passes. NumPy's own functions, such as
# `full_like` and `nan_to_num`, call them with some of their arguments.
_WRITE = {"copyto", "put", "putmask", "place", "put_along_axis", "fill_diagonal"}
_ESCAPE = (_VALUES - _LIKE) | _WRITE  # an escape if a gradient depends on the value


def array_function(
    function: Callable[..., Any], types: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """Return the result of a NumPy function, or raise a TypeError; see above."""
    name = function.__name__
    if name in _OF_TYPES:  # no value is evaluated
        return function._implementation(*args, **kwargs)  # type: ignore[attr-defined]
    leaves, structure = _core.flatten((tuple(args), dict(kwargs)))
    tracked = taken = False
    for k, leaf in enumerate(leaves):
        if isinstance(leaf, Tensor | Variable):
            if name in _ESCAPE:
                _core.check_escape(leaf, name)
            tracked |= name not in _VALUES and _has_slopes(leaf) and _core.is_tracked(leaf)
            leaves[k] = numpy.asarray(leaf)
            taken = True
    if not taken:  # a tensor in another container; a call of `function` would recurse
        return function._implementation(*args, **kwargs)  # type: ignore[attr-defined]
    args, kwargs = _core.unflatten(structure, leaves)
    if tracked and kwargs.get("out") is not None:  # raise before `out` is changed
        raise _refused(function)
    answer = function(*args, **kwargs)
    if tracked and any(map(_has_slopes, _core.flatten(answer)[0])):
        raise _refused(function)
    return answer


def _has_slopes(leaf: Any) -> bool:
    dtype = getattr(leaf, "dtype", None)
    if isinstance(dtype, numpy.dtype):
        return dtype.kind in "fc"
    return isinstance(leaf, float | complex)


def _refused(function: Callable[..., Any]) -> TypeError:
    return TypeError(
        f"{function.__name__}: NumPy would lose the gradient of a tracked tensor; "
        f"{_instead(function)}"
    )


def _instead(function: Callable[..., Any]) -> str:
    import pullback

    from .._base.hints import NAMES

    name = NAMES.get(function.__name__, function.__name__)
    spaces = {"numpy.linalg": pullback.linalg, "numpy.fft": pullback.fft}
    space = spaces.get(function.__module__, pullback)
    value = "or pass pb.stop_gradient(x).numpy() if it is a constant by intent"
    if name not in space.__all__:
        return f"use operations of pullback, {value}"
    return f"use {space.__name__}.{name}, {value}"
