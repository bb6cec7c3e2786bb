"""The gradient and who has a say in it: `gradients`, `stop_gradient`, rules and overrides.

A gradient is made of tensors like any other, so it can be differentiated again. Rules are looked up
in this order: `overrides=` of the call, the `gradient_override_map` that was active when the
operation was made, `register_gradient`, and the operation's own rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import numpy as np

from .. import _core
from .._base import last_query, settings
from .._base.pytree import flatten, leaves_like
from .._core import Rule, Tensor, Variable
from .._typing import TensorLike
from .rules import op_rule, operation, registered, rule_map, without_gradient

__all__ = ["gradient_override_map", "gradients", "identity", "register_gradient", "stop_gradient"]

F = TypeVar("F", bound=Callable[..., Any])


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    *,
    stop_gradients: Any = None,
    unconnected_gradients: str = "none",
    overrides: Mapping[Any, Any] | None = None,
) -> Any:
    """The gradient of the sum of all elements of all ys, by each of the xs.

    ys, xs: tensors or variables, one, a list, or a nest of dicts, lists, tuples and dataclasses. An
        x is any tensor that the ys were made from, or a variable, which stands for all its reads.
    grad_ys: weights of the elements, in the structure of the ys: for each y something of its dtype
        and shape; a number counts for all elements, None means ones.
    stop_gradients: tensors and variables that count as constants (for all xs but themselves).
    unconnected_gradients: what an x gets that the ys do not depend on by a differentiable path:
        "none" gives None, "zero" gives zeros. Integers are not differentiable.
    overrides: {operation: rule}, as in `gradient_override_map`, but for a graph that exists
        already.

    Returns a list with a tensor of the dtype and shape of each x, or None; for a dict, a dataclass
    or a nest of several levels, the same structure with these in it.

    Raises TypeError where an entry is not a tensor, naming it; ValueError for a grad_ys that does
    not fit, for an x that is not tracked (operations on plain constants keep no history: make it a
    `Variable`, watch it with a `GradientTape`, or use `grad`), and where an x is a tensor and no y
    is tracked; LookupError for an unknown name in `overrides`.

    >>> x = pb.Variable([1.0, 2.0, 3.0])
    >>> y = x * x
    >>> pb.gradients(y, [x])
    [Tensor([2., 4., 6.], dtype=float32)]
    >>> pb.gradients([y, 2 * x], [x, y], grad_ys=[0.5, 10])
    [Tensor([21., 22., 23.], dtype=float32), Tensor([0.5, 0.5, 0.5], dtype=float32)]
    >>> pb.gradients(y, {"x": x})
    {'x': Tensor([2., 4., 6.], dtype=float32)}
    >>> pb.gradients(y, x, stop_gradients=[y])
    [None]
    """
    zeros = unconnected_gradients != "none" and wants_zeros(unconnected_gradients, "gradients")
    seeds = None
    if grad_ys is not None:
        targets = _core.tensors_of(ys, "gradients: ys")
        seeds = seed_list(grad_ys, ys, targets, "gradients: grad_ys")
    rules = None if overrides is None else rule_map(overrides, "gradients: overrides")
    answers = _core.checked_gradients(ys, xs, seeds, stop_gradients, rules, zeros)
    if settings.debugging:
        stops = flatten([] if stop_gradients is None else stop_gradients)[0]
        last_query.note((answers,), flatten(ys)[0], flatten(xs)[0], seeds, None, stops, rules)
    return answers


def wants_zeros(mode: Any, who: str) -> bool:
    if mode not in ("none", "zero"):
        raise ValueError(
            f"{who}: unconnected_gradients is 'none' or 'zero', got {_core.shown(mode)}"
        )
    return bool(mode == "zero")


def with_zeros(answers: list[Any], sources: list[Any]) -> list[Any]:
    """The answers with zeros in place of None."""
    return [
        _core.full(x.shape, 0, x.dtype) if g is None else g
        for g, x in zip(answers, sources, strict=True)
    ]


def seed_list(values: Any, ys: Any, targets: list[Any], who: str) -> list[Any] | None:
    """The cotangents that a reverse pass starts with: one for each of the targets, which are the
    leaves of ys; None for ones."""
    if values is None:
        return None
    if isinstance(ys, (Tensor, Variable)) and isinstance(values, (list, tuple)):
        entries = list(values)  # a list of the weights of the one y
        if len(entries) != 1:
            raise ValueError(f"{who}: {len(entries)} entries for 1 target")
    else:
        entries = leaves_like(ys, values, who)
    return [
        None if g is None else seed(g, y, f"{who}[{i}]")
        for i, (g, y) in enumerate(zip(entries, targets, strict=True))
    ]


def seed(value: Any, y: Any, who: str) -> Any:
    """What stands for `value`, the cotangent or tangent of y, in its dtype and shape."""
    if isinstance(value, (int, float, complex, list, tuple, np.number)) and y.dtype.kind in "fc":
        g = _core.constant(value, y.dtype, who)
    else:
        g = _core.constant(value, who=who)
    if g.dtype != y.dtype:
        raise TypeError(f"{who} is {g.dtype} for a target of {y.dtype}; cast it")
    if g.shape == ():
        return _core.broadcast_to(g, y.shape)
    if g.shape != y.shape:
        raise ValueError(f"{who} has shape {g.shape} for a target of shape {y.shape}")
    return g


def stop_gradient(x: TensorLike, /) -> Tensor:
    """The values of x, as a constant: no gradient passes, and a path through it counts as none.

    >>> x = pb.Variable(3.0)
    >>> pb.gradients(x * pb.stop_gradient(x), x)
    [Tensor(3., dtype=float32)]
    >>> pb.gradients(pb.stop_gradient(x), x)
    [None]
    """
    return _core.stop_gradient(x)


def identity(x: TensorLike, /) -> Tensor:
    """A new tensor with the values of x; the natural place to override a gradient.

    >>> x = pb.Variable(3.0)
    >>> with pb.gradient_override_map({"identity": lambda op, g: -g}):
    ...     y = pb.identity(x)
    >>> pb.gradients(y, x)
    [Tensor(-1., dtype=float32)]
    """
    if isinstance(x, int) and not isinstance(x, bool):
        raise TypeError(
            f"identity: expected a tensor or an array, got {x}; eye({x}) is the identity matrix"
        )
    return _core.identity(x)


def register_gradient(name: str, replace: bool = False) -> Callable[[F], F]:
    """Decorator: registers f(op, *cotangents) as a gradient rule under a name.

    The name is one that overrides may point to; or the name of an operation, as in
    `gradient_override_map`, whose own rule it then replaces everywhere. `op` has `type`, `inputs`
    and `outputs`; f returns one gradient for each input, as a tensor of its dtype and shape, None,
    or a number. A name that is taken, as the operations' own are, is a KeyError unless `replace`;
    that of a function which is no operation with a gradient of its own is a LookupError.

    >>> @pb.register_gradient("hard_tanh")
    ... def hard_tanh(op, g):
    ...     return pb.where(pb.abs(op.inputs[0]) <= 1, g, 0)
    >>> x = pb.Variable([-2.0, 0.5])
    >>> with pb.gradient_override_map({"sign": "hard_tanh"}):
    ...     y = pb.sign(x)
    >>> pb.gradients(y, x)
    [Tensor([0., 1.], dtype=float32)]
    """
    if not isinstance(name, str):
        raise TypeError(f"register_gradient: expected a name, got {name!r}")
    if not name:
        raise ValueError("register_gradient: the name is empty")
    known = operation(name)
    # A straight-through window is often registered under this name, which is also a function's.
    if known is None and name != "hard_tanh" and (why := without_gradient(name)):
        raise LookupError(f"register_gradient: {why}")
    if known is not None and not replace:
        raise KeyError(
            f"register_gradient: {name!r} is an operation with a gradient of its own; "
            "pass replace=True to change it everywhere, or override it with gradient_override_map"
        )

    def register(fn: F) -> F:
        _core.register_rule(known or name, op_rule(fn, f"register_gradient: {name!r}"), replace)
        registered.add(known or name)
        return fn

    return register


def gradient_override_map(overrides: Mapping[Any, Any]) -> AbstractContextManager[None]:
    """Context manager: operations made inside get another gradient.

    overrides: {operation: rule}. Operations go by their functions or the names of these (`pb.sign`
    or `"sign"`, `"matmul"`; `+` is `"add"`), a rule is f(op, *cotangents) as in
    `register_gradient`, or a registered name. Inner maps win over outer ones. It holds wherever
    the gradient is asked for later: `gradients`, tapes, `grad`, `function`, and higher orders.

    The map belongs to the context (`contextvars`), as a tape does: other asyncio tasks and threads
    do not see it, but the caller of a generator that is suspended inside the block does.

    All of it is checked first: TypeError for a rule that cannot be called, LookupError for unknown
    names, with the nearest known ones.

    >>> x = pb.Variable([-2.0, 0.5])
    >>> with pb.gradient_override_map({"round": lambda op, g: g}):
    ...     y = pb.round(x)
    >>> pb.gradients(y, x)
    [Tensor([1., 1.], dtype=float32)]
    """
    return _Overriding(rule_map(overrides, "gradient_override_map"))


class _Overriding(AbstractContextManager[None]):
    def __init__(self, rules: dict[str, Rule]) -> None:
        self._rules = rules

    def __enter__(self) -> None:
        _core.push_overrides(self._rules, id(self))

    def __exit__(self, *_: object) -> None:
        _core.pop_overrides(id(self))
