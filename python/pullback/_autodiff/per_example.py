"""Gradients of each example of a batch, and their lengths without the gradients."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from .. import _core
from .._base.pytree import flatten
from .._core import Tensor
from .transforms import grad
from .vmap import vmap

__all__ = ["per_example_gradient_norms", "per_example_gradients"]


def per_example_gradients(loss: Callable[..., Any], params: Any, batch: Any) -> Any:
    """The gradient of loss(params, example) by the params, for each example of a batch.

    loss: takes the params and one example, and returns one real number.
    params: a tensor, a variable or a nest of them. batch: a tensor or a nest of them, each with the
        examples along its first axis; an example is the same nest of their entries.

    Returns what has the structure of the params, each with a first axis for the examples: as
    much memory as that takes. See `per_example_gradient_norms` for their lengths alone. It is
    `vmap(grad(loss), in_axes=(None, 0))(params, batch)`; see `vmap` for what a loss may do.

    >>> loss = lambda w, example: (w @ example[0] - example[1]) ** 2 / 2
    >>> x, y = pb.constant([[1.0, 0.0], [2.0, 2.0]]), pb.constant([1.0, 0.0])
    >>> pb.per_example_gradients(loss, pb.constant([3.0, 4.0]), (x, y))
    Tensor([[ 2.,  0.],
            [28., 28.]], dtype=float32)
    """
    return vmap(grad(_named(loss, "per_example_gradients")), in_axes=(None, 0))(params, batch)


def per_example_gradient_norms(loss: Callable[..., Any], params: Any, batch: Any) -> Tensor:
    """The Euclidean length of each example's gradient, over all params together.

    Arguments are those of `per_example_gradients`. Where an example's gradient is a product, as
    that of a layer's weights is, it is not computed: its length follows from those of the factors.
    Returns a tensor with one number for each example.

    Clipping each example's gradient before they are summed is a second reverse pass, weighted:

    >>> loss = lambda w, example: (w @ example[0] - example[1]) ** 2 / 2
    >>> w = pb.constant([3.0, 4.0])
    >>> batch = pb.constant([[1.0, 0.0], [2.0, 2.0]]), pb.constant([1.0, 0.0])
    >>> norms = pb.per_example_gradient_norms(loss, w, batch)
    >>> weights = pb.stop_gradient(pb.minimum(1, 1.0 / norms))
    >>> losses = pb.vmap(loss, in_axes=(None, 0))
    >>> pb.round(pb.grad(lambda w: pb.sum(weights * losses(w, batch)))(w), 4)
    Tensor([1.7071, 0.7071], dtype=float32)
    """
    slopes = vmap(grad(_named(loss, "per_example_gradient_norms")), in_axes=(None, 0))
    squares = [_core.row_squares(g) for g in flatten(slopes(params, batch))[0]]
    total = squares[0]
    for square in squares[1:]:
        total = _core.add(total, square)
    return _core.sqrt(total)


def _named(loss: Any, who: str) -> Callable[..., Any]:
    if not callable(loss):
        raise TypeError(f"{who}: expected a function as loss, got {_core.shown(loss)}")

    @wraps(loss)
    def of_one(params: Any, example: Any) -> Any:
        return loss(params, example)

    return of_one
