"""Gradients of each example of a batch, and their norms without forming the gradients."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, overload

from .. import _core
from .._base.pytree import flatten
from .._core import Tensor
from .._typing import Tree
from .transforms import grad
from .vmap import vmap

__all__ = ["per_example_gradient_norms", "per_example_gradients"]


@overload
def per_example_gradients(loss: Callable[[Tree, Any], Any], params: Any, batch: Any) -> Tree: ...
@overload
def per_example_gradients(loss: Callable[..., Any], params: Any, batch: Any) -> Any: ...
def per_example_gradients(loss: Callable[..., Any], params: Any, batch: Any) -> Any:
    """Compute the gradient of `loss(params, example)` for each example of a batch.

    The result is that of `vmap(grad(loss), in_axes=(None, 0))(params, batch)`; `vmap` states what
    `loss` may do. See `per_example_gradient_norms` for the norms alone.

    Parameters
    ----------
    loss : callable
        Function of `params` and one example that returns a Tensor of shape () and a real floating
        dtype.
    params : pytree of array_like, floating
        Parameters to differentiate with respect to: a tensor, a variable or a pytree of them.
    batch : pytree of array_like
        Examples along the first axis of each leaf. One example is the pytree of the entries at one
        position.

    Returns
    -------
    Tensor or pytree of Tensor
        Structure and dtypes of `params`. Each leaf has a first axis for the examples, followed by
        the shape of the parameter.

    Raises
    ------
    TypeError
        If `loss` is not callable, or if a parameter or the result is not floating.
    ValueError
        If the first axes of `batch` differ in size, if `batch` has a scalar, or if the loss does
        not have shape ().

    See Also
    --------
    per_example_gradient_norms, vmap, grad

    Examples
    --------
    >>> loss = lambda w, example: (w @ example[0] - example[1]) ** 2 / 2
    >>> x, y = pb.constant([[1.0, 0.0], [2.0, 2.0]]), pb.constant([1.0, 0.0])
    >>> pb.per_example_gradients(loss, pb.constant([3.0, 4.0]), (x, y))
    Tensor([[ 2.,  0.],
            [28., 28.]], dtype=float32)
    """
    example_loss = _example_loss(loss, "per_example_gradients")
    _check_batch(batch, "per_example_gradients")
    return vmap(grad(example_loss), in_axes=(None, 0))(params, batch)


def per_example_gradient_norms(loss: Callable[..., Any], params: Any, batch: Any) -> Tensor:
    """Compute the Euclidean norm of the gradient of each example, over all parameters.

    If the gradient of an example is an outer product, as that of the weights of a layer is, it is
    not formed: its norm follows from the norms of the factors.

    Parameters
    ----------
    loss : callable
        Function of `params` and one example that returns a Tensor of shape () and a real floating
        dtype.
    params : pytree of array_like, floating
        Parameters to differentiate with respect to: a tensor, a variable or a pytree of them.
    batch : pytree of array_like
        Examples along the first axis of each leaf.

    Returns
    -------
    Tensor
        Shape (n,) for n examples; the floating dtype of the gradients.

    Raises
    ------
    TypeError
        If `loss` is not callable, or if a parameter or the result is not floating.
    ValueError
        If the first axes of `batch` differ in size, if `batch` has a scalar, or if the loss does
        not have shape ().

    See Also
    --------
    per_example_gradients

    Examples
    --------
    The gradient of each example is clipped before the sum by a second, weighted reverse pass:

    >>> loss = lambda w, example: (w @ example[0] - example[1]) ** 2 / 2
    >>> w = pb.constant([3.0, 4.0])
    >>> batch = pb.constant([[1.0, 0.0], [2.0, 2.0]]), pb.constant([1.0, 0.0])
    >>> norms = pb.per_example_gradient_norms(loss, w, batch)
    >>> weights = pb.stop_gradient(pb.minimum(1, 1.0 / norms))
    >>> losses = pb.vmap(loss, in_axes=(None, 0))
    >>> pb.round(pb.grad(lambda w: pb.sum(weights * losses(w, batch)))(w), 4)
    Tensor([1.7071, 0.7071], dtype=float32)
    """
    example_loss = _example_loss(loss, "per_example_gradient_norms")
    _check_batch(batch, "per_example_gradient_norms")
    slopes = vmap(grad(example_loss), in_axes=(None, 0))
    squares = [_core.row_squares(g) for g in flatten(slopes(params, batch))[0]]
    total = squares[0]
    for square in squares[1:]:
        total = _core.add(total, square)
    return _core.sqrt(total)


def _check_batch(batch: Any, who: str) -> None:
    for leaf in flatten(batch)[0]:
        if getattr(leaf, "shape", ()) == ():
            raise ValueError(
                f"{who}: expected at least one axis, that of the examples, for batch, got "
                f"{_core.shown(leaf)}"
            )


def _example_loss(loss: Any, who: str) -> Callable[..., Any]:
    if not callable(loss):
        raise TypeError(f"{who}: expected a function for loss, got {_core.shown(loss)}")

    @wraps(loss)
    def example_loss(params: Any, example: Any) -> Any:
        return loss(params, example)

    return example_loss
