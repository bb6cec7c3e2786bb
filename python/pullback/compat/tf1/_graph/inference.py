"""Inference of an operation's outputs before a run: dtypes, shapes, small integer values.

The row's function is built on the abstract values of the inputs, which computes nothing. If all
shapes are known, the result is exact, and an error is the program's own. Otherwise the row's shape
function returns the known dimensions, None for an unknown one, and the abstract value is kept for
queries about gradients only. Without a shape function the shape is unknown.

Values of integers are propagated: tf.shape(x)[0] * 2 is an array of float64 in which NaN marks an
unknown number, since arithmetic passes NaN on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import DType, as_dtype, int64, string
from ..errors import InvalidArgumentError
from .opdef import build, error_text
from .operation import Operation
from .shape_functions import ALL
from .shapes import Dims, as_dims, shape_text
from .tensor import UNKNOWN, SymbolicTensor, argument, opaque, stands_for

FAILURES = (ValueError, IndexError, RuntimeError, OverflowError, MemoryError)
_LONGEST_VALUE = 64


def infer(op: Operation) -> list[tuple[DType, Dims, Any, Any]]:
    """Return dtype, dimensions, abstract value and known value of each output."""
    row, static = op.definition, op.definition.which_static(op.inputs)
    tensors = row.tensors(op.inputs)
    values = [x.known for x, fixed in zip(op.inputs, static, strict=True) if fixed]
    all_known = all(v is not None for v in values)
    exact = all_known and all(x.is_static for x in tensors) and not any(
        np.isnan(v).any() for v in values)  # fmt: skip
    outs: list[Any] | None = None
    try:
        if all_known and not (row.random or row.host):  # random numbers must not be drawn here
            args = (
                as_python(x.known) if fixed else x.abstract
                for x, fixed in zip(op.inputs, static, strict=True)
            )
            outs = build(row, list(args), op.attrs)
    except (TypeError, *FAILURES) as failure:
        if exact or isinstance(failure, TypeError):
            raise explained(op, failure) from None
    if exact and outs is not None:
        shapes: list[Dims] = [tuple(out.shape) for out in outs]
    else:
        shapes = _shapes(op, static, len(outs or [None]))
    value = _value(op, static)
    results = []
    for dims, out in zip(shapes, outs or [None] * len(shapes), strict=True):
        dtype = _dtype(op, tensors) if out is None else as_dtype(out.dtype)
        if dtype == int64 and not isinstance(row.dtype, (str, DType)) and any(
            x.dtype == string for x in tensors
        ):  # fmt: skip
            dtype = string  # strings are int64 in the core
        fits = out is not None and stands_for(out, dims)
        if not row.flows or op.has_own_rule:
            abstract = argument(dtype, out.shape if fits else _whole(dims))
        elif fits:
            abstract = out
        else:
            abstract = opaque([x.abstract for x in tensors], dtype, dims)
        results.append((dtype, dims, abstract, value if dtype.is_integer else None))
    return results


def _whole(dims: Dims) -> tuple[int, ...]:
    return tuple(UNKNOWN if d is None else d for d in dims or ())


def _dtype(op: Operation, tensors: list[SymbolicTensor]) -> DType:
    kind = op.definition.dtype
    if isinstance(kind, str):
        return as_dtype(op.attrs[kind])
    if isinstance(kind, DType):
        return kind
    return as_dtype((tensors[0] if kind is None else op.inputs[kind]).dtype)


def _shapes(op: Operation, static: list[bool], count: int) -> list[Dims]:
    """Return the result of the row's shape function; None for each output without one."""
    if op.definition.shape is None:
        return [None] * count
    args = [
        x if not fixed else ALL if x.op.type == "AllAxes" else _lengths(_known(x))
        for x, fixed in zip(op.inputs, static, strict=True)
    ]
    try:
        answer = op.definition.shape(*args, **op.attrs)
    except FAILURES as failure:
        raise explained(op, failure) from None
    return answer if isinstance(answer, list) else [answer]


def _lengths(known: Any) -> Any:
    """Return the value of a static input, with None for each unknown number."""
    if known is None:
        return None
    integers = np.nan_to_num(known).astype(int).astype(object)
    mixed: Any = np.where(np.isnan(known), None, integers)
    return mixed.tolist()


def _value(op: Operation, static: list[bool]) -> Any:
    function = op.definition.value
    if function is not None and getattr(function, "whole", False):
        return function(op.inputs, op.attrs)
    if function is None:
        return None
    known = [_known(x) for x in op.inputs]
    if any(k is None for k in known):
        return None
    args = [_integers(k) if fixed else k for k, fixed in zip(known, static, strict=True)]
    if any(a is None for a in args):
        return None
    with np.errstate(all="ignore"):
        try:
            value = np.asarray(function(*args, **op.attrs), dtype=np.float64)
        except (ValueError, IndexError, TypeError):
            return None
    nothing = value.ndim == 0 and any(x.known is None for x in op.inputs) and np.isnan(value)
    return None if nothing or value.size > _LONGEST_VALUE else value


def _known(x: SymbolicTensor) -> Any:
    """Return the known value of a tensor; for a few unknown integers an array of NaN."""
    if x.known is not None or not x.dtype.is_integer or not x.is_static:
        return x.known
    return np.full(x.dims, np.nan) if np.prod(x.dims) <= _LONGEST_VALUE else None  # type: ignore


def whole(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a `value` function that reads the inputs themselves: (inputs, attributes) -> value."""
    function.whole = True  # type: ignore[attr-defined]
    return function


def _integers(known: Any) -> Any:
    return None if np.isnan(known).any() else as_python(known)


def as_python(known: Any) -> Any:
    """Convert the value of a static input to Python integers; NaN becomes UNKNOWN."""
    return np.where(np.isnan(known), UNKNOWN, known).astype(np.int64).tolist()


def known_of(array: Any, dtype: DType) -> Any:
    """Return the known value of a constant."""
    # Only 32 and 64 bits: the propagated values do not wrap around.
    if dtype.name not in ("int32", "int64") or array.size > _LONGEST_VALUE:
        return None
    return array.astype(np.float64)


def explained(op: Operation, error: Exception) -> Exception:
    """Return the same kind of error with the operation and its inputs in the message."""
    text = error_text(op.definition, op.type, error, described(op.inputs), op.name)
    return InvalidArgumentError(op, text) if isinstance(error, FAILURES) else type(error)(text)


def described(inputs: Any) -> str:
    strings = []
    for x in inputs:
        symbolic = isinstance(x, SymbolicTensor)
        label = f"'{x.name}' " if symbolic else ""
        strings.append(f"{label}{shape_text(as_dims(x.shape))} {as_dtype(x.dtype).name}")
    return ", ".join(strings)
