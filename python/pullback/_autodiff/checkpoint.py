"""`checkpoint`: computes again on the way back what it would otherwise keep.

The operations that the function makes are a piece of graph that is never computed itself. A first
copy of it, on constants, gives the values, and is let go as it is computed. The gradient rule makes
a second copy, on the inputs times a one that is known only when the cotangent is, so that no
planner can compute it earlier, or take it for the first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from .. import _core
from .._base.pytree import flatten, unflatten
from .._core import Rule, Tensor
from .function import inlined_functions
from .rules import place

__all__ = ["checkpoint"]

F = TypeVar("F", bound=Callable[..., Any])


def checkpoint(f: F) -> F:
    """A function like f whose inside is computed again for the gradient instead of being kept.

    What the call keeps is what f was made from: its arguments, and what it reads of variables and
    tensors outside. A chain of blocks, each a checkpoint, needs the memory of its ends and of one
    block, at the price of computing each block twice. Values and gradients of every order are
    those of f, random numbers included; f itself runs once for each call, takes and returns any
    nest, and may be called inside of `function`. Traced functions that f calls are run as they are
    written. Looking at values inside of f keeps them.

    >>> block = pb.checkpoint(lambda x, w: pb.tanh(x @ w))
    >>> x, w = pb.Variable([[1.0, 2.0]]), pb.Variable([[0.5], [0.25]])
    >>> y = block(x, w)
    >>> pb.gradients(pb.sum(y), [x])
    [Tensor([[0.20998716, 0.10499358]], dtype=float32)]
    """
    if not callable(f):
        raise TypeError(f"checkpoint: expected a function, got {_core.shown(f)}")

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        first = _core.next_number()
        with inlined_functions():
            returned = f(*args, **kwargs)
        leaves, structure = flatten(returned)
        own = [i for i, y in enumerate(leaves) if isinstance(y, Tensor) and _is_new(y, first)]
        piece = _core.Piece([leaves[i] for i in own], first)
        inputs = piece.inputs()
        if not inputs:
            return returned
        values = piece.copy(inputs, [_core.stop_gradient(x) for x in inputs], True)
        floats = [k for k, y in enumerate(values) if y.dtype.kind in "fc"]
        if floats:
            rule = Rule(_Recomputed(piece, inputs, floats), place(f))
            outputs = _core.custom([values[k] for k in floats], inputs, rule)
            for k, y in zip(floats, outputs, strict=True):
                values[k] = y
        for i, y in zip(own, values, strict=True):
            leaves[i] = y
        return unflatten(structure, leaves)

    return call  # type: ignore[return-value]


def _is_new(y: Tensor, first: int) -> bool:
    return bool(_core.identity_of(y, None)[0] >= first)


class _Recomputed:
    """The rule: the gradients of a copy of the piece, made on the inputs of the moment."""

    def __init__(self, piece: _core.Piece, made_on: list[Tensor], floats: list[int]) -> None:
        self.piece = piece
        self.made_on = made_on
        self.floats = floats

    def __call__(
        self, op: str, inputs: list[Any], outputs: list[Any], cotangents: list[Any]
    ) -> list[Any]:
        first = _core.next_number()
        later = one_after(cotangents)
        # What depends on variables alone is rarely worth a second time. All are new tensors: one
        # input may have been made from another.
        reads = [_core.identity_of(x, None)[1] > 0 for x in inputs]
        xs = [
            _core.identity(x)
            if x.dtype.kind not in "fc" or (read and not all(reads))
            else times(x, later)
            for x, read in zip(inputs, reads, strict=True)
        ]
        tape = _core.Tape(False)  # the one that watched the inputs may have ended
        tape.start()
        try:
            for x in xs:
                tape.watch(x)
            results = self.piece.copy(self.made_on, xs, False)
        finally:
            tape.stop()
        ys = [results[k] for k in self.floats]
        answers = _core.gradients(ys, xs, cotangents, overrides=True)  # the caller's
        # Neither are the cotangents of the inside kept, which would be of use for the next order.
        _core.Piece([g for g in answers if g is not None], first).never_keep()
        return answers


def times(x: Tensor, one: Tensor) -> Tensor:
    return _core.multiply(x, _core.cast(one, x.dtype))


def one_after(cotangents: list[Any]) -> Tensor:
    """A one that depends on a cotangent, as far as a planner can know: what folds constants sees
    none here, NaN being neither equal nor anything else. (cpp/ops/batch.cpp knows it.)"""
    for g in cotangents:
        if g is not None and g.size:
            entry = _core.reshape(g, (-1,))[0]
            return _core.logical_or(_core.equal(entry, entry), _core.not_equal(entry, entry))
    return _core.constant(True)
