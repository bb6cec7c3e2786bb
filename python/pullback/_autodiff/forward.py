"""Forward mode: directional derivatives.

`tangents` is the forward-mode counterpart of `gradients`. `jvp` and `linearize` return the
derivative of a function as a linear map of tangents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

from .. import _core
from .._base.pytree import flatten, leaves_like
from .._core import Tensor
from .._typing import Gradient, Key, NamedTupleLike, R, Source, Unconnected
from .gradients import seed, seed_list, wants_zeros, with_zeros
from .recorded_call import RecordedCall, check_count, like, may_move
from .rules import rule_map

__all__ = ["jvp", "linearize", "tangents"]

_PLACEHOLDER = "a placeholder tangent"


@overload
def tangents(
    ys: NamedTupleLike,
    xs: Any,
    xs_tangents: Any = None,
    *,
    stop_gradients: Any = None,
    unconnected_gradients: Unconnected = "none",
    overrides: Mapping[Any, Any] | None = None,
) -> Any: ...
@overload
def tangents(
    ys: Source | Sequence[Source],
    xs: Any,
    xs_tangents: Any = None,
    *,
    stop_gradients: Any = None,
    unconnected_gradients: Unconnected = "none",
    overrides: Mapping[Any, Any] | None = None,
) -> list[Gradient]: ...
@overload
def tangents(
    ys: Mapping[Key, Source],
    xs: Any,
    xs_tangents: Any = None,
    *,
    stop_gradients: Any = None,
    unconnected_gradients: Unconnected = "none",
    overrides: Mapping[Any, Any] | None = None,
) -> dict[Key, Gradient]: ...
@overload
def tangents(
    ys: Any,
    xs: Any,
    xs_tangents: Any = None,
    *,
    stop_gradients: Any = None,
    unconnected_gradients: Unconnected = "none",
    overrides: Mapping[Any, Any] | None = None,
) -> Any: ...
def tangents(
    ys: Any,
    xs: Any,
    xs_tangents: Any = None,
    *,
    stop_gradients: Any = None,
    unconnected_gradients: Unconnected = "none",
    overrides: Mapping[Any, Any] | None = None,
) -> Any:
    """Compute the directional derivatives of `ys` along tangents of `xs` in forward mode.

    This is the counterpart of `gradients`: for any weights `g`, the sum of `g * tangents(ys, xs,
    t)` equals the sum of `t * gradients(ys, xs, g)`. The identity also holds for custom and
    overridden gradients, whose rules are transposed. The results are differentiable again, in both
    modes.

    Parameters
    ----------
    ys : Tensor, Variable or pytree of them
        Targets.
    xs : Tensor, Variable or pytree of them
        Sources. A variable stands for all of its reads.
    xs_tangents : pytree of array_like, optional
        Tangents in the structure of `xs`, each of the dtype and shape of its source. A number
        counts for all elements, and None for ones. Default: ones.
    stop_gradients : Tensor, Variable or pytree of them, optional
        Tensors that count as constants, for all sources except themselves.
    unconnected_gradients : {"none", "zero"}, optional
        Result for a target that has no differentiable path to a source: None, or zeros. Default:
        "none".
    overrides : mapping, optional
        Gradient rules by operation, as in `gradients`.

    Returns
    -------
    list of Tensor or None
        One tangent of the dtype and shape of each target. If `ys` is a dict, a dataclass or a
        pytree of several levels, the tangents have its structure.

    Raises
    ------
    TypeError
        If an entry of `ys`, `xs` or `stop_gradients` is not a tensor, or if a tangent has another
        dtype than its source.
    ValueError
        If a tangent has another shape or structure, if a source is not tracked, or if
        `unconnected_gradients` is invalid.
    LookupError
        If `overrides` contains an unknown name.

    See Also
    --------
    gradients, jvp

    Examples
    --------
    >>> x = pb.Variable([1.0, 2.0, 3.0])
    >>> y = x * x
    >>> pb.tangents([y, pb.sum(y)], [x], [[1.0, 0.0, 2.0]])
    [Tensor([ 2.,  0., 12.], dtype=float32), Tensor(14., dtype=float32)]
    >>> pb.tangents(y, x, stop_gradients=[y])
    [None]
    """
    zeros = unconnected_gradients != "none" and wants_zeros(unconnected_gradients, "tangents")
    seeds = None
    if xs_tangents is not None:
        sources = _core.tensors_of(xs, "tangents", "xs")
        seeds = seed_list(xs_tangents, xs, sources, "tangents: xs_tangents")
    rules = None if overrides is None else rule_map(overrides, "tangents: overrides")
    return _core.checked_tangents(ys, xs, seeds, stop_gradients, rules, zeros)


@overload
def jvp(
    f: Callable[..., Tensor], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Tensor, Gradient]: ...
@overload
def jvp(f: Callable[..., R], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[R, Any]: ...
def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """Compute the value of `f` and its directional derivative in forward mode.

    The tangent is the product of the Jacobian with `tangents`. It costs about as much as two
    evaluations of `f`, independent of the number of arguments. The results are differentiable
    again, as those of `value_and_grad`.

    Parameters
    ----------
    f : callable
        Function of one argument for each primal that returns a Tensor or a pytree of Tensors.
    primals : tuple or list
        Arguments of `f`: tensors, variables, arrays, numbers or pytrees of them. A Python or NumPy
        integer counts as a float.
    tangents : tuple or list
        One tangent for each primal in its structure. Each leaf has the dtype and shape of its
        primal, or is a number that counts for all elements, or None if the primal does not move. A
        leaf that is not floating takes None.

    Returns
    -------
    value : Tensor or pytree of Tensor
        Result of `f`.
    tangent : Tensor or pytree of Tensor
        Derivative of `value` along `tangents`, with its structure, shapes and dtypes. It is zero if
        `value` does not depend on a primal that moves, and None for a leaf that is not floating.

    Raises
    ------
    TypeError
        If `f` is not callable, if `primals` or `tangents` is not a tuple or list, if `f` returns
        something else than tensors, or if a tangent has another dtype or belongs to a leaf that is
        not floating.
    ValueError
        If a tangent has another shape or structure than its primal.

    See Also
    --------
    vjp, linearize, tangents

    Examples
    --------
    >>> f = lambda x, y: pb.sin(x) * y
    >>> value, tangent = pb.jvp(f, (0.0, 3.0), (1.0, 0.5))
    >>> float(value), float(tangent)
    (0.0, 3.0)
    >>> curvature = pb.jvp(lambda x: pb.jvp(lambda x: x**3, (x,), (1.0,))[1], (2.0,), (1.0,))[1]
    >>> float(curvature)
    12.0
    """
    recorded = RecordedCall(f, primals, "jvp", tangents)
    value = recorded.call()
    ys = recorded.results(value)
    found = with_zeros(_core.tangents(ys, recorded.xs, recorded.tangents), ys)
    recorded.close([*ys, *found])
    return value, like(value, found)


@overload
def linearize(
    f: Callable[..., Tensor], *primals: Any
) -> tuple[Tensor, Callable[..., Gradient]]: ...
@overload
def linearize(f: Callable[..., R], *primals: Any) -> tuple[R, Callable[..., Any]]: ...
def linearize(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Compute the value of `f` and its derivative at the primals as a linear function.

    Everything that the derivative needs from inside `f` is computed once and stored, so each call
    of the linear function costs only the linear part.

    Parameters
    ----------
    f : callable
        Function of one argument for each primal that returns a Tensor or a pytree of Tensors.
    *primals
        Arguments of `f`: tensors, variables, arrays, numbers or pytrees of them. The derivative is
        taken with respect to all floating leaves. A Python or NumPy integer counts as a float.

    Returns
    -------
    value : Tensor or pytree of Tensor
        Result of `f`.
    f_jvp : callable
        Function `f_jvp(*tangents)` that returns the tangent that `jvp` returns for these tangents.

    Raises
    ------
    TypeError
        If `f` is not callable or returns something else than tensors. In a call of `f_jvp`: if a
        tangent has another dtype.
    ValueError
        In a call of `f_jvp`: if a tangent has another shape or structure, or if their number
        differs from the number of primals.

    See Also
    --------
    jvp

    Examples
    --------
    >>> value, push = pb.linearize(pb.exp, 0.0)
    >>> float(push(1.0)), float(push(0.25))
    (1.0, 0.25)
    """
    recorded = RecordedCall(f, primals, "linearize")
    value = recorded.call()
    ys = recorded.results(value)
    trace = _core.Trace(_PLACEHOLDER)
    placeholders = [trace.argument(x.dtype.name, x.shape, False) for x in recorded.xs]
    try:
        found = _core.tangents(ys, recorded.xs, placeholders)
    except RuntimeError as error:
        if _PLACEHOLDER not in str(error):  # a rule in Python reads its tangent
            raise
        found = None
    live = [t for t in found or [] if t is not None]
    kept = _core.ClosedGraph(live, placeholders)

    def push(*tangents: Any) -> Any:
        given = _tangent_seeds("linearize: f_jvp", primals, tangents, recorded.xs)
        if found is None:
            return like(value, with_zeros(_core.tangents(ys, recorded.xs, given), ys))
        made = iter(kept.copy(given))
        return like(value, with_zeros([None if t is None else next(made) for t in found], ys))

    recorded.close([*ys, *live] if found is not None else [])
    return value, push


def _tangent_seeds(who: str, primals: Any, tangents: Any, xs: list[Tensor]) -> list[Any]:
    """Return a tangent for each of `xs`: zeros for a primal that does not move."""
    check_count(tangents, primals, who)
    given: list[Any] = []
    for i, (primal, tangent) in enumerate(zip(primals, tangents, strict=True)):
        entries = leaves_like(primal, tangent, f"{who}: tangents[{i}]")
        pairs = zip(flatten(primal)[0], entries, strict=True)
        given += [(entry, f"{who}: tangents[{i}]") for leaf, entry in pairs if may_move(leaf)]
    return [
        _core.full(x.shape, 0, x.dtype) if entry is None else seed(entry, x, where)
        for (entry, where), x in zip(given, xs, strict=True)
    ]
