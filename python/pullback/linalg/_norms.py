"""Norms of vectors and matrices, condition numbers, ranks and cross products.

Sums of powers are formed in a wider dtype, or of numbers scaled by the largest one, so a norm
overflows only if it is too large itself. The gradient of a vector norm of 0 is 0.
"""

from __future__ import annotations

from math import inf
from typing import Any, Literal, SupportsIndex

from .. import _core
from .._base.checks import axes_of, check_matrices, flag, made_floating
from .._base.composite import composite
from .._base.domains import NON_NEGATIVE, check_domain
from .._core import Tensor
from .._typing import TensorLike

Order = int | float | Literal["fro", "nuc"] | None
Axis = SupportsIndex | tuple[SupportsIndex, ...] | None


@composite
def vector_norm(
    x: TensorLike, /, *, axis: Axis = None, keepdims: bool = False, ord: int | float = 2
) -> Tensor:
    """Compute the vector norm of the elements along axes.

    The norm ``sum(abs(x)**ord)**(1/ord)``, without overflow unless the result is too large.
    Differentiable in `x`; the gradient of a norm of 0 is 0, and equal maxima or minima share the
    gradient.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype; integers become the default floating dtype.
    axis : int or tuple of int, optional
        Axes to reduce; negative values count from the last axis. Default: all axes.
    keepdims : bool, default False
        Keep the reduced axes with size 1.
    ord : float, default 2
        Order of the norm. inf gives the largest absolute value, -inf the smallest, and 0 the number
        of elements that are not zero.

    Returns
    -------
    Tensor
        Shape of `x` without the reduced axes, or with size 1 there if `keepdims`; the real floating
        dtype of `x`.

    Raises
    ------
    ValueError
        If `ord` is not a number, if `axis` is out of range or names an axis twice, or if there are
        no elements and `ord` is negative or infinite.

    Examples
    --------
    >>> pb.linalg.vector_norm([3.0, 4.0]), pb.linalg.vector_norm([3.0, -4.0], ord=pb.inf)
    (Tensor(5., dtype=float32), Tensor(4., dtype=float32))
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "vector_norm", "keepdims")
    x = made_floating(x, "vector_norm", "fc")
    rank = len(x.shape)
    axes = list(range(rank)) if axis is None else axes_of(axis, rank, "vector_norm")
    return _vector_norm(x, axes, keepdims, _number(ord, "vector_norm"))


def _number(ord: Any, who: str) -> float:
    if isinstance(ord, (int, float)) and ord == ord:
        return float(ord)
    raise ValueError(f"{who}: expected a number for ord, got {_core.shown(ord)}")


def _vector_norm(x: Tensor, axes: list[int], keepdims: bool, p: float) -> Tensor:
    squared = p == 2 and x.dtype.kind == "f" and bool(axes)  # signs do not matter
    size = x if squared else _core.abs(x)
    if p == inf:
        return _core.max(size, axes, keepdims)
    if p == -inf:
        return _core.min(size, axes, keepdims)
    if p == 0:
        return _core.sum(_core.cast(_core.not_equal(size, 0.0), size.dtype), axes, keepdims)
    if p == 1:
        return _core.sum(size, axes, keepdims)
    if not axes or 0 in x.shape:
        if p < 0 and 0 in [x.shape[k] for k in axes]:
            raise ValueError(
                "vector_norm: expected at least one element for a negative ord, got none"
            )
        return _core.sum(size, axes, keepdims)
    if p == 2:
        return _core.euclidean_norm(size, axes, keepdims)
    scale = _core.power_of_two_scale(size, axes)
    scaled = _core.divide(size, scale)
    live = _core.not_equal(scaled, 0.0)
    powers = _core.pow(_core.where(live, scaled, 1.0), p)
    gone = 0.0 if p > 0 else inf
    total = _core.sum(_core.where(live, powers, gone), axes, True)
    some = _core.not_equal(total, 0.0)
    out = _core.where(some, _core.pow(_core.where(some, total, 1.0), 1 / p), 0.0)
    out = _core.multiply(out, scale)
    return out if keepdims else _core.squeeze(out, axes)


@composite
def matrix_norm(x: TensorLike, /, *, keepdims: bool = False, ord: Order = "fro") -> Tensor:
    """Compute the norm of matrices.

    Differentiable in `x`; the gradient of a Frobenius norm of 0 is 0.

    Parameters
    ----------
    x : array_like
        Matrices of shape (…, m, n); integers become the default floating dtype.
    keepdims : bool, default False
        Keep the last two axes with size 1.
    ord : {"fro", "nuc", 1, -1, 2, -2, inf, -inf}, default "fro"
        "fro": root of the sum of squares. "nuc": sum of the singular values. 2 and -2: largest and
        smallest singular value. 1 and -1: largest and smallest column sum of absolute values. inf
        and -inf: largest and smallest row sum.

    Returns
    -------
    Tensor
        Shape (…), or (…, 1, 1) if `keepdims`; the real floating dtype of `x`.

    Raises
    ------
    LinAlgError
        If `x` has a rank below 2.
    ValueError
        If `ord` is unknown.

    Examples
    --------
    >>> pb.linalg.matrix_norm([[1.0, 2.0], [2.0, 4.0]]), pb.linalg.matrix_norm([[1.0, 2.0]], ord=1)
    (Tensor(5., dtype=float32), Tensor(2., dtype=float32))
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "matrix_norm", "keepdims")
    x = made_floating(x, "matrix_norm", "fc")
    check_matrices(x, "matrix_norm")
    rank = len(x.shape)
    return _matrix_norm(x, [rank - 2, rank - 1], keepdims, ord, "matrix_norm")


def _matrix_norm(x: Tensor, axes: list[int], keepdims: bool, ord: Order, who: str) -> Tensor:
    if ord == "fro":
        return _vector_norm(x, axes, keepdims, 2.0)
    row, column = axes
    if ord in (1, -1, inf, -inf):
        summed, chosen = (row, column) if abs(ord) == 1 else (column, row)
        sums = _core.sum(_core.abs(x), [summed], True)
        pick = _core.max if ord > 0 else _core.min
        out = pick(sums, [chosen], True)
        return out if keepdims else _core.squeeze(out, axes)
    if ord in ("nuc", 2, -2):
        others = [k for k in range(len(x.shape)) if k not in axes]
        values = _core.svd(_core.transpose(x, [*others, row, column]), False, who=who)[1]
        last = [len(others)]
        made = {"nuc": _core.sum, 2: _core.max, -2: _core.min}[ord](values, last, False)
        if not keepdims:
            return made
        return _core.reshape(made, [1 if k in axes else n for k, n in enumerate(x.shape)])
    raise ValueError(
        f"{who}: ord must be one of 'fro', 'nuc', 1, -1, 2, -2, inf, -inf for matrices; got "
        f"{_core.shown(ord)}"
    )


@composite
def norm(x: TensorLike, /, ord: Order = None, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Compute the norm of vectors or matrices, with the arguments of ``np.linalg.norm``.

    Differentiable in `x`; the gradient of a vector norm or Frobenius norm of 0 is 0.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype; integers become the default floating dtype.
    ord : float or {"fro", "nuc"}, optional
        Order of the norm, as in `vector_norm` for one axis and in `matrix_norm` for two. Default:
        root of the sum of squares.
    axis : int or tuple of int, optional
        One axis for vectors, two for matrices; without `ord` any number. Default: all axes; with
        `ord` the rank of `x` is then 1 or 2.
    keepdims : bool, default False
        Keep the reduced axes with size 1.

    Returns
    -------
    Tensor
        Shape of `x` without the reduced axes, or with size 1 there if `keepdims`; the real floating
        dtype of `x`.

    Raises
    ------
    ValueError
        If `ord` is unknown, if `ord` is given for other than one or two axes, or if `axis` is out
        of range or names an axis twice.

    Examples
    --------
    >>> pb.linalg.norm([[3.0, 4.0], [6.0, 8.0]], axis=1)
    Tensor([ 5., 10.], dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "norm", "keepdims")
    x = made_floating(x, "norm", "fc")
    rank = len(x.shape)
    if axis is None:
        if ord is not None and rank not in (1, 2):
            raise ValueError(
                f"norm: expected a vector or a matrix for ord={ord!r}, got shape {x.shape}; pass "
                "axis"
            )
        axes = list(range(rank))
    else:
        axes = axes_of(axis, rank, "norm")
    if ord is None:
        return _vector_norm(x, axes, keepdims, 2.0)
    if len(axes) == 1:
        return _vector_norm(x, axes, keepdims, _number(ord, "norm"))
    if len(axes) == 2:
        return _matrix_norm(x, axes, keepdims, ord, "norm")
    raise ValueError(f"norm: expected one or two axes for axis, got {_core.shown(axis)}")


@composite
def cond(x: TensorLike, /, p: Order = None) -> Tensor:
    """Compute the condition number of matrices.

    The norm of a matrix times the norm of its inverse; for 2 the ratio of the largest to the
    smallest singular value, infinite if that is 0. Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Matrices of shape (…, m, n), square unless `p` is 2 or -2; integers become the default
        floating dtype.
    p : {"fro", "nuc", 1, -1, 2, -2, inf, -inf}, optional
        Order of the norm, as in `matrix_norm`. Default: 2.

    Returns
    -------
    Tensor
        Shape (…); the real floating dtype of `x`.

    Raises
    ------
    LinAlgError
        If `x` has a rank below 2, or for other `p` than 2 and -2, if a matrix is not square or is
        singular (raised when the result is computed).
    ValueError
        If `p` is unknown.

    Examples
    --------
    >>> pb.round(pb.linalg.cond([[2.0, 0.0], [0.0, 8.0]]), 3)
    Tensor(4., dtype=float32)
    """
    x = made_floating(x, "cond", "fc")
    check_matrices(x, "cond")
    if p in (None, 2, -2):
        values = _core.svd(x, False, who="cond")[1]
        last = [len(values.shape) - 1]
        high, low = _core.max(values, last, False), _core.min(values, last, False)
        above, below = (low, high) if p == -2 else (high, low)
        zero = _core.equal(below, 0.0)  # both are 0 for a matrix of zeros
        return _core.where(zero, inf, _core.divide(above, _core.where(zero, 1.0, below)))
    axes = [len(x.shape) - 2, len(x.shape) - 1]
    inverse = _core.inv(x, "cond")
    return _core.multiply(
        _matrix_norm(x, axes, False, p, "cond"), _matrix_norm(inverse, axes, False, p, "cond")
    )


def matrix_rank(
    x: TensorLike, /, tol: TensorLike | None = None, *, rtol: TensorLike | None = None
) -> Tensor:
    """Compute the rank of matrices.

    The number of singular values that are larger than `tol`, or than `rtol` times the largest.

    Parameters
    ----------
    x : array_like
        Matrices of shape (…, m, n); integers become the default floating dtype.
    tol : array_like, real, optional
        Absolute tolerance; broadcasts with shape (…). Give at most one of `tol` and `rtol`.
    rtol : array_like, real, optional
        Relative tolerance; broadcasts with shape (…). Default: max(m, n) times the machine epsilon
        of the dtype.

    Returns
    -------
    Tensor
        Shape (…); dtype int64.

    Raises
    ------
    LinAlgError
        If `x` has a rank below 2.
    ValueError
        If `rtol` is a negative number.
    TypeError
        If both `tol` and `rtol` are given.

    Examples
    --------
    >>> pb.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]])
    Tensor(1, dtype=int64)
    """
    from .._numpy.dtype_functions import finfo

    if tol is not None and rtol is not None:
        raise TypeError("matrix_rank: give tol, which is absolute, or rtol, not both")
    x = made_floating(x, "matrix_rank", "fc")
    check_matrices(x, "matrix_rank")
    check_domain(rtol, NON_NEGATIVE, "matrix_rank", "rtol")
    values = _core.svd(x, False, who="matrix_rank")[1]
    if values.shape[-1] == 0:
        return _core.full(values.shape[:-1], 0, "int64")
    given = tol if rtol is None else rtol
    if given is None:
        bound = _core.constant(max(x.shape[-2:]) * float(finfo(values.dtype).eps), values.dtype)
    else:
        bound = _core.expand_dims(_core.constant(given, values.dtype, who="matrix_rank"), -1)
    last = [len(values.shape) - 1]
    if tol is None:
        bound = _core.multiply(_core.max(values, last, True), bound)
    return _core.sum(_core.cast(_core.greater(values, bound), "int64"), last, False)


@composite
def cross(x1: TensorLike, x2: TensorLike, /, *, axis: SupportsIndex = -1) -> Tensor:
    """Compute the cross product of vectors of three elements.

    Differentiable in `x1` and `x2`.

    Parameters
    ----------
    x1, x2 : array_like
        Inputs with size 3 along `axis`, not both bool; the other axes broadcast.
    axis : int, default -1
        Axis of the vectors; negative values count from the last axis.

    Returns
    -------
    Tensor
        Broadcast shape with size 3 along `axis`; the dtype to which `x1` and `x2` promote.

    Raises
    ------
    ValueError
        If the size along `axis` is not 3, if `axis` is out of range, or if the other axes do not
        broadcast.
    TypeError
        If both inputs are bool.

    Examples
    --------
    >>> pb.linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    Tensor([0., 0., 1.], dtype=float32)
    """
    a, b = _core.operands([x1, x2], "cross")
    parts = []
    for x in (a, b):
        [k] = axes_of([axis], len(x.shape), "cross")
        if x.shape[k] != 3:
            raise ValueError(f"cross: expected size 3 along axis {k}, got shape {x.shape}")
        parts.append([_core.squeeze(part, k) for part in _core.split(x, [1, 1, 1], k)])
    (a0, a1, a2), (b0, b1, b2) = parts
    made = [a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0]
    [k] = axes_of([axis], len(made[0].shape) + 1, "cross")
    return _core.stack(made, k)
