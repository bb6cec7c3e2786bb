"""Shape functions of rows: what is known of an output's shape where not all is known of the inputs.

Inputs have `dims`, None where the rank is unknown, with None for a dimension that only a run can
tell; static inputs are arrays of float64 in which NaN stands for an unknown integer, or None. They
never claim what a run might contradict, and raise ValueError for what no run can mend.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .shapes import Dims, shape_text

ALL = np.array([np.nan])  # all axes of a tensor of unknown rank


def unchanged(x: Any, *others: Any, **attrs: Any) -> Dims:
    return x.dims  # type: ignore[no-any-return]


def scalar(*inputs: Any, **attrs: Any) -> Dims:
    return ()


def broadcast(*inputs: Any, **attrs: Any) -> Dims:
    """1 gives way to anything; an unknown dimension beside a longer known one is that or 1."""
    if any(x.dims is None for x in inputs):
        return None
    rank = max(len(x.dims) for x in inputs)
    out: list[int | None] = []
    for i in range(-rank, 0):
        column = [x.dims[i] for x in inputs if len(x.dims) >= -i]
        long = {d for d in column if d is not None and d != 1}
        if len(long) > 1:
            raise ValueError(f"lengths {' and '.join(map(str, sorted(long)))} do not broadcast")
        out.append(long.pop() if long else None if None in column else 1)
    return tuple(out)


def reduced(x: Any, axis: Any, keepdims: bool = False, **attrs: Any) -> Dims:
    dims = x.dims
    if axis is ALL and not keepdims:
        return ()
    if axis is None or np.isnan(axis).any():
        return (None,) * len(dims) if dims is not None and keepdims else None
    if dims is None:
        return None
    axes = {_axis(int(a), len(dims)) for a in np.reshape(axis, -1)}
    if keepdims:
        return tuple(1 if i in axes else d for i, d in enumerate(dims))
    return tuple(d for i, d in enumerate(dims) if i not in axes)


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of range for rank {rank}")
    return axis % rank


def product(a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> Dims:
    if a.dims is None or b.dims is None:
        return None
    if len(a.dims) < 2 or len(b.dims) < 2:
        raise ValueError(
            f"expected tensors of rank 2 or more, got {shape_text(a.dims)} and {shape_text(b.dims)}"
        )
    rows, inner = reversed(a.dims[-2:]) if transpose_a else a.dims[-2:]
    other, columns = reversed(b.dims[-2:]) if transpose_b else b.dims[-2:]
    if None not in (inner, other) and inner != other:
        raise ValueError(f"the inner dimensions {inner} and {other} differ")
    return (*(broadcast(_Dims(a.dims[:-2]), _Dims(b.dims[:-2])) or ()), rows, columns)


class _Dims:
    def __init__(self, dims: Dims) -> None:
        self.dims = dims


def of_value(value: Any) -> Dims:
    """The shape that a tensor of integers names."""
    return None if value is None else tuple(None if np.isnan(d) else int(d) for d in value)


def reshaped(x: Any, shape: Any) -> Dims:
    if shape is None:
        return None
    wish = [None if np.isnan(d) or d < 0 else int(d) for d in shape]
    # What -1 stands for is known where everything else is.
    found = list(shape).count(-1) == 1 and wish.count(None) == 1
    if found and x.dims is not None and None not in x.dims:
        rest = prod(d for d in wish if d is not None)
        if rest == 0 or prod(x.dims) % rest:
            raise ValueError(f"{prod(x.dims)} elements do not fill shape {list(shape)}")
        wish[wish.index(None)] = prod(x.dims) // rest
    return tuple(wish)


def permuted(x: Any, perm: Any) -> Dims:
    if x.dims is None or perm is None or np.isnan(perm).any():
        return None if perm is None else (None,) * len(perm)
    if sorted(perm) != list(range(len(x.dims))):
        raise ValueError(f"perm {list(map(int, perm))} is no order of {len(x.dims)} axes")
    return tuple(x.dims[int(i)] for i in perm)


def expanded(x: Any, axis: Any) -> Dims:
    if x.dims is None or axis is None or np.isnan(axis).any():
        return None
    at = _axis(int(np.reshape(axis, -1)[0]), len(x.dims) + 1)
    return (*x.dims[:at], 1, *x.dims[at:])


def squeezed(x: Any, axis: Any) -> Dims:
    if x.dims is None or (not axis and None in x.dims):
        return None
    if not axis:
        return tuple(d for d in x.dims if d != 1)
    axes = {_axis(a, len(x.dims)) for a in axis}
    if any(x.dims[a] not in (None, 1) for a in axes):
        raise ValueError(f"cannot squeeze axes {sorted(axes)} of shape {shape_text(x.dims)}")
    return tuple(d for i, d in enumerate(x.dims) if i not in axes)


def _times(d: int | None, n: float) -> int | None:
    return None if d is None or np.isnan(n) else d * int(n)


def tiled(x: Any, multiples: Any) -> Dims:
    if multiples is None:
        return x.dims and (None,) * len(x.dims)
    if x.dims is None:
        return (None,) * len(multiples)
    return tuple(_times(d, n) for d, n in zip(x.dims, multiples, strict=True))


def padded(x: Any, paddings: Any, **attrs: Any) -> Dims:
    if x.dims is None:
        return None
    if paddings is None:
        return (None,) * len(x.dims)
    sums = np.sum(paddings, 1)
    return tuple(
        None if d is None or np.isnan(n) else d + int(n) for d, n in zip(x.dims, sums, strict=True)
    )


def _merged(parts: Any) -> list[int | None] | None:
    """The dimensions that tensors of one shape have; ValueError if they cannot have one."""
    ranked = [p.dims for p in parts if p.dims is not None]
    if not ranked:
        return None
    if len({len(dims) for dims in ranked}) > 1:
        raise ValueError("the ranks differ: " + ", ".join(map(shape_text, ranked)))
    out: list[int | None] = []
    for column in zip(*ranked, strict=True):
        known = {d for d in column if d is not None}
        if len(known) > 1:
            raise ValueError("the shapes differ: " + ", ".join(map(shape_text, ranked)))
        out.append(known.pop() if known else None)
    return out


def merged(*parts: Any, **attrs: Any) -> Dims:
    dims = _merged(parts)
    return None if dims is None else tuple(dims)


def packed(*parts: Any, axis: int, **attrs: Any) -> Dims:
    dims = _merged(parts)
    if dims is None:
        return None
    at = _axis(axis, len(dims) + 1)
    return (*dims[:at], len(parts), *dims[at:])


def joined(*inputs: Any, **attrs: Any) -> Dims:
    *parts, axis = inputs
    ranks = {len(p.dims) for p in parts if p.dims is not None}
    if not ranks or any(p.dims is None for p in parts) or len(ranks) > 1:
        return (None,) * ranks.pop() if len(ranks) == 1 else None
    rank = ranks.pop()
    if axis is None or np.isnan(axis).any():
        return (None,) * rank
    at = _axis(int(axis), rank)
    lengths = [p.dims[at] for p in parts]
    dims = _merged([_Dims((*p.dims[:at], None, *p.dims[at + 1 :])) for p in parts])
    assert dims is not None
    dims[at] = None if None in lengths else sum(lengths)
    return tuple(dims)


def taken_apart(x: Any, axis: int, num: int) -> list[Dims]:
    if x.dims is None:
        return [None] * num
    at = _axis(axis, len(x.dims))
    return [(*x.dims[:at], *x.dims[at + 1 :])] * num


def split(axis: Any, x: Any, num_split: int) -> list[Dims]:
    if x.dims is None or axis is None or np.isnan(axis).any():
        return [x.dims and (None,) * len(x.dims)] * num_split
    at = _axis(int(axis), len(x.dims))
    d = x.dims[at]
    return [(*x.dims[:at], None if d is None else d // num_split, *x.dims[at + 1 :])] * num_split


def split_by_sizes(x: Any, sizes: Any, axis: Any, num: int) -> list[Dims]:
    if x.dims is None or axis is None or sizes is None:
        return [None] * num
    at = _axis(int(axis), len(x.dims))
    lengths = [None if np.isnan(n) or n < 0 else int(n) for n in sizes]
    if lengths.count(None) == 1 and x.dims[at] is not None:
        lengths[lengths.index(None)] = x.dims[at] - sum(n or 0 for n in lengths)
    return [(*x.dims[:at], n, *x.dims[at + 1 :]) for n in lengths]


def gathered(x: Any, indices: Any, axis: Any) -> Dims:
    if x.dims is None or indices.dims is None or axis is None:
        return None
    at = _axis(int(axis), len(x.dims))
    return (*x.dims[:at], *indices.dims, *x.dims[at + 1 :])


def sliced(x: Any, *bounds: Any, key: Any) -> Dims:
    """x[key] in which an integer takes an axis away and a slice of an unknown length is unknown."""
    if x.dims is None:
        return None
    entries = [e for e in key if e is not None and e is not Ellipsis]
    if len(entries) > len(x.dims):
        raise ValueError(f"{len(entries)} indices for a tensor of shape {shape_text(x.dims)}")
    rest = len(x.dims) - len(entries)
    if Ellipsis not in key:
        key = (*key, Ellipsis)
    out: list[int | None] = []
    at = 0
    for entry in key:
        if entry is None:
            out.append(1)
        elif entry is Ellipsis:
            out.extend(x.dims[at : at + rest])
            at += rest
        else:
            if isinstance(entry, slice):
                out.append(_slice_length(x.dims[at], entry))
            at += 1
    return tuple(out)


def _slice_length(d: int | None, entry: slice) -> int | None:
    if entry == slice(None):
        return d
    parts = (entry.start, entry.stop, entry.step)
    if d is None or any(p is not None and not isinstance(p, int) for p in parts):
        return None
    return len(range(*entry.indices(d)))


def filled(dims: Any, *value: Any, **attrs: Any) -> Dims:
    return of_value(dims)


def hot(indices: Any, depth: Any, on: Any, off: Any, axis: int) -> Dims:
    if indices.dims is None:
        return None
    at = _axis(axis, len(indices.dims) + 1)
    length = None if depth is None or np.isnan(depth).any() else int(depth)
    return (*indices.dims[:at], length, *indices.dims[at:])


def without_last(x: Any, *others: Any, **attrs: Any) -> Dims:
    return None if x.dims is None else x.dims[:-1]


def vector(*inputs: Any, **attrs: Any) -> Dims:
    return (None,)
