"""`einsum`: products and sums over labelled axes.

An expression becomes a plan: the steps of each single operand (diagonals, sums over axes that no
other operand has) and the pairs to contract, in the order with the least work. Plans depend only on
the subscripts and the shapes and are cached. The contraction of a pair is in contraction.py.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from operator import index
from typing import Any, NamedTuple

from .. import _core
from .._base.checks import counted
from .._base.composite import composite
from .._core import Tensor
from .contraction import Label, Labels, Pair, common_dtype, plan_pair, run_pair, sum_like_matmul
from .contraction_order import contraction_order

__all__ = ["einsum"]

_DOTS = "..."


@composite
def einsum(subscripts: Any, /, *operands: Any, optimize: Any = True) -> Tensor:
    """Compute a sum of products over labelled axes.

    In `"ij,jk->ik"` each letter labels an axis of an operand. Axes with the same letter have one
    index, and the letters after `->` are the axes of the result; the sum is over all other letters.
    Without `->` the result has the letters that occur once, in alphabetical order. A repeated
    letter in an operand takes its diagonal. `...` represents further axes, which broadcast. An axis
    of size 1 broadcasts too.

    More than two operands are multiplied in pairs. The order minimises the cost: up to seven
    operands it is optimal, beyond that the cheapest pair is next. Differentiable in all operands.

    Parameters
    ----------
    subscripts : str
        Labels of the axes. Instead, each operand may be followed by a list of integers: `einsum(a,
        [0, 1], b, [1, 2], [0, 2])`.
    *operands : array_like
        Operands, whose dtypes promote as in `matmul`.
    optimize : bool, str or list, optional
        Accepted for compatibility with NumPy; the order is always optimised.

    Returns
    -------
    Tensor
        Shape given by the subscripts; the promoted dtype, in which the sums are computed.

    Raises
    ------
    ValueError
        If the subscripts are invalid or do not match the shapes.
    TypeError
        If all operands are bool, there are no subscripts, or `optimize` is none of these.

    See Also
    --------
    matmul, tensordot

    Examples
    --------
    >>> a = pb.reshape(pb.arange(6.0), (2, 3))
    >>> pb.einsum("ij,kj->ik", a, a)
    Tensor([[ 5., 14.],
            [14., 50.]], dtype=float32)
    >>> pb.einsum("ii", pb.eye(3)), pb.einsum("...j->...", a)
    (Tensor(3., dtype=float32), Tensor([ 3., 12.], dtype=float32))
    """
    if not isinstance(optimize, (bool, str, list, tuple)):
        raise TypeError(
            f"einsum: expected True, False, a method or a path for optimize, got "
            f"{_core.shown(optimize)}"
        )
    if isinstance(subscripts, str):
        inputs, output = _parse(subscripts)
        values = list(operands)
    else:
        inputs, output, values = _from_lists([subscripts, *operands])
    if len(values) != len(inputs):
        raise ValueError(
            f"einsum: expected {counted(len(inputs), 'operand')} for {_core.shown(subscripts)}, "
            f"got {len(values)}"
            if isinstance(subscripts, str)
            else "einsum: expected a list of axes after each operand, got none after the last"
        )
    values = common_dtype(values, "einsum")
    shapes = tuple(() if isinstance(x, (int, float, complex)) else x.shape for x in values)
    plan = _plan(inputs, output, shapes)
    values = [_alone(x, steps) for x, steps in zip(values, plan.alone, strict=True)]
    for i, j, pair in plan.pairs:
        second, first = values.pop(j), values.pop(i)
        values.append(run_pair(pair, first, second))
    result = values[0]
    return result if plan.order is None else _core.transpose(result, plan.order)


# --- operands


def _alone(x: Any, steps: tuple[tuple[str, Any], ...]) -> Any:
    for step, value in steps:
        if step == "transpose":
            x = _core.transpose(x, value)
        elif step == "reshape":
            x = _core.reshape(x, value)
        elif step == "stride":
            x = x[..., ::value]
        else:
            x = sum_like_matmul(x, value)
    return x


# --- subscripts. An operand's axes are a tuple of labels; "..." among them stands for the rest.


@lru_cache(maxsize=1024)
def _parse(text: str) -> tuple[tuple[Labels, ...], Labels | None]:
    left, arrow, right = text.replace(" ", "").partition("->")
    if "-" in left + right or ">" in left + right:
        raise ValueError(
            f"einsum: expected '-' and '>' only as one '->' in subscripts, got {_core.shown(text)}"
        )
    inputs = tuple(_labels(part, text) for part in left.split(","))
    if not arrow:
        return inputs, None
    if "," in right:
        raise ValueError(
            f"einsum: expected no ',' after '->' in subscripts, got {_core.shown(text)}"
        )
    return inputs, _labels(right, text)


def _labels(part: str, text: str) -> Labels:
    before, dots, after = part.partition(_DOTS)
    for letter in before + after:
        if not (letter.isascii() and letter.isalpha()):
            raise ValueError(
                f"einsum: expected letters, ',', '->' and one '...' for each operand, "
                f"got {letter!r} in {_core.shown(text)}"
            )
    return (*before, _DOTS, *after) if dots else tuple(before)


def _from_lists(items: list[Any]) -> tuple[tuple[Labels, ...], Labels | None, list[Any]]:
    if len(items) < 2:
        raise TypeError(
            "einsum: expected subscripts like 'ij,jk->ik' before the operands, "
            f"got {_core.shown(items[0])}"
        )
    output = _list_labels(items.pop()) if len(items) % 2 else None
    return tuple(_list_labels(x) for x in items[1::2]), output, items[::2]


def _list_labels(axes: Any) -> Labels:
    fine = isinstance(axes, (list, tuple)) and all(
        x is Ellipsis or (hasattr(x, "__index__") and not isinstance(x, bool)) for x in axes
    )
    if not fine or list(axes).count(Ellipsis) > 1:
        raise TypeError(
            "einsum: expected subscripts like 'ij,jk->ik', or after each operand a list of "
            f"integers with at most one Ellipsis; got {_core.shown(axes)}"
        )
    return tuple(_DOTS if x is Ellipsis else index(x) for x in axes)


# --- the plan


class _Plan(NamedTuple):
    alone: tuple[tuple[tuple[str, Any], ...], ...]  # steps of each single operand
    pairs: tuple[tuple[int, int, Pair], ...]  # positions i < j to remove; the result is appended
    order: tuple[int, ...] | None  # transpose of the result


@lru_cache(maxsize=1024)
def _plan(
    inputs: tuple[Labels, ...], output: Labels | None, shapes: tuple[tuple[int, ...], ...]
) -> _Plan:
    terms = [
        _spelled(labels, shape, k)
        for k, (labels, shape) in enumerate(zip(inputs, shapes, strict=True))
    ]
    size = _sizes(terms, shapes)
    result = _result(inputs, output, terms)
    # An axis of size 1 that broadcasts counts as absent.
    uses = Counter(
        label
        for term, shape in zip(terms, shapes, strict=True)
        for label in {x for x, n in zip(term, shape, strict=True) if n == size[x]}
    )
    alone = []
    for k, (term, shape) in enumerate(zip(terms, shapes, strict=True)):
        needed = {label for label in term if label in result or uses[label] > 1}
        steps, terms[k] = _alone_steps(term, shape, needed, size)
        alone.append(tuple(steps))
    pairs = []
    for i, j in contraction_order(terms, result, size):
        b, a = terms.pop(j), terms.pop(i)
        keep = {*result}.union(*terms)
        later = [x for x in result if any(x in term for term in terms)]  # batch axes of later pairs
        lead = [x for x in later if x in a or x in b]
        pair, c = plan_pair(a, b, keep, None if terms else result, size, lead)
        pairs.append((i, j, pair))
        terms.append(c)
    order = tuple(terms[0].index(label) for label in result)
    return _Plan(tuple(alone), tuple(pairs), None if order == tuple(range(len(order))) else order)


def _spelled(labels: Labels, shape: tuple[int, ...], k: int) -> Labels:
    """With a label for each axis: those of "..." are counted from the last."""
    named = len(labels) - (_DOTS in labels)
    more = len(shape) - named
    if more < 0 or (more and _DOTS not in labels):
        text = "".join(map(str, labels)) if all(map(_is_text, labels)) else list(labels)
        raise ValueError(
            f"einsum: expected {counted(named, 'axis')} for operand {k} by its subscripts "
            f"{_core.shown(text)}, got shape {shape}"
        )
    if _DOTS not in labels:
        return labels
    at = labels.index(_DOTS)
    return (*labels[:at], *((_DOTS, n) for n in range(more, 0, -1)), *labels[at + 1 :])


def _is_text(label: Label) -> bool:
    return isinstance(label, str)


def _name(label: Label) -> str:
    if isinstance(label, tuple):
        return f"axis {-label[1]} of '...'"
    return f"subscript {label!r}"


def _sizes(terms: list[Labels], shapes: tuple[tuple[int, ...], ...]) -> dict[Label, int]:
    size: dict[Label, int] = {}
    owner: dict[Label, int] = {}
    for k, (term, shape) in enumerate(zip(terms, shapes, strict=True)):
        own: dict[Label, int] = {}
        for label, n in zip(term, shape, strict=True):
            if own.setdefault(label, n) != n:
                raise ValueError(
                    f"einsum: expected equal sizes for {_name(label)}, a diagonal, in operand {k}, "
                    f"got {own[label]} and {n} in shape {shape}"
                )
        for label, n in own.items():
            known = size.get(label, 1)
            if known == 1:
                size[label], owner[label] = n, k
            elif n not in (1, known):
                first = owner[label]
                raise ValueError(
                    f"einsum: expected one size for {_name(label)}, got {known} in operand {first} "
                    f"of shape {shapes[first]} and {n} in operand {k} of shape {shape}"
                )
    return size


def _result(inputs: tuple[Labels, ...], output: Labels | None, terms: list[Labels]) -> Labels:
    known = {label for term in terms for label in term}
    dots = max((label[1] for label in known if isinstance(label, tuple)), default=0)
    wide = tuple((_DOTS, n) for n in range(dots, 0, -1))
    if output is None:
        count = Counter(label for labels in inputs for label in labels if label != _DOTS)
        return wide + tuple(sorted(label for label, n in count.items() if n == 1))
    if dots and _DOTS not in output:
        raise ValueError(
            f"einsum: expected '...' in the result, because it stands for {counted(dots, 'axis')} "
            "of the operands, got none; to sum over these axes, name them by letters"
        )
    for label in output:
        if label != _DOTS and label not in known:
            raise ValueError(
                f"einsum: expected {_name(label)} of the result in an operand, got none"
            )
        if output.count(label) > 1:
            raise ValueError(f"einsum: expected {_name(label)} once in the result, got it twice")
    at = output.index(_DOTS) if _DOTS in output else 0
    return output[:at] + wide + output[at + 1 :] if _DOTS in output else output


def _alone_steps(
    term: Labels, shape: tuple[int, ...], needed: set[Label], size: dict[Label, int]
) -> tuple[list[tuple[str, Any]], Labels]:
    """Take diagonals, sum over axes without further use, and drop axes that only broadcast."""
    steps: list[tuple[str, Any]] = []
    labels = list(term)
    own = dict(zip(term, shape, strict=True))
    for label, times in Counter(term).items():
        if times == 1:
            continue
        n = own[label]
        places = [k for k, other in enumerate(labels) if other == label]
        others = [k for k in range(len(labels)) if k not in places]
        labels = [labels[k] for k in others]
        # The diagonal of n × n in row-major order is every (n + 1)th element.
        steps.append(("transpose", (*others, *places)))
        steps.append(("reshape", (*(own[x] for x in labels), n**times)))
        steps.append(("stride", sum(n**k for k in range(times)) if n > 1 else 1))
        labels.append(label)
    summed = [label for label in labels if label not in needed]
    if summed:
        steps.append(("sum", tuple(labels.index(label) for label in summed)))
        labels = [label for label in labels if label in needed]
    if any(own[label] != size[label] for label in labels):
        labels = [label for label in labels if own[label] == size[label]]
        steps.append(("reshape", tuple(own[label] for label in labels)))
    return steps, tuple(labels)
