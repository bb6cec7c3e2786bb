"""Linear equations solved by products with the matrix alone: CG, MINRES and GMRES.

The steps are a loop of the plan. Gradients do not depend on the steps: they are those of the exact
solution next to the computed one (see implicit/_equation.py). The adjoint equation is solved in
the same way, to the same tolerance. Start reading at `_solved`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from .. import _core
from .._autodiff.closed_graph import placeholder, recorded_from
from .._autodiff.function import inlined_functions
from .._autodiff.rules import place
from .._base.checks import check_matrices, integer
from .._core import ClosedGraph, Rule, Tensor, shown
from .._numpy.sparse_products import is_sparse, product
from ._krylov import conjugate_gradients, minimal_residuals, norm
from ._krylov import gmres as gmres_cycles
from ._matrices import one_dtype

Operator = Any  # a function x ↦ A x, or a matrix


class IterativeResult(NamedTuple):
    """Result of `linalg.cg`, `linalg.minres` and `linalg.gmres`.

    Attributes
    ----------
    x : Tensor
        The solution.
    info : Tensor
        0, or the number of steps that were made without reaching the tolerance.
    """

    x: Tensor
    info: Tensor


def cg(
    A: Operator, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,  # noqa: N803
    maxiter: int | None = None, M: Operator = None,  # noqa: N803
) -> IterativeResult:  # fmt: skip
    """Solve the linear equation `A x = b` by the method of conjugate gradients.

    `A` must be Hermitian and positive definite. Gradients with respect to `b`, to a matrix `A` and
    to tensors that a function `A` reads are those of the exact solution, to every order and in
    forward and reverse mode. Their equation is solved in the same way. There is no gradient with
    respect to `x0`. The method is that of [1]_, with the interface of `scipy.sparse.linalg.cg`.

    Parameters
    ----------
    A : callable or array_like
        Function that takes a tensor like `b` and returns `A x`, linear in it; or a square
        matrix, dense or a sparse one of SciPy, whose entries are constants.
    b : array_like
        Right-hand side of any shape, or a vector if `A` is a matrix; of the dtype that `A` returns.
        float16 and bfloat16 become float32.
    x0 : array_like, optional
        Initial guess of the shape of `b`. Default: zeros.
    rtol, atol : float, optional
        Steps are made until the norm of `b - A x` is at most `max(rtol * norm(b), atol)`. Defaults:
        1e-5 and 0.
    maxiter : int, optional
        Maximal number of steps. Default: ten times the number of entries of `b`.
    M : callable or array_like, optional
        Preconditioner: an approximation of the inverse of `A`, Hermitian and positive definite, as
        a function or a matrix.

    Returns
    -------
    IterativeResult
        Pair (x, info): `x` has the shape and dtype of `b`; `info` is 0, or the number of steps if
        they did not suffice.

    Raises
    ------
    TypeError
        If `A` or `M` returns another dtype, or if `maxiter` is not an integer.
    ValueError
        If `A` or `M` returns another shape or does not depend on its argument, if the shapes of a
        matrix and `b` do not match, if `x0` has another shape, or if `maxiter`, `rtol` or `atol` is
        out of range.

    See Also
    --------
    linalg.gmres, linalg.solve

    References
    ----------
    .. [1] M. R. Hestenes, E. Stiefel, "Methods of conjugate gradients for solving linear systems",
       J. Res. Natl. Bur. Stand. 49, 1952.

    Examples
    --------
    >>> x, info = pb.linalg.cg(lambda x: 2 * x, pb.constant([2.0, 6.0]))
    >>> x, int(info)
    (Tensor([1., 3.], dtype=float32), 0)
    """
    return _solved("cg", A, b, x0, rtol, atol, maxiter, M, None)


def gmres(
    A: Operator, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,  # noqa: N803
    restart: int | None = None, maxiter: int | None = None, M: Operator = None,  # noqa: N803
) -> IterativeResult:  # fmt: skip
    """Solve the linear equation `A x = b` by the generalised minimal residual method.

    `A` may be any invertible map. Gradients are those of `cg`. The method is that of [1]_, with the
    interface of `scipy.sparse.linalg.gmres`.

    Parameters
    ----------
    A : callable or array_like
        Function that takes a tensor like `b` and returns `A x`, linear in it; or a square
        matrix, dense or a sparse one of SciPy, whose entries are constants.
    b : array_like
        Right-hand side of any shape, or a vector if `A` is a matrix; of the dtype that `A` returns.
        float16 and bfloat16 become float32.
    x0 : array_like, optional
        Initial guess of the shape of `b`. Default: zeros.
    rtol, atol : float, optional
        Tolerances as in `cg`. Defaults: 1e-5 and 0.
    restart : int, optional
        Number of products with `A` between restarts. As many vectors like `b` are stored. Default:
        20, or the number of entries of `b` if that is smaller.
    maxiter : int, optional
        Maximal number of restarts. Default: ten times the number of entries of `b`.
    M : callable or array_like, optional
        Preconditioner: an approximation of the inverse of `A`, as a function or a matrix.

    Returns
    -------
    IterativeResult
        Pair (x, info): `x` has the shape and dtype of `b`; `info` is 0, or the number of restarts
        if they did not suffice. Restarts end early if three in a row do not reduce the residual.

    Raises
    ------
    TypeError
        If `A` or `M` returns another dtype, or if `maxiter` or `restart` is not an integer.
    ValueError
        If `A` or `M` returns another shape or does not depend on its argument, if the shapes of a
        matrix and `b` do not match, if `x0` has another shape, or if `maxiter`, `restart`, `rtol`
        or `atol` is out of range.

    See Also
    --------
    linalg.cg, linalg.solve

    References
    ----------
    .. [1] Y. Saad, M. H. Schultz, "GMRES: a generalized minimal residual algorithm for solving
       nonsymmetric linear systems", SIAM J. Sci. Stat. Comput. 7, 1986.

    Examples
    --------
    >>> x, info = pb.linalg.gmres(lambda x: x + pb.roll(x, 1), pb.constant([3.0, 3.0, 2.0]))
    >>> x.numpy().round(4), int(info)
    (array([2., 1., 1.], dtype=float32), 0)
    """
    return _solved("gmres", A, b, x0, rtol, atol, maxiter, M, restart)


def minres(
    A: Operator, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,  # noqa: N803
    shift: Any = 0.0, maxiter: int | None = None,
) -> IterativeResult:  # fmt: skip
    """Solve the linear equation `(A - shift) x = b` by the method of minimal residuals.

    `A` must be Hermitian; it may be indefinite. Gradients are those of `cg`, and also with respect
    to `shift`. The method is that of [1]_, with the interface of `scipy.sparse.linalg.minres`, but
    without a preconditioner.

    Parameters
    ----------
    A : callable or array_like
        Function that takes a tensor like `b` and returns `A x`, linear in it; or a square
        matrix, dense or a sparse one of SciPy, whose entries are constants.
    b : array_like
        Right-hand side of any shape, or a vector if `A` is a matrix; of the dtype that `A` returns.
        float16 and bfloat16 become float32.
    x0 : array_like, optional
        Initial guess of the shape of `b`. Default: zeros.
    rtol, atol : float, optional
        Tolerances as in `cg`. Defaults: 1e-5 and 0.
    shift : array_like, real scalar, optional
        Multiple of the unit matrix that is subtracted from `A`. Default: 0.
    maxiter : int, optional
        Maximal number of steps. Default: ten times the number of entries of `b`.

    Returns
    -------
    IterativeResult
        Pair (x, info): `x` has the shape and dtype of `b`; `info` is 0, or the number of steps if
        they did not suffice.

    Raises
    ------
    TypeError
        If `A` returns another dtype, if `shift` is not real, or if `maxiter` is not an integer.
    ValueError
        If `A` returns another shape or does not depend on its argument, if the shapes of a matrix
        and `b` do not match, if `x0` has another shape, if `shift` is not a scalar, or if
        `maxiter`, `rtol` or `atol` is out of range.

    See Also
    --------
    linalg.cg, linalg.gmres

    References
    ----------
    .. [1] C. C. Paige, M. A. Saunders, "Solution of sparse indefinite systems of linear equations",
       SIAM J. Numer. Anal. 12, 1975.

    Examples
    --------
    >>> scale = pb.constant([2.0, -4.0])
    >>> x, info = pb.linalg.minres(lambda x: scale * x, pb.constant([2.0, 8.0]))
    >>> pb.round(x, 3), int(info)
    (Tensor([ 1., -2.], dtype=float32), 0)
    """
    return _solved("minres", A, b, x0, rtol, atol, maxiter, None, None, shift)


class Linear:
    """A linear function as a closed graph, and its other inputs."""

    def __init__(self, graph: ClosedGraph, others: Sequence[Tensor], what: str) -> None:
        self.graph, self.others, self.what = graph, others, what  # what: the argument, A or M

    def __call__(self, x: Tensor) -> Tensor:
        result: Tensor = self.graph.copy([x, *self.others], False)[0]
        return result

    def frozen(self) -> Linear:
        others = [_core.stop_gradient(one) for one in self.others]
        return Linear(self.graph, others, self.what)

    def adjoint(self, like: Tensor, who: str, result: Tensor | None = None) -> Linear:
        """Return the adjoint of a map from tensors like `like` to those like `result`."""
        likes = (like, like if result is None else result)
        x, at = (_core.identity(_core.full(one.shape, 0, one.dtype)) for one in likes)
        with recorded_from([x, at]) as first:
            (made,) = _core.gradients([self(x)], [x], [at])
            if made is None:
                raise ValueError(
                    f"{who}: expected products that are differentiable in x from {self.what}, got "
                    "no gradient"
                )
            graph = ClosedGraph([_core.identity(made)], [at], first)
        return Linear(graph, graph.others, self.what)


def recorded_map(f: Operator, b: Tensor, who: str, what: str, vector: str = "b") -> Linear:
    matrix = None
    if is_sparse(f):
        if f.shape != b.shape * 2:
            raise _wrong_matrix(f, b, who, what, vector)
        sparse = f.astype(b.dtype)
        f = lambda x: product(sparse, x)  # noqa: E731
    if not callable(f):
        matrix = _core.identity(_core.constant(f, b.dtype, f"{who}: {what}"))
        check_matrices(matrix, who, square=True)
        if b.shape != matrix.shape[:1] or len(matrix.shape) != 2:
            raise _wrong_matrix(matrix, b, who, what, vector)
    name = f"{who} of {place(f)}" if matrix is None else who
    with (
        placeholder(b.dtype, b.shape, name) as at,
        recorded_from([at]) as first,
        inlined_functions(),
    ):
        y = _core.matmul(matrix, at) if matrix is not None else f(at)
        if matrix is None:
            if not isinstance(y, Tensor) or y.dtype != b.dtype:
                got = y.dtype if isinstance(y, Tensor) else shown(y)
                raise TypeError(
                    f"{who}: expected dtype {b.dtype}, that of {vector}, from {place(f)}, got {got}"
                )
            if y.shape != b.shape:
                raise ValueError(
                    f"{who}: expected shape {b.shape}, that of {vector}, from {place(f)}, got "
                    f"{y.shape}"
                )
        graph = ClosedGraph([_core.identity(y)], [at], first)
    if not _core.computed_from([y], [at])[0]:
        raise ValueError(f"{who}: expected a result that depends on x from {place(f)}")
    return Linear(graph, graph.others, what)


class Method:
    """The method that solves an equation and the equations of all its derivatives."""

    def __init__(
        self, who: str, rtol: Any, atol: Any, most: int, restart: int, least: float | None = None
    ) -> None:
        self.who, self.rtol, self.atol, self.most, self.restart = who, rtol, atol, most, restart
        # If given, a solution is NaN unless the tolerance is reached and its norm shows no singular
        # value below `least`.
        self.least = least

    def run(self, on: Linear, m: Linear | None, b: Tensor, x: Tensor | None) -> IterativeResult:
        b = _core.stop_gradient(b)
        on, m = on.frozen(), m and m.frozen()
        bound = _core.maximum(_core.multiply(norm(b), self.rtol), self.atol)
        start = _core.full(b.shape, 0, b.dtype) if x is None else x
        rest = b if x is None else _core.subtract(b, on(x))
        near = m or _core.identity
        if self.who == "minres":
            found = minimal_residuals(on, start, rest, bound, self.most)
        elif self.who == "cg":
            found = conjugate_gradients(on, near, start, rest, bound, self.most)
        else:
            found = gmres_cycles(on, near, b, start, rest, bound, self.restart, self.most)
        # NaN and infinity stop the iteration before its first step.
        finite = _core.isfinite(found.size)
        nan = _core.full((), float("nan"), found.x.dtype)
        good = _core.logical_and(finite, _core.less_equal(found.size, bound))
        usable = finite
        if self.least is not None:
            largest = _core.divide(norm(b), self.least)
            usable = _core.logical_and(good, _core.less_equal(norm(found.x), largest))
        x = _core.where(usable, found.x, nan)
        short = _core.maximum(found.steps, 1)
        return IterativeResult(x, _core.where(good, 0, short))


def _solved(
    who: str,
    a: Any,
    b: Any,
    x0: Any,
    rtol: Any,
    atol: Any,
    maxiter: Any,
    m: Any,
    restart: Any,
    shift: Any = None,
) -> IterativeResult:
    given = [b] if callable(a) else [a.data if is_sparse(a) else a, b]
    (*_, right), _ = one_dtype(given, who)
    entries = prod(right.shape)
    counts = []
    for name, count, usual in (
        ("maxiter", maxiter, 10 * entries),
        ("restart", restart, min(20, entries)),
    ):
        count = usual if count is None else integer(count, who, name)
        if count < 1 and entries:
            raise ValueError(f"{who}: expected a positive integer for {name}, got {count}")
        counts.append(min(count, max(entries, 1) if name == "restart" else 1 << 62))
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if not isinstance(tolerance, (int, float)) or not tolerance >= 0:
            raise ValueError(
                f"{who}: expected a non-negative number for {name}, got {shown(tolerance)}"
            )
    on = recorded_map(a, right, who, "A")
    if shift is not None:
        on = _shifted(on, shift, right, who)
    near = None if m is None else recorded_map(m, right, who, "M").frozen()
    if x0 is not None:
        x0 = _core.stop_gradient(_core.constant(x0, right.dtype, f"{who}: x0"))
        if x0.shape != right.shape:
            raise ValueError(
                f"{who}: expected shape {right.shape}, that of b, for x0, got {x0.shape}"
            )
    method = Method(who, float(rtol), float(atol), counts[0], counts[1])
    return attached(method, on, near, right, x0)


def _wrong_matrix(a: Any, b: Tensor, who: str, what: str, vector: str) -> ValueError:
    return ValueError(
        f"{who}: expected a square matrix for {what} and a vector of its size for {vector}, got "
        f"shapes {a.shape} and {b.shape}; use vmap for several systems"
    )


def _shifted(on: Linear, shift: Any, b: Tensor, who: str) -> Linear:
    """Return the map minus a multiple of the identity."""
    if isinstance(shift, (int, float)) and shift == 0:
        return on
    by = _core.constant(shift, None, f"{who}: shift")
    if by.dtype.kind == "c":
        raise TypeError(f"{who}: expected a real number for shift, got {by.dtype}")
    if by.shape != ():
        raise ValueError(f"{who}: expected a scalar for shift, got shape {by.shape}")
    by = _core.identity(_core.cast(by, b.dtype))
    return recorded_map(lambda x: _core.subtract(on(x), _core.multiply(by, x)), b, who, "A")


def attached(
    method: Method, on: Linear, m: Linear | None, b: Tensor, x0: Tensor | None
) -> IterativeResult:
    """Return the solution with its derivative by `b` and by the inputs of the matrix."""
    value, info = method.run(on, m, b, x0)

    def rule(op: str, inputs: list[Any], outputs: list[Any], cotangents: list[Any]) -> list[Any]:
        x, *others = (_core.identity(one) for one in (outputs[0], *inputs[:-1]))
        with recorded_from([x, *others]):
            now = Linear(on.graph, others, on.what)
            hermitian = method.who in ("cg", "minres")
            turned = now if hermitian else now.adjoint(b, method.who)
            turned_m = m if m is None or hermitian else m.adjoint(b, method.who)
            w = attached(method, turned, turned_m, cotangents[0], None).x
            y = now(x)
        answers: list[Any] = _core.gradients([y], others, [_core.negative(w)], overrides=True)
        return [*answers, w]

    x = _core.custom([value], [*on.others, b], Rule(rule, method.who))[0]
    return IterativeResult(x, info)
