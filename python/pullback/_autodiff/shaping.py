"""Gradients shaped on their way back: the value of a tensor stays, its gradient becomes another.

Each is a node with the value of one computation and a rule of its own, built with the same
operations as everything else, so it holds in every mode and second derivatives follow the rule.
For many tensors at once, map over them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Literal, ParamSpec, TypeVar

import numpy as np

from .. import _core
from .._base.checks import floating
from .._base.pytree import flatten, leaf_paths, leaves_like, unflatten
from .._core import Rule, Tensor, Variable
from .._typing import TensorLike
from .clipping import clip_by_norm
from .rules import as_cotangents, place

__all__ = [
    "clip_gradient",
    "grad_pass_through",
    "prevent_gradient",
    "reverse_gradient",
    "scale_gradient",
    "straight_through",
    "with_gradient",
    "zero_gradient_where",
]

P = ParamSpec("P")
R = TypeVar("R")


def with_gradient(x: TensorLike, rule: Callable[[Tensor], Any]) -> Tensor:
    """The values of x; its gradient is what rule(upstream) makes of the one that arrives.

    upstream: the gradient of this tensor, of its dtype and shape. rule returns the gradient of x: a
        tensor of the same dtype and shape, a number, or None for no gradient.

    A hook for one tensor. A rule that needs more than the upstream gradient uses what it closes
    over; a `custom_gradient` has several arguments.

    Raises TypeError where x is no float tensor and where the rule cannot be called; when a gradient
    passes, ValueError and TypeError for an answer of another shape and dtype, naming the rule.

    >>> x = pb.Variable([1.0, 2.0])
    >>> y = pb.with_gradient(x * 3, lambda upstream: upstream / pb.max(pb.abs(upstream)))
    >>> pb.gradients(y * [10.0, 40.0], x)
    [Tensor([0.75, 3.  ], dtype=float32)]
    """
    if not callable(rule):
        raise TypeError(f"with_gradient: expected a function of the gradient, got {rule!r}")
    return _shaped(floating(x, "with_gradient", "fc"), rule, f"with_gradient: {place(rule)}")


def reverse_gradient(x: TensorLike, scale: TensorLike = 1) -> Tensor:
    """The values of x; the gradient is multiplied by -scale.

    scale: a number or a tensor that broadcasts to x, which is not differentiated.

    What lies before it learns to make worse what lies behind it learns to make better. Source:
    Ganin et al., Domain-adversarial training of neural networks, 2016.

    Raises TypeError where x is no float tensor, ValueError for a scale of another shape.

    >>> x = pb.Variable(3.0)
    >>> pb.gradients(pb.reverse_gradient(x, 0.5) * 4, x)
    [Tensor(-2., dtype=float32)]
    """
    x = floating(x, "reverse_gradient", "fc")
    factor = -_fitting(scale, x, "reverse_gradient: scale")
    return _shaped(x, lambda upstream: upstream * factor, "reverse_gradient")


def scale_gradient(x: TensorLike, scale: TensorLike) -> Tensor:
    """The values of x; the gradient is multiplied by scale.

    scale: a number or a tensor that broadcasts to x, which is not differentiated. 0 gives zeros
        where `stop_gradient` gives None.

    Raises TypeError where x is no float tensor, ValueError for a scale of another shape.

    >>> x = pb.Variable(3.0)
    >>> pb.gradients(pb.scale_gradient(x, 0.1) * 4, x)
    [Tensor(0.4, dtype=float32)]
    """
    x = floating(x, "scale_gradient", "fc")
    factor = _fitting(scale, x, "scale_gradient: scale")
    return _shaped(x, lambda upstream: upstream * factor, "scale_gradient")


def clip_gradient(
    x: TensorLike, limit: TensorLike, by: Literal["value", "norm"] = "value"
) -> Tensor:
    """The values of x; the gradient is clipped.

    limit: by="value" takes a number or a tensor that broadcasts to x, and brings each entry to
        -limit … limit; by="norm" takes a scalar, and scales the gradient down to this Euclidean
        norm where it is longer. An infinite limit clips nothing; a tensor that is negative counts
        as 0. It is not differentiated.

    Raises TypeError where x is no float tensor, ValueError for a number or an array as limit that
    is negative or NaN (a tensor is not looked at), for another shape, and for another `by`.

    >>> x = pb.Variable([3.0, 4.0])
    >>> pb.gradients(pb.clip_gradient(x, 1.0) * [0.5, -9.0], x)
    [Tensor([ 0.5, -1. ], dtype=float32)]
    >>> pb.gradients(pb.clip_gradient(x, 1.0, by="norm") * [3.0, 4.0], x)
    [Tensor([0.6, 0.8], dtype=float32)]
    """
    if by not in ("value", "norm"):
        raise ValueError(f"clip_gradient: by is 'value' or 'norm', got {_core.shown(by)}")
    x = floating(x, "clip_gradient")
    bound = _core.maximum(_fitting(limit, x, "clip_gradient: limit"), 0)
    if isinstance(limit, (int, float, np.ndarray, np.generic)) and not np.all(
        np.asarray(limit) >= 0
    ):
        raise ValueError(f"clip_gradient: a limit is at least 0, got {_core.shown(limit)}")
    if by == "value":
        return _shaped(x, lambda upstream: _core.clip(upstream, -bound, bound), "clip_gradient")
    if bound.shape != ():
        raise ValueError(f"clip_gradient: limit has shape {bound.shape}; expected a scalar")
    return _shaped(x, lambda upstream: clip_by_norm(upstream, bound), "clip_gradient")


def zero_gradient_where(mask: TensorLike, x: TensorLike) -> Tensor:
    """The values of x; its gradient is 0 where the mask holds, whatever arrives there.

    mask: booleans that broadcast to x.

    Raises TypeError where x is no float tensor or the mask no booleans, ValueError where the mask
    does not broadcast to x.

    >>> x = pb.Variable([1.0, 2.0, 3.0])
    >>> pb.gradients(pb.zero_gradient_where(x > 2.5, x) * 4, x)
    [Tensor([4., 4., 0.], dtype=float32)]
    """
    x = floating(x, "zero_gradient_where", "fc")
    held = _core.constant(mask, who="zero_gradient_where: mask")
    if held.dtype.kind != "b":
        raise TypeError(f"zero_gradient_where: mask: expected booleans, got {held.dtype}")
    _check_fits(held, x, "zero_gradient_where: mask")
    return _shaped(x, lambda upstream: _core.where(held, 0, upstream), "zero_gradient_where")


def prevent_gradient(x: TensorLike, message: str = "") -> Tensor:
    """The values of x; a gradient that would pass is a LookupError with the message.

    For what must not be differentiated by mistake: `stop_gradient` would say nothing, and pass
    none. A gradient that does not reach it raises nothing.

    >>> x = pb.Variable(3.0)
    >>> y = pb.prevent_gradient(x, "targets are data") * 2
    >>> pb.gradients(y, x)
    Traceback (most recent call last):
    LookupError: prevent_gradient: targets are data
    """
    if not isinstance(message, str):
        raise TypeError(f"prevent_gradient: message: expected a text, got {_core.shown(message)}")
    text = f"prevent_gradient: {message or 'no gradient may pass here'}"

    def refuse(upstream: Tensor) -> Any:
        raise LookupError(text)

    return _shaped(floating(x, "prevent_gradient", "fc"), refuse, "prevent_gradient")


def straight_through(f: Callable[P, R], g: Callable[P, Any] | None = None) -> Callable[P, R]:
    """A function with the values of f and the gradients of g, by default those of the identity.

    f and g take the same arguments and return the same structure of tensors, equal in shapes and
    dtypes; without g each tensor of the result passes its gradient to the tensor in its place
    among the positional arguments.
    g is computed only where its gradient needs it. Variables get the gradients that g gives them.

    Raises TypeError for what cannot be called, and ValueError or TypeError when it is called and
    the results of f and g differ in structure, shape or dtype.

    Source of the estimator: Bengio, Léonard and Courville, Estimating or propagating gradients
    through stochastic neurons, 2013.

    >>> x = pb.Variable([-1.2, 0.4, 2.6])
    >>> pb.straight_through(pb.round)(x)
    Tensor([-1.,  0.,  3.], dtype=float32)
    >>> pb.gradients(pb.straight_through(pb.round)(x), x)
    [Tensor([1., 1., 1.], dtype=float32)]
    >>> pb.gradients(pb.straight_through(pb.sign, lambda x: pb.clip(x, -1, 1))(x), x)
    [Tensor([0., 1., 0.], dtype=float32)]
    """
    for h in (f, g):
        if h is not None and not callable(h):
            raise TypeError(f"straight_through: expected a function, got {h!r}")
    return _with_gradients_of(f, g, "straight_through")


def grad_pass_through(f: Callable[P, R]) -> Callable[P, R]:
    """A function with the values of f whose gradient is that of the identity.

    `straight_through(f)`, under TensorFlow's name: each tensor of the result passes its gradient to
    the tensor in its place among the positional arguments; variables that f reads get none.

    >>> x = pb.Variable([1.2, 2.7])
    >>> pb.gradients(pb.grad_pass_through(pb.floor)(x), x)
    [Tensor([1., 1.], dtype=float32)]
    """
    if not callable(f):
        raise TypeError(f"grad_pass_through: expected a function, got {f!r}")
    return _with_gradients_of(f, None, "grad_pass_through")


def _with_gradients_of(f: Callable[P, R], g: Callable[P, Any] | None, who: str) -> Callable[P, R]:
    @wraps(f)
    def call(*args: P.args, **kwargs: P.kwargs) -> Any:
        result = f(*args, **kwargs)
        leaves, structure = flatten(result)
        paths = leaf_paths(result)
        said = f"{who}: {place(f if g is None else g)}"
        if g is None:
            others = _tensors_among(args, len(leaves))
            if len(others) != len(leaves):
                raise ValueError(
                    f"{who}: {place(f)} returned {len(leaves)} tensors for {len(others)} among its "
                    "positional arguments; each passes its gradient to one of them"
                )
        else:
            others = leaves_like(result, g(*args, **kwargs), said)
        under = [_core.constant(x, who=said) for x in others]
        triples = zip(leaves, under, paths, strict=True)
        said = f"{who}: {place(f)}"
        return unflatten(structure, [_value_over(y, x, said, path) for y, x, path in triples])

    return call


def _tensors_among(args: tuple[Any, ...], count: int) -> list[Any]:
    """The arguments that results pass their gradients to: float tensors and variables; where these
    are too few, with numbers (which are tensors inside of a `function`), then with arrays."""
    found: list[Any] = []
    leaves = [x for x in flatten(args)[0] if isinstance(x, float) or _dtype_kind(x) == "f"]
    for rank in range(3):
        found = [x for x in leaves if _rank(x) <= rank]
        if len(found) >= count:
            break
    return found


def _dtype_kind(x: Any) -> str:
    return x.dtype.kind if isinstance(x, (Tensor, Variable, np.ndarray, np.generic)) else ""


def _rank(x: Any) -> int:
    if isinstance(x, (Tensor, Variable)):
        return 1 if _core.is_number(x) else 0
    return 1 if isinstance(x, (float, np.generic)) else 2


def _value_over(value: Any, x: Tensor, who: str, path: str) -> Tensor:
    """The value of the one, with the gradient to the other."""
    who = f"{who}: result {path}" if path else who
    y = _core.stop_gradient(_core.constant(value, who=who))
    if x.dtype != y.dtype:
        raise TypeError(f"{who} is {y.dtype}, and what has its gradient {x.dtype}; cast it")
    if x.shape != y.shape:
        raise ValueError(f"{who} has shape {y.shape}, and what has its gradient {x.shape}")
    return _custom(y, x, lambda upstream: upstream, who)


def _shaped(x: Tensor, rule: Callable[[Tensor], Any], name: str) -> Tensor:
    return _custom(x, x, rule, name)


def _custom(value: Tensor, x: Tensor, rule: Callable[[Tensor], Any], name: str) -> Tensor:
    def apply(op: str, inputs: list[Any], outputs: list[Any], cotangents: list[Any]) -> list[Any]:
        return as_cotangents([rule(cotangents[0])], inputs)

    return _core.custom([value], [x], Rule(apply, name))[0]


def _fitting(value: Any, x: Tensor, who: str) -> Tensor:
    """A number or a tensor that belongs to the gradient of x, as a constant of its dtype."""
    if x.dtype.kind != "c" and _core.constant(value, who=who).dtype.kind == "c":
        raise TypeError(f"{who} is complex, and what has the gradient is {x.dtype}")
    tensor = _core.stop_gradient(_core.constant(value, x.dtype, who))
    _check_fits(tensor, x, who)
    return tensor


def _check_fits(tensor: Tensor, x: Tensor, who: str) -> None:
    try:
        fits = np.broadcast_shapes(tensor.shape, x.shape) == x.shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"{who} has shape {tensor.shape}; it does not broadcast to {x.shape}")
