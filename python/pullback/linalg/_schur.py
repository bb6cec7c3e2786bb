"""`schur`: the Schur form of matrices."""

from __future__ import annotations

from math import nan
from typing import Any, Literal, NamedTuple

import numpy as np

from .. import _core
from .._autodiff.callback import callback_operation
from .._base.checks import check_matrices, choice
from .._base.composite import composite
from .._base.hints import without
from .._core import Rule, Tensor
from .._numpy.triangular import tril, triu
from .._typing import TensorLike
from ._matrices import adjoint, one_dtype
from ._solve import solve_triangular


class SchurResult(NamedTuple):
    """Upper triangle, or quasi-triangle of a real matrix, and unitary factor."""

    T: Tensor
    Z: Tensor


@composite
@without(
    lwork="it is computed",
    overwrite_a="tensors are immutable",
    sort="the order of the eigenvalues is that of LAPACK",
    check_finite="NaN and infinity raise a LinAlgError",
)
def schur(a: TensorLike, /, output: Literal["real", "complex"] = "real") -> SchurResult:
    """Compute the Schur form ``a = Z @ T @ Zᴴ`` of matrices, as ``scipy.linalg.schur``.

    `T` and `Z` are differentiable in `a` if the eigenvalues are different and `T` is a triangle;
    gradients of equal eigenvalues are NaN. Phases of the columns of `Z` are constants, so a loss
    must not depend on them. The first derivative needs memory for n³ numbers.

    Parameters
    ----------
    a : array_like
        Matrices of shape (…, n, n). Integers become the default floating dtype; float16 and
        bfloat16 are computed in float32.
    output : {"real", "complex"}, default "real"
        Form of a real matrix: with "real", pairs of complex eigenvalues are blocks of two rows of
        `T`; with "complex", both results are complex.

    Returns
    -------
    T : Tensor
        Upper triangle, or quasi-triangle, of shape (…, n, n).
    Z : Tensor
        Unitary factor of shape (…, n, n); the dtype of `T`.

    Raises
    ------
    LinAlgError
        If a matrix is not square; when the result is computed, if it contains NaN or infinity; when
        a gradient is computed, if `T` has a block of two rows: pass ``output="complex"``.
    ValueError
        If `output` is unknown.

    See Also
    --------
    eig, funm

    Examples
    --------
    >>> T, Z = pb.linalg.schur([[1.0, 2.0], [0.0, 3.0]])
    >>> T
    Tensor([[1., 2.],
           [0., 3.]], dtype=float32)
    """
    [x], rounded = one_dtype([a], "schur")
    check_matrices(x, "schur", square=True)
    if choice(output, ("real", "complex"), "schur", "output") == "complex":
        x = _core.cast(x, np.result_type(x.dtype, "complex64").name)
        rounded = _core.identity
    n = x.shape[-1]

    def value(arrays: Any) -> Any:
        import scipy.linalg

        found = np.empty((*arrays.shape[:-1], 2 * n), arrays.dtype)
        for at in np.ndindex(arrays.shape[:-2]):
            if not np.isfinite(arrays[at]).all():
                raise np.linalg.LinAlgError("schur: expected finite matrices, got NaN or infinity")
            if n:
                found[at] = np.concatenate(scipy.linalg.schur(arrays[at]), -1)
        return found

    packed = callback_operation(
        value, [_core.stop_gradient(x)], x.dtype, (*x.shape[:-1], 2 * n), takes_batches=True
    )
    return SchurResult(*(rounded(one) for one in _factors(x, packed)))


def _factors(a: Tensor, packed: Tensor) -> tuple[Tensor, Tensor]:
    """Return t and z, whose values are in `packed`, with their derivatives.

    With e = zᴴ da z and dz = z x, the part of x below the diagonal is that of v m v⁻¹, where t v =
    v diag(w) and m is v⁻¹ e v below the diagonal, divided by the gaps of the eigenvalues w. Then
    dt = e - x t + t x. The rules are the adjoints.
    """
    n = a.shape[-1]

    def rule_of(is_triangle: bool) -> Rule:
        def rule(op: str, inputs: list[Any], outputs: Any, cotangents: list[Any]) -> list[Any]:
            (a, packed), (g,) = inputs, cotangents
            t, z = _factors(a, packed)
            v, gaps = _vectors(t)
            upper: Any = triu(g) if is_triangle else None
            if is_triangle:
                by_x = _core.matmul(adjoint(t), upper) - _core.matmul(upper, adjoint(t))
            else:
                by_x = _core.matmul(adjoint(z), g)
            low = tril(by_x - adjoint(by_x), k=-1)
            # vᴴ low v⁻ᴴ, divided by the gaps, and v⁻ᴴ of it vᴴ
            part = adjoint(solve_triangular(v, adjoint(_core.matmul(adjoint(v), low))))
            part = tril(part, k=-1) / (_core.conj(gaps) if gaps.dtype.kind == "c" else gaps)
            part = solve_triangular(v, _core.matmul(part, adjoint(v)), trans="C")
            inner = part if upper is None else upper + part
            return [_core.matmul(_core.matmul(z, inner), adjoint(z)), None]

        return Rule(rule, "schur")

    parts = (packed[..., :n], packed[..., n:])
    t, z = (_core.custom([part], [a, packed], rule_of(part is parts[0]))[0] for part in parts)
    return t, z


def _vectors(t: Tensor) -> tuple[Tensor, Tensor]:
    """Return the eigenvectors of a triangle, which are one too, and the gaps w_j - w_i.

    Gaps below the diagonal count as 0 within rounding errors, and are NaN then; others are 1.
    """
    n = t.shape[-1]
    w = _core.sum(_core.where(_core.eye(n, n, 0, "bool"), t, 0), [-1])
    at = _core.arange(0, n, 1, "int64")
    rows, columns = at[:, None], at[None, :]
    # For each j, the rows above j of (t - w_j) v = -t_j; the others make v_j = 1.
    number = at[:, None, None]
    inside = _core.logical_and(_core.less(rows, number), _core.less(columns, number))
    unit = _core.eye(n, n, 0, t.dtype)
    shifted = _core.expand_dims(t, -3) - w[..., None, None] * unit
    same = _core.logical_and(_core.equal(shifted, 0), _core.equal(rows, columns))
    systems = _core.where(inside, _core.where(same, nan, shifted), unit)
    sides = _core.where(_core.less(columns, rows), -t.mT, _core.where(rows == columns, 1, 0))
    v = _core.squeeze(solve_triangular(systems, _core.expand_dims(sides, -1)), -1).mT
    gaps = _core.expand_dims(w, -2) - _core.expand_dims(w, -1)
    size = _core.max(_core.max(_core.abs(_core.stop_gradient(t)), -1, True), -2, True)
    least = n * float(np.finfo(t.dtype).eps) * size
    is_equal = _core.less_equal(_core.abs(gaps), least)
    gaps = _core.where(_core.less(columns, rows), _core.where(is_equal, nan, gaps), 1)
    return v, gaps + _checked(_core.stop_gradient(t))


def _checked(t: Tensor) -> Tensor:
    """Return 0; raise an error, when it is computed, if a matrix has a block of two rows."""

    def check(arrays: Any) -> Any:
        if np.any(np.diagonal(arrays, -1, -2, -1)):
            raise np.linalg.LinAlgError(
                "schur: no gradient of a real form with complex eigenvalues; pass output='complex'"
            )
        return np.zeros((*arrays.shape[:-2], 1, 1), arrays.dtype)

    return callback_operation(check, [t], t.dtype, (*t.shape[:-2], 1, 1), takes_batches=True)
