"""`pad` in all modes of NumPy, one axis after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy

from .. import _core
from .._base.checks import along, choice
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike

__all__ = ["pad"]

Mode: TypeAlias = Literal[
    "constant", "edge", "empty", "linear_ramp", "reflect", "symmetric", "wrap", "maximum", "mean",
    "median", "minimum",
]  # fmt: skip
_STATISTICS = ("maximum", "mean", "median", "minimum")
_MODES = ("constant", "edge", "empty", "linear_ramp", "reflect", "symmetric", "wrap", *_STATISTICS)


@composite
def pad(
    x: TensorLike,
    /,
    pad_width: Any,
    mode: Mode | Callable[..., Any] = "constant",
    *,
    constant_values: TensorLike = 0,
    end_values: TensorLike = 0,
    stat_length: Any = None,
    reflect_type: Literal["even", "odd"] = "even",
    **options: Any,
) -> Tensor:
    """Pad an array along each axis.

    Differentiable in `x`, `constant_values` and `end_values`. The axes are padded one after the
    other.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    pad_width : int, pair of int or sequence of pairs of int
        Number of elements (before, after) each axis: one integer for all sides, one pair for all
        axes, or one pair for each axis.
    mode : str or callable, default "constant"
        Source of the padding, one of the following.

        - "constant": `constant_values`.
        - "edge": the nearest element.
        - "linear_ramp": a linear ramp from the edge to `end_values`.
        - "maximum", "mean", "median", "minimum": a statistic of the nearest `stat_length` elements.
        - "reflect", "symmetric": the reflection at the edge element, without or with it.
        - "wrap": the elements from the opposite end.
        - "empty": zeros.
        - A function ``f(vector, (before, after), axis, options)`` that assigns the ends of each
          zero-padded vector in place, or returns the vector.
    constant_values : array_like, default 0
        Values for "constant"; broadcasts to shape (rank, 2), and is cast to the dtype of `x`.
    end_values : array_like, default 0
        Outermost values for "linear_ramp"; as `constant_values`.
    stat_length : int, pair of int or sequence of pairs of int, optional
        Number of elements for the statistics, in the form of `pad_width`. Default: all.
    reflect_type : {"even", "odd"}, default "even"
        Type of the reflection; "odd" is twice the edge minus the reflection.
    **options
        Options that are passed to a callable `mode`.

    Returns
    -------
    Tensor
        Shape of `x` enlarged by `pad_width`; the dtype of `x`.

    Raises
    ------
    ValueError
        If `mode` or `reflect_type` is unknown, if a width is negative or the widths have a wrong
        shape, if `stat_length` is 0, or if an empty axis is padded in a mode that needs elements.
    TypeError
        If `pad_width` or `stat_length` is not made of integers, or if an option is unknown.

    Examples
    --------
    >>> pb.pad([1, 2, 3], (2, 1))
    Tensor([0, 0, 1, 2, 3, 0], dtype=int64)
    >>> pb.pad([1, 2, 3], 2, "reflect")
    Tensor([3, 2, 1, 2, 3, 2, 1], dtype=int64)
    """
    x = _core.constant(x, who="pad")
    widths = _pairs(pad_width, len(x.shape), "pad_width")
    if callable(mode):
        return _called(x, widths, mode, options)
    if options:
        raise TypeError(f"pad: expected no option {next(iter(options))!r} for mode {mode!r}")
    if mode not in _MODES:
        words = ", ".join(map(repr, _MODES))
        raise ValueError(f"pad: mode must be one of {words}; got {_core.shown(mode)}")
    choice(reflect_type, ("even", "odd"), "pad", "reflect_type")
    for name, given in (("constant_values", constant_values), ("end_values", end_values)):
        _core.constant(given, who=f"pad: {name}")
    values = end_values if mode == "linear_ramp" else constant_values
    rank = len(x.shape)
    ends = None
    if mode in ("constant", "linear_ramp"):
        # An integer wraps around, as in NumPy. Floats in a list have the digits of float64.
        stored = None if type(values) is int else x.dtype
        ends = _core.cast(_core.constant(values, stored, who="pad"), x.dtype)
        if ends.shape:
            ends = _core.broadcast_to(ends, (rank, 2))
    lengths = None
    if stat_length is not None:
        lengths = _pairs(stat_length, rank, "stat_length")
    for k, width in enumerate(widths):
        if not any(width):
            continue
        if not x.shape[k] and mode not in ("constant", "empty"):
            raise ValueError(f"pad: expected a non-empty axis {k} for mode {mode!r}, got size 0")
        parts = [x]
        for side in (0, 1):
            if not width[side]:
                continue
            if mode in ("constant", "linear_ramp", "empty"):
                if ends is None:
                    end = _core.full((), 0, x.dtype)
                else:
                    end = ends[k, side] if ends.shape else ends
                part = _ramp(x, k, side, width[side], end) if mode == "linear_ramp" else end
            elif mode in _STATISTICS:
                part = _statistic(x, k, side, mode, None if lengths is None else lengths[k][side])
            else:
                part = _mirrored(x, k, side, width, mode, reflect_type)
            shape = (*x.shape[:k], width[side], *x.shape[k + 1 :])
            parts.insert(len(parts) * side, _core.broadcast_to(part, shape))
        x = _core.concat(parts, k)
    return x


def _pairs(value: Any, rank: int, name: str) -> list[tuple[int, int]]:
    if type(value) is int and value >= 0:
        return [(value, value)] * rank
    numbers = _core.constant(value, who="pad").numpy()
    if numbers.dtype.kind not in "iu":
        raise TypeError(f"pad: expected integers for {name}, got {_core.shown(value)}")
    try:
        pairs = numpy.broadcast_to(numbers, (rank, 2)).tolist()
    except ValueError:
        raise ValueError(
            f"pad: expected an integer, a pair or {rank} pairs for {name}, got {_core.shown(value)}"
        ) from None
    if any(n < 0 for pair in pairs for n in pair):
        raise ValueError(f"pad: expected integers >= 0 for {name}, got {_core.shown(value)}")
    return [(before, behind) for before, behind in pairs]


def _edge(x: Tensor, k: int, side: int) -> Tensor:
    return x[along(k, slice(-1, None) if side else slice(1))]


def _ramp(x: Tensor, k: int, side: int, width: int, end: Tensor) -> Tensor:
    share = numpy.arange(width) / width
    whole = x.dtype.kind not in "fc"
    dtype = numpy.dtype("float64") if whole else x.dtype
    weight = _core.constant((share[::-1] if side else share).copy(), dtype)
    weight = _core.reshape(weight, (-1, *(1,) * (len(x.shape) - k - 1)))
    edge, far = _core.cast(_edge(x, k, side), dtype), _core.cast(end, dtype)
    line = _core.add(far, _core.multiply(_core.subtract(edge, far), weight))
    return _core.cast(_core.floor(line), x.dtype) if whole else line


def _statistic(x: Tensor, k: int, side: int, mode: str, length: int | None) -> Tensor:
    n = x.shape[k] if length is None else min(length, x.shape[k])
    if not n:
        raise ValueError(f"pad: expected integers > 0 for stat_length with mode {mode!r}, got 0")
    near = x[along(k, slice(x.shape[k] - n, None) if side else slice(n))]
    if mode in ("maximum", "minimum"):
        return (_core.max if mode == "maximum" else _core.min)(near, k, True)
    if mode == "mean":
        value = _core.mean(near, k, True)
    else:
        from .quantiles import median

        value = median(near, axis=k, keepdims=True)
    return value if x.dtype.kind in "fc" else _core.cast(_core.round(value), x.dtype)


def _mirrored(
    x: Tensor, k: int, side: int, width: tuple[int, int], mode: str, reflect_type: str
) -> Tensor:
    """Return the padding of the modes that read elements of `x`.

    Odd reflections add multiples of the edges.
    """
    n = x.shape[k]
    places = numpy.arange(n, n + width[1]) if side else numpy.arange(-width[0], 0)
    if mode == "edge" or n == 1:
        return _edge(x, k, side)
    period = n - 1 if mode == "reflect" else n
    turn, rest = numpy.divmod(places, period)
    if mode == "wrap":
        return _core.take(x, _core.constant(rest), k)
    back = turn % 2 == 1
    taken = numpy.where(back, n - 1 - rest, rest)
    part = _core.take(x, _core.constant(taken), k)
    if reflect_type == "even":
        return part
    thin = (-1, *(1,) * (len(x.shape) - k - 1))
    sign, last, first = (
        _core.reshape(_core.constant(v, x.dtype), thin)
        for v in (
            numpy.where(back, -1, 1),
            numpy.where(back, turn + 1, turn),
            numpy.where(back, 1 - turn, -turn),
        )
    )
    edges = _core.add(_core.multiply(last, _edge(x, k, 1)), _core.multiply(first, _edge(x, k, 0)))
    return _core.add(_core.multiply(sign, part), edges)


def _called(
    x: Tensor, widths: list[tuple[int, int]], f: Callable[..., Any], options: dict[str, Any]
) -> Tensor:
    x = pad(x, widths) if widths else x
    for k, width in enumerate(widths):
        order = [a for a in range(len(x.shape)) if a != k] + [k]
        moved = _core.transpose(x, order)
        rows = []
        for vector in _core.reshape(moved, (-1, moved.shape[-1])) if moved.size else ():
            vector = _core.identity(vector)  # a tensor that `f` may write to
            answer = f(vector, width, k, options)
            rows.append(vector if answer is None else _core.constant(answer, x.dtype, "pad"))
        if rows:
            back = sorted(range(len(order)), key=order.__getitem__)
            x = _core.transpose(_core.reshape(_core.stack(rows, 0), moved.shape), back)
    return x
