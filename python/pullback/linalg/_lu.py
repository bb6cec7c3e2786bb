"""LU factors of one array, and the solution of equations by them, with SciPy's names."""

from __future__ import annotations

from typing import Literal, NamedTuple

from .. import _core
from .._base.checks import check_matrices, turn
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
