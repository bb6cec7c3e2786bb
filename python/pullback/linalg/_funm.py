"""`funm`: a function of matrices by their eigenvalues."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core
from .._autodiff.forward import jvp
from .._autodiff.rules import place
from .._base.checks import check_matrices
from .._base.composite import composite
from .._base.domains import nan_unless
from .._base.hints import without
from .._core import Rule, Tensor
from .._typing import TensorLike
from ._decompositions import svdvals
from ._matrices import adjoint, one_dtype


@composite
@without(disp="the result has no estimate of its error")
def funm(A: TensorLike, func: Callable[[Any], Any], /) -> Tensor:  # noqa: N803
    """Compute a function of matrices that is defined by a function of numbers.

    It is ``v @ diag(func(w)) @ inv(v)`` with the eigenvalues w and the eigenvectors v, so the
    relative error is the rounding unit times the condition number of v. The result is NaN where
    more than half of the digits would be lost, as for a matrix that has no basis of eigenvectors.
    `expm`, `logm` and `sqrtm` have no such limit. The first derivative by `A` exists also for equal
    eigenvalues; higher ones are NaN there.

    Parameters
    ----------
    A : array_like
        Matrices of shape (…, n, n). Integers become the default floating dtype; float16 and
        bfloat16 are computed in float32.
    func : callable
        Analytic function of operations of this library, elementwise. It receives the eigenvalues as
        a complex tensor. For real `A` the real part of the result is returned, so
        ``func(conj(z)) = conj(func(z))`` is assumed: cast `A` to a complex dtype for another one.
        Tensors that `func` reads have no gradient.

    Returns
    -------
    Tensor
        Shape (…, n, n); the floating or complex dtype of `A`.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or if it contains NaN or infinity (raised when the result is
        computed).
    TypeError
        If `func` is not callable or returns another dtype.
    ValueError
        If `func` returns another shape.

    See Also
    --------
    expm, logm, sqrtm

    Examples
    --------
    >>> pb.round(pb.linalg.funm([[1.0, 1.0], [0.0, 2.0]], lambda z: z * z), 3)
    Tensor([[1., 3.],
           [0., 4.]], dtype=float32)
    """
    if not callable(func):
        raise TypeError(f"funm: expected a function for func, got {_core.shown(func)}")
    [a], rounded = one_dtype([A], "funm")
    check_matrices(a, "funm", square=True)

    def values(z: Tensor) -> Tensor:
        made = _core.constant(func(z), None, "funm")
        if made.dtype.kind != "c":
            raise TypeError(
                f"funm: expected the complex dtype of its argument from {place(func)}, got "
                f"{made.dtype}"
            )
        if made.shape != z.shape:
            raise ValueError(f"funm: expected shape {z.shape} from {place(func)}, got {made.shape}")
        return _core.cast(made, z.dtype)

    w, v, is_basis = _eigenvectors(_core.stop_gradient(a))
    value = nan_unless(is_basis, _product(v, _core.stop_gradient(values(w))))
    return rounded(_with_derivative(a, value if a.dtype.kind == "c" else _core.real(value), values))


def _eigenvectors(a: Tensor) -> tuple[Tensor, Tensor, Any]:
    """Return values, vectors, and where these are a basis; elsewhere the vectors are a unit matrix.

    A pivot of dependent vectors is rarely 0: rounding leaves some units of the last place.
    """
    w, v = _core.eig(a)
    if a.shape[-1] == 0:
        return w, v, True
    sizes = _core.stop_gradient(svdvals(v))
    least = float(np.finfo(sizes.dtype).eps) ** 0.5
    is_basis = _core.greater(sizes[..., -1], least * sizes[..., 0])[..., None, None]
    n = a.shape[-1]
    return w, _core.where(is_basis, v, _core.eye(n, n, 0, v.dtype)), is_basis


def _product(v: Tensor, values: Tensor) -> Tensor:
    """Return v diag(values) v⁻¹."""
    left = _core.multiply(v, _core.expand_dims(values, -2))
    return adjoint(_core.equation(adjoint(v), adjoint(left), "funm"))


def _with_derivative(a: Tensor, value: Tensor, f: Callable[[Tensor], Tensor]) -> Tensor:
    """Return the value with the derivative v (q ∘ (v⁻¹ da v)) v⁻¹, q the divided differences."""

    def rule(op: str, inputs: list[Any], outputs: list[Any], cotangents: list[Any]) -> list[Any]:
        (a,), (g,) = inputs, cotangents
        w, v, is_basis = _eigenvectors(a)
        rows, columns = _core.expand_dims(w, -1), _core.expand_dims(w, -2)
        gap, middle = rows - columns, 0.5 * (rows + columns)
        # For closer values the derivative in the middle has the smaller error.
        size = _core.stop_gradient(_core.max(_core.abs(w), -1, True))
        least = float(np.finfo(w.dtype).eps) ** (1 / 3) * _core.expand_dims(size, -1)
        is_near = _core.less_equal(_core.abs(gap), least)
        one = _core.full(middle.shape, 1, middle.dtype)
        slope = jvp(f, (middle,), (one,))[1]
        values = f(w)
        rise = _core.expand_dims(values, -1) - _core.expand_dims(values, -2)
        quotient = _core.where(is_near, slope, rise / _core.where(is_near, 1, gap))
        # The adjoint: v⁻ᴴ (conj(q) ∘ (vᴴ g v⁻ᴴ)) vᴴ.
        inner = _core.matmul(adjoint(v), _core.cast(g, w.dtype))
        inner = adjoint(_core.equation(v, adjoint(inner), "funm"))
        inner = _core.multiply(_core.conj(quotient), inner)
        found = _core.equation(adjoint(v), _core.matmul(inner, adjoint(v)), "funm")
        found = nan_unless(is_basis, found)
        return [found if a.dtype.kind == "c" else _core.real(found)]

    return _core.custom([value], [a], Rule(rule, "funm"))[0]
