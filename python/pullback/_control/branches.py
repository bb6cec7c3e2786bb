"""Branches as operations: only the one that is chosen runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _core
from .bodies import Nest, Recording, callable_of, tensor_of

__all__ = ["cond", "switch"]


def cond(pred: Any, f: Callable[..., Any], g: Callable[..., Any], *operands: Any) -> Any:
    """f(*operands) where pred holds, g(*operands) where it does not; only one of them is computed.

    pred: a bool, or a bool tensor of rank 0.
    f, g: take the operands, each any nest, and return nests of one structure with the same shapes
        and dtypes. What they use from outside counts as an operand too.

    Both are called once, with stand-ins; the choice is made when the result is computed, and what
    the other one does inside is not: unlike with `where`, no NaN or infinity of it can reach a
    gradient. The gradient by what only the other one uses is zero. Under `vmap`, where entries
    choose differently, both are computed for all entries and each entry takes its own: then what a
    choice kept from failing fails, and what it kept from running without an end does so.

    Raises TypeError for a predicate that is no bool of rank 0, and where dtypes differ; ValueError
    where shapes or structures do; RuntimeError where f or g looks at a value.

    >>> x = pb.Variable(0.0)
    >>> y = pb.cond(x > 0, pb.log, lambda x: x * 2, x)
    >>> float(y), float(pb.gradients(y, x)[0])
    (0.0, 2.0)
    """
    callable_of(f, "cond", "f")
    callable_of(g, "cond", "g")
    which = tensor_of(pred, "cond: pred")
    if which.dtype != bool or which.shape != ():
        raise TypeError(
            f"cond: pred: expected a bool of shape (), got {which.dtype} of shape {which.shape}"
        )
    return _branch("cond", _core.cast(_core.logical_not(which), "int64"), (f, g), operands)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """branches[index](*operands); only that one is computed.

    index: an integer, or an integer tensor of rank 0. One that is out of range counts as the
        nearest: 0, or that of the last branch.
    branches: functions of the operands that return nests of one structure with the same shapes and
        dtypes.

    Otherwise as `cond`.

    >>> pb.switch(pb.constant(1), [pb.sin, pb.square, pb.exp], 3.0)
    Tensor(9., dtype=float32)
    """
    if not isinstance(branches, Sequence) or not branches:
        raise ValueError(
            f"switch: branches: expected functions in a list, got {_core.shown(branches)}"
        )
    functions = tuple(branches)
    for k, f in enumerate(functions):
        callable_of(f, "switch", f"branches[{k}]")
    which = tensor_of(index, "switch: index")
    if which.dtype.kind not in "iu" or which.shape != ():
        raise TypeError(
            f"switch: index: expected an integer of shape (), got {which.dtype} of shape "
            f"{which.shape}"
        )
    if which.dtype == np.uint64:  # which the cast would make negative, from 2**63 on
        which = _core.minimum(which, len(functions) - 1)
    return _branch("switch", _core.cast(which, "int64"), functions, operands)


def _branch(who: str, which: Any, functions: tuple[Any, ...], operands: tuple[Any, ...]) -> Any:
    given = Nest(operands, f"{who}: operands")
    bodies = []
    first: Nest | None = None
    for f in functions:
        with Recording(who, f) as body:
            result = body.returned(f(*given.like(body.stand_ins(given.tensors))), "the result")
        if first is None:
            first, place = result, body.place
        else:
            _check_alike(first, result, who, place, body.place)
        bodies.append(body.close(result.tensors, all_inside=True))
    assert first is not None
    return first.like(_core.branch(which, bodies, given.tensors))


def _check_alike(a: Nest, b: Nest, who: str, where_a: str, where_b: str) -> None:
    if not a.same_structure(b):
        raise ValueError(f"{who}: {where_a} and {where_b} return nests of different structure")
    for path, x, y in zip(a.names(), a.tensors, b.tensors, strict=True):
        if x.shape != y.shape:
            raise ValueError(
                f"{who}: result{path} of {where_a} has shape {x.shape}, that of {where_b} {y.shape}"
            )
        if x.dtype != y.dtype:
            raise TypeError(
                f"{who}: result{path} of {where_a} is {x.dtype}, that of {where_b} {y.dtype}: "
                "cast one of them"
            )
