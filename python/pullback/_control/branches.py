"""Branches as operations: only the chosen function is evaluated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np

from .. import _core
from .._autodiff.rules import called
from .._typing import Tree
from .bodies import Pytree, Recording, callable_of, tensor_of

__all__ = ["cond", "switch"]


@overload
def cond(pred: Any, f: Callable[..., Tree], g: Callable[..., Tree], *operands: Any) -> Tree: ...
@overload
def cond(pred: Any, f: Callable[..., Any], g: Callable[..., Any], *operands: Any) -> Any: ...
def cond(pred: Any, f: Callable[..., Any], g: Callable[..., Any], *operands: Any) -> Any:
    """Evaluate `f(*operands)` if `pred` is True, and `g(*operands)` otherwise.

    Both functions are called once, with placeholders. The choice is made when the result is
    evaluated, and the operations of the other function are not evaluated. So, unlike with `where`,
    its NaN or infinity cannot reach a gradient. The gradient with respect to tensors that only the
    other function uses is zero.

    If the predicate differs between the entries of a `vmap`, both functions are evaluated for all
    entries, and each entry takes its own result. An error or an endless loop that the choice would
    have avoided then occurs.

    Parameters
    ----------
    pred : bool or Tensor
        Predicate of dtype bool and shape ().
    f, g : callable
        Functions of the operands that return pytrees of the same structure, shapes and dtypes.
        Outer tensors and variables that they use count as operands too.
    *operands
        Arguments of both functions: tensors, arrays, numbers or pytrees of them.

    Returns
    -------
    Tensor or pytree of Tensor
        Structure, shapes and dtypes of the results of `f` and `g`.

    Raises
    ------
    TypeError
        If `pred` is not a bool of shape (), if `f` or `g` is not callable, or if the results differ
        in dtype.
    ValueError
        If the results differ in structure or shape.
    RuntimeError
        If `f` or `g` reads the value of a placeholder.

    See Also
    --------
    switch, where

    Examples
    --------
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
            f"cond: expected a bool of shape () for pred, got {which.dtype} of shape {which.shape}"
        )
    return _branch("cond", _core.cast(_core.logical_not(which), "int64"), (f, g), operands)


@overload
def switch(index: Any, branches: Sequence[Callable[..., Tree]], *operands: Any) -> Tree: ...
@overload
def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any: ...
def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """Evaluate `branches[index](*operands)`.

    All functions are called once, with placeholders. Only the chosen one is evaluated; `cond`
    describes gradients and `vmap`.

    Parameters
    ----------
    index : int or Tensor
        Index of an integer dtype and shape (). An index that is out of range is clipped to the
        first or the last function.
    branches : sequence of callable
        Functions of the operands that return pytrees of the same structure, shapes and dtypes.
    *operands
        Arguments of all functions: tensors, arrays, numbers or pytrees of them.

    Returns
    -------
    Tensor or pytree of Tensor
        Structure, shapes and dtypes of the results of the functions.

    Raises
    ------
    TypeError
        If `index` is not an integer of shape (), if a function is not callable, or if the results
        differ in dtype.
    ValueError
        If `branches` is not a sequence or is empty, or if the results differ in structure or shape.
    RuntimeError
        If a function reads the value of a placeholder.

    See Also
    --------
    cond

    Examples
    --------
    >>> pb.switch(pb.constant(1), [pb.sin, pb.square, pb.exp], 3.0)
    Tensor(9., dtype=float32)
    """
    if not isinstance(branches, Sequence) or not branches:
        raise ValueError(
            f"switch: expected a list of functions for branches, got {_core.shown(branches)}"
        )
    functions = tuple(branches)
    for k, f in enumerate(functions):
        callable_of(f, "switch", f"branches[{k}]")
    which = tensor_of(index, "switch: index")
    if which.dtype.kind not in "iu" or which.shape != ():
        raise TypeError(
            f"switch: expected an integer of shape () for index, got {which.dtype} of shape "
            f"{which.shape}"
        )
    if which.dtype == np.uint64:  # the cast would make values from 2**63 on negative
        which = _core.minimum(which, len(functions) - 1)
    return _branch("switch", _core.cast(which, "int64"), functions, operands)


def _branch(who: str, which: Any, functions: tuple[Any, ...], operands: tuple[Any, ...]) -> Any:
    given = Pytree(operands, f"{who}: operands")
    bodies = []
    first: Pytree | None = None
    for f in functions:
        with Recording(who, f) as body:
            placeholders = given.like(body.placeholders(given.tensors))
            result = body.returned(called(f, who, "the operands", *placeholders), "the result")
        if first is None:
            first, place = result, body.place
        else:
            _check_alike(first, result, who, place, body.place)
        bodies.append(body.close(result.tensors, all_inside=True))
    assert first is not None
    return first.like(_core.branch(which, bodies, given.tensors))


def _check_alike(a: Pytree, b: Pytree, who: str, where_a: str, where_b: str) -> None:
    if not a.same_structure(b):
        raise ValueError(f"{who}: expected results of one structure from {where_a} and {where_b}")
    for path, x, y in zip(a.tensor_paths(), a.tensors, b.tensors, strict=True):
        if x.shape != y.shape:
            raise ValueError(
                f"{who}: expected one shape for result{path}, got {x.shape} from {where_a} and "
                f"{y.shape} from {where_b}"
            )
        if x.dtype != y.dtype:
            raise TypeError(
                f"{who}: expected one dtype for result{path}, got {x.dtype} from {where_a} and "
                f"{y.dtype} from {where_b}; cast one of them"
            )
