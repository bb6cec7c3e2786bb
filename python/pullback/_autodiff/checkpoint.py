"""`checkpoint`: recompute intermediate values in the reverse pass instead of storing them.

The operations that the function creates are a subgraph that is never evaluated itself. A first
copy, built on constants, gives the values and releases its intermediate values as it is evaluated.
The gradient rule builds a second copy, on the inputs times a one that is known only when the
cotangent is. So no planner can evaluate it earlier or identify it with the first copy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from .. import _core
from .._base.pytree import flatten, unflatten
from .._core import Rule, Tensor
from .closed_graph import node_number, recorded_from
from .function import inlined_functions
from .rules import place

__all__ = ["checkpoint"]

F = TypeVar("F", bound=Callable[..., Any])


def checkpoint(f: F) -> F:
    """Return a function like `f` that recomputes its intermediate values for the gradient.

    A call stores only its inputs: its arguments, and the variables and outer tensors that `f`
    reads. A chain of checkpointed blocks needs the memory of their inputs and of one block, and
    computes each block twice. Values and gradients of every order are those of `f`, including
    random numbers.

    `f` itself runs once for each call, and may be called inside `function`. Traced functions that
    `f` calls are inlined. A value that is read inside `f` stays in memory.

    Parameters
    ----------
    f : callable
        Function of any arguments that returns a pytree of any leaves.

    Returns
    -------
    callable
        Function with the arguments and results of `f`. Also usable as a decorator.

    Raises
    ------
    TypeError
        If `f` is not callable.

    Examples
    --------
    >>> block = pb.checkpoint(lambda x, w: pb.tanh(x @ w))
    >>> x, w = pb.Variable([[1.0, 2.0]]), pb.Variable([[0.5], [0.25]])
    >>> y = block(x, w)
    >>> pb.gradients(pb.sum(y), [x])
    [Tensor([[0.20998716, 0.10499358]], dtype=float32)]
    """
    if not callable(f):
        raise TypeError(f"checkpoint: expected a function for f, got {_core.shown(f)}")

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        first = _core.next_number()
        with inlined_functions():
            returned = f(*args, **kwargs)
        leaves, structure = flatten(returned)
        own = [i for i, y in enumerate(leaves) if isinstance(y, Tensor) and node_number(y) >= first]
        graph = _core.ClosedGraph([leaves[i] for i in own], [], first)
        inputs = graph.others
        if not inputs:
            return returned
        values = graph.copy([_core.stop_gradient(x) for x in inputs], True)
        floats = [k for k, y in enumerate(values) if y.dtype.kind in "fc"]
        if floats:
            rule = Rule(_RecomputingRule(graph, floats), place(f))
            outputs = _core.custom([values[k] for k in floats], inputs, rule)
            for k, y in zip(floats, outputs, strict=True):
                values[k] = y
        for i, y in zip(own, values, strict=True):
            leaves[i] = y
        return unflatten(structure, leaves)

    return call  # type: ignore[return-value]


class _RecomputingRule:
    """The gradient rule: the gradients of a copy of the subgraph on the current inputs."""

    def __init__(self, graph: _core.ClosedGraph, floats: list[int]) -> None:
        self.graph = graph
        self.floats = floats

    def __call__(
        self, op: str, inputs: list[Any], outputs: list[Any], cotangents: list[Any]
    ) -> list[Any]:
        first = _core.next_number()
        later = one_after(cotangents)
        # Recomputing what depends on variables alone rarely pays. All inputs are new tensors,
        # because one input may have been computed from another.
        reads = [_core.identity_of(x, None)[1] > 0 for x in inputs]
        xs = [
            _core.identity(x)
            if x.dtype.kind not in "fc" or (read and not all(reads))
            else times(x, later)
            for x, read in zip(inputs, reads, strict=True)
        ]
        with recorded_from(xs):  # the tape that watched the inputs may have ended
            results = self.graph.copy(xs, False)
        ys = [results[k] for k in self.floats]
        answers = _core.gradients(ys, xs, cotangents, overrides=True)  # those of the caller
        # Intermediate cotangents are not stored either, although the next order would use them.
        _core.ClosedGraph([g for g in answers if g is not None], [], first).never_keep()
        return answers


def times(x: Tensor, one: Tensor) -> Tensor:
    return _core.multiply(x, _core.cast(one, x.dtype))


def one_after(cotangents: list[Any]) -> Tensor:
    """Return a one that depends on a cotangent, as far as a planner can determine.

    Constant folding does not simplify the expression: NaN is not equal to itself, so neither
    comparison is constant. cpp/transform/batch.cpp recognises the expression.
    """
    for g in cotangents:
        if g is not None and g.size:
            entry = _core.reshape(g, (-1,))[0]
            return _core.logical_or(_core.equal(entry, entry), _core.not_equal(entry, entry))
    return _core.constant(True)
