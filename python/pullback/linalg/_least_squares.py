"""Pseudo-inverses and least squares by QR, or by singular values if the rank may not be full.

The last two axes are matrices, the leading axes a batch that broadcasts. Derivatives of every order
exist in forward and reverse mode, also if singular values are equal or 0. They are the derivatives
within the matrices of the same rank (Golub and Pereyra, "The differentiation of pseudo-inverses and
nonlinear least squares problems whose variables separate", 1973).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import _core
from .._base.checks import check_matrices, given_once
from .._base.composite import composite
from .._base.domains import NON_NEGATIVE, check_domain
from .._core import Rule, Tensor
from .._numpy.dtype_functions import finfo
from .._typing import TensorLike
from ._matrices import adjoint, one_dtype, right_sides, same_batch


class LstsqResult(NamedTuple):
    """Store a solution, squared residuals, the rank of the matrix, and singular values.

    Attributes
    ----------
    x : Tensor
        Solution.
    residuals : Tensor
        Sums of squared residuals.
    rank : Tensor
        Rank of the matrix.
    s : Tensor
        Singular values.
    """

    x: Tensor
    residuals: Tensor
    rank: Tensor
    s: Tensor


@composite
def pinv(
    x: TensorLike, /, rcond: TensorLike | None = None, *, rtol: TensorLike | None = None
) -> Tensor:
    """Compute the Moore-Penrose inverse of matrices.

    Differentiable in `x`; see the note on the rank in `lstsq`.

    Parameters
    ----------
    x : array_like
        Matrices of shape (…, m, n); integers become the default floating dtype.
    rcond : array_like, real, optional
        Alias of `rtol`. Give at most one of the two.
    rtol : array_like, real, optional
        Relative tolerance, for each matrix or for all: singular values up to `rtol` times the
        largest count as 0. Default: max(m, n) times the rounding unit of the dtype.

    Returns
    -------
    Tensor
        Shape (…, n, m); the floating or complex dtype of `x`.

    Raises
    ------
    numpy.linalg.LinAlgError
        If `x` is not a matrix or a batch of matrices, or contains NaN or inf. The latter is raised
        when the result is computed.
    ValueError
        If `rtol` is a negative number.
    TypeError
        If `rtol` is complex, or both `rcond` and `rtol` are given.

    Examples
    --------
    >>> pb.round(pb.linalg.pinv([[3.0], [4.0]]), 3)
    Tensor([[0.12, 0.16]], dtype=float32)
    """
    rtol = given_once({"rcond": rcond, "rtol": rtol}, "pinv")
    [a], rounded = one_dtype([x], "pinv")
    check_matrices(a, "pinv")
    # The smaller unit matrix: for a high matrix, that of the pseudo-inverse of its adjoint.
    is_high, size = a.shape[-2] > a.shape[-1], min(a.shape[-2:])
    unit = _core.broadcast_to(_core.eye(size, size, 0, a.dtype), (*a.shape[:-2], size, size))
    found = _least(a, unit, _cutoff(a, rtol, "pinv", "rtol"), is_high, "pinv")
    return rounded(adjoint(found) if is_high else found)


@composite
def lstsq(a: TensorLike, b: TensorLike, rcond: TensorLike | None = None) -> LstsqResult:
    """Solve least-squares problems: minimise the norm of b - a x.

    Of all minimisers the result is the one with the least norm, as in `np.linalg.lstsq`.
    Differentiable in `a` and `b`, any number of times and in both modes, also if singular values
    are equal or 0. Derivatives are those among matrices of the same rank [1]_.

    Parameters
    ----------
    a : array_like
        Matrices of shape (…, m, n); integers become the default floating dtype.
    b : array_like
        Right-hand sides of shape (…, m, k), or a vector of length m.
    rcond : array_like, real, optional
        Relative tolerance: singular values up to `rcond` times the largest count as 0. Default:
        max(m, n) times the rounding unit of the dtype. As in NumPy, -1 is the rounding unit.

    Returns
    -------
    x : Tensor
        Solutions of shape (…, n, k) or (…, n).
    residuals : Tensor
        Sums of squared residuals of shape (…, k) or (…), for every rank.
    rank : Tensor
        Ranks of shape (…), dtype int64.
    s : Tensor
        Singular values of shape (…, min(m, n)).

    Raises
    ------
    ValueError
        If the shapes do not match, or `rcond` is a negative number other than -1.
    numpy.linalg.LinAlgError
        If `a` is not a matrix or a batch of matrices, or contains NaN or inf. The latter is raised
        when the result is computed.
    TypeError
        If `rcond` is complex.

    References
    ----------
    .. [1] G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least
       squares problems whose variables separate", SIAM J. Numer. Anal. 10, 1973.

    Examples
    --------
    >>> a = [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    >>> x, residuals, rank, s = pb.linalg.lstsq(a, [1.0, 3.0, 5.0])
    >>> pb.round(x, 3), pb.round(residuals, 3), rank
    (Tensor([1., 4.], dtype=float32), Tensor(2., dtype=float32), Tensor(2, dtype=int64))
    """
    who = "lstsq"
    (left, right), rounded = one_dtype([a, b], who)
    check_matrices(left, who)
    sides, restored = right_sides(right, left.shape[-2], who)
    if isinstance(rcond, (int, float)) and rcond == -1:
        rcond = float(finfo(left.dtype).eps)
    cutoff = _cutoff(left, rcond, who, "rcond")
    values = _core.svd(left, False, who=who)[1]
    kept = _kept(values, cutoff)
    rank = _core.sum(_core.cast(kept, "int64"), -1, False)
    wide, sides = same_batch([left, sides], [2, 2], who)
    x = _least(wide, sides, cutoff, False, who)
    rest = _core.subtract(sides, _core.matmul(wide, x))
    residuals = _core.sum(_squares(rest), -2, False)
    return LstsqResult(rounded(restored(x)), _real(rounded, restored(residuals)), rank,
                       _real(rounded, values))  # fmt: skip


def _squares(x: Tensor) -> Tensor:
    """Return squared absolute values; `abs` would have no second derivative at 0."""
    if x.dtype.kind != "c":
        return _core.square(x)
    return _core.add(_core.square(_core.real(x)), _core.square(_core.imag(x)))


def _real(rounded: Any, x: Tensor) -> Any:
    return rounded(x) if x.dtype == "float32" else x


def _cutoff(a: Tensor, rtol: Any, who: str, name: str) -> Tensor:
    """Return the tolerance of each matrix, with an axis for its singular values."""
    dtype = _core.abs(_core.full((), 0, a.dtype)).dtype
    if rtol is None:
        return _core.constant(max(a.shape[-2:]) * float(finfo(dtype).eps), dtype)
    check_domain(rtol, NON_NEGATIVE, who, name)
    given = _core.constant(rtol, None, who)
    if given.dtype.kind == "c":
        raise TypeError(f"{who}: expected a real number for rtol, got {given.dtype}")
    return _core.stop_gradient(_core.expand_dims(_core.cast(given, dtype), -1))


def _kept(values: Tensor, cutoff: Tensor) -> Tensor:
    if values.shape[-1] == 0:
        return _core.greater(values, 0.0)
    bound = _core.multiply(_core.max(values, -1, True), cutoff)
    return _core.greater(values, _core.maximum(bound, 0.0))


def _least(a: Tensor, b: Tensor, cutoff: Tensor, turned: bool, who: str) -> Any:
    """Return p b, where p is the pseudo-inverse of `a`, or of aᴴ if `turned`."""
    tolerance = _core.reshape(cutoff, (*cutoff.shape[:-1], 1, 1))
    matrices, tolerances = same_batch([a, tolerance], [2, 2], who)
    left, right = _core.pseudo_inverse(matrices, tolerances, who)
    if turned:
        left, right = adjoint(right), adjoint(left)
    value = _core.matmul(left, _core.matmul(right, _core.stop_gradient(b)))

    def rule(op: str, inputs: list[Any], outputs: list[Any], cotangents: list[Any]) -> list[Any]:
        a, b = inputs
        x, g = outputs[0], cotangents[0]

        def p(z: Any, other: bool = False) -> Any:
            return _least(a, z, cutoff, turned != other, who)

        m = adjoint(a) if turned else a  # p applies the pseudo-inverse of m
        gb = p(g, True)
        rest = _core.subtract(b, _core.matmul(m, x))
        by_x = _core.matmul(gb, adjoint(x))
        by_rest = _core.matmul(rest, adjoint(p(gb)))
        outside = _core.subtract(g, p(_core.matmul(m, g)))  # the part of g that m maps to 0
        by_outside = _core.matmul(p(x, True), adjoint(outside))
        gm = _core.subtract(_core.add(by_rest, by_outside), by_x)
        return [adjoint(gm) if turned else gm, gb]

    return _core.custom([value], [a, b], Rule(rule, who))[0]
