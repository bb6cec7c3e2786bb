"""NumPy's functions called with tensors (`__array_function__`, NEP 18).

A function of a tracked or traced tensor is the function of pullback with its name, so code that is
written with `numpy` has gradients. Functions whose results have no derivative (a bool, an integer,
a string, None), and all functions of a tensor that is not tracked, take its value and are NumPy's.
So are the functions by which other libraries convert their input, unless a program calls them
while a tape records or a function is traced. A function of a tracked tensor that pullback does not
have is a TypeError.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any

import numpy

from .. import _core
from .._base.hints import did_you_mean
from .._core import Tensor, Variable
from .writing import WRITERS, check_kept

# Their results depend only on shapes and dtypes.
_OF_TYPES = {"shape", "ndim", "size", "iscomplexobj", "isrealobj"}
_LIKE = {"empty_like", "zeros_like", "ones_like"}
_TAKE_IN = {"atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "ravel", "vstack"}
_VALUES = _LIKE | _TAKE_IN | {"histogram", "histogram2d", "histogramdd"}
# They write values into an array, through which no gradient passes, unless it is a tensor. NumPy's
# own functions, such as `full_like` and `nan_to_num`, call them with some of their arguments.
_WRITE = set(WRITERS)
_FILES = {"load", "save"}  # files of arrays; those of pullback are of another format
_ESCAPE = (_VALUES - _LIKE) | _WRITE  # an escape if a gradient depends on the value
# Their results have no derivative.
_ANSWERS = {
    "all", "allclose", "any", "argmax", "argmin", "argpartition", "argsort", "argwhere",
    "array2string", "array_equal", "array_equiv", "array_repr", "array_str", "can_cast",
    "count_nonzero", "digitize", "flatnonzero", "isclose", "isin", "lexsort", "min_scalar_type",
    "nonzero", "result_type", "searchsorted",
}  # fmt: skip


def array_function(
    function: Callable[..., Any], types: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """Return the result of a NumPy function, or raise a TypeError; see above."""
    name = function.__name__
    if name in WRITERS and args and isinstance(args[0], Tensor | Variable):
        check_kept(args[0], sys._getframe(1), name)
        return WRITERS[name](*args, **kwargs)
    if name in _OF_TYPES:  # no value is evaluated
        return function._implementation(*args, **kwargs)  # type: ignore[attr-defined]
    leaves, structure = _core.flatten((tuple(args), dict(kwargs)))
    ours = None if name in _WRITE | _FILES else _counterpart(function)
    if ours is not None and any(_goes_on(name, leaf) for leaf in leaves):
        if kwargs.get("out") is not None:
            raise _refused(function)
        args, kwargs = _in_our_order(function, ours, args, kwargs)
        return ours(*args, **kwargs)
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


def _counterpart(function: Callable[..., Any]) -> Callable[..., Any] | None:
    import pullback

    from .._base.hints import NAMES

    name = NAMES.get(function.__name__, function.__name__)
    spaces = {
        "numpy": [pullback, pullback.linalg, pullback.special],
        "numpy.fft": [pullback.fft],
        "numpy.linalg": [pullback.linalg],
    }.get(function.__module__, [])  # others, such as numpy.emath, have functions of their own
    return next((vars(space)[name] for space in spaces if name in space.__all__), None)


@functools.cache
def _numpy_order(
    function: Callable[..., Any], ours: Callable[..., Any]
) -> tuple[int, list[str], dict[str, Any]] | None:
    """Return the number of arguments with one position in both functions, the parameters of
    NumPy's function, and the defaults of those that only NumPy's function has. None without a
    signature.
    """
    import inspect  # slow to import

    try:
        theirs = list(inspect.signature(function).parameters.values())
        own = list(inspect.signature(ours).parameters.values())
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_POSITIONAL for p in theirs + own):
        return None
    same = 0
    for a, b in zip(theirs, own, strict=False):
        required = a.default is a.empty or a.name == b.name
        if not (b.kind is b.POSITIONAL_ONLY or (b.kind is b.POSITIONAL_OR_KEYWORD and required)):
            break
        same += 1
    positional = [p.name for p in theirs if p.kind is not p.KEYWORD_ONLY]
    accepted = {p.name for p in own}
    return same, positional, {p.name: p.default for p in theirs if p.name not in accepted}


def _in_our_order(
    function: Callable[..., Any],
    ours: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """Name the arguments that have another position in NumPy's function than in ours."""
    order = _numpy_order(function, ours) if len(args) > 1 or kwargs else None
    if order is None:
        return args, kwargs
    same, positional, unknown = order
    named = {**dict(zip(positional[same:], args[same:], strict=False)), **kwargs}
    named = {k: v for k, v in named.items() if k not in unknown or v is not unknown[k]}
    return args[:same], named


def _goes_on(name: str, leaf: Any) -> bool:
    """Test for a tensor whose function has to be in the graph."""
    if not isinstance(leaf, Tensor | Variable):
        return False
    if _core.is_traced(leaf):
        return True
    if name in _ANSWERS or not (_has_slopes(leaf) and _core.is_tracked(leaf)):
        return False
    return name not in _VALUES or (_core.Tape.any_recording() and not _called_by_library())


def _called_by_library() -> bool:
    """Test whether NumPy or SciPy called the function, and not the program."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    module = frame.f_globals.get("__name__", "") if frame is not None else ""
    return str(module).split(".")[0] in ("numpy", "scipy")


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

    value = "or pass pb.stop_gradient(x).numpy() if it is a constant by intent"
    found = _counterpart(function)
    if found is None:
        near = did_you_mean(function.__name__, pullback.__all__)
        return f"use operations of pullback, {value}{near}"
    return f"use {found.__module__.split('._')[0]}.{found.__name__}, {value}"
