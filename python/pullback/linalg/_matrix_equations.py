"""Lyapunov and Riccati equations.

The last two axes are matrices, the leading axes a batch and broadcast. Integers become the default
floating dtype; float16 and bfloat16 are computed in float32. Derivatives of every order exist in
forward and reverse mode, of complex matrices too: those of a Riccati equation solve a Lyapunov
equation of the closed loop. Start reading at `_riccati`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from .. import _core
from .._autodiff.callback import callback_operation
from .._autodiff.closed_graph import recorded_from
from .._base.checks import check_matrices, choice, flag
from .._base.composite import composite
from .._core import Rule, Tensor
from .._typing import TensorLike
from ._matrices import adjoint, hermitian, one_dtype, same_batch
from ._solve import solve

_MOST_DIRECT = 9  # rows, up to which a discrete Lyapunov equation is solved as one linear system


@composite
def solve_continuous_lyapunov(a: TensorLike, q: TensorLike, /) -> Tensor:
    """Solve the Lyapunov equation ``a @ x + x @ aᴴ = q``.

    The convention is that of `scipy.linalg.solve_continuous_lyapunov`. Differentiable in `a` and
    `q`. Batches broadcast.

    Parameters
    ----------
    a : array_like
        Matrices of shape (…, n, n). Integers become the default floating dtype; float16 and
        bfloat16 are computed in float32.
    q : array_like
        Right-hand sides of shape (…, n, n).

    Returns
    -------
    Tensor
        Shape (…, n, n); the floating or complex dtype to which the inputs promote.

    Raises
    ------
    LinAlgError
        If an input is not square, or if an eigenvalue of `a` is minus the conjugate of an
        eigenvalue (raised when the result is computed).
    ValueError
        If the shapes do not match or the batches do not broadcast.

    See Also
    --------
    solve_discrete_lyapunov, solve_sylvester

    Examples
    --------
    >>> x = pb.linalg.solve_continuous_lyapunov([[-1.0, 0.0], [1.0, -2.0]], -pb.eye(2))
    >>> pb.round(x, 3)
    Tensor([[0.5  , 0.167],
            [0.167, 0.333]], dtype=float32)
    """
    who = "solve_continuous_lyapunov"
    (left, sides), rounded = _square_pair(a, q, who)
    return rounded(_core.solve_sylvester(left, adjoint(left), sides, who))


@composite
def solve_discrete_lyapunov(
    a: TensorLike, q: TensorLike, /, method: Literal["direct", "bilinear"] | None = None
) -> Tensor:
    """Solve the discrete Lyapunov equation ``a @ x @ aᴴ - x + q = 0``.

    The convention is that of `scipy.linalg.solve_discrete_lyapunov`. Differentiable in `a` and `q`.
    Batches broadcast.

    Parameters
    ----------
    a : array_like
        Matrices of shape (…, n, n). Integers become the default floating dtype; float16 and
        bfloat16 are computed in float32.
    q : array_like
        Matrices of shape (…, n, n).
    method : {"direct", "bilinear"}, optional
        Solve a linear system of n² unknowns, or a continuous equation for the bilinear transform of
        `a`, which must not have an eigenvalue -1. Default: "direct" if n < 10.

    Returns
    -------
    Tensor
        Shape (…, n, n); the floating or complex dtype to which the inputs promote.

    Raises
    ------
    LinAlgError
        If an input is not square, or if the equation has no unique solution (raised when the result
        is computed).
    ValueError
        If the shapes do not match, the batches do not broadcast or `method` is unknown.

    See Also
    --------
    solve_continuous_lyapunov

    Examples
    --------
    >>> pb.linalg.solve_discrete_lyapunov([[0.5]], [[3.0]])
    Tensor([[4.]], dtype=float32)
    """
    who = "solve_discrete_lyapunov"
    (left, sides), rounded = _square_pair(a, q, who)
    if method is not None:
        choice(method, ("direct", "bilinear"), who, "method")
    return rounded(_discrete_lyapunov(left, sides, method, who))


def _square_pair(a: Any, q: Any, who: str) -> tuple[list[Tensor], Callable[[Tensor], Tensor]]:
    pair, rounded = one_dtype([a, q], who)
    for one in pair:
        check_matrices(one, who, square=True)
    if pair[0].shape[-1] != pair[1].shape[-1]:
        raise ValueError(
            f"{who}: expected matrices of one size for a and q, got shapes {pair[0].shape} and "
            f"{pair[1].shape}"
        )
    return same_batch(pair, [2, 2], who), rounded


def _discrete_lyapunov(a: Tensor, q: Tensor, method: str | None, who: str) -> Tensor:
    n = a.shape[-1]
    unit = _core.eye(n, n, 0, a.dtype)
    if method == "direct" or (method is None and n <= _MOST_DIRECT):
        batch = a.shape[:-2]
        rows = _core.reshape(a, (*batch, n, 1, n, 1))
        columns = _core.reshape(_conj(a), (*batch, 1, n, 1, n))
        both = _core.reshape(_core.multiply(rows, columns), (*batch, n * n, n * n))
        matrix = _core.subtract(_core.eye(n * n, n * n, 0, a.dtype), both)
        flat = _core.reshape(q, (*batch, n * n, 1))
        return _core.reshape(_core.equation(matrix, flat, who), q.shape)
    # (aᴴ + 1)⁻¹ transforms the unit disc to the left half-plane.
    right = _core.inv(_core.add(adjoint(a), unit), who)
    turned = adjoint(_core.matmul(_core.subtract(adjoint(a), unit), right))
    sides = _core.matmul(_core.matmul(adjoint(right), q), right)
    return _core.solve_sylvester(turned, adjoint(turned), _core.multiply(sides, -2), who)


def _conj(x: Tensor) -> Any:
    return _core.conj(x) if x.dtype.kind == "c" else x


@composite
def solve_continuous_are(
    a: TensorLike, b: TensorLike, q: TensorLike, r: TensorLike,
    e: TensorLike | None = None, s: TensorLike | None = None, balanced: bool = True,
) -> Tensor:  # fmt: skip
    """Solve the continuous-time algebraic Riccati equation.

    The equation is ``aᴴ x e + eᴴ x a - (eᴴ x b + s) r⁻¹ (bᴴ x e + sᴴ) + q = 0``. The solution is
    the Hermitian one that stabilises the closed loop, as in `scipy.linalg.solve_continuous_are`,
    which computes its value. Differentiable in all matrices. Batches broadcast.

    Parameters
    ----------
    a : array_like
        Matrices of shape (…, m, m). Integers become the default floating dtype; float16 and
        bfloat16 are computed in float32.
    b : array_like
        Matrices of shape (…, m, n).
    q : array_like
        Matrices of shape (…, m, m), of which the Hermitian part is used.
    r : array_like
        Invertible matrices of shape (…, n, n), of which the Hermitian part is used.
    e : array_like, optional
        Invertible matrices of shape (…, m, m). Default: the unit matrix.
    s : array_like, optional
        Matrices of shape (…, m, n). Default: zeros.
    balanced : bool, optional
        Balance the matrices before the decomposition. Default: True.

    Returns
    -------
    Tensor
        Shape (…, m, m); the floating or complex dtype to which the inputs promote.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or if there is no such solution or `r` or `e` is singular (raised
        when the result is computed).
    ValueError
        If the shapes do not match or the batches do not broadcast.
    TypeError
        If `balanced` is not a bool.

    See Also
    --------
    solve_discrete_are, solve_continuous_lyapunov

    Examples
    --------
    >>> x = pb.linalg.solve_continuous_are([[0.0]], [[1.0]], [[4.0]], [[1.0]])
    >>> pb.round(x, 3)
    Tensor([[2.]], dtype=float32)
    """
    return _riccati("solve_continuous_are", a, b, q, r, e, s, balanced)


@composite
def solve_discrete_are(
    a: TensorLike, b: TensorLike, q: TensorLike, r: TensorLike,
    e: TensorLike | None = None, s: TensorLike | None = None, balanced: bool = True,
) -> Tensor:  # fmt: skip
    """Solve the discrete-time algebraic Riccati equation.

    The equation is ``aᴴ x a - eᴴ x e - (aᴴ x b + s) (r + bᴴ x b)⁻¹ (bᴴ x a + sᴴ) + q = 0``. The
    solution is the Hermitian one that stabilises the closed loop, as in
    `scipy.linalg.solve_discrete_are`, which computes its value. Differentiable in all matrices.
    Batches broadcast.

    Parameters
    ----------
    a : array_like
        Matrices of shape (…, m, m). Integers become the default floating dtype; float16 and
        bfloat16 are computed in float32.
    b : array_like
        Matrices of shape (…, m, n).
    q : array_like
        Matrices of shape (…, m, m), of which the Hermitian part is used.
    r : array_like
        Invertible matrices of shape (…, n, n), of which the Hermitian part is used.
    e : array_like, optional
        Invertible matrices of shape (…, m, m). Default: the unit matrix.
    s : array_like, optional
        Matrices of shape (…, m, n). Default: zeros.
    balanced : bool, optional
        Balance the matrices before the decomposition. Default: True.

    Returns
    -------
    Tensor
        Shape (…, m, m); the floating or complex dtype to which the inputs promote.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or if there is no such solution or `e` is singular (raised when
        the result is computed).
    ValueError
        If the shapes do not match or the batches do not broadcast.
    TypeError
        If `balanced` is not a bool.

    See Also
    --------
    solve_continuous_are, solve_discrete_lyapunov

    Examples
    --------
    >>> x = pb.linalg.solve_discrete_are([[2.0]], [[1.0]], [[0.0]], [[1.0]])
    >>> pb.round(x, 3)
    Tensor([[3.]], dtype=float32)
    """
    return _riccati("solve_discrete_are", a, b, q, r, e, s, balanced)


def _riccati(who: str, a: Any, b: Any, q: Any, r: Any, e: Any, s: Any, balanced: Any) -> Tensor:
    names = "abqres"
    balanced = flag(balanced, who, "balanced")
    given = {name: x for name, x in zip(names, (a, b, q, r, e, s), strict=True) if x is not None}
    for name in "abqr":
        if name not in given:
            raise TypeError(f"{who}: expected a matrix for {name}, got None")
    tensors, rounded = one_dtype(list(given.values()), who)
    known = dict(zip(given, tensors, strict=True))
    for name, x in known.items():
        check_matrices(x, who, square=name in "aqre")
    m, n = known["b"].shape[-2:]
    for name, x in known.items():
        wanted = {"b": (m, n), "s": (m, n), "r": (n, n)}.get(name, (m, m))
        if x.shape[-2:] != wanted:
            raise ValueError(
                f"{who}: expected matrices of shape {wanted} for {name} with b of shape "
                f"{known['b'].shape}, got {x.shape}"
            )
    known["q"], known["r"] = hermitian(known["q"]), hermitian(known["r"])
    known = dict(zip(known, same_batch(list(known.values()), [2] * len(known), who), strict=True))
    outer = known.pop("e", None)
    if outer is None:
        return rounded(_stabilising(_Equation(who, list(known), balanced), list(known.values())))
    # An equation without e for eᴴ x e.
    for name in "ab":
        known[name] = _core.equation(outer, known[name], who)
    y = _stabilising(_Equation(who, list(known), balanced), list(known.values()))
    inverse = _core.inv(outer, who)
    return rounded(_core.matmul(_core.matmul(adjoint(inverse), y), inverse))


class _Equation:
    """A Riccati equation without `e`: its solver, its residual and the closed loop."""

    def __init__(self, who: str, names: list[str], balanced: bool) -> None:
        self.who, self.names, self.balanced = who, names, balanced
        self.discrete = who == "solve_discrete_are"

    def value(self, *arrays: Any) -> Any:
        """Return the solutions of a batch."""
        import scipy.linalg

        solver = getattr(scipy.linalg, self.who)
        found = np.empty(arrays[0].shape, arrays[0].dtype)
        for at in np.ndindex(found.shape[:-2]):
            given = {n: x[at] for n, x in zip(self.names, arrays, strict=True)}
            if not all(np.isfinite(x).all() for x in given.values()):
                found[at] = np.nan
            elif found[at].size:
                wide = {n: x.astype(np.promote_types(x.dtype, "f8")) for n, x in given.items()}
                try:
                    found[at] = solver(**wide, balanced=self.balanced)
                except (np.linalg.LinAlgError, ValueError) as error:  # the latter for a singular r
                    raise np.linalg.LinAlgError(f"{self.who}: {error}") from None
        return found

    def residual(self, x: Tensor, inputs: list[Tensor]) -> tuple[Tensor, Tensor]:
        """Return the residual, and the matrix of the closed loop."""
        a, b, q, r, *s = inputs
        turned = _core.matmul(adjoint(a), x)
        if self.discrete:
            known = _core.subtract(_core.matmul(turned, a), x)
            right = _core.matmul(adjoint(b), _core.matmul(x, a))
            left = _core.matmul(turned, b)
            weight = _core.add(r, _core.matmul(adjoint(b), _core.matmul(x, b)))
        else:
            known = _core.add(turned, _core.matmul(x, a))
            right = _core.matmul(adjoint(b), x)
            left = _core.matmul(x, b)
            weight = r
        if s:
            left, right = _core.add(left, s[0]), _core.add(right, adjoint(s[0]))
        gain = solve(weight, right)
        rest = _core.subtract(_core.add(known, q), _core.matmul(left, gain))
        return rest, _core.subtract(a, _core.matmul(b, gain))


def _stabilising(equation: _Equation, inputs: list[Tensor]) -> Tensor:
    """Return the stabilising solution as an operation with its derivatives by all inputs."""
    a = inputs[0]
    frozen = [_core.stop_gradient(one) for one in inputs]
    value = callback_operation(equation.value, frozen, a.dtype, a.shape, takes_batches=True)

    def rule(op: str, inputs: list[Any], outputs: list[Any], cotangents: list[Any]) -> list[Any]:
        x, *others = (_core.identity(one) for one in (outputs[0], *inputs))
        with recorded_from([x, *others]):
            rest, loop = equation.residual(x, others)
            # The derivative by x maps dx to loopᴴ dx + dx loop, or to loopᴴ dx loop - dx; w solves
            # the equation of its adjoint.
            if equation.discrete:
                w = _discrete_lyapunov(loop, _core.negative(cotangents[0]), None, equation.who)
            else:
                w = _core.solve_sylvester(loop, adjoint(loop), cotangents[0], equation.who)
        answers: list[Any] = _core.gradients([rest], others, [_core.negative(w)], overrides=True)
        return answers

    return _core.custom([value], inputs, Rule(rule, equation.who))[0]
