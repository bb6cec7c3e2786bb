"""Linear equations, inverses and determinants, by LAPACK.

The last two axes are matrices; the leading axes are a batch and broadcast. Integers become the
default floating dtype; float16 and bfloat16 are computed in float32. Input that is not a matrix, or
not square where required, raises `numpy.linalg.LinAlgError`, and so does a singular matrix when the
result is computed; the message contains its position in the batch. Derivatives of every order exist
in forward and reverse mode, of complex matrices too. A plan factorises a matrix once, for its
gradients too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, SupportsIndex

from .. import _core
from .._base.checks import check_matrices, flag, integer, trans_letter
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike, Trans


class SlogdetResult(NamedTuple):
    """Sign of a determinant (complex of absolute value 1) and logarithm of its absolute value."""

    sign: Tensor
    logabsdet: Tensor


def solve(a: TensorLike, b: TensorLike) -> Tensor:
    """Solve the linear equations ``a @ x = b``.

    Differentiable in `a` and `b`. Batches broadcast.

    Parameters
    ----------
    a : array_like
        Coefficient matrices of shape (…, n, n). Integers become the default floating dtype; float16
        and bfloat16 are computed in float32.
    b : array_like
        Right-hand sides of shape (…, n, k), or a vector of shape (n,).

    Returns
    -------
    Tensor
        Shape (…, n, k), or (…, n) if `b` is a vector; the floating or complex dtype to which the
        inputs promote.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or is singular (raised when the result is computed, with its
        position in the batch).
    ValueError
        If the shapes do not match.

    Examples
    --------
    >>> pb.linalg.solve([[2.0, 0.0], [1.0, 4.0]], [2.0, 9.0])
    Tensor([1., 2.], dtype=float32)
    """
    return _core.solve(*_operands(a, b, "solve"))


@composite
def solve_triangular(
    a: TensorLike, b: TensorLike, /, trans: Trans = 0,
    lower: bool = False, unit_diagonal: bool = False,
) -> Tensor:  # fmt: skip
    """Solve linear equations with a triangular matrix, as ``scipy.linalg.solve_triangular``.

    Differentiable in `a` and `b`. Batches broadcast.

    Parameters
    ----------
    a : array_like
        Matrices of shape (…, n, n), of which one triangle is read. Integers become the default
        floating dtype; float16 and bfloat16 are computed in float32.
    b : array_like
        Right-hand sides of shape (…, n, k), or a vector of shape (n,).
    trans : {0, 1, 2, "N", "T", "C"}, default 0
        System to solve: 0 or "N" is a x = b, 1 or "T" is aᵀ x = b, 2 or "C" is aᴴ x = b.
    lower : bool, default False
        Read the lower triangle instead of the upper one.
    unit_diagonal : bool, default False
        Take the diagonal to be ones, without reading it.

    Returns
    -------
    Tensor
        Shape (…, n, k), or (…, n) if `b` is a vector; the floating or complex dtype to which the
        inputs promote, float32 for 16-bit floats.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or is singular (raised when the result is computed, with its
        position in the batch).
    ValueError
        If the shapes do not match or `trans` is unknown.
    TypeError
        If `lower` or `unit_diagonal` is not a bool.

    Examples
    --------
    >>> pb.linalg.solve_triangular([[2.0, 0.0], [1.0, 4.0]], [2.0, 9.0], lower=True)
    Tensor([1., 2.], dtype=float32)
    """
    if unit_diagonal is not False:
        unit_diagonal = flag(unit_diagonal, "solve_triangular", "unit_diagonal")
    if lower is not False:
        lower = flag(lower, "solve_triangular", "lower")
    letter = trans_letter(trans, "solve_triangular")
    x, y = _operands(a, b, "solve_triangular")
    vector = len(y.shape) == 1
    if vector:
        y = _core.expand_dims(y, 1)
    out: Tensor = _core.triangular_solve(x, y, bool(lower), letter, bool(unit_diagonal))
    return _core.squeeze(out, -1) if vector else out


@composite
def cho_solve(c_and_lower: tuple[TensorLike, bool], b: TensorLike, /) -> Tensor:
    """Solve linear equations by a Cholesky factor of the matrix, as ``scipy.linalg.cho_solve``.

    Differentiable in the factor and `b`. Batches broadcast.

    Parameters
    ----------
    c_and_lower : tuple of (array_like, bool)
        Cholesky factor of shape (…, n, n), as `cholesky` returns it, and True if it is the lower
        triangle.
    b : array_like
        Right-hand sides of shape (…, n, k), or a vector of shape (n,).

    Returns
    -------
    Tensor
        Shape (…, n, k), or (…, n) if `b` is a vector; the floating or complex dtype to which the
        inputs promote, float32 for 16-bit floats.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or is singular (raised when the result is computed, with its
        position in the batch).
    ValueError
        If the shapes do not match.
    TypeError
        If `c_and_lower` is not a tuple of two.

    Examples
    --------
    >>> c = pb.linalg.cholesky([[4.0, 2.0], [2.0, 10.0]])
    >>> pb.linalg.cho_solve((c, True), [6.0, 12.0])
    Tensor([1., 1.], dtype=float32)
    """
    if not (isinstance(c_and_lower, tuple) and len(c_and_lower) == 2):
        raise TypeError(
            f"cho_solve: expected a pair (factor, bool) for c_and_lower, got "
            f"{_core.shown(c_and_lower)}"
        )
    c, lower = c_and_lower
    factor, right = _operands(c, b, "cho_solve")
    half = solve_triangular(factor, right, 0 if lower else 2, bool(lower))
    return solve_triangular(factor, half, 2 if lower else 0, bool(lower))


def _operands(a: TensorLike, b: TensorLike, who: str) -> tuple[Tensor, Tensor]:
    x, y = _core.operands([a, b], who)
    return x, y


@composite
def inv(x: TensorLike, /) -> Tensor:
    """Compute the inverse of matrices.

    Differentiable in `x`. To multiply by an inverse, `solve` takes fewer operations.

    Parameters
    ----------
    x : array_like
        Matrices of shape (…, n, n). Integers become the default floating dtype; float16 and
        bfloat16 are computed in float32.

    Returns
    -------
    Tensor
        Shape (…, n, n); the floating or complex dtype of `x`.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or is singular (raised when the result is computed, with its
        position in the batch).

    Examples
    --------
    >>> pb.linalg.inv([[2.0, 0.0], [1.0, 4.0]])
    Tensor([[ 0.5  ,  0.   ],
           [-0.125,  0.25 ]], dtype=float32)
    """
    return _core.inv(_core.constant(x, who="inv"))


def det(x: TensorLike, /) -> Tensor:
    """Compute the determinant of matrices.

    Differentiable in `x`. The determinant of a singular matrix is 0 and its gradient the adjugate;
    higher derivatives are not accurate close to a singular matrix, and can be NaN at one.

    Parameters
    ----------
    x : array_like
        Matrices of shape (…, n, n). Integers become the default floating dtype; float16 and
        bfloat16 are computed in float32.

    Returns
    -------
    Tensor
        Shape (…); the floating or complex dtype of `x`.

    Raises
    ------
    LinAlgError
        If a matrix is not square.

    Examples
    --------
    >>> pb.linalg.det([[2.0, 0.0], [1.0, 4.0]])
    Tensor(8., dtype=float32)
    """
    return _core.det(_core.constant(x, who="det"))


@composite
def slogdet(x: TensorLike, /) -> SlogdetResult:
    """Compute the sign and the logarithm of the absolute value of determinants.

    The values neither overflow nor underflow. For a singular matrix they are 0 and -inf.
    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Matrices of shape (…, n, n). Integers become the default floating dtype; float16 and
        bfloat16 are computed in float32.

    Returns
    -------
    sign : Tensor
        -1, 0 or 1, or a complex number of absolute value 1 (or 0); shape (…), the floating or
        complex dtype of `x`.
    logabsdet : Tensor
        Shape (…); the real floating dtype of `x`.

    Raises
    ------
    LinAlgError
        If a matrix is not square.

    Examples
    --------
    >>> sign, logabsdet = pb.linalg.slogdet([[2.0, 0.0], [1.0, -4.0]])
    >>> sign, pb.round(logabsdet, 4)
    (Tensor(-1., dtype=float32), Tensor(2.0794, dtype=float32))
    """
    return SlogdetResult(*_core.slogdet(_core.constant(x, who="slogdet")))


@composite
def matrix_power(x: TensorLike, /, n: SupportsIndex) -> Tensor:
    """Compute an integer power of matrices.

    Matrices are multiplied by repeated squaring; for negative `n` the power is that of the inverse.
    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Matrices of shape (…, n, n), of any dtype except bool.
    n : int
        Exponent; 0 gives the identity matrix.

    Returns
    -------
    Tensor
        Shape (…, n, n); the dtype of `x`, for a negative exponent the floating or complex dtype of
        `x`.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or if `n` is negative and a matrix is singular (raised when the
        result is computed).
    TypeError
        If `n` is not an integer.

    Examples
    --------
    >>> pb.linalg.matrix_power([[1.0, 1.0], [0.0, 1.0]], 5)
    Tensor([[1., 5.],
           [0., 1.]], dtype=float32)
    """
    base, count = _core.constant(x, who="matrix_power"), integer(n, "matrix_power", "n")
    check_matrices(base, "matrix_power", square=True)
    if count < 0:
        base, count = _core.inv(base, "matrix_power"), -count
    out = None
    while count:
        if count & 1:
            out = base if out is None else _core.matmul(out, base)
        count >>= 1
        if count:
            base = _core.matmul(base, base)
    if out is not None:
        return out
    rows = base.shape[-1]
    return _core.broadcast_to(_core.eye(rows, rows, 0, base.dtype), base.shape)


@composite
def multi_dot(arrays: Sequence[TensorLike], /) -> Tensor:
    """Compute the product of several matrices in the order of least operations.

    Differentiable in all arrays.

    Parameters
    ----------
    arrays : sequence of array_like
        Two or more matrices with matching sizes; the first and the last can be vectors.

    Returns
    -------
    Tensor
        Shape of the matrix product, without the axis of a vector; the dtype to which the arrays
        promote.

    Raises
    ------
    ValueError
        If there are fewer than two arrays, if sizes do not match, or if an array is not a matrix (a
        vector at the ends).
    TypeError
        If `arrays` is not a sequence, or if two arrays to multiply are bool.

    Examples
    --------
    >>> pb.linalg.multi_dot([pb.ones((2, 9)), pb.ones((9, 2)), pb.ones(2)])
    Tensor([18., 18.], dtype=float32)
    """
    try:
        entries = iter(arrays)
    except TypeError:
        raise TypeError(
            f"multi_dot: expected a list of matrices for arrays, got {_core.shown(arrays)}"
        ) from None
    given: list[Tensor] = []
    sizes: list[int] = []
    for entry in entries:
        a = _core.constant(entry, who="multi_dot")
        rank = len(a.shape)
        if rank not in (1, 2) or (len(given) > 1 and len(given[-1].shape) == 1):
            raise ValueError(
                f"multi_dot: expected a matrix for arrays[{len(given)}], got shape {a.shape}; only "
                "the first and the last array may be vectors"
            )
        if not given:
            sizes = [1, *a.shape] if rank == 1 else [*a.shape]
        else:
            if a.shape[0] != sizes[-1]:
                raise ValueError(
                    f"multi_dot: expected {sizes[-1]} rows for arrays[{len(given)}], got shape "
                    f"{a.shape}"
                )
            sizes.append(a.shape[1] if rank == 2 else 1)
        given.append(a)
    if len(given) < 2:
        raise ValueError(f"multi_dot: expected at least two arrays, got {len(given)}")
    return _product(given, _best_order(sizes), 0, len(given) - 1)


def _best_order(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Return the best split of each run of factors by dynamic programming [1]_.

    `contraction_order`, which `einsum` uses, is exact for few operands only. In a chain only
    neighbours are multiplied, so all orders can be counted.

    .. [1] T. H. Cormen and others, "Introduction to Algorithms", section 14.2.
    """
    n = len(sizes) - 1
    cost = {(i, i): 0 for i in range(n)}
    split = {}
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            costs = [
                cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                for k in range(i, j)
            ]
            cost[i, j] = min(costs)
            split[i, j] = i + costs.index(cost[i, j])
    return split


def _product(factors: list[Tensor], split: dict[tuple[int, int], int], i: int, j: int) -> Tensor:
    if i == j:
        return factors[i]
    k = split[i, j]
    return _core.matmul(_product(factors, split, i, k), _product(factors, split, k + 1, j))
