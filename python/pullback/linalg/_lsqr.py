"""`lsqr`: linear least squares by products with a matrix and its adjoint."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._autodiff.closed_graph import placeholder, recorded_from
from .._autodiff.function import inlined_functions
from .._autodiff.rules import place
from .._base.checks import integer, number
from .._base.hints import without
from .._control.loops import while_loop
from .._core import ClosedGraph, Rule, Tensor
from .._numpy.sparse_products import is_sparse, product
from ._iterative import Linear, Method, attached, recorded_map
from ._krylov import norm
from ._matrices import one_dtype

_WHO = "lsqr"


class LsqrResult(NamedTuple):
    """Store the result of `lsqr`, in the order of SciPy without `var`.

    Attributes
    ----------
    x : Tensor
        The solution.
    istop : Tensor
        Reason of the end: 0, x0 is the solution; 1, the residual is small enough; 2, it is
        orthogonal enough to the columns; 3, the estimated condition number exceeds `conlim`; 4 to
        6, the same at the precision of the dtype; 7, after `iter_lim` steps, as for NaN.
    itn : Tensor
        Number of steps.
    r1norm, r2norm : Tensor
        Norm of the residual, and of the residual with the damped solution.
    anorm, acond : Tensor
        Estimates of the Frobenius norm and of the condition number of the damped matrix.
    arnorm, xnorm : Tensor
        Estimate of the norm of the gradient, and the norm of the solution.
    """

    x: Tensor
    istop: Tensor
    itn: Tensor
    r1norm: Tensor
    r2norm: Tensor
    anorm: Tensor
    acond: Tensor
    arnorm: Tensor
    xnorm: Tensor


@without(show="the steps are a loop of the plan", calc_var="form the matrix and use inv")
def lsqr(
    A: Any, b: Any, damp: Any = 0.0, atol: float = 1e-6, btol: float = 1e-6,  # noqa: N803
    conlim: float = 1e8, iter_lim: int | None = None, *, x0: Any = None,
) -> LsqrResult:  # fmt: skip
    """Minimize the norm of `b - A x` by products with `A` and its adjoint.

    With `damp`, the sum of its square and that of the norm of `damp (x - x0)` is minimized. The
    method is LSQR [1]_ with the interface of `scipy.sparse.linalg.lsqr`. `x` is differentiable in
    `b`, `damp`, a dense matrix `A`, the tensors that a function `A` reads, and `x0` if there is
    damping or more unknowns than equations, to every order and in forward and reverse mode. The
    derivatives are those of the exact solution of the normal equations, which are solved by
    conjugate gradients; they are NaN if these do not converge, as for an `A` without full rank and
    without damping.

    Parameters
    ----------
    A : callable, array_like or sparse array of scipy.sparse
        Function that takes a tensor like `x0` and returns `A x`, linear in it; its adjoint is
        computed by automatic differentiation. Or a matrix of shape (m, n), of which a sparse one is
        constant.
    b : array_like
        Right-hand side of any shape, or a vector of shape (m,) if `A` is a matrix. float16 and
        bfloat16 become float32.
    damp : array_like, real scalar, optional
        Damping. Default: 0.
    atol, btol : float, optional
        Relative errors of `A` and `b` that the solution may correspond to. Defaults: 1e-6.
    conlim : float, optional
        Largest condition number. Default: 1e8.
    iter_lim : int, optional
        Largest number of steps. Default: twice the number of entries of x.
    x0 : array_like, optional
        Initial guess; it is required for a function `A`. Default: zeros.

    Returns
    -------
    LsqrResult
        The solution and the norms of SciPy.

    Raises
    ------
    TypeError
        If `A` returns another dtype, or `x0` is missing.
    ValueError
        If the shapes do not match, or a limit is out of range.

    See Also
    --------
    lstsq, cg

    References
    ----------
    .. [1] C. C. Paige, M. A. Saunders, "LSQR: an algorithm for sparse linear equations and sparse
       least squares", ACM Trans. Math. Softw. 8, 1982.

    Examples
    --------
    >>> x, istop = pb.linalg.lsqr([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]], [1.0, 3.0, 4.0])[:2]
    >>> pb.round(x, 3), int(istop)
    (Tensor([1., 2.], dtype=float32), 1)
    """
    given = [b] if callable(A) else [A.data if is_sparse(A) else A, b]
    (*_, right), _ = one_dtype(given, _WHO)
    start = _start(A, right, x0)
    limits = [number(x, _WHO, name) for x, name in zip(
        (atol, btol, conlim), ("atol", "btol", "conlim"), strict=True
    )]  # fmt: skip
    if not min(limits) >= 0:
        raise ValueError(f"{_WHO}: expected non-negative numbers for atol, btol and conlim")
    most = 2 * start.size if iter_lim is None else integer(iter_lim, _WHO, "iter_lim")
    if most < 1 and start.size:
        raise ValueError(f"{_WHO}: expected a positive integer for iter_lim, got {most}")
    by = _core.constant(damp, None, f"{_WHO}: damp")
    if by.shape != () or by.dtype.kind == "c":
        raise ValueError(f"{_WHO}: expected a real number for damp, got {_core.shown(damp)}")
    real = norm(right).dtype.name
    by = _core.cast(by, real)
    on = _recorded(A, start, right)
    adjoint = on.adjoint(start, _WHO, right)
    fixed = [_core.stop_gradient(one) for one in (right, start, by)]
    found = _golub_kahan(on.frozen(), adjoint.frozen(), fixed, limits, most)
    return found._replace(x=_with_derivative(found.x, on, right, by, start))


def _start(a: Any, b: Tensor, x0: Any) -> Tensor:
    shape = None
    if not callable(a):
        shape = tuple(a.shape) if is_sparse(a) else _core.constant(a, who=_WHO).shape
        if len(shape) != 2 or b.shape != shape[:1]:
            raise ValueError(
                f"{_WHO}: expected a matrix for A and a vector of its rows for b, got shapes "
                f"{shape} and {b.shape}; use vmap for several systems"
            )
    elif x0 is None:
        raise TypeError(f"{_WHO}: expected an initial guess for x0 if A is a function, got None")
    if x0 is None:
        return _core.full(shape[1:], 0, b.dtype) if shape else b
    start = _core.constant(x0, b.dtype, f"{_WHO}: x0")
    if shape and start.shape != shape[1:]:
        raise ValueError(f"{_WHO}: expected shape {shape[1:]} for x0, got {start.shape}")
    return start


def _recorded(a: Any, x: Tensor, b: Tensor) -> Linear:
    if is_sparse(a):
        f: Any = lambda v: product(a.astype(b.dtype), v)  # noqa: E731
    elif callable(a):
        f = a
    else:
        matrix = _core.identity(_core.constant(a, b.dtype, f"{_WHO}: A"))
        f = lambda v: _core.matmul(matrix, v)  # noqa: E731
    with (
        placeholder(x.dtype, x.shape, f"{_WHO} of {place(f)}") as at,
        recorded_from([at]) as first,
        inlined_functions(),
    ):
        y = f(at)
        if not isinstance(y, Tensor) or y.dtype != b.dtype or y.shape != b.shape:
            got = f"{y.dtype} and {y.shape}" if isinstance(y, Tensor) else _core.shown(y)
            error = ValueError if isinstance(y, Tensor) and y.dtype == b.dtype else TypeError
            raise error(
                f"{_WHO}: expected dtype {b.dtype} and shape {b.shape}, those of b, from "
                f"{place(f)}, got {got}"
            )
        graph = ClosedGraph([_core.identity(y)], [at], first)
    if not _core.computed_from([y], [at])[0]:
        raise ValueError(f"{_WHO}: expected a result that depends on x from {place(f)}")
    return Linear(graph, graph.others, "A")


def _with_derivative(value: Tensor, on: Linear, b: Tensor, damp: Tensor, start: Tensor) -> Tensor:
    """Return the solution with the derivatives that the normal equations determine."""

    def rule(op: str, inputs: list[Any], outputs: list[Any], cotangents: list[Any]) -> list[Any]:
        (g,) = cotangents
        x, *others = (_core.identity(one) for one in (outputs[0], *inputs))
        is_wide = 0 < b.size < x.size
        if is_wide:  # x = x0 + Aᴴ y with (A Aᴴ + damp²) y = b - A x0
            *theta, right, by, first = inputs
            now, back, solved = _normal_equations(on, theta, by, x, right, True)
            y = solved(right - now(first))
        with recorded_from([x, *others]):
            *theta, right, by, first = others
            now, back, solved = _normal_equations(on, theta, by, x, right, is_wide)
            square = _core.cast(by * by, x.dtype)
            if is_wide:
                w = solved(now(g))
                weights = [g - back(w), w]
                rest = [first + back(y) - x, right - now(x) - square * y]
            else:
                weights = [solved(g)]
                rest = [back(right - now(x)) - square * (x - first)]
        answers: list[Any] = _core.gradients(rest, others, weights, overrides=True)
        return answers

    return _core.custom([value], [*on.others, b, damp, start], Rule(rule, _WHO))[0]


def _normal_equations(
    on: Linear, theta: list[Tensor], damp: Tensor, x: Tensor, b: Tensor, is_wide: bool
) -> tuple[Linear, Linear, Any]:
    """Return A, its adjoint, and the inverse of Aᴴ A + damp², or of A Aᴴ + damp² if `is_wide`."""
    now = Linear(on.graph, theta, on.what)
    back = now.adjoint(x, _WHO, b)
    square = _core.cast(damp * damp, x.dtype)
    small = b if is_wide else x
    both = recorded_map(
        lambda v: (now(back(v)) if is_wide else back(now(v))) + square * v, small, _WHO, "A", "x"
    )
    eps = float(np.finfo(x.dtype).eps)
    method = Method("cg", eps**0.75, 0.0, 20 * max(small.size, 1), 1, least=0.0)
    return now, back, lambda right: attached(method, both, None, right, None).x


class _State(NamedTuple):
    x: Tensor
    u: Tensor
    v: Tensor
    w: Tensor
    numbers: Tensor  # alpha, ρ̄, φ̄, |A|², |D|², ψ², |A r|, |x|
    istop: Tensor
    itn: Tensor


def _unit(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return a vector of length 1, or 0, and the length of x."""
    size = norm(x)
    scale = _core.where(_core.greater(size, 0), 1 / _core.where(_core.greater(size, 0), size, 1), 0)
    return x * _core.cast(scale, x.dtype), size


def _golub_kahan(
    on: Linear, adjoint: Linear, given: list[Tensor], limits: list[float], most: int
) -> LsqrResult:
    """`given` has b, x0 and the damping."""
    b, x, damp = given
    atol, btol, conlim = limits
    dtype, size = x.dtype, norm(b)
    real = size.dtype
    eps = float(np.finfo(real).eps)
    u, beta = _unit(b - on(x))
    v, alpha = _unit(adjoint(u))

    def wide(y: Tensor) -> Any:
        return _core.cast(y, dtype)

    def step(s: _State) -> _State:
        alpha, rho_bar, phi_bar, square, inverse, psi_square = (s.numbers[k] for k in range(6))
        u, beta = _unit(on(s.v) - wide(alpha) * s.u)
        square = square + alpha**2 + beta**2 + damp**2
        v, alpha = _unit(adjoint(u) - wide(beta) * s.v)
        damped = _core.hypot(rho_bar, damp)
        psi = damp / damped * phi_bar
        phi_bar = rho_bar / damped * phi_bar
        rho = _core.hypot(damped, beta)
        cosine, sine = damped / rho, beta / rho
        theta, rho_bar = sine * alpha, -cosine * alpha
        phi, phi_bar = cosine * phi_bar, sine * phi_bar
        x = s.x + wide(phi / rho) * s.w
        inverse = inverse + (norm(s.w) / rho) ** 2
        psi_square = psi_square + psi**2
        slope, length = alpha * _core.abs(sine * phi), norm(x)
        rest = _core.sqrt(phi_bar**2 + psi_square)
        itn = s.itn + 1
        whole, condition = _core.sqrt(square), _core.sqrt(square * inverse)
        tests = (rest / size, slope / (whole * rest + eps), 1 / (condition + eps))
        relative = tests[0] / (1 + whole * length / size)
        istop = _core.where(_core.greater_equal(itn, most), 7, 0)
        for reason, found in (
            (6, 1 + tests[2] <= 1), (5, 1 + tests[1] <= 1), (4, 1 + relative <= 1),
            (3, tests[2] <= (1 / conlim if conlim else 0.0)), (2, tests[1] <= atol),
            (1, tests[0] <= btol + atol * whole * length / size),
        ):  # fmt: skip
            istop = _core.where(found, reason, istop)
        following = [alpha, rho_bar, phi_bar, square, inverse, psi_square, slope, length]
        w = v - wide(theta / rho) * s.w
        return _State(x, u, v, w, _core.stack(following, 0), istop, itn)

    zero = _core.full((), 0, real)
    numbers = _core.stack([alpha, alpha, beta, zero, zero, zero, alpha * beta, norm(x)], 0)
    nothing = _core.full((), 0, "int64")
    state = _State(x, u, v, v, numbers, nothing, nothing)
    ended = _core.equal(alpha * beta, 0)  # x0 is the solution

    def goes_on(s: _State) -> Tensor:
        return _core.logical_and(_core.equal(s.istop, 0), _core.logical_not(ended))

    end: _State = while_loop(goes_on, step, state)
    rest = norm(b - on(end.x))
    damped = _core.hypot(rest, damp * norm(end.x - x))
    square, inverse = end.numbers[3], end.numbers[4]
    return LsqrResult(
        end.x, end.istop, end.itn, rest, damped, _core.sqrt(square), _core.sqrt(square * inverse),
        end.numbers[6], end.numbers[7],
    )  # fmt: skip
