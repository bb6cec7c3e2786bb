"""LU factors of one array, and the solution of equations by them, with SciPy's names."""

from __future__ import annotations

from typing import NamedTuple

from .. import _core
from .._base.checks import check_matrices, trans_letter
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike, Trans
from ._matrices import one_dtype, right_sides, same_batch


class LUFactorResult(NamedTuple):
    """Store L and U in one matrix, and the row exchanges.

    Attributes
    ----------
    lu : Tensor
        The factor L without its unit diagonal, and U.
    piv : Tensor
        Row with which each row was exchanged.
    """

    lu: Tensor
    piv: Tensor


@composite
def lu_factor(x: TensorLike, /) -> LUFactorResult:
    """Compute the LU factors of matrices in the form of `lu_solve`.

    The conventions are those of `scipy.linalg.lu_factor`. Only square matrices have a gradient.

    Parameters
    ----------
    x : array_like
        Matrices of shape (…, m, n).

    Returns
    -------
    lu : Tensor
        Matrices of shape (…, m, n): L without its unit diagonal, and U.
    piv : Tensor
        Indices of shape (…, k) with k = min(m, n) and dtype int64: the row with which each row was
        exchanged, in order. They have no gradient.

    Raises
    ------
    numpy.linalg.LinAlgError
        If `x` is not a matrix or a batch of matrices.

    See Also
    --------
    lu_solve

    Examples
    --------
    >>> pb.linalg.lu_factor([[1.0, 2.0], [4.0, 4.0]])
    LUFactorResult(lu=Tensor([[4.  , 4.  ],
           [0.25, 1.  ]], dtype=float32), piv=Tensor([1, 1], dtype=int64))
    """
    [a], rounded = one_dtype([x], "lu_factor")
    check_matrices(a, "lu_factor")
    packed, _, _, swaps = _core.lu(a)
    return LUFactorResult(rounded(packed), swaps)


@composite
def lu_solve(
    lu_and_piv: tuple[TensorLike, TensorLike], b: TensorLike, /,
    trans: Trans = 0,
) -> Tensor:  # fmt: skip
    """Solve a x = b with the LU factors of a.

    The conventions are those of `scipy.linalg.lu_solve`. Differentiable in the factors and in `b`.

    Parameters
    ----------
    lu_and_piv : tuple
        Result `(lu, piv)` of `lu_factor` for square matrices of shape (…, n, n).
    b : array_like
        Right-hand sides of shape (…, n, k), or a vector of length n.
    trans : {0, 1, 2, "N", "T", "C"}, optional
        Solve a x = b (0 or "N"), aᵀ x = b (1 or "T") or aᴴ x = b (2 or "C"). Default: 0.

    Returns
    -------
    Tensor
        Solutions of the shape of `b`, broadcast with the batch; the promoted dtype.

    Raises
    ------
    TypeError
        If `lu_and_piv` is not a pair, or `piv` is not made of integers.
    ValueError
        If the shapes do not match, or `trans` is unknown.
    numpy.linalg.LinAlgError
        If a matrix is singular. It is raised when the result is computed.

    See Also
    --------
    lu_factor

    Examples
    --------
    >>> factors = pb.linalg.lu_factor([[2.0, 0.0], [1.0, 4.0]])
    >>> pb.linalg.lu_solve(factors, [2.0, 9.0])
    Tensor([1., 2.], dtype=float32)
    """
    who = "lu_solve"
    if not (isinstance(lu_and_piv, tuple) and len(lu_and_piv) == 2):
        raise TypeError(
            f"{who}: expected a pair (lu, piv) for lu_and_piv, got {_core.shown(lu_and_piv)}; pass "
            "the result of lu_factor"
        )
    letter = trans_letter(trans, who)
    (packed, right), rounded = one_dtype([lu_and_piv[0], b], who)
    check_matrices(packed, who, square=True)
    n = packed.shape[-1]
    swaps = _core.constant(lu_and_piv[1], None, who)
    if swaps.dtype.kind not in "iu":
        raise TypeError(f"{who}: expected integers for piv, got {swaps.dtype}")
    if not swaps.shape or swaps.shape[-1] != n:
        raise ValueError(f"{who}: expected {n} pivots for piv, got shape {swaps.shape}")
    sides, restored = right_sides(right, n, who)
    packed, swaps, sides = same_batch([packed, _core.cast(swaps, "int64"), sides], [2, 1, 2], who)
    return rounded(restored(_core.lu_solve(packed, swaps, sides, letter)))
