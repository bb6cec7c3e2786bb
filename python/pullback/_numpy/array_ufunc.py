"""NumPy's and SciPy's universal functions called with tensors (`__array_ufunc__`, NEP 13).

A ufunc is the function of pullback with its name, so code that is written with `numpy` has
gradients. Ufuncs that are operators of tensors do not come here (cpp/bind/types/ufunc.cpp).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import _core
from .._base.hints import NAMES, did_you_mean
from .._core import Tensor, Variable
from .writing import check_kept

_REDUCTIONS = {
    "add": "sum",
    "logaddexp": "logsumexp",
    "logical_and": "all",
    "logical_or": "any",
    "maximum": "max",
    "minimum": "min",
    "multiply": "prod",
}
# Ufuncs that SciPy's functions call: a tensor arrives at these.
_OF_SCIPY = {
    "_lambertw": "lambertw",
    "_riemann_zeta": "zeta",
    "_spherical_in": "spherical_in",
    "_spherical_jn": "spherical_jn",
    "_spherical_kn": "spherical_kn",
    "_spherical_yn": "spherical_yn",
    "_zeta": "zeta",
}
_SCANS = {
    "add": "cumulative_sum",
    "logaddexp": "cumulative_logsumexp",
    "maximum": "cumulative_max",
    "minimum": "cumulative_min",
    "multiply": "cumulative_prod",
}


# Methods of `Tensor.at`.
_UPDATES = {"add": "add", "maximum": "max", "minimum": "min", "multiply": "multiply"}


def array_ufunc(
    tensor: Any, ufunc: Any, method: str, inputs: Sequence[Any], options: Mapping[str, Any]
) -> Any:
    """Return the result of a ufunc or of its method, or raise a TypeError."""
    import pullback

    name = _OF_SCIPY.get(ufunc.__name__, ufunc.__name__)
    if name == "lambertw" and len(inputs) == 3:
        inputs = _without_tolerance(*inputs)
    whole = name if method == "__call__" else f"{name}.{method}"
    unused = {key: value for key, value in options.items() if not _is_default(key, value)}
    found: Callable[..., Any] | None = None
    if method == "__call__":
        wanted = NAMES.get(name, name)
        spaces = (pullback, pullback.special)
        found = next((vars(space)[wanted] for space in spaces if wanted in space.__all__), None)
    elif method == "reduce" and name in _REDUCTIONS:
        found = getattr(pullback, _REDUCTIONS[name])
        scalar = getattr(inputs[0], "ndim", None) == 0  # NumPy reduces it along "axis 0"
        unused = {**unused, "axis": None} if scalar else {"axis": 0, **unused}
    elif method == "accumulate" and name in _SCANS:
        found = getattr(pullback, _SCANS[name])
        unused = {"axis": 0, **unused}
    elif method == "outer" and len(inputs) == 2:
        return _outer(ufunc, *inputs, **unused)
    elif method == "at" and (name in _UPDATES or name == "subtract"):
        return _at(name, *inputs)
    if found is None:
        kind = type(tensor).__name__
        advice = did_you_mean(name, [*pullback.__all__, *pullback.special.__all__])
        raise TypeError(
            f"{whole}: expected NumPy arrays, got a {kind}; use operations of pullback, or "
            f"x.numpy(){advice}"
        )
    if unused and method == "__call__":
        option = next(iter(unused))
        raise TypeError(
            f"{whole}: expected no option with a tensor, got {option}; {_instead(whole, option)}"
        )
    return found(*inputs, **unused)


def _instead(name: str, option: str) -> str:
    if option == "out":
        return f"tensors do not change, so use the result, x = {name}(…)"
    if option == "where":
        return "choose between two results with pb.where"
    if option == "dtype":
        return "cast the inputs with pb.astype"
    return "leave it out"


def _without_tolerance(z: Any, k: Any, tol: Any) -> tuple[Any, Any]:
    if tol != 1e-8:
        raise TypeError("lambertw: expected no tol with a tensor; the result has all digits")
    return z, k


def _is_default(key: str, value: Any) -> bool:
    return (key == "where" and value is True) or (key != "axis" and value is None)


def _outer(ufunc: Any, a: Any, b: Any, **options: Any) -> Tensor:
    import pullback

    a, b = pullback.asarray(a), pullback.asarray(b)
    made: Tensor = ufunc(_core.reshape(a, (*a.shape, *(1,) * b.ndim)), b, **options)
    return made


def _at(name: str, a: Any, indices: Any, b: Any) -> None:
    if not isinstance(a, Tensor | Variable):
        raise TypeError(
            f"{name}.at: expected a tensor to write into, got {type(a).__name__}, which keeps no "
            "gradient; start from pb.zeros(shape), or from np.zeros_like of a tensor"
        )
    check_kept(a, sys._getframe(2), f"{name}.at")
    if name == "subtract":
        name, b = "add", _core.negative(b)
    a[...] = getattr(a.at[indices], _UPDATES[name])(b)
