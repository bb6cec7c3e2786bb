"""A pytree as one vector, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._base.pytree import flatten, unflatten, written_behind
from .._core import Tensor


def ravel(tree: Any) -> tuple[Tensor, Callable[[Any], Any]]:
    """Return the elements of all leaves as one vector, and the function that undoes it.

    Differentiable in every leaf; the returned function is differentiable in the vector. It adapts
    solvers of vectors, such as those of SciPy, to pytrees of parameters.

    Parameters
    ----------
    tree : pytree of array_like
        Tensors, variables, arrays and numbers.

    Returns
    -------
    vector : Tensor
        The leaves from left to right, each in C order, in their common dtype; float32 of shape (0,)
        if there is no leaf and the default dtype is unchanged.
    unravel : callable
        Function of a vector of this size that returns a pytree of tensors. A leaf has the shape and
        dtype of the original one, also if the vector has another dtype.

    Raises
    ------
    TypeError
        If a leaf is not an array. The message names its path.
    ValueError
        At the call of `unravel`: if the vector has another shape.

    Examples
    --------
    >>> vector, unravel = pb.tree.ravel({"b": 1.0, "w": pb.constant([[2.0, 3.0]])})
    >>> vector
    Tensor([1., 2., 3.], dtype=float32)
    >>> unravel(2 * vector)["w"]
    Tensor([[4., 6.]], dtype=float32)
    """
    leaves, structure = flatten(tree)
    paths = written_behind(tree)
    xs = [
        _core.constant(leaf, None, f"ravel: tree{path}")
        for leaf, path in zip(leaves, paths, strict=True)
    ]
    shapes = [x.shape for x in xs]
    dtypes = [x.dtype for x in xs]
    sizes = [x.size for x in xs]
    flat = [x.reshape((-1,)) for x in xs]
    vector = _core.concat(flat, 0) if flat else _core.constant([])

    def unravel(vector: Any, /) -> Any:
        whole = _core.constant(vector, None, "unravel")
        if whole.shape != (sum(sizes),):
            raise ValueError(f"unravel: expected shape ({sum(sizes)},), got {whole.shape}")
        parts, first = [], 0
        for size, shape, dtype in zip(sizes, shapes, dtypes, strict=True):
            part = whole[first : first + size].reshape(shape)
            parts.append(_core.cast(part, dtype))
            first += size
        return unflatten(structure, parts)

    return vector, unravel
