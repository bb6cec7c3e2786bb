"""Equations by factors that are there, and those between tensors of more axes."""

from __future__ import annotations

from math import prod
from typing import Any, Literal, NamedTuple, SupportsIndex

import numpy

from .. import _core
from .._base.checks import axes_of, check_matrices, integer, turn
from .._core import Tensor
from .._typing import TensorLike
from ._matrices import one_dtype, right_sides, same_batch


class LUFactorResult(NamedTuple):
    """L and U in one matrix, and which row each one was swapped with."""

    lu: Tensor
    piv: Tensor


def lu_factor(x: TensorLike, /) -> LUFactorResult:
    """The factors of x that `lu_solve` takes, as `scipy.linalg.lu_factor`.

    x: of shape (…, m, n). `lu` has L, without its diagonal of ones, and U; `piv`, int64, (…, k)
    with k = min(m, n), says which row each row was swapped with, one after the other. Only square
    matrices have gradients, and `piv` has none.

    >>> pb.linalg.lu_factor([[1.0, 2.0], [4.0, 4.0]])
    LUFactorResult(lu=Tensor([[4.  , 4.  ],
           [0.25, 1.  ]], dtype=float32), piv=Tensor([1, 1], dtype=int64))
    """
    [a], rounded = one_dtype([x], "lu_factor")
    check_matrices(a, "lu_factor")
    packed, _, _, swaps = _core.lu(a)
    return LUFactorResult(rounded(packed), swaps)


def lu_solve(
    lu_and_piv: tuple[TensorLike, TensorLike], b: TensorLike, /,
    trans: int | Literal["N", "T", "C"] = 0,
) -> Tensor:  # fmt: skip
    """x with a x = b, by what `lu_factor` made of a, as `scipy.linalg.lu_solve`.

    b: of shape (…, n, k), or a vector of length n.
    trans: 0 or "N" for a x = b, 1 or "T" for aᵀ x = b, 2 or "C" for aᴴ x = b.

    LinAlgError where a is singular, when it is computed.

    >>> factors = pb.linalg.lu_factor([[2.0, 0.0], [1.0, 4.0]])
    >>> pb.linalg.lu_solve(factors, [2.0, 9.0])
    Tensor([1., 2.], dtype=float32)
    """
    who = "lu_solve"
    if not (isinstance(lu_and_piv, tuple) and len(lu_and_piv) == 2):
        raise TypeError(
            f"{who}: expected (lu, piv), what lu_factor returns, got {_core.shown(lu_and_piv)}"
        )
    turned = turn(trans, who)
    (packed, right), rounded = one_dtype([lu_and_piv[0], b], who)
    check_matrices(packed, who, square=True)
    n = packed.shape[-1]
    swaps = _core.constant(lu_and_piv[1], None, who)
    if swaps.dtype.kind not in "iu":
        raise TypeError(f"{who}: expected piv of integers, got {swaps.dtype}")
    if not swaps.shape or swaps.shape[-1] != n:
        raise ValueError(f"{who}: expected piv of length {n}, got shape {swaps.shape}")
    sides, restored = right_sides(right, n, who)
    packed, swaps, sides = same_batch([packed, _core.cast(swaps, "int64"), sides], [2, 1, 2], who)
    return rounded(restored(_core.lu_solve(packed, swaps, sides, turned)))


def tensorinv(a: TensorLike, /, ind: SupportsIndex = 2) -> Tensor:
    """The inverse of a for `tensordot(…, ind)`, as `np.linalg.tensorinv`.

    a: its first `ind` axes have as many entries as the others. The result has the others, then the
    first ones.

    >>> pb.linalg.tensorinv(pb.reshape(pb.eye(4) * 2, (4, 2, 2)), ind=1).shape
    (2, 2, 4)
    """
    who = "tensorinv"
    [x], rounded = one_dtype([a], who)
    count = integer(ind, who)
    if count <= 0:
        raise ValueError(f"{who}: ind: expected a positive number of axes, got {count}")
    first, others = x.shape[:count], x.shape[count:]
    if prod(first) != prod(others):
        raise numpy.linalg.LinAlgError(
            f"{who}: expected as many entries in the first {count} axes as in the others, got "
            f"shape {x.shape}"
        )
    matrix = _core.reshape(x, (prod(first), prod(others)))
    unit = _core.eye(prod(first), prod(first), 0, x.dtype)
    return rounded(_core.reshape(_core.equation(matrix, unit, who), (*others, *first)))


def tensorsolve(a: TensorLike, b: TensorLike, /, axes: Any = None) -> Tensor:
    """x with `tensordot(a, x, rank of x)` = b, as `np.linalg.tensorsolve`.

    a: its first axes are those of b, and the others, with as many entries, those of x.
    axes: axes of a that are moved to the end before.

    >>> a = pb.reshape(pb.eye(4) * 2, (4, 2, 2))
    >>> pb.linalg.tensorsolve(a, [2.0, 4.0, 6.0, 8.0])
    Tensor([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    who = "tensorsolve"
    (x, right), rounded = one_dtype([a, b], who)
    if axes is not None:
        moved = axes_of(axes, len(x.shape), who)
        x = _core.transpose(x, [k for k in range(len(x.shape)) if k not in moved] + moved)
    others = x.shape[len(right.shape) :]
    if x.size != right.size * prod(others) or prod(others) != right.size:
        raise numpy.linalg.LinAlgError(
            f"{who}: expected a of {right.size} times {right.size} entries for b of "
            f"{right.shape}, got shape {x.shape}"
        )
    matrix = _core.reshape(x, (right.size, right.size))
    return rounded(
        _core.reshape(_core.equation(matrix, _core.reshape(right, (right.size,)), who), others)
    )
