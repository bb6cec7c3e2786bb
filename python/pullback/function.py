"""function: trace once, replay after."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy

from . import _core
from ._core import Tensor, Variable
from ._tree import Structure, flatten, unflatten
from .custom import calls
from .gradients import active
from .settings import float64

F = TypeVar("F", bound=Callable[..., Any])


def function(f: F) -> F:
    """Decorator: runs f once for each signature and records it; later calls replay the record.

    The signature is the structure of the arguments (nests of dict, list, tuple, namedtuple) with
    the dtype and shape of every tensor, NumPy array, NumPy number and Python float among them,
    which are traced; and everything else by value, Python integers and bool included, which must be
    hashable. So f runs again for another shape or another integer, and not for another float.

    Inside, a traced tensor has no value: choose with `where` instead of `if`. Variables are read
    and assigned as if f ran, in every call; they must be made outside. Python side effects happen
    only while f is traced. An exception while tracing leaves nothing behind.

    The result is as differentiable as without the decorator. What is not asked to be (no tracked
    argument, no trainable variable that is only read) runs as one plan with nothing built in
    between, which is what makes a training step fast: let it compute its gradients inside.

    >>> v = pb.Variable(1.0)
    >>> @pb.function
    ... def step(x, rate):
    ...     loss = pb.mean(pb.square(v * x - 6))
    ...     v.assign_sub(rate * pb.gradients(loss, v)[0])
    ...     return loss
    >>> float(step(pb.ones(3), 0.5)), float(step(pb.ones(3), 0.25)), float(v)
    (25.0, 0.0, 6.0)
    """
    records: dict[Any, _Record] = {}

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = flatten((args, kwargs))
        tensors, key = _signature(leaves)
        if _core.Trace.active() or active.maps:
            return _called(f, leaves, structure, tensors)
        key = (structure, *key, _core.default_float())
        try:
            record = records.get(key)
        except TypeError:
            raise TypeError(f"function: {f.__qualname__}: {_unhashable(leaves)}") from None
        if record is None:
            record = records[key] = _Record(f, leaves, structure, tensors)
        if not record.must_differentiate(tensors):
            return record.result(record.trace.replay(tensors))
        if record.own_rules:
            return _called(f, leaves, structure, tensors)
        return record.result(record.trace.inline_call(tensors))

    return call  # type: ignore[return-value]


class _Record:
    """One trace of a function, and what it returned."""

    def __init__(
        self, f: Callable[..., Any], leaves: list[Any], structure: Structure, tensors: list[Tensor]
    ) -> None:
        self.held = [x for x in leaves if isinstance(x, Variable)]  # their ids are in the key
        self.trace = _core.Trace()
        self.trace.open()
        try:
            kinds = [type(leaf) is float for leaf in leaves if _is_traced(leaf)]
            traced = [
                self.trace.argument(x.dtype, x.shape, python_float)
                for x, python_float in zip(tensors, kinds, strict=True)
            ]
            before = calls.count
            result = _called(f, leaves, structure, traced)
            self.leaves, self.structure = flatten(result)
            # Rules of custom_gradient hold tensors of this trace, so they cannot be copied.
            self.own_rules = calls.count != before
        except BaseException:
            self.trace.abandon()
            raise
        # constant() settles what was made of Python floats alone in its dtype.
        outputs = [_core.constant(leaf) for leaf in self.leaves if isinstance(leaf, Tensor)]
        self.leaves = [None if isinstance(leaf, Tensor) else (leaf,) for leaf in self.leaves]
        self.trace.close(outputs)
        self.tracked = self.trace.reads_trainable or self.trace.captures_tracked
        self.assigns = self.trace.assigns

    def must_differentiate(self, tensors: list[Tensor]) -> bool:
        """Whether somebody may want the gradient of what a call returns."""
        if self.tracked and (not self.assigns or _core.Tape.any_recording()):
            return True
        return any(_core.is_tracked(x) for x in tensors)

    def result(self, outputs: list[Tensor]) -> Any:
        values = iter(outputs)
        leaves = [next(values) if leaf is None else leaf[0] for leaf in self.leaves]
        return unflatten(self.structure, leaves)


def _called(
    f: Callable[..., Any], leaves: list[Any], structure: Structure, tensors: list[Tensor]
) -> Any:
    """f with these tensors in place of the leaves that are traced."""
    values = iter(tensors)
    args, kwargs = unflatten(
        structure, [next(values) if _is_traced(leaf) else leaf for leaf in leaves]
    )
    return f(*args, **kwargs)


def _is_traced(leaf: Any) -> bool:
    return isinstance(leaf, (Tensor, float, numpy.ndarray, numpy.generic))


def _signature(leaves: list[Any]) -> tuple[list[Tensor], tuple[Any, ...]]:
    """The tensors among the leaves, and a key for all of them.

    A Python float is traced in float64 and still takes the dtype of what is next to it.
    """
    tensors = []
    key: list[Any] = []
    for leaf in leaves:
        if type(leaf) is float:
            tensors.append(_core.constant(leaf, float64))
            key.append(float)
        elif _is_traced(leaf):
            tensors.append(leaf if isinstance(leaf, Tensor) else _core.constant(leaf))
            key += (tensors[-1].dtype, tensors[-1].shape)
        elif isinstance(leaf, Variable):
            key += (Variable, id(leaf))
        else:
            key += (type(leaf), leaf)
    return tensors, tuple(key)


def _unhashable(leaves: list[Any]) -> str:
    for leaf in leaves:
        try:
            hash(leaf)
        except TypeError:
            return (
                f"an argument of type {type(leaf).__name__} is neither a tensor nor hashable; "
                "make it a tensor or an array, or pass what identifies it"
            )
    return "an argument is not hashable"
