"""Functions that keep the value of a tensor and change its gradient.

Each creates a node with the value of one computation and a rule of its own, built from ordinary
operations. So it works in every mode, and second derivatives follow the rule. `_custom` creates the
node.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Literal, ParamSpec, TypeVar

import numpy as np

from .. import _core
from .._base.checks import broadcasts_to, counted, floating
from .._base.domains import NON_NEGATIVE, check_domain
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
    """Return `x` with a gradient that `rule` computes from the upstream gradient.

    It is a hook for one tensor. A rule with several arguments is a `custom_gradient`.

    Parameters
    ----------
    x : array_like
        Input of any shape and a real or complex floating dtype.
    rule : callable
        Function `rule(upstream)`. `upstream` is the gradient of the result, a Tensor of its shape
        and dtype. It returns the gradient of `x`: a tensor of the same shape and dtype, a number,
        or None for no gradient.

    Returns
    -------
    Tensor
        Shape, dtype and values of `x`.

    Raises
    ------
    TypeError
        If `x` is not floating or `rule` is not callable. When a gradient passes: if the rule
        returns another dtype.
    ValueError
        When a gradient passes: if the rule returns another shape. The message names the rule.

    See Also
    --------
    custom_gradient, clip_gradient, scale_gradient

    Examples
    --------
    >>> x = pb.Variable([1.0, 2.0])
    >>> y = pb.with_gradient(x * 3, lambda upstream: upstream / pb.max(pb.abs(upstream)))
    >>> pb.gradients(y * [10.0, 40.0], x)
    [Tensor([0.75, 3.  ], dtype=float32)]
    """
    if not callable(rule):
        raise TypeError(f"with_gradient: expected a function for rule, got {_core.shown(rule)}")
    return _identity_with_rule(
        floating(x, "with_gradient", "fc"), rule, f"with_gradient: {place(rule)}"
    )


def reverse_gradient(x: TensorLike, scale: TensorLike = 1) -> Tensor:
    """Return `x` with a gradient that is multiplied by `-scale`.

    It is the gradient reversal layer of [1]_: parameters before it are trained against the
    objective of the parameters after it.

    Parameters
    ----------
    x : array_like
        Input of any shape and a real or complex floating dtype.
    scale : array_like, optional
        Factor whose shape broadcasts to `x`. It is not differentiated. Default: 1.

    Returns
    -------
    Tensor
        Shape, dtype and values of `x`.

    Raises
    ------
    TypeError
        If `x` is not floating, or if `scale` is complex and `x` is real.
    ValueError
        If `scale` does not broadcast to the shape of `x`.

    See Also
    --------
    scale_gradient

    References
    ----------
    .. [1] Y. Ganin et al., "Domain-adversarial training of neural networks", JMLR 17, 2016.

    Examples
    --------
    >>> x = pb.Variable(3.0)
    >>> pb.gradients(pb.reverse_gradient(x, 0.5) * 4, x)
    [Tensor(-2., dtype=float32)]
    """
    x = floating(x, "reverse_gradient", "fc")
    factor = -_operand_for(scale, x, "reverse_gradient: scale")
    return _identity_with_rule(x, lambda upstream: upstream * factor, "reverse_gradient")


def scale_gradient(x: TensorLike, scale: TensorLike) -> Tensor:
    """Return `x` with a gradient that is multiplied by `scale`.

    A scale of 0 gives a gradient of zeros, while `stop_gradient` gives None.

    Parameters
    ----------
    x : array_like
        Input of any shape and a real or complex floating dtype.
    scale : array_like
        Factor whose shape broadcasts to `x`. It is not differentiated.

    Returns
    -------
    Tensor
        Shape, dtype and values of `x`.

    Raises
    ------
    TypeError
        If `x` is not floating, or if `scale` is complex and `x` is real.
    ValueError
        If `scale` does not broadcast to the shape of `x`.

    See Also
    --------
    reverse_gradient, clip_gradient

    Examples
    --------
    >>> x = pb.Variable(3.0)
    >>> pb.gradients(pb.scale_gradient(x, 0.1) * 4, x)
    [Tensor(0.4, dtype=float32)]
    """
    x = floating(x, "scale_gradient", "fc")
    factor = _operand_for(scale, x, "scale_gradient: scale")
    return _identity_with_rule(x, lambda upstream: upstream * factor, "scale_gradient")


def clip_gradient(
    x: TensorLike, limit: TensorLike, by: Literal["value", "norm"] = "value"
) -> Tensor:
    """Return `x` with a gradient that is clipped.

    Parameters
    ----------
    x : array_like, real
        Input of any shape and a floating dtype.
    limit : array_like, real
        Bound, at least 0. For "value" its shape broadcasts to `x`; for "norm" it has shape ().
        Infinity clips nothing. A negative tensor counts as 0, because its value is not evaluated.
        It is not differentiated.
    by : {"value", "norm"}, optional
        "value" clips each entry to the interval from `-limit` to `limit`. "norm" scales the
        gradient down to the Euclidean norm `limit` if it exceeds that. Default: "value".

    Returns
    -------
    Tensor
        Shape, dtype and values of `x`.

    Raises
    ------
    TypeError
        If `x` is not real and floating.
    ValueError
        If `limit` is a number or an array that is negative or NaN, if it has an invalid shape, or
        if `by` is invalid.

    See Also
    --------
    clip_by_norm, scale_gradient

    Examples
    --------
    >>> x = pb.Variable([3.0, 4.0])
    >>> pb.gradients(pb.clip_gradient(x, 1.0) * [0.5, -9.0], x)
    [Tensor([ 0.5, -1. ], dtype=float32)]
    >>> pb.gradients(pb.clip_gradient(x, 1.0, by="norm") * [3.0, 4.0], x)
    [Tensor([0.6, 0.8], dtype=float32)]
    """
    if by not in ("value", "norm"):
        raise ValueError(f"clip_gradient: by must be one of 'value', 'norm'; got {_core.shown(by)}")
    x = floating(x, "clip_gradient")
    bound = _core.maximum(_operand_for(limit, x, "clip_gradient: limit"), 0)
    check_domain(limit, NON_NEGATIVE, "clip_gradient", "limit")
    if by == "value":
        return _identity_with_rule(
            x, lambda upstream: _core.clip(upstream, -bound, bound), "clip_gradient"
        )
    if bound.shape != ():
        raise ValueError(f"clip_gradient: expected shape () for limit, got {bound.shape}")
    return _identity_with_rule(x, lambda upstream: clip_by_norm(upstream, bound), "clip_gradient")


def zero_gradient_where(mask: TensorLike, x: TensorLike) -> Tensor:
    """Return `x` with a gradient that is 0 where `mask` is True.

    The gradient is 0 there for any upstream gradient, including NaN and infinity.

    Parameters
    ----------
    mask : array_like, bool
        Mask whose shape broadcasts to `x`.
    x : array_like
        Input of any shape and a real or complex floating dtype.

    Returns
    -------
    Tensor
        Shape, dtype and values of `x`.

    Raises
    ------
    TypeError
        If `x` is not floating or `mask` is not of dtype bool.
    ValueError
        If `mask` does not broadcast to the shape of `x`.

    See Also
    --------
    where, scale_gradient

    Examples
    --------
    >>> x = pb.Variable([1.0, 2.0, 3.0])
    >>> pb.gradients(pb.zero_gradient_where(x > 2.5, x) * 4, x)
    [Tensor([4., 4., 0.], dtype=float32)]
    """
    x = floating(x, "zero_gradient_where", "fc")
    zeroed = _core.constant(mask, who="zero_gradient_where: mask")
    if zeroed.dtype.kind != "b":
        raise TypeError(f"zero_gradient_where: expected dtype bool for mask, got {zeroed.dtype}")
    _check_fits(zeroed, x, "zero_gradient_where: mask")
    return _identity_with_rule(
        x, lambda upstream: _core.where(zeroed, 0, upstream), "zero_gradient_where"
    )


def prevent_gradient(x: TensorLike, message: str = "") -> Tensor:
    """Return `x` with a gradient that raises an error.

    Use it for values that must not be differentiated by mistake. `stop_gradient` passes no
    gradient, but raises nothing. A gradient that does not reach the result raises no error.

    Parameters
    ----------
    x : array_like
        Input of any shape and a real or complex floating dtype.
    message : str, optional
        Text of the error. Default: a general text.

    Returns
    -------
    Tensor
        Shape, dtype and values of `x`.

    Raises
    ------
    TypeError
        If `x` is not floating or `message` is not a string.
    LookupError
        When a gradient passes, with `message`.

    See Also
    --------
    stop_gradient

    Examples
    --------
    >>> x = pb.Variable(3.0)
    >>> y = pb.prevent_gradient(x, "targets are data") * 2
    >>> pb.gradients(y, x)
    Traceback (most recent call last):
    LookupError: prevent_gradient: targets are data
    """
    if not isinstance(message, str):
        raise TypeError(
            f"prevent_gradient: expected a string for message, got {_core.shown(message)}"
        )
    text = f"prevent_gradient: {message or 'no gradient may pass here'}"

    def refuse(upstream: Tensor) -> Any:
        raise LookupError(text)

    return _identity_with_rule(floating(x, "prevent_gradient", "fc"), refuse, "prevent_gradient")


def straight_through(f: Callable[P, R], g: Callable[P, Any] | None = None) -> Callable[P, R]:
    """Return a function with the values of `f` and the gradients of `g`.

    Without `g` the gradient is that of the identity: each tensor of the result passes its gradient
    to the tensor at the same position among the positional arguments. With `g`, variables receive
    the gradients of `g`, which is evaluated only if its gradient needs it. This is the
    straight-through estimator of [1]_.

    Parameters
    ----------
    f : callable
        Function that returns a Tensor or a pytree of Tensors.
    g : callable, optional
        Function of the same arguments. Its result has the structure, shapes and dtypes of the
        result of `f`. Default: the identity.

    Returns
    -------
    callable
        Function with the arguments and the result of `f`.

    Raises
    ------
    TypeError
        If `f` or `g` is not callable. At the call: if the results of `f` and `g` differ in dtype.
    ValueError
        At the call: if the results of `f` and `g` differ in structure or shape. Without `g`: if the
        result does not have one tensor for each tensor among the positional arguments.

    See Also
    --------
    grad_pass_through, custom_gradient

    References
    ----------
    .. [1] Y. Bengio, N. Léonard, A. Courville, "Estimating or propagating gradients through
       stochastic neurons for conditional computation", arXiv:1308.3432, 2013.

    Examples
    --------
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
            raise TypeError(f"straight_through: expected a function, got {_core.shown(h)}")
    return _with_gradients_of(f, g, "straight_through")


def grad_pass_through(f: Callable[P, R]) -> Callable[P, R]:
    """Return a function with the values of `f` and the gradient of the identity.

    This is `straight_through(f)` under TensorFlow's name. Each tensor of the result passes its
    gradient to the tensor at the same position among the positional arguments. Variables that `f`
    reads receive none.

    Parameters
    ----------
    f : callable
        Function that returns a Tensor or a pytree of Tensors.

    Returns
    -------
    callable
        Function with the arguments and the result of `f`.

    Raises
    ------
    TypeError
        If `f` is not callable. At the call: if a result and its argument differ in dtype.
    ValueError
        At the call: if a result and its argument differ in shape, or if the result does not have
        one tensor for each tensor among the positional arguments.

    See Also
    --------
    straight_through

    Examples
    --------
    >>> x = pb.Variable([1.2, 2.7])
    >>> pb.gradients(pb.grad_pass_through(pb.floor)(x), x)
    [Tensor([1., 1.], dtype=float32)]
    """
    if not callable(f):
        raise TypeError(f"grad_pass_through: expected a function for f, got {_core.shown(f)}")
    return _with_gradients_of(f, None, "grad_pass_through")


def _with_gradients_of(f: Callable[P, R], g: Callable[P, Any] | None, who: str) -> Callable[P, R]:
    @wraps(f)
    def call(*args: P.args, **kwargs: P.kwargs) -> Any:
        result = f(*args, **kwargs)
        leaves, structure = flatten(result)
        paths = leaf_paths(result)
        source = f"{who}: {place(f if g is None else g)}"
        if g is None:
            others = _tensors_among(args, len(leaves))
            if len(others) != len(leaves):
                raise ValueError(
                    f"{who}: expected {counted(len(others), 'result')} from {place(f)}, one for "
                    f"each tensor among its positional arguments, got {len(leaves)}"
                )
        else:
            others = leaves_like(result, g(*args, **kwargs), source)
        receivers = [_core.constant(x, who=source) for x in others]
        triples = zip(leaves, receivers, paths, strict=True)
        source = f"{who}: {place(f)}"
        return unflatten(
            structure, [_redirect_gradient(y, x, source, path) for y, x, path in triples]
        )

    return call


def _tensors_among(args: tuple[Any, ...], count: int) -> list[Any]:
    """Return the arguments that the results pass their gradients to.

    These are floating tensors and variables. If they are too few, numbers are included (which are
    tensors inside a `function`), then arrays.
    """
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


def _redirect_gradient(value: Any, x: Tensor, who: str, path: str) -> Tensor:
    """Return a node with the value of one tensor that passes its gradient to the other."""
    who = f"{who}: result {path}" if path else who
    y = _core.stop_gradient(_core.constant(value, who=who))
    if x.dtype != y.dtype:
        raise TypeError(
            f"{who}: expected dtype {x.dtype}, that of the gradient, got {y.dtype}; cast it"
        )
    if x.shape != y.shape:
        raise ValueError(f"{who}: expected shape {x.shape}, that of the gradient, got {y.shape}")
    return _value_with_rule(y, x, lambda upstream: upstream, who)


def _identity_with_rule(x: Tensor, rule: Callable[[Tensor], Any], name: str) -> Tensor:
    return _value_with_rule(x, x, rule, name)


def _value_with_rule(value: Tensor, x: Tensor, rule: Callable[[Tensor], Any], name: str) -> Tensor:
    def apply(op: str, inputs: list[Any], outputs: list[Any], cotangents: list[Any]) -> list[Any]:
        return as_cotangents([rule(cotangents[0])], inputs)

    return _core.custom([value], [x], Rule(apply, name))[0]


def _operand_for(value: Any, x: Tensor, who: str) -> Tensor:
    """Return an operand for the gradient of `x` as a constant of its dtype."""
    if x.dtype.kind != "c" and _core.constant(value, who=who).dtype.kind == "c":
        raise TypeError(
            f"{who}: expected a real dtype for a gradient of {x.dtype}, got a complex one"
        )
    tensor = _core.stop_gradient(_core.constant(value, x.dtype, who))
    _check_fits(tensor, x, who)
    return tensor


def _check_fits(tensor: Tensor, x: Tensor, who: str) -> None:
    if not broadcasts_to(tensor.shape, x.shape):
        raise ValueError(
            f"{who}: expected a shape that broadcasts to {x.shape}, got {tensor.shape}"
        )
