"""Linear equations with the sparse arrays and matrices of SciPy.

SciPy's SuperLU factorises the matrix when the result is computed. The factors of the last values
are stored with the matrix, so the equation of the gradient is solved with the same factors.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .. import _core
from .._autodiff.callback import callback_operation
from .._base.composite import composite
from .._core import Rule, Tensor, shown
from .._numpy.sparse_products import entries_of, is_sparse
from .._typing import TensorLike
from ._matrices import one_dtype, right_sides, same_batch

WHO = "sparse_solve"


@composite
def sparse_solve(
    A: Any, b: TensorLike, /, values: TensorLike | None = None,  # noqa: N803
) -> Tensor:  # fmt: skip
    """Solve the linear equations ``A @ x = b`` with a sparse matrix of SciPy.

    The matrix is factorised by SuperLU [1]_, as in `scipy.sparse.linalg.spsolve`, once for the
    solution and its gradients. Differentiable in `b` and `values`, to every order and in forward
    and reverse mode.

    Parameters
    ----------
    A : sparse array or matrix of scipy.sparse
        Square matrix of shape (n, n). The dtype of its entries is treated as that of an operand;
        float16 and integers are converted as in `solve`.
    b : array_like
        Right-hand sides of shape (…, n, k), or a vector of shape (n,).
    values : array_like, optional
        Entries of shape (…, nnz) to use in place of ``A.data``, in its order; the format of `A`
        must be CSR, CSC or COO. Leading axes are a batch of matrices with one pattern. Default:
        ``A.data``.

    Returns
    -------
    Tensor
        Shape (…, n, k), or (…, n) if `b` is a vector; the floating or complex dtype to which the
        inputs promote.

    Raises
    ------
    LinAlgError
        If a matrix is singular (raised when the result is computed).
    TypeError
        If `A` is not sparse, or if `values` is given and `A` has another format.
    ValueError
        If the shapes do not match.

    See Also
    --------
    solve, cg, gmres

    References
    ----------
    .. [1] J. W. Demmel, S. C. Eisenstat, J. R. Gilbert, X. S. Li, J. W. H. Liu, "A supernodal
       approach to sparse partial pivoting", SIAM J. Matrix Anal. Appl. 20, 1999.

    Examples
    --------
    >>> import scipy.sparse
    >>> a = scipy.sparse.csr_array([[2.0, 0.0], [1.0, 4.0]])
    >>> pb.linalg.sparse_solve(a, [2.0, 9.0])
    Tensor([1., 2.], dtype=float64)

    The gradient with respect to the three stored entries:

    >>> pb.grad(lambda v: pb.linalg.sparse_solve(a, [2.0, 9.0], v).sum())(a.data)
    Tensor([-0.375, -0.25 , -0.5  ], dtype=float64)
    """
    if not is_sparse(A):
        raise TypeError(
            f"{WHO}: expected a sparse array or matrix of scipy.sparse for A, got {shown(A)}; use "
            "solve for a dense one"
        )
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"{WHO}: expected a square matrix for A, got shape {A.shape}")
    if is_sparse(b):
        raise TypeError(
            f"{WHO}: expected a tensor or array for b, got a sparse one; use b.toarray()"
        )
    rows, columns, own = entries_of(A, WHO, values is not None)
    (entries, right), rounded = one_dtype([own if values is None else values, b], WHO)
    if not entries.shape or entries.shape[-1] != len(rows):
        raise ValueError(
            f"{WHO}: expected {len(rows)} entries for values, the number of stored entries of A, "
            f"got shape {entries.shape}"
        )
    sides, restored = right_sides(right, A.shape[0], WHO)
    entries, sides = same_batch([entries, sides], [1, 2], WHO)
    return rounded(restored(_solved(_Matrix(rows, columns, A.shape), entries, sides, False)))


class _Matrix:
    """The positions of the entries of a matrix, and the factors for the last values."""

    def __init__(self, rows: Any, columns: Any, shape: tuple[int, int]) -> None:
        self.rows, self.columns, self.shape = rows, columns, shape
        self._last: tuple[Any, Any] | None = None

    def solution(self, adjoint: bool, values: Any, sides: Any) -> Any:
        """Return the solutions with the matrices, or their adjoints, of a batch of values."""
        found = np.empty(sides.shape, sides.dtype)
        for at in np.ndindex(values.shape[:-1]):
            if not sides[at].size:
                continue
            if not np.isfinite(values[at]).all():  # SuperLU does not define its result
                found[at] = np.nan
                continue
            factors = self._factors(values[at])
            found[at] = factors.solve(np.asfortranarray(sides[at]), "H" if adjoint else "N")
        return found

    def _factors(self, values: Any) -> Any:
        last = self._last
        if last is not None and np.array_equal(last[0], values):
            return last[1]
        from scipy.sparse import csc_array
        from scipy.sparse.linalg import splu

        matrix = csc_array((values, (self.rows, self.columns)), shape=self.shape)
        try:
            factors = splu(matrix)
        except RuntimeError as error:
            if "singular" not in str(error):
                raise
            raise np.linalg.LinAlgError(f"{WHO}: the matrix is singular") from None
        self._last = (values.copy(), factors)
        return factors


def _solved(matrix: _Matrix, values: Tensor, b: Tensor, adjoint: bool) -> Tensor:
    """Return the solutions with the matrices, or their adjoints, as a differentiable operation."""
    solution: Callable[..., Any] = partial(matrix.solution, adjoint)
    inputs = [_core.stop_gradient(values), _core.stop_gradient(b)]
    value = callback_operation(solution, inputs, b.dtype, b.shape, takes_batches=True)

    def rule(op: str, inputs: list[Any], outputs: list[Any], cotangents: list[Any]) -> list[Any]:
        w = _solved(matrix, inputs[0], cotangents[0], not adjoint)
        # A x = b: the cotangent of A is -w xᴴ; with the adjoint of A it is -x wᴴ.
        left, right = (outputs[0], w) if adjoint else (w, outputs[0])
        axis = len(left.shape) - 2
        left = _core.take(left, _core.constant(matrix.rows), axis)
        right = _core.take(right, _core.constant(matrix.columns), axis)
        terms = _core.multiply(left, _core.conj(right) if right.dtype.kind == "c" else right)
        return [_core.negative(_core.sum(terms, -1, False)), w]

    return _core.custom([value], [values, b], Rule(rule, WHO))[0]
