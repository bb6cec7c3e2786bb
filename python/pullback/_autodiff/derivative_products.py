"""Products with second derivatives, without a matrix.

`hvp` and `vhp` multiply by a Hessian, `gauss_newton_product` and `fisher_product` by approximations
of one that are positive semi-definite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _core
from .._base.pytree import flatten
from .._core import Tensor
from .gradients import with_zeros
from .recorded_call import RecordedCall, like
from .rules import place
from .transforms import check_value

__all__ = ["fisher_product", "gauss_newton_product", "hvp", "vhp"]

F = Callable[..., Any]


def hvp(f: F, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, ...]:
    """Compute the product of the Hessian of `f` with tangents.

    The product is the directional derivative of the gradient, computed in forward mode over reverse
    mode at about twice the cost of a gradient.

    Parameters
    ----------
    f : callable
        Function of one argument for each primal that returns a Tensor of shape () and a real
        floating dtype.
    primals : tuple or list
        Arguments of `f`, as in `jvp`.
    tangents : tuple or list
        One tangent for each primal, as in `jvp`; None for a primal that does not move.

    Returns
    -------
    tuple
        One product for each primal in its structure. It is zero if the gradient does not depend on
        the primals that move, and None for a leaf that does not move.

    Raises
    ------
    TypeError
        If `f` is not callable, if `primals` or `tangents` is not a tuple or list, if the result is
        not a real floating tensor, or if a tangent has another dtype.
    ValueError
        If the result does not have shape (), or if a tangent has another shape or structure.

    See Also
    --------
    vhp, hessian, gauss_newton_product

    Examples
    --------
    >>> f = lambda x: x[0] ** 2 * x[1] + x[1] ** 3
    >>> pb.hvp(f, (pb.constant([1.0, 2.0]),), ([1.0, 10.0],))
    (Tensor([ 24., 122.], dtype=float32),)
    """
    recorded, gradients = _call_and_gradients(f, primals, tangents, "hvp")
    live = [g for g in gradients if g is not None]
    moved = iter(_core.tangents(live, recorded.xs, recorded.tangents))
    found = [None if g is None else next(moved) for g in gradients]
    return _like_primals(recorded, found)


def vhp(f: F, primals: Sequence[Any], cotangents: Sequence[Any]) -> tuple[Any, ...]:
    """Compute the product of cotangents with the Hessian of `f`.

    The product is the gradient of the inner product of the cotangents with the gradient of `f`,
    computed in reverse mode over reverse mode. It equals `hvp` for true derivatives. It may differ
    from `hvp` if a custom gradient is not the derivative of its function.

    Parameters
    ----------
    f : callable
        Function of one argument for each primal that returns a Tensor of shape () and a real
        floating dtype.
    primals : tuple or list
        Arguments of `f`, as in `jvp`.
    cotangents : tuple or list
        One cotangent for each primal in its structure; None for a primal that does not count.

    Returns
    -------
    tuple
        One product for each primal in its structure; None for a leaf without a cotangent.

    Raises
    ------
    TypeError
        If `f` is not callable, if `primals` or `cotangents` is not a tuple or list, if the result
        is not a real floating tensor, or if a cotangent has another dtype.
    ValueError
        If the result does not have shape (), or if a cotangent has another shape or structure.

    See Also
    --------
    hvp

    Examples
    --------
    >>> pb.vhp(lambda x, y: x * x * y, (1.0, 2.0), (1.0, 0.0))
    (Tensor(4., dtype=float32), Tensor(2., dtype=float32))
    """
    recorded, gradients = _call_and_gradients(f, primals, cotangents, "vhp")
    pairs = [(g, v) for g, v in zip(gradients, recorded.tangents, strict=True) if g is not None]
    found = _core.gradients([g for g, _ in pairs], recorded.xs, [v for _, v in pairs])
    return _like_primals(recorded, found)


def _call_and_gradients(
    f: F, primals: Any, tangents: Any, who: str
) -> tuple[RecordedCall, list[Tensor | None]]:
    recorded = RecordedCall(f, primals, who, tangents)
    value = recorded.call()
    check_value(value, f, who)
    with recorded.recording():
        return recorded, _core.gradients([value], recorded.xs)


def _like_primals(recorded: RecordedCall, found: list[Tensor | None]) -> tuple[Any, ...]:
    answers = with_zeros(found, recorded.xs)
    recorded.close(answers)
    return recorded.like_primals(answers)


def gauss_newton_product(
    f: F, primals: Sequence[Any], tangents: Sequence[Any], loss: F | None = None
) -> tuple[Any, ...]:
    """Compute the product of the Gauss-Newton matrix of `f` and `loss` with tangents.

    The matrix is `J^T H J`, with the Jacobian `J` of `f` at the primals and the Hessian `H` of
    `loss` at the result of `f`. It approximates the Hessian of `loss(f(...))` by neglecting the
    curvature of `f`, so for a convex `loss` it is positive semi-definite [1]_.

    Parameters
    ----------
    f : callable
        Function of one argument for each primal that returns a Tensor or a pytree of Tensors.
    primals : tuple or list
        Arguments of `f`, as in `jvp`.
    tangents : tuple or list
        One tangent for each primal, as in `jvp`.
    loss : callable, optional
        Function of the result of `f` that returns a Tensor of shape () and a real floating dtype.
        Default: half the sum of squares, whose Hessian is the identity.

    Returns
    -------
    tuple
        One product for each primal in its structure; None for a leaf that does not move.

    Raises
    ------
    TypeError
        If `f` or `loss` is not callable, if `primals` or `tangents` is not a tuple or list, if a
        result has an invalid type, or if a tangent has another dtype.
    ValueError
        If the result of `loss` does not have shape (), or if a tangent has another shape or
        structure.

    See Also
    --------
    hvp, fisher_product

    References
    ----------
    .. [1] N. N. Schraudolph, "Fast curvature matrix-vector products for second-order gradient
       descent", Neural Computation 14, 2002.

    Examples
    --------
    >>> f = lambda w: pb.stack([w[0] * w[1], w[1]])
    >>> pb.gauss_newton_product(f, (pb.constant([2.0, 3.0]),), ([1.0, 0.0],))
    (Tensor([9., 6.], dtype=float32),)
    """
    recorded = RecordedCall(f, primals, "gauss_newton_product", tangents)
    value = recorded.call()
    ys = recorded.results(value)
    moved = with_zeros(_core.tangents(ys, recorded.xs, recorded.tangents), ys)
    if loss is not None:
        moved = flatten(hvp(loss, (value,), (like(value, moved),)))[0]
        moved = [t for t in moved if t is not None]
    return _like_primals(recorded, _core.gradients(ys, recorded.xs, moved))


def fisher_product(f: F, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, ...]:
    """Compute the product of the Fisher information of a categorical distribution with tangents.

    The product is `J^T (p * J t)`, with the Jacobian `J` of `f`, the probabilities `p` and the
    tangents `t`. It is the expectation of the outer product of the scores, not an estimate from a
    sample [1]_.

    Parameters
    ----------
    f : callable
        Function of one argument for each primal that returns the logarithms of the probabilities of
        all classes along the last axis, as `log_softmax` does. The other axes are independent
        observations, over which the information is summed.
    primals : tuple or list
        Arguments of `f`, as in `jvp`.
    tangents : tuple or list
        One tangent for each primal, as in `jvp`.

    Returns
    -------
    tuple
        One product for each primal in its structure; None for a leaf that does not move.

    Raises
    ------
    TypeError
        If `f` is not callable or does not return a single real floating tensor, if `primals` or
        `tangents` is not a tuple or list, or if a tangent has another dtype.
    ValueError
        If a tangent has another shape or structure.

    See Also
    --------
    gauss_newton_product

    References
    ----------
    .. [1] S. Amari, "Natural gradient works efficiently in learning", Neural Computation 10, 1998.

    Examples
    --------
    >>> f = lambda z: pb.log_softmax(z, axis=-1)
    >>> pb.fisher_product(f, (pb.zeros(2),), ([1.0, 0.0],))
    (Tensor([ 0.25, -0.25], dtype=float32),)
    """
    recorded = RecordedCall(f, primals, "fisher_product", tangents)
    value = recorded.call()
    if not isinstance(value, Tensor) or value.dtype.kind != "f":
        raise TypeError(
            f"fisher_product: expected a floating tensor of log-probabilities from {place(f)}, got "
            f"{_core.shown(value)}"
        )
    [moved] = with_zeros(_core.tangents([value], recorded.xs, recorded.tangents), [value])
    weighted = _core.multiply(_core.exp(_core.stop_gradient(value)), moved)
    return _like_primals(recorded, _core.gradients([value], recorded.xs, [weighted]))
