"""Propagation of covariances through functions, to first order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._base.pytree import flatten, leaves_like
from .._core import Tensor, Variable
from .._numpy.sparse_products import is_sparse, product
from .jacobian_blocks import JacobianBlocks
from .recorded_call import RecordedCall
from .rules import place

__all__ = ["propagate_covariance"]

WHO = "propagate_covariance"


def propagate_covariance(f: Callable[..., Any], x: Any, covariance: Any) -> Tensor:
    """Compute the covariance of ``f(x)`` to first order, ``J C Jᵀ`` for the Jacobian ``J``.

    It is exact for a linear function. The Jacobian is computed in the cheaper mode, with as many
    products as `x` or the result has entries, whichever is less. Differentiable in `x` and in a
    dense covariance.

    Parameters
    ----------
    f : callable
        Function of one argument that returns one real floating Tensor.
    x : array_like or pytree
        Mean of the argument of `f`: a real floating tensor, or a pytree of tensors of one dtype.
    covariance : array_like, pytree or sparse array of scipy.sparse
        Covariance of the n entries of `x`, in the order of `tree.leaves`: a matrix of shape (n, n),
        dense or sparse; or the variances of independent entries, in the structure and shapes of
        `x`.

    Returns
    -------
    Tensor
        Covariance of the entries of the result, of shape ``result.shape + result.shape``: the
        variance for a scalar result.

    Raises
    ------
    TypeError
        If `f` is not callable, or if `x`, the covariance or the result is not real and floating, or
        their dtypes differ.
    ValueError
        If the covariance has another shape or structure.

    See Also
    --------
    jacobian, gauss_newton_product

    Examples
    --------
    The variance of a product with independent errors of 0.1 and 0.2:

    >>> x = pb.constant([2.0, 3.0])
    >>> pb.propagate_covariance(lambda x: x[0] * x[1], x, pb.constant([0.1, 0.2]) ** 2)
    Tensor(0.25, dtype=float32)
    """
    recorded = RecordedCall(f, [x], WHO, every=True)
    dtypes = {one.dtype for one in recorded.xs}
    if len(dtypes) != 1 or dtypes.pop().kind != "f":
        names = " and ".join(sorted({one.dtype.name for one in recorded.xs})) or "nothing"
        raise TypeError(f"{WHO}: expected a single real floating dtype for x, got {names}")
    value = recorded.call()
    if not isinstance(value, (Tensor, Variable)) or value.dtype.kind != "f":
        raise TypeError(
            f"{WHO}: expected a single real floating Tensor from {place(f)}, got "
            f"{_core.shown(value)}; join several results by concat"
        )
    [y] = recorded.results(value)
    [row] = JacobianBlocks([y], recorded.xs, "auto", "auto", WHO).all()
    parts = [
        _core.reshape(block, (y.size, own.size))
        for block, own in zip(row, recorded.xs, strict=True)
    ]
    slope = _core.concat(parts, 1)
    recorded.close([slope])
    found = _core.matmul(_times(slope, x, recorded, covariance), slope.mT)
    return _core.reshape(found, (*y.shape, *y.shape))


def _times(slope: Tensor, x: Any, recorded: RecordedCall, covariance: Any) -> Tensor:
    """Return the product of the Jacobian with the covariance."""
    size = slope.shape[1]
    if is_sparse(covariance):
        if covariance.shape != (size, size):
            raise _wrong_shape(size, covariance.shape)
        if covariance.dtype.kind == "c":
            raise TypeError(f"{WHO}: expected real numbers for covariance, got {covariance.dtype}")
        exact = covariance.dtype.kind == "f"
        return product(slope, covariance if exact else covariance.astype(slope.dtype))
    shapes = [own.shape for own in recorded.xs]
    given = [covariance]
    if not hasattr(covariance, "shape") and (len(shapes) > 1 or flatten(x)[0][0] is not x):
        given = leaves_like(x, covariance, f"{WHO}: covariance")
    tensors = [_real(one, slope.dtype) for one in given]
    if len(tensors) == 1 and tensors[0].shape == (size, size):
        return _core.matmul(slope, tensors[0])
    if [one.shape for one in tensors] != shapes:
        raise _wrong_shape(size, *(one.shape for one in tensors))
    return _core.multiply(slope, _core.concat([_core.reshape(v, (-1,)) for v in tensors], 0))


def _real(x: Any, dtype: Any) -> Tensor:
    """Return a real floating tensor; lists and integers take the dtype of the argument."""
    own = getattr(x, "dtype", None)
    tensor: Tensor = _core.constant(x, None if own is not None else dtype, f"{WHO}: covariance")
    if tensor.dtype.kind in "biu":
        return _core.cast(tensor, dtype)
    if tensor.dtype.kind != "f":
        raise TypeError(f"{WHO}: expected real numbers for covariance, got {tensor.dtype}")
    return tensor


def _wrong_shape(size: int, *shapes: tuple[int, ...]) -> ValueError:
    return ValueError(
        f"{WHO}: expected shape {(size, size)}, or variances of the shapes of x, for covariance, "
        f"got {', '.join(map(str, shapes))}"
    )
