"""Shape functions of rows: the known dimensions of an output, if those of an input are unknown.

Inputs have `dims`, None if the rank is unknown, with None for an unknown dimension. Static inputs
are integers and lists of integers, with None for an unknown one. A shape function never returns
dimensions that a run might contradict, and raises RowError for an error in every run.
"""

from __future__ import annotations

from math import prod
from typing import Any

from .opdef import RowError
from .shapes import Dims, shape_text

ALL: list[Any] = []  # all axes of a tensor of unknown rank


def unchanged(x: Any, *others: Any, **attrs: Any) -> Dims:
    return x.dims  # type: ignore[no-any-return]


def scalar(*inputs: Any, **attrs: Any) -> Dims:
    return ()


def vector(*inputs: Any, **attrs: Any) -> Dims:
    return (None,)


def without_last(x: Any, *others: Any, **attrs: Any) -> Dims:
    return x.dims and x.dims[:-1]  # type: ignore[no-any-return]


def of_value(value: Any, *others: Any, **attrs: Any) -> Dims:
    """Return the shape that a tensor of integers stores."""
    return None if value is None else tuple(value)


def unknown(dims: Dims) -> Dims:
    """Return unknown dimensions of the same rank."""
    return None if dims is None else (None,) * len(dims)


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise RowError(f"axis {axis} is out of range for a tensor of rank {rank}")
    return axis % rank


def broadcast_dims(*shapes: Dims) -> Dims:
    ranked = [dims for dims in shapes if dims is not None]
    if len(ranked) < len(shapes):
        return None
    out: list[int | None] = []
    for i in range(-max(map(len, ranked)), 0):
        column = [dims[i] for dims in ranked if len(dims) >= -i]
        long = {d for d in column if d is not None and d != 1}
        if len(long) > 1:
            raise RowError(
                f"expected sizes that broadcast, got {' and '.join(map(str, sorted(long)))}"
            )
        out.append(long.pop() if long else None if None in column else 1)
    return tuple(out)


def broadcast(*inputs: Any, **attrs: Any) -> Dims:
    """Broadcast shapes: an unknown dimension beside a known one above 1 has that size or 1."""
    return broadcast_dims(*(x.dims for x in inputs))


def _merged(*shapes: Dims) -> list[int | None] | None:
    """Merge the dimensions of tensors of one shape; RowError if they differ."""
    ranked = [dims for dims in shapes if dims is not None]
    strings = ", ".join(map(shape_text, ranked))
    if len({len(dims) for dims in ranked}) > 1:
        raise RowError(f"expected tensors of one rank, got shapes {strings}")
    out: list[int | None] = []
    for column in zip(*ranked, strict=True):
        known = {d for d in column if d is not None}
        if len(known) > 1:
            raise RowError(f"expected tensors of one shape, got shapes {strings}")
        out.append(known.pop() if known else None)
    return out if ranked else None


def merged(*parts: Any, **attrs: Any) -> Dims:
    dims = _merged(*(p.dims for p in parts))
    return None if dims is None else tuple(dims)


def packed(*parts: Any, axis: int, **attrs: Any) -> Dims:
    return _with_axis(merged(*parts), axis, len(parts))


def _with_axis(dims: Dims, axis: Any, length: int | None) -> Dims:
    """Insert a dimension."""
    if dims is None or axis is None:
        return None
    at = _axis(axis, len(dims) + 1)
    return (*dims[:at], length, *dims[at:])


def expanded(x: Any, axis: Any) -> Dims:
    return _with_axis(x.dims, axis[0] if isinstance(axis, list) else axis, 1)


def hot(indices: Any, depth: Any, on: Any, off: Any, axis: int) -> Dims:
    return _with_axis(indices.dims, axis, depth)


def reduced(x: Any, axis: Any, keepdims: Any = False, **attrs: Any) -> Dims:
    if axis is ALL and not keepdims:
        return ()
    axes = axis if isinstance(axis, list) else [axis]
    if x.dims is None or axis is ALL or None in axes:
        return unknown(x.dims) if keepdims else None
    gone = {_axis(a, len(x.dims)) for a in axes}
    kept = ((i, 1 if i in gone else d) for i, d in enumerate(x.dims))
    return tuple(d for i, d in kept if keepdims or i not in gone)


def product(a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> Dims:
    if a.dims is None or b.dims is None:
        return None
    if len(a.dims) < 2 or len(b.dims) < 2:
        raise RowError(
            f"expected tensors of rank 2 or more, got shapes {shape_text(a.dims)} and "
            f"{shape_text(b.dims)}"
        )
    rows, inner = reversed(a.dims[-2:]) if transpose_a else a.dims[-2:]
    other, columns = reversed(b.dims[-2:]) if transpose_b else b.dims[-2:]
    if None not in (inner, other) and inner != other:
        raise RowError(f"expected equal inner dimensions, got {inner} and {other}")
    return (*(broadcast_dims(a.dims[:-2], b.dims[:-2]) or ()), rows, columns)


def reshaped(x: Any, shape: Any) -> Dims:
    if shape is None:
        return None
    wish = [None if d == -1 else d for d in shape]
    # The size of -1 is known if the other sizes are.
    if -1 in shape and wish.count(None) == 1 and x.dims is not None and None not in x.dims:
        rest = prod(d for d in wish if d is not None)
        if rest == 0 or prod(x.dims) % rest:
            raise RowError(f"expected a shape for {prod(x.dims)} elements, got {shape}")
        wish[wish.index(None)] = prod(x.dims) // rest
    return tuple(wish)


def permuted(x: Any, perm: Any) -> Dims:
    if x.dims is None or perm is None or None in perm:
        return unknown(perm)
    if sorted(perm) != list(range(len(x.dims))):
        raise RowError(f"expected a permutation of {len(x.dims)} axes for perm, got {perm}")
    return tuple(x.dims[i] for i in perm)


def squeezed(x: Any, axis: Any) -> Dims:
    if x.dims is None or (not axis and None in x.dims):
        return None
    axes = {_axis(a, len(x.dims)) for a in axis or ()} or {
        i for i, d in enumerate(x.dims) if d == 1
    }
    if any(x.dims[a] not in (None, 1) for a in axes):
        raise RowError(
            f"expected axes of size 1, got axes {sorted(axes)} of shape {shape_text(x.dims)}"
        )
    return tuple(d for i, d in enumerate(x.dims) if i not in axes)


def tiled(x: Any, multiples: Any) -> Dims:
    if x.dims is None or multiples is None:
        return unknown(multiples if x.dims is None else x.dims)
    pairs = zip(x.dims, multiples, strict=True)
    return tuple(None if None in (d, n) else d * n for d, n in pairs)


def padded(x: Any, paddings: Any, **attrs: Any) -> Dims:
    if x.dims is None or paddings is None:
        return unknown(x.dims)
    lengths = ((d, *pair) for d, pair in zip(x.dims, paddings, strict=True))
    return tuple(None if None in parts else sum(parts) for parts in lengths)


def joined(*inputs: Any, **attrs: Any) -> Dims:
    *parts, axis = inputs
    shapes = [p.dims for p in parts]
    ranks = {len(dims) for dims in shapes if dims is not None}
    if None in shapes or axis is None or len(ranks) > 1:
        return (None,) * ranks.pop() if len(ranks) == 1 else None
    at = _axis(axis, ranks.pop())
    dims = _merged(*((*d[:at], None, *d[at + 1 :]) for d in shapes)) or []
    lengths = [d[at] for d in shapes]
    return (*dims[:at], None if None in lengths else sum(lengths), *dims[at + 1 :])


def _with_length(dims: Any, axis: Any, *lengths: int | None) -> Dims:
    """Replace or remove the dimension of an axis."""
    at = _axis(axis, len(dims))
    return (*dims[:at], *lengths, *dims[at + 1 :])


def taken_apart(x: Any, axis: int, num: int) -> list[Dims]:
    return [None if x.dims is None else _with_length(x.dims, axis)] * num


def split(axis: Any, x: Any, num_split: int) -> list[Dims]:
    if x.dims is None or axis is None:
        return [unknown(x.dims)] * num_split
    d = x.dims[_axis(axis, len(x.dims))]
    return [_with_length(x.dims, axis, None if d is None else d // num_split)] * num_split


def split_by_sizes(x: Any, sizes: Any, axis: Any, num: int) -> list[Dims]:
    if x.dims is None or axis is None or sizes is None:
        return [None] * num
    lengths = [None if n == -1 else n for n in sizes]
    total = x.dims[_axis(axis, len(x.dims))]
    if lengths.count(None) == 1 and total is not None:
        lengths[lengths.index(None)] = total - sum(n or 0 for n in lengths)
    return [_with_length(x.dims, axis, n) for n in lengths]


def gathered(x: Any, indices: Any, axis: Any) -> Dims:
    if x.dims is None or indices.dims is None or axis is None:
        return None
    return _with_length(x.dims, axis, *indices.dims)


def sliced(x: Any, *bounds: Any, key: Any) -> Dims:
    """Return the dimensions of x[key]; an axis with an unknown bound is unknown."""
    if x.dims is None:
        return None
    rest = len(x.dims) - sum(e is not None and e is not Ellipsis for e in key)
    if rest < 0:
        raise RowError(
            f"expected at most {len(x.dims)} indices for shape {shape_text(x.dims)}, got "
            f"{len(x.dims) - rest}"
        )
    out: list[int | None] = []
    left = iter(x.dims)
    for entry in key if Ellipsis in key else (*key, Ellipsis):
        if entry is None:
            out.append(1)
        elif entry is Ellipsis:
            out.extend(next(left) for _ in range(rest))
        else:
            d = next(left)
            out.extend([_slice_length(d, entry)] if isinstance(entry, slice) else [])
    return tuple(out)


def _slice_length(d: int | None, entry: slice) -> int | None:
    if entry == slice(None):
        return d
    parts = (entry.start, entry.stop, entry.step)
    if d is None or any(p is not None and not isinstance(p, int) for p in parts):
        return None
    return len(range(*entry.indices(d)))
