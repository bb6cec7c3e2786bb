"""Some eigenvalues of a Hermitian map, by products with it alone.

ARPACK computes the values. The derivative of an eigenvector solves a linear equation on the
complement of all computed vectors, where the shifted map is definite, by conjugate gradients. Start
reading at `_vectors`.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .. import _core
from .._autodiff.callback import callback_operation
from .._autodiff.closed_graph import recorded_from
from .._autodiff.function import function
from .._base.checks import choice, flag, integer, number
from .._base.hints import without
from .._core import Rule, Tensor
from .._numpy.sparse_products import is_sparse
from ._eigenvalues import EighResult
from ._iterative import Linear, Method, attached, recorded_map
from ._matrices import adjoint, one_dtype

WHO = "eigsh"
Which = Literal["LM", "LA", "SA", "BE"]


def eigsh(
    A: Any, k: int = 6, *, which: Which = "LM", v0: Any = None,  # noqa: N803
    ncv: int | None = None, maxiter: int | None = None, tol: float = 0.0,
) -> EighResult:  # fmt: skip
    """Compute some eigenvalues and eigenvectors of a Hermitian map.

    Values are those of `scipy.sparse.linalg.eigsh` [1]_, which takes products with `A` only. The
    sign of a vector is that with a positive largest entry. Differentiable, to every order and in
    forward and reverse mode, in a dense matrix `A` and in the tensors that a function `A` reads;
    the gradient of a vector is NaN if its eigenvalue is a multiple one or the solution of its
    equation does not converge. Gradients with respect to a matrix are those among all matrices.

    Parameters
    ----------
    A : callable, array_like or sparse array of scipy.sparse
        Hermitian function that takes a tensor like `v0` and returns `A v`, linear in it; or a
        Hermitian matrix of shape (n, n). The entries of a sparse matrix are constants.
    k : int, optional
        Number of eigenvalues, less than n, or than n - 1 for a complex map. Default: 6.
    which : {"LM", "LA", "SA", "BE"}, optional
        The k largest eigenvalues in magnitude, the k largest or smallest ones, or one half from
        each end (real maps only). Default: "LM".
    v0 : array_like, optional
        Start of the iteration, a vector of n entries. It is required for a function `A`, and gives
        its dtype; float16 and bfloat16 become float32.
    ncv : int, optional
        Number of Lanczos vectors. Default: that of SciPy.
    maxiter : int, optional
        Maximal number of restarts. Default: that of SciPy.
    tol : float, optional
        Relative accuracy of the eigenvalues. Default: 0, the rounding unit.

    Returns
    -------
    eigenvalues : Tensor
        Ascending, shape (k,); the real floating dtype of `A`.
    eigenvectors : Tensor
        Orthonormal columns, shape (n, k); the dtype of `A`.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or if the iteration does not converge or `A` returns NaN or
        infinity (raised when the result is computed).
    TypeError
        If `A` returns another dtype, if `k`, `ncv` or `maxiter` is not an integer, or if `v0` is
        missing.
    ValueError
        If `k`, `which`, `ncv`, `maxiter` or `tol` is out of range, or if the shapes do not match.

    See Also
    --------
    eigh

    References
    ----------
    .. [1] R. B. Lehoucq, D. C. Sorensen, C. Yang, "ARPACK users' guide", SIAM, 1998.

    Examples
    --------
    >>> scale = pb.constant([1.0, 5.0, 2.0, 3.0])
    >>> w, v = pb.linalg.eigsh(lambda x: scale * x, 2, v0=pb.ones(4))
    >>> pb.round(w, 3)
    Tensor([3., 5.], dtype=float32)
    """
    choice(which, ("LM", "LA", "SA", "BE"), WHO, "which")
    start = _start(A, v0)
    n, k = start.shape[0], integer(k, WHO, "k")
    is_complex = start.dtype.kind == "c"
    most = n - 2 if is_complex else n - 1  # of ARPACK
    if not 0 < k <= most:
        raise ValueError(f"{WHO}: expected k from 1 to {most} for {n} rows, got {k}")
    if is_complex and which == "BE":
        raise ValueError(f"{WHO}: expected a real map for which='BE', got {start.dtype}")
    tol = number(tol, WHO, "tol")
    if not tol >= 0:
        raise ValueError(f"{WHO}: expected a non-negative number for tol, got {tol}")
    if ncv is not None and not k < (ncv := integer(ncv, WHO, "ncv")) <= n:
        raise ValueError(f"{WHO}: expected ncv from {k + 1} to {n}, got {ncv}")
    if maxiter is not None and (maxiter := integer(maxiter, WHO, "maxiter")) < 1:
        raise ValueError(f"{WHO}: expected a positive integer for maxiter, got {maxiter}")
    on = recorded_map(A, start, WHO, "A", "v0")
    options = {"which": which, "ncv": ncv, "maxiter": maxiter, "tol": tol}

    def solver(operator: Any, first: Any) -> Any:
        from scipy.sparse.linalg import eigsh

        w, v = eigsh(operator, k, v0=first, **options)
        order = np.argsort(w)
        return w[order], v[:, order]

    return _selected(WHO, on, start, k, solver, which)


@without(
    B="reduce the problem to a standard one by cholesky",
    M="the iteration has no preconditioner",
    Y="add a multiple of the projector on the constraints to A",
    verbosityLevel="the iteration is not observed",
    retLambdaHistory="the iteration is not observed",
    retResidualNormsHistory="the iteration is not observed",
    restartControl="it is that of SciPy",
)
def lobpcg(
    A: Any, X: Any, *, tol: float | None = None, maxiter: int | None = None,  # noqa: N803
    largest: bool = True,
) -> EighResult:  # fmt: skip
    """Compute the largest or smallest eigenvalues of a Hermitian map, and their vectors.

    Values are those of `scipy.sparse.linalg.lobpcg` [1]_. Signs and derivatives are those of
    `eigsh`; they are as accurate as the vectors, so pass a small `tol`.

    Parameters
    ----------
    A : callable, array_like or sparse array of scipy.sparse
        Hermitian function that takes a vector of n entries and returns `A v`, linear in it; or a
        Hermitian matrix of shape (n, n). The entries of a sparse matrix are constants.
    X : array_like
        Start of the iteration: independent columns, of shape (n, k) with k < n. float16 and
        bfloat16 become float32.
    tol : float, optional
        Bound of the norms of the residuals. Default: that of SciPy, n times the square root of the
        rounding unit.
    maxiter : int, optional
        Maximal number of iterations. Default: that of SciPy, 20.
    largest : bool, optional
        If True, the largest eigenvalues in descending order; otherwise the smallest ones in
        ascending order. Default: True.

    Returns
    -------
    eigenvalues : Tensor
        Shape (k,); the real floating dtype of `A`.
    eigenvectors : Tensor
        Orthonormal columns, shape (n, k); the dtype of `A`.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or if `A` returns NaN or infinity (raised when the result is
        computed).
    TypeError
        If `A` returns another dtype, `maxiter` is not an integer or `largest` is not a bool.
    ValueError
        If the shapes do not match, or `tol` or `maxiter` is out of range.

    See Also
    --------
    eigsh

    References
    ----------
    .. [1] A. V. Knyazev, "Toward the optimal preconditioned eigensolver", SIAM J. Sci. Comput. 23,
       2001.

    Examples
    --------
    >>> a = pb.diag(pb.constant([1.0, 5.0, 2.0, 3.0, 0.5, 0.2]))
    >>> w, v = pb.linalg.lobpcg(a, pb.eye(6)[:, 1:2] + 0.1)
    >>> pb.round(w, 3)
    Tensor([5.], dtype=float32)
    """
    who = "lobpcg"
    [start], _ = one_dtype([X], who)
    if len(start.shape) != 2 or not 0 < start.shape[1] < start.shape[0]:
        raise ValueError(
            f"{who}: expected at least one and fewer columns than rows for X, got shape "
            f"{start.shape}"
        )
    if not callable(A):
        first = _start(A, start[:, 0], who)
        start = _core.cast(start, first.dtype)
    start = _core.stop_gradient(start)
    if tol is not None and not (tol := number(tol, who, "tol")) >= 0:
        raise ValueError(f"{who}: expected a non-negative number for tol, got {tol}")
    if maxiter is not None and (maxiter := integer(maxiter, who, "maxiter")) < 1:
        raise ValueError(f"{who}: expected a positive integer for maxiter, got {maxiter}")
    on = recorded_map(A, start[:, 0], who, "A", "a column of X")
    which: Which = "LA" if flag(largest, who, "largest") else "SA"

    def solver(operator: Any, first: Any) -> Any:
        from scipy.sparse.linalg import lobpcg

        return lobpcg(operator, np.array(first), tol=tol, maxiter=maxiter, largest=which == "LA")

    return _selected(who, on, start, start.shape[1], solver, which)


def _selected(who: str, on: Linear, start: Tensor, k: int, solver: Any, which: Which) -> EighResult:
    """Return the values and vectors of `solver(operator, start)` with their derivatives."""
    rows = _rows(who, on, start, k, solver)
    values, size = _core.real(rows[0]), _core.real(rows[1, 0])
    vectors = _vectors(on, rows[2:], values, size, which)
    return EighResult(_eigenvalues(on, values, vectors), vectors)


def _start(a: Any, v0: Any, who: str = WHO) -> Tensor:
    """Return the vector at which the iteration starts; it has the dtype of the map."""
    if callable(a):
        if v0 is None:
            raise TypeError(f"{who}: expected a vector for v0 if A is a function, got None")
        [start], _ = one_dtype([v0], who)
    else:
        [matrix], _ = one_dtype([a.data if is_sparse(a) else a], who)
        shape = a.shape if is_sparse(a) else matrix.shape
        if len(shape) != 2 or shape[0] != shape[1]:
            raise np.linalg.LinAlgError(f"{who}: expected a square matrix for A, got shape {shape}")
        if v0 is None:
            v0 = np.random.default_rng(0).normal(size=shape[0])
        start = _core.cast(_core.constant(v0, None, f"{who}: v0"), matrix.dtype)
        if start.shape != shape[:1]:
            raise ValueError(f"{who}: expected shape {shape[:1]} for v0, got {start.shape}")
    if len(start.shape) != 1:
        raise ValueError(f"{who}: expected a vector for v0, got shape {start.shape}")
    return _core.stop_gradient(start)


def _rows(who: str, on: Linear, start: Tensor, k: int, solver: Any) -> Tensor:
    """Return the eigenvalues and an estimate of the norm as rows above the eigenvectors.

    They have no derivative.
    """
    products = function(lambda v, others: on.graph.copy([v, *others], False)[0])
    n, dtype = start.shape[0], start.dtype

    def solve(first: Any, *others: Any) -> Any:
        if np.ndim(first) > len(start.shape):  # a batch of vmap
            pairs = [solve(*one) for one in zip(first, *others, strict=True)]
            return np.stack(pairs) if pairs else np.empty((0, n + 2, k), dtype)
        from scipy.sparse.linalg import ArpackError, LinearOperator

        size = 0.0

        def times(v: Any) -> Any:
            nonlocal size
            v = np.ascontiguousarray(v.reshape(n), dtype)
            product = np.array(products(v, list(others)))
            if not np.isfinite(product).all():
                raise np.linalg.LinAlgError(f"{who}: A returned NaN or infinity")
            length = float(np.linalg.norm(v))
            if length:
                size = max(size, float(np.linalg.norm(product)) / length)
            return product

        operator = LinearOperator((n, n), matvec=times, dtype=dtype)
        try:
            w, v = solver(operator, first)
        except ArpackError as error:
            raise np.linalg.LinAlgError(f"{who}: {error}") from None
        largest = np.take_along_axis(v, np.abs(v).argmax(0)[None], 0)
        v = v * (np.conj(largest) / np.abs(largest))
        rows = np.concatenate([w[None], np.full((1, k), size), v])
        return np.ascontiguousarray(rows, dtype)

    inputs = [start, *(_core.stop_gradient(one) for one in on.others)]
    return callback_operation(solve, inputs, dtype, (n + 2, k), takes_batches=True)


def _columns(on: Linear, vectors: Tensor) -> Tensor:
    """Return the products of the map with each column."""
    return _core.stack([on(vectors[:, i]) for i in range(vectors.shape[1])], 1)


def _eigenvalues(on: Linear, value: Tensor, vectors: Tensor) -> Tensor:
    """Return the eigenvalues with the derivative vᴴ dA v."""

    def rule(op: str, inputs: list[Any], outputs: list[Any], cotangents: list[Any]) -> list[Any]:
        vectors, *others = (_core.identity(one) for one in inputs)
        with recorded_from([*others]):
            moved = _columns(Linear(on.graph, others, on.what), vectors)
        weights = _core.multiply(vectors, _core.cast(cotangents[0], vectors.dtype))
        answers: list[Any] = _core.gradients([moved], others, [weights], overrides=True)
        return [None, *answers]

    return _core.custom([value], [vectors, *on.others], Rule(rule, WHO))[0]


def _vectors(on: Linear, value: Tensor, values: Tensor, size: Tensor, which: str) -> Tensor:
    """Return the eigenvectors with their derivatives.

    The derivative of vector i is the pseudo-inverse of λ_i - A times dA v_i, so its adjoint applies
    the same pseudo-inverse to the cotangent. `size` is an estimate of the norm of A.
    """

    def rule(op: str, inputs: list[Any], outputs: list[Any], cotangents: list[Any]) -> list[Any]:
        values, size, *others = (_core.identity(one) for one in inputs)
        vectors = _core.identity(outputs[0])
        now = Linear(on.graph, others, on.what)
        values = _core.identity(_eigenvalues(now, values, outputs[0]))
        with recorded_from([vectors, values, *others]):
            moved = _columns(now, vectors)
            columns = [
                _shifted_solution(now, vectors, values, size, i, which, cotangents[0][:, i])
                for i in range(vectors.shape[1])
            ]
            weights = _core.stack(columns, 1)
        answers: list[Any] = _core.gradients([moved], others, [weights], overrides=True)
        return [None, None, *answers]

    return _core.custom([value], [values, size, *on.others], Rule(rule, WHO))[0]


def _shifted_solution(
    on: Linear, vectors: Tensor, values: Tensor, size: Tensor, i: int, which: str, g: Tensor
) -> Tensor:
    """Return the pseudo-inverse of λ_i - A, applied to g; NaN if λ_i is a multiple eigenvalue."""
    (n, k), dtype = vectors.shape, vectors.dtype
    eps = float(np.finfo(dtype).eps)
    equal = 4 * n * eps  # relative to the norm
    mine = values[i]
    along = _core.matmul(adjoint(vectors), g)
    others = np.arange(k) != i
    gaps = _core.subtract(mine, values)
    apart = _core.greater(_core.abs(gaps), _core.multiply(size, equal))
    gaps = _core.where(others, _core.where(apart, gaps, float("nan")), 1.0)
    inside = _core.where(others, _core.divide(along, _core.cast(gaps, dtype)), 0.0)
    if which == "LM":
        sign = _core.where(_core.less(_core.stop_gradient(mine), 0.0), -1.0, 1.0)
    else:
        low = which == "SA" or (which == "BE" and i < k // 2)
        sign = _core.constant(-1.0 if low else 1.0, values.dtype)
    scale = _core.cast(_core.divide(sign, size), dtype)
    mine = _core.cast(mine, dtype)

    def outside(x: Tensor) -> Any:
        return _core.subtract(x, _core.matmul(vectors, _core.matmul(adjoint(vectors), x)))

    def definite(x: Tensor) -> Any:
        # ±(λ_i - A) of norm about 1 on the complement of the vectors, the identity on their span.
        rest = outside(x)
        turned = outside(_core.subtract(_core.multiply(mine, rest), on(rest)))
        return _core.add(_core.multiply(scale, turned), _core.subtract(x, rest))

    right = _core.multiply(scale, outside(g))
    method = Method("cg", eps**0.75, 0.0, 20 * n, 1, least=equal)
    found = attached(method, recorded_map(definite, right, WHO, "A"), None, right, None).x
    return _core.add(_core.matmul(vectors, inside), outside(found))
