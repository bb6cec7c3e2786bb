"""`ldl`: the Bunch-Kaufman factorisation of Hermitian matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._autodiff.callback import callback_operation
from .._base.checks import check_matrices, flag
from .._base.composite import composite
from .._base.hints import without
from .._core import Rule, Tensor
from .._numpy.triangular import tril, triu
from .._typing import TensorLike
from ._matrices import adjoint, hermitian, one_dtype


class LDLResult(NamedTuple):
    """Outer factor with permuted rows, block-diagonal factor and permutation of the rows."""

    lu: Tensor
    d: Tensor
    perm: Tensor


@composite
@without(overwrite_a="tensors are immutable", check_finite="NaN and infinity raise a LinAlgError")
def ldl(A: TensorLike, /, lower: bool = True, hermitian: bool = True) -> LDLResult:  # noqa: N803
    """Factorise Hermitian matrices as ``lu @ d @ luᴴ``, with the results of ``scipy.linalg.ldl``.

    `d` has blocks of one or two rows, which pivoting chooses by the values. `lu` and `d` are
    differentiable in `A` with unchanged pivots, with Hermitian gradients.

    Parameters
    ----------
    A : array_like
        Hermitian matrices of shape (…, n, n), of which one triangle is read. Integers become the
        default floating dtype; float16 and bfloat16 are computed in float32.
    lower : bool, optional
        Read the lower triangle and return a permuted lower one; otherwise the upper ones. Default:
        True.
    hermitian : bool, optional
        Must be True for complex matrices: the factorisation of symmetric ones is not implemented.
        Default: True.

    Returns
    -------
    lu : Tensor
        Outer factor of shape (…, n, n), whose rows in the order of `perm` are a triangle with ones
        on the diagonal; the floating or complex dtype of `A`.
    d : Tensor
        Block-diagonal factor of shape (…, n, n); the dtype of `lu`.
    perm : Tensor
        Permutation of shape (…, n), dtype int64.

    Raises
    ------
    LinAlgError
        If a matrix is not square; if it contains NaN or infinity (raised when the result is
        computed); or if `d` is singular and the gradient of `lu` is computed.
    NotImplementedError
        If `hermitian` is False for complex matrices.

    See Also
    --------
    cholesky, lu

    Examples
    --------
    >>> lu, d, perm = pb.linalg.ldl([[2.0, 1.0], [1.0, 2.0]])
    >>> lu, d
    (Tensor([[1. , 0. ],
           [0.5, 1. ]], dtype=float32), Tensor([[2. , 0. ],
           [0. , 1.5]], dtype=float32))
    """
    [a], rounded = one_dtype([A], "ldl")
    check_matrices(a, "ldl", square=True)
    below = flag(lower, "ldl", "lower")
    if not flag(hermitian, "ldl", "hermitian") and a.dtype.kind == "c":
        raise NotImplementedError("ldl: hermitian=False is not implemented for complex matrices")
    n = a.shape[-1]

    def value(arrays: Any) -> Any:
        import scipy.linalg

        found = np.empty((*arrays.shape[:-1], 2 * n + 1), arrays.dtype)
        for at in np.ndindex(arrays.shape[:-2]):
            if not np.isfinite(arrays[at]).all():
                raise np.linalg.LinAlgError("ldl: expected finite matrices, got NaN or infinity")
            outer, d, order = scipy.linalg.ldl(arrays[at], below)
            found[at] = np.concatenate([outer, d, np.asarray(order)[:, None]], -1)
        return found

    packed = callback_operation(
        value, [_core.stop_gradient(a)], a.dtype, (*a.shape[:-1], 2 * n + 1), takes_batches=True
    )
    order = packed[..., 2 * n]
    order = _core.cast(_core.real(order) if order.dtype.kind == "c" else order, "int64")
    outer, d = _factors(a, packed, order, below)
    return LDLResult(rounded(outer), rounded(d), order)


def _factors(a: Tensor, packed: Tensor, order: Tensor, below: bool) -> tuple[Tensor, Tensor]:
    """Return both factors, whose values are in `packed`, with their derivatives.

    With m = l⁻¹ da l⁻ᴴ of the permuted matrix, dd is the part of m in the blocks of d, and l⁻¹ dl
    is the part below (or above) the blocks, times d⁻¹.
    """
    n = a.shape[-1]

    def rule_of(is_outer: bool) -> Rule:
        def rule(op: str, inputs: list[Any], outputs: Any, cotangents: list[Any]) -> list[Any]:
            (a, packed, order), (g,) = inputs, cotangents
            outer, d = _factors(a, packed, order, below)
            places = _core.equal(_core.expand_dims(order, -1), _core.arange(0, n, 1, "int64"))
            rows = _core.cast(places, d.dtype)  # the product with it permutes
            factor = _core.matmul(rows, outer)
            unit = _core.eye(n, n, 0, "bool")
            block = _core.logical_or(_core.not_equal(_core.stop_gradient(d), 0), unit)
            if is_outer:
                part = _core.matmul(adjoint(factor), _core.matmul(rows, g))
                part = adjoint(_core.equation(d, adjoint(part), "ldl"))  # part d⁻¹
                part = tril(part, k=-1) if below else triu(part, k=1)
                part = _core.where(block, 0, part)
            else:
                part = _core.where(block, g, 0)
            left = adjoint(factor)
            inner = _core.equation(left, adjoint(part), "ldl")
            inner = _core.equation(left, adjoint(inner), "ldl")
            found = hermitian(_core.matmul(_core.matmul(adjoint(rows), inner), rows))
            return [found, None, None]

        return Rule(rule, "ldl")

    parts = (packed[..., :n], packed[..., n : 2 * n])
    outer, d = (
        _core.custom([part], [a, packed, order], rule_of(part is parts[0]))[0] for part in parts
    )
    return outer, d
