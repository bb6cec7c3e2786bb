"""Contraction of two arrays with labelled axes into one, by views and a (batched) matrix product.

A label of both operands that later steps do not need is summed over; one that they need is a batch
axis. The other labels are the rows of one operand and the columns of the other. `plan_pair` chooses
the arrangement of the axes from sizes alone, so plans can be cached; `run_pair` builds the nodes.

An operand needs no copy if its rows and its summed axes are contiguous: then its matrix is a view.
Otherwise it is copied, or some rows become batch axes along which the other operand is repeated;
the choice is the one that copies fewer elements.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import pairwise, product
from math import prod
from typing import Any, NamedTuple, TypeAlias

from .. import _core
from .._core import Tensor

Label: TypeAlias = Any  # any hashable object
Labels: TypeAlias = tuple[Label, ...]
Sizes: TypeAlias = Mapping[Label, int]

_MAX_RANK = 16  # limit of the core


class Pair(NamedTuple):
    """The steps that multiply two operands and sum over axes. An order of None leaves the axes."""

    how: str  # multiply, sum (of the product over the last axes), matmul
    swap: bool  # the second operand is the left one
    orders: tuple[tuple[int, ...] | None, ...]  # transposes of left and right
    shapes: tuple[tuple[int, ...], ...]  # reshapes that follow
    turned: tuple[bool, bool]  # whether the last two axes are then swapped
    summed: int  # number of last axes that `sum` reduces
    shape: tuple[int, ...]  # shape of the result


def plan_pair(
    a: Labels,
    b: Labels,
    keep: Collection[Label],
    wish: Labels | None,
    size: Sizes,
    lead: Collection[Label] = (),
) -> tuple[Pair, Labels]:
    """The plan for axes a and b, and the labels of its result: those in `keep`.

    Every label that only one of them has must be in `keep`. `wish` is the order that the result is
    wanted in, if that is known; the result may have another. Of results that cost the same, one
    that begins with the labels in `lead` is taken: a product that has them as batch axes reads it
    in order. Next, the fewer transposed operands the better: their cotangents are transposed too.
    """
    shared = [x for x in a if x in b]
    batch = [x for x in shared if x in keep]
    summed = [x for x in shared if x not in keep]
    rows = [x for x in a if x not in shared]
    columns = [x for x in b if x not in shared]
    if summed and (rows or columns):
        ways = _arrangements(a, b, batch, summed, wish, size)
        return min(ways, key=lambda way: (way[0], _behind(way[2], lead), _transposed(way[1])))[1:]
    result = wish or (*batch, *rows, *columns)
    axes = (*result, *summed)
    orders = tuple(_order(x, [label for label in axes if label in x]) for x in (a, b))
    wide = [tuple(size[label] if label in x else 1 for label in axes) for x in (a, b)]
    shapes = tuple(_trimmed(shape, len(summed)) for shape in wide)
    how = "sum" if summed else "multiply"
    shape = tuple(size[x] for x in result)
    return Pair(how, False, orders, shapes, (False, False), len(summed), shape), result


def _behind(labels: Labels, lead: Collection[Label]) -> int:
    """Return the number of labels in `lead` that are not among the first ones."""
    return sum(x not in labels[: len(lead)] for x in lead)


def _transposed(pair: Pair) -> int:
    return sum(pair.turned) + 2 * sum(order is not None for order in pair.orders)


def _matrix(
    x: Labels, lead: list[Label], rows: list[Label], columns: list[Label]
) -> tuple[tuple[int, ...] | None, list[Label], list[Label], bool]:
    """Return the order of axes that makes an operand a batch of matrices, or None if no transpose
    is needed, with the labels of their rows and columns; true if the matrices are transposed."""
    if x == (*lead, *columns, *rows) and columns and rows:
        return None, columns, rows, True
    return _order(x, [*lead, *rows, *columns]), rows, columns, False


def _arrangements(
    a: Labels,
    b: Labels,
    batch: list[Label],
    summed: list[Label],
    wish: Labels | None,
    size: Sizes,
) -> Iterator[tuple[int, Pair, Labels]]:
    """Every way to lay a and b out as matrices: elements copied, plan, labels of the result."""
    for swap, order in product((False, True), (a, b)):
        left, right = (b, a) if swap else (a, b)
        inner = [x for x in order if x in summed]
        ways = [_free_axes(x, {*batch, *summed}, size) for x in (left, right)]
        for (rows, lead_rows), (columns, lead_columns) in product(*ways):
            lead = [*lead_rows, *lead_columns, *batch]
            if wish is not None:
                lead.sort(key=wish.index)
            if len(lead) > _MAX_RANK - 2 and len(lead) > len(batch):
                continue
            result = (*lead, *rows, *columns)
            cost = 0 if wish is None or result == wish else _total(result, size)
            for x, own in ((left, rows), (right, columns)):
                if not (_adjacent(own, x, size) and _adjacent(inner, x, size)):
                    cost += _total(x, size)
            sides = (
                _matrix(left, [x for x in lead if x in left], rows, inner),
                _matrix(right, [x for x in lead if x in right], inner, columns),
            )
            shapes = tuple(
                (*_lead_shape(lead, x, size), _total(first, size), _total(second, size))
                for x, (_, first, second, _) in zip((left, right), sides, strict=True)
            )
            orders = (sides[0][0], sides[1][0])
            turned = (sides[0][3], sides[1][3])
            shape = tuple(size[x] for x in result)
            yield cost, Pair("matmul", swap, orders, shapes, turned, 0, shape), result


def _total(labels: Iterable[Label], size: Sizes) -> int:
    return prod(size[x] for x in labels)


def _lead_shape(lead: list[Label], own: Labels, size: Sizes) -> tuple[int, ...]:
    """The batch axes of an operand, those that it lacks of length 1; one for all where the core
    would have too many (both have all of them then)."""
    if len(lead) > _MAX_RANK - 2:
        return (_total(lead, size),)
    return tuple(size[x] if x in own else 1 for x in lead)


def _free_axes(x: Labels, others: set[Label], size: Sizes) -> list[tuple[list[Label], list[Label]]]:
    """The axes of x that are not in `others`: all as one axis of its matrix, or the longest run of
    neighbours as that and the rest as batch axes."""
    free = [label for label in x if label not in others]
    if _adjacent(free, x, size):
        return [(free, [])]
    runs: list[list[Label]] = [[]]
    for label in x:
        if label in others:
            runs.append([])
        else:
            runs[-1].append(label)
    longest = max((run for run in runs if run), key=lambda run: _total(run, size))
    return [(free, []), (longest, [label for label in free if label not in longest])]


def _adjacent(group: Sequence[Label], x: Labels, size: Sizes) -> bool:
    """Test whether axes of a row-major array can be viewed as a single one, in this order."""
    at = [label for label in x if size[label] != 1]
    places = [at.index(label) for label in group if size[label] != 1]
    return all(second == first + 1 for first, second in pairwise(places))


def _order(x: Labels, wanted: Sequence[Label]) -> tuple[int, ...] | None:
    order = tuple(x.index(label) for label in wanted)
    return None if order == tuple(range(len(x))) else order


def _trimmed(shape: tuple[int, ...], least: int) -> tuple[int, ...]:
    """Without the ones in front, which broadcasting adds."""
    while len(shape) > least and shape[0] == 1:
        shape = shape[1:]
    return shape


def run_pair(plan: Pair, a: Any, b: Any) -> Tensor:
    """The nodes of a plan. An operand may be a Python number."""
    operands = [b, a] if plan.swap else [a, b]
    for k, (order, shape) in enumerate(zip(plan.orders, plan.shapes, strict=True)):
        x = operands[k]
        if order is not None:
            x = _core.transpose(x, order)
        if shape:
            x = _core.reshape(x, shape)
        if plan.turned[k]:
            rank = len(shape)
            x = _core.transpose(x, (*range(rank - 2), rank - 1, rank - 2))
        operands[k] = x
    left, right = operands
    if plan.how == "matmul":
        return _core.reshape(_core.matmul(left, right), plan.shape)
    out = _core.multiply(left, right)
    if plan.summed:
        out = sum_like_matmul(out, tuple(range(-plan.summed, 0)))
    return _core.reshape(out, plan.shape) if out.shape != plan.shape else out


def common_dtype(values: Sequence[Any], who: str) -> list[Any]:
    """Tensors of one dtype; Python numbers stay, and take it, where a tensor is there too. A list
    of Python numbers takes the dtype of a floating operand."""
    numbers = [type(x) in (int, float, complex) for x in values]
    if all(numbers):
        numbers = [False] * len(values)
    out = [
        x if number else _core.constant(x, who=f"{who}: operand {k}")
        for k, (x, number) in enumerate(zip(values, numbers, strict=True))
    ]
    tensors = [k for k, number in enumerate(numbers) if not number]
    first = out[tensors[0]].dtype
    if all(out[k].dtype == first for k in tensors):
        if first.kind == "b":
            raise TypeError(f"{who}: expected numbers, got bool; cast one operand")
        return out
    neighbour = _core.neighbour_dtype([values[k] for k in tensors], [out[k] for k in tensors])
    own = [out[k].dtype for k in tensors]
    dtype = neighbour if neighbour.kind in "fc" else reduce(_core.promote, own)
    for k in tensors:
        out[k] = _core.constant(values[k] if _core.is_number_list(values[k]) else out[k], dtype)
    return out


def sum_like_matmul(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The sum in the dtype of x: `pb.sum` widens int32."""
    return _core.cast(_core.sum(x, axes), x.dtype)
