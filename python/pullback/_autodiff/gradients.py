"""Reverse-mode gradients and their rules: `gradients`, `stop_gradient`, overrides.

A gradient consists of tensors like any other, so it can be differentiated again. The rule of an
operation is searched in this order: `overrides=` of the call, the `gradient_override_map` that was
active when the operation was created, `register_gradient`, and the built-in rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar, overload

import numpy as np

from .. import _core
from .._base import last_query
from .._base.checks import flag
from .._base.pytree import flatten, leaves_like
from .._core import Rule, Tensor, Variable
from .._typing import Gradient, Key, NamedTupleLike, Source, TensorLike, Unconnected
from .rules import op_rule, operation, registered, rule_map

__all__ = ["gradient_override_map", "gradients", "identity", "register_gradient", "stop_gradient"]

F = TypeVar("F", bound=Callable[..., Any])


@overload
def gradients(
    ys: Any,
    xs: NamedTupleLike,
    grad_ys: Any = None,
    *,
    stop_gradients: Any = None,
    unconnected_gradients: Unconnected = "none",
    overrides: Mapping[Any, Any] | None = None,
) -> Any: ...
@overload
def gradients(
    ys: Any,
    xs: Source | Sequence[Source],
    grad_ys: Any = None,
    *,
    stop_gradients: Any = None,
    unconnected_gradients: Unconnected = "none",
    overrides: Mapping[Any, Any] | None = None,
) -> list[Gradient]: ...
@overload
def gradients(
    ys: Any,
    xs: Mapping[Key, Source],
    grad_ys: Any = None,
    *,
    stop_gradients: Any = None,
    unconnected_gradients: Unconnected = "none",
    overrides: Mapping[Any, Any] | None = None,
) -> dict[Key, Gradient]: ...
@overload
def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    *,
    stop_gradients: Any = None,
    unconnected_gradients: Unconnected = "none",
    overrides: Mapping[Any, Any] | None = None,
) -> Any: ...
def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    *,
    stop_gradients: Any = None,
    unconnected_gradients: Unconnected = "none",
    overrides: Mapping[Any, Any] | None = None,
) -> Any:
    """Compute the gradient of the sum of all elements of `ys` with respect to each of `xs`.

    The results are differentiable again. Integers are not differentiable.

    Parameters
    ----------
    ys : Tensor, Variable or pytree of them
        Targets: a single one, a list, or a pytree of dicts, lists, tuples and dataclasses.
    xs : Tensor, Variable or pytree of them
        Sources: any tensors that `ys` were computed from, or variables. A variable stands for all
        of its reads.
    grad_ys : pytree of array_like, optional
        Weights of the elements, in the structure of `ys`, each of the dtype and shape of its
        target. A number counts for all elements, and None for ones. Default: ones.
    stop_gradients : Tensor, Variable or pytree of them, optional
        Tensors that count as constants, for all sources except themselves.
    unconnected_gradients : {"none", "zero"}, optional
        Result for a source that no target depends on through a differentiable path: None, or zeros.
        Default: "none".
    overrides : mapping, optional
        Gradient rules {operation: rule}, as in `gradient_override_map`, for a graph that exists
        already.

    Returns
    -------
    list of Tensor or None
        One gradient of the dtype and shape of each source. If `xs` is a dict, a dataclass or a
        pytree of several levels, the gradients have its structure.

    Raises
    ------
    TypeError
        If an entry of `ys`, `xs` or `stop_gradients` is not a tensor, if an entry of `grad_ys` has
        another dtype, if a target is complex and `grad_ys` is missing, or if a rule is not
        callable.
    ValueError
        If `grad_ys` has another shape or structure, if `unconnected_gradients` is invalid, if a
        source is not tracked, or if a source is a tensor and no target is tracked. Operations on
        plain constants keep no history: use a `Variable`, a `GradientTape` that watches the tensor,
        or `grad`.
    LookupError
        If `overrides` contains an unknown name.

    See Also
    --------
    GradientTape, grad, tangents

    Examples
    --------
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
        targets = _core.tensors_of(ys, "gradients", "ys")
        seeds = seed_list(grad_ys, ys, targets, "gradients: grad_ys")
    rules = None if overrides is None else rule_map(overrides, "gradients: overrides")
    answers = _core.checked_gradients(ys, xs, seeds, stop_gradients, rules, zeros)
    if type(answers) is list:
        warn_of_integers(xs if isinstance(xs, (list, tuple)) else [xs], answers, "gradients")
    else:  # a rule may have changed what holds the sources
        warn_of_integers(flatten(xs)[0], flatten(answers, none_is_leaf=True)[0], "gradients")
    if last_query.noted:
        stops = flatten([] if stop_gradients is None else stop_gradients)[0]
        single = isinstance(xs, (Tensor, Variable))
        sources = [xs] if single else list(xs) if type(xs) is tuple else xs  # as in the answers
        last_query.note(
            (answers,), flatten(ys)[0], flatten(xs)[0], seeds, None, stops, rules,
            answers=leaves_like(sources, answers, "gradients"),
        )  # fmt: skip
    return answers


def wants_zeros(mode: Any, who: str) -> bool:
    """Return whether `mode` is "zero"; raise ValueError unless it is "none" or "zero"."""
    if mode not in ("none", "zero"):
        raise ValueError(
            f"{who}: unconnected_gradients must be one of 'none', 'zero'; got {_core.shown(mode)}"
        )
    return bool(mode == "zero")


def warn_of_integers(sources: Iterable[Any], answers: list[Any], who: str) -> None:
    """Warn if an answer of the caller's caller is None because its source has no floating dtype."""
    for x, answer in zip(sources, answers, strict=False):
        if answer is None and isinstance(x, (Tensor, Variable)) and x.dtype.kind not in "fc":
            from warnings import warn

            warn(
                f"{who}: a source of {x.dtype} has no gradient, so its result is None; use a "
                "floating dtype",
                stacklevel=3,
            )


def with_zeros(answers: list[Any], sources: list[Any]) -> list[Any]:
    """Return the answers with zeros in place of None."""
    return [
        _core.full(x.shape, 0, x.dtype) if g is None else g
        for g, x in zip(answers, sources, strict=True)
    ]


def seed_list(values: Any, ys: Any, targets: list[Any], who: str) -> list[Any] | None:
    """Return the cotangents that a reverse pass starts with, one for each target; None means ones.

    The targets are the leaves of `ys`.
    """
    if values is None:
        return None
    if isinstance(ys, (Tensor, Variable)) and isinstance(values, (list, tuple)):
        entries = list(values)  # a list with the weights of a single y
        if len(entries) != 1:
            raise ValueError(f"{who}: expected 1 entry for 1 target, got {len(entries)}")
    else:
        entries = leaves_like(ys, values, who)
    return [
        None if g is None else seed(g, y, f"{who}[{i}]")
        for i, (g, y) in enumerate(zip(entries, targets, strict=True))
    ]


def seed(value: Any, y: Any, who: str) -> Any:
    """Return `value`, a cotangent or tangent of `y`, as a tensor of the dtype and shape of `y`."""
    if isinstance(value, (int, float, complex, list, tuple, np.number)) and y.dtype.kind in "fc":
        g = _core.constant(value, y.dtype, who)
    else:
        g = _core.constant(value, who=who)
    if g.dtype != y.dtype:
        raise TypeError(f"{who}: expected dtype {y.dtype}, got {g.dtype}; cast it")
    if g.shape == ():
        return _core.broadcast_to(g, y.shape)
    if g.shape != y.shape:
        shapes = f"{y.shape} or ()" if y.shape else "()"
        raise ValueError(f"{who}: expected shape {shapes}, got {g.shape}")
    return g


def stop_gradient(x: TensorLike, /) -> Tensor:
    """Return `x` as a constant.

    No gradient passes. A source that is reached only through the result counts as unconnected: its
    gradient is None.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.

    Returns
    -------
    Tensor
        Shape, dtype and values of `x`.

    Raises
    ------
    TypeError
        If `x` cannot be converted to a tensor.

    See Also
    --------
    scale_gradient, prevent_gradient

    Examples
    --------
    >>> x = pb.Variable(3.0)
    >>> pb.gradients(x * pb.stop_gradient(x), x)
    [Tensor(3., dtype=float32)]
    >>> pb.gradients(pb.stop_gradient(x), x)
    [None]
    """
    return _core.stop_gradient(x)


def identity(x: TensorLike, /) -> Tensor:
    """Return a new tensor with the values of `x`.

    The gradient passes unchanged. The operation serves as a place for `gradient_override_map`. For
    the identity matrix see `eye`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype, but not a Python integer.

    Returns
    -------
    Tensor
        Shape, dtype and values of `x`.

    Raises
    ------
    TypeError
        If `x` is a Python integer or cannot be converted to a tensor.

    Examples
    --------
    >>> x = pb.Variable(3.0)
    >>> with pb.gradient_override_map({"identity": lambda op, g: -g}):
    ...     y = pb.identity(x)
    >>> pb.gradients(y, x)
    [Tensor(-1., dtype=float32)]
    """
    if isinstance(x, int) and not isinstance(x, bool):
        raise TypeError(
            f"identity: expected a tensor or an array for x, got {x}; for the identity matrix use "
            f"eye({x})"
        )
    return _core.identity(x)


def register_gradient(name: Any, replace: bool = False) -> Callable[[F], F]:
    """Return a decorator that registers a gradient rule under a name.

    The rule is a function `f(op, *cotangents)`. The attributes of `op` are `type`, `inputs` and
    `outputs`. The function returns one gradient for each input: a tensor of its dtype and shape, a
    number, or None.

    Parameters
    ----------
    name : str or function
        Name that overrides refer to. If it is an operation, given as in `gradient_override_map`,
        the rule replaces the one of the operation everywhere.
    replace : bool, optional
        If True, replace the rule that the name has already. Default: False.

    Returns
    -------
    callable
        Decorator that returns its argument.

    Raises
    ------
    TypeError
        If `name` is neither a string nor a public function, `replace` is not a bool, or the
        decorated object is not callable.
    ValueError
        If `name` is empty, or an operation whose results are integers or bool.
    KeyError
        If `name` has a rule already, as every operation has, and `replace` is False.
    LookupError
        If `name` is a public function that is not an operation with a gradient, or the name of
        several functions.

    See Also
    --------
    gradient_override_map

    Examples
    --------
    >>> @pb.register_gradient("window")
    ... def window(op, g):
    ...     return pb.where(pb.abs(op.inputs[0]) <= 1, g, 0)
    >>> x = pb.Variable([-2.0, 0.5])
    >>> with pb.gradient_override_map({"sign": "window"}):
    ...     y = pb.sign(x)
    >>> pb.gradients(y, x)
    [Tensor([0., 1.], dtype=float32)]
    """
    if name == "":
        raise ValueError("register_gradient: expected a non-empty string for name, got ''")
    replace = flag(replace, "register_gradient", "replace")
    known = operation(name, "register_gradient")
    if known is not None and not replace:
        shown = name if isinstance(name, str) else known
        raise KeyError(
            f"register_gradient: {shown!r} is an operation with a gradient of its own; "
            "pass replace=True to change it everywhere, or override it with gradient_override_map"
        )
    key = known or name

    def register(fn: F) -> F:
        _core.register_rule(key, op_rule(fn, f"register_gradient: {key!r}"), replace)
        registered.add(key)
        return fn

    return register


def gradient_override_map(overrides: Mapping[Any, Any]) -> AbstractContextManager[None]:
    """Return a context manager that gives the operations created inside other gradient rules.

    The rules apply wherever the gradient is requested later: in `gradients`, tapes, `grad` and
    `function`, and in higher orders. Inner maps take precedence over outer ones. The rule of a
    function of several operations, such as `pb.std`, replaces its whole gradient.

    The map belongs to the context (`contextvars`), as a tape does. Other asyncio tasks and threads
    are not affected, but the caller of a generator that is suspended inside the block is.

    Parameters
    ----------
    overrides : mapping
        Dict {operation: rule}. An operation is given by its public function or by its name
        (`pb.sign` or "sign", "std", "matmul"; the operator `+` is "add"). Functions that share a
        name, such as `pb.trace` and `pb.linalg.trace`, are given as functions. A rule is a function
        `f(op, *cotangents)` as in `register_gradient`, or a registered name.

    Returns
    -------
    context manager
        All entries are checked before it is returned.

    Raises
    ------
    TypeError
        If `overrides` is not a mapping, if a key is not an operation, or if a rule is not callable.
    ValueError
        If the results of an operation are integers or bool, so that it has no gradient.
    LookupError
        If a name is unknown, and the message lists similar names, or the name of several functions.

    See Also
    --------
    register_gradient, custom_gradient

    Examples
    --------
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
