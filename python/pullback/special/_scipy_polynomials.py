"""Orthogonal polynomials of integer degree with the values of SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._base.checks import integer_orders
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike
from ._scipy_values import ScipyFunction


def _polynomial(
    name: str, slope: Callable[..., Any], parameters: tuple[str, ...] = ()
) -> ScipyFunction:
    """Return a polynomial; `slope` receives the degree n - 1, n, the parameters and x.

    The formulas hold for negative degrees as well, whose values are those of SciPy.
    """

    def slopes(n: Any, *arguments: Any) -> list[Any]:
        is_flat = n == 0
        value = slope(_core.where(is_flat, 0, n - 1), n, *arguments)
        return [_core.where(is_flat, 0, value)]

    return ScipyFunction(
        name,
        slopes,
        ("n", *parameters),
        # SciPy's loops over a degree of int64 are recurrences; others are hypergeometric functions.
        arranged=lambda n, *arguments: (n.astype("int64"), *arguments),
    )


def _filled(x: Any, value: float) -> Any:
    return _core.full(x.shape, value, x.dtype)


_jacobi: ScipyFunction = _polynomial(
    "eval_jacobi",
    lambda k, n, a, b, x: 0.5 * (n + a + b + 1) * _jacobi.of_float64(k, a + 1, b + 1, x),
    ("alpha", "beta"),
)
_gegenbauer: ScipyFunction = _polynomial(
    "eval_gegenbauer",
    lambda k, n, a, x: 2 * a * _gegenbauer.of_float64(k, a + 1, x),
    ("alpha",),
)
_genlaguerre: ScipyFunction = _polynomial(
    "eval_genlaguerre", lambda k, n, a, x: -_genlaguerre.of_float64(k, a + 1, x), ("alpha",)
)
_laguerre = _polynomial(
    "eval_laguerre",
    lambda k, n, x: -_genlaguerre.of_float64(k, _core.full(x.shape, 1.0, x.dtype), x),
)


def _legendre_slope(_: Any, n: Any, x: Any) -> Any:
    degree = _core.maximum(n, -1 - n)
    value = (
        0.5
        * (degree + 1)
        * _jacobi.of_float64(_core.maximum(degree - 1, 0), *2 * [_filled(x, 1.0)], x)
    )
    return _core.where(degree == 0, 0, value)


def _chebyu_slope(_: Any, n: Any, x: Any) -> Any:
    # The values of a negative degree are those of the degree -2 - n with the other sign.
    factor = _core.where(n < 0, -2, 2)
    return factor * _gegenbauer.of_float64(_core.maximum(n, -2 - n) - 1, _filled(x, 2.0), x)


_legendre = _polynomial("eval_legendre", _legendre_slope)
_chebyu = _polynomial("eval_chebyu", _chebyu_slope)
_chebyt = _polynomial("eval_chebyt", lambda k, n, x: n * _chebyu.of_float64(k, x))
_hermite: ScipyFunction = _polynomial(
    "eval_hermite", lambda k, n, x: 2 * n * _hermite.of_float64(k, x)
)
_hermitenorm: ScipyFunction = _polynomial(
    "eval_hermitenorm", lambda k, n, x: n * _hermitenorm.of_float64(k, x)
)


@composite
def eval_legendre(n: TensorLike, x: TensorLike, /) -> Tensor:
    """Compute a Legendre polynomial.

    Values are those of SciPy. The derivative is (n + 1) / 2 eval_jacobi(n - 1, 1, 1, x).

    Parameters
    ----------
    n : array_like of int
        Degree. A negative one is the degree -1 - n.
    x : array_like, real
        Argument. Shapes broadcast; integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If `n` is not an integer, or another argument is complex.
    ValueError
        If the shapes do not broadcast.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 18.9.15.

    Examples
    --------
    >>> pb.special.eval_legendre(2, [0.0, 0.5, 1.0])
    Tensor([-0.5  , -0.125,  1.   ], dtype=float32)
    """
    return _legendre(integer_orders(n, "eval_legendre"), x, takes_complex=False)


@composite
def eval_chebyt(n: TensorLike, x: TensorLike, /) -> Tensor:
    """Compute a Chebyshev polynomial of the first kind.

    Values are those of SciPy. The derivative is n eval_chebyu(n - 1, x).

    Parameters
    ----------
    n : array_like of int
        Degree. A negative one is the degree -n.
    x : array_like, real
        Argument. Shapes broadcast; integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If `n` is not an integer, or another argument is complex.
    ValueError
        If the shapes do not broadcast.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 18.9.21.

    Examples
    --------
    >>> pb.special.eval_chebyt(2, [0.0, 0.5, 1.0])
    Tensor([-1. , -0.5,  1. ], dtype=float32)
    """
    return _chebyt(integer_orders(n, "eval_chebyt"), x, takes_complex=False)


@composite
def eval_chebyu(n: TensorLike, x: TensorLike, /) -> Tensor:
    """Compute a Chebyshev polynomial of the second kind.

    Values are those of SciPy. The derivative is 2 eval_gegenbauer(n - 1, 2, x).

    Parameters
    ----------
    n : array_like of int
        Degree. For a negative one, the value is minus that of the degree -2 - n.
    x : array_like, real
        Argument. Shapes broadcast; integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If `n` is not an integer, or another argument is complex.
    ValueError
        If the shapes do not broadcast.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 18.9.19.

    Examples
    --------
    >>> pb.special.eval_chebyu(2, [0.0, 0.5, 1.0])
    Tensor([-1.,  0.,  3.], dtype=float32)
    """
    return _chebyu(integer_orders(n, "eval_chebyu"), x, takes_complex=False)


@composite
def eval_hermite(n: TensorLike, x: TensorLike, /) -> Tensor:
    """Compute a Hermite polynomial of physics.

    Values are those of SciPy. The derivative is 2n eval_hermite(n - 1, x).

    Parameters
    ----------
    n : array_like of int
        Degree. For a negative one, the value is NaN.
    x : array_like, real
        Argument. Shapes broadcast; integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If `n` is not an integer, or another argument is complex.
    ValueError
        If the shapes do not broadcast.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 18.9.25.

    Examples
    --------
    >>> pb.special.eval_hermite(2, [0.0, 0.5, 1.0])
    Tensor([-2., -1.,  2.], dtype=float32)
    """
    return _hermite(integer_orders(n, "eval_hermite"), x, takes_complex=False)


@composite
def eval_hermitenorm(n: TensorLike, x: TensorLike, /) -> Tensor:
    """Compute a Hermite polynomial of statistics.

    Values are those of SciPy. The derivative is n eval_hermitenorm(n - 1, x).

    Parameters
    ----------
    n : array_like of int
        Degree. For a negative one, the value is NaN.
    x : array_like, real
        Argument. Shapes broadcast; integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If `n` is not an integer, or another argument is complex.
    ValueError
        If the shapes do not broadcast.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 18.9.27.

    Examples
    --------
    >>> pb.special.eval_hermitenorm(2, [0.0, 0.5, 1.0])
    Tensor([-1.  , -0.75,  0.  ], dtype=float32)
    """
    return _hermitenorm(integer_orders(n, "eval_hermitenorm"), x, takes_complex=False)


@composite
def eval_laguerre(n: TensorLike, x: TensorLike, /) -> Tensor:
    """Compute a Laguerre polynomial.

    Values are those of SciPy. The derivative is -eval_genlaguerre(n - 1, 1, x).

    Parameters
    ----------
    n : array_like of int
        Degree. For a negative one, the value is 0.
    x : array_like, real
        Argument. Shapes broadcast; integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If `n` is not an integer, or another argument is complex.
    ValueError
        If the shapes do not broadcast.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 18.9.23.

    Examples
    --------
    >>> pb.special.eval_laguerre(2, [0.0, 0.5, 1.0])
    Tensor([ 1.   ,  0.125, -0.5  ], dtype=float32)
    """
    return _laguerre(integer_orders(n, "eval_laguerre"), x, takes_complex=False)


@composite
def eval_genlaguerre(n: TensorLike, alpha: TensorLike, x: TensorLike, /) -> Tensor:
    """Compute a generalized Laguerre polynomial.

    Values are those of SciPy. The derivative is -eval_genlaguerre(n - 1, alpha + 1, x).

    Parameters
    ----------
    n : array_like of int
        Degree. For a negative one, the value is 0.
    alpha : array_like, real
        Parameter. It has no derivative.
    x : array_like, real
        Argument. Shapes broadcast; integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If `n` is not an integer, or another argument is complex.
    ValueError
        If the shapes do not broadcast.
    NotImplementedError
        If a derivative with respect to a parameter is requested.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 18.9.23.

    Examples
    --------
    >>> pb.special.eval_genlaguerre(2, 0.5, [0.0, 0.5, 1.0])
    Tensor([ 1.875,  0.75 , -0.125], dtype=float32)
    """
    return _genlaguerre(integer_orders(n, "eval_genlaguerre"), alpha, x, takes_complex=False)


@composite
def eval_gegenbauer(n: TensorLike, alpha: TensorLike, x: TensorLike, /) -> Tensor:
    """Compute a Gegenbauer polynomial.

    Values are those of SciPy. The derivative is 2 alpha eval_gegenbauer(n - 1, alpha + 1, x).

    Parameters
    ----------
    n : array_like of int
        Degree. For a negative one, the value is 0.
    alpha : array_like, real
        Parameter. It has no derivative.
    x : array_like, real
        Argument. Shapes broadcast; integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If `n` is not an integer, or another argument is complex.
    ValueError
        If the shapes do not broadcast.
    NotImplementedError
        If a derivative with respect to a parameter is requested.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 18.9.19.

    Examples
    --------
    >>> pb.special.eval_gegenbauer(2, 0.5, [0.0, 0.5, 1.0])
    Tensor([-0.5  , -0.125,  1.   ], dtype=float32)
    """
    return _gegenbauer(integer_orders(n, "eval_gegenbauer"), alpha, x, takes_complex=False)


@composite
def eval_jacobi(n: TensorLike, alpha: TensorLike, beta: TensorLike, x: TensorLike, /) -> Tensor:
    """Compute a Jacobi polynomial.

    Values are those of SciPy. The derivative is (n + alpha + beta + 1) / 2
    eval_jacobi(n - 1, alpha + 1, beta + 1, x).

    Parameters
    ----------
    n : array_like of int
        Degree. For a negative one, the value is 0 or NaN.
    alpha : array_like, real
        Parameter. It has no derivative.
    beta : array_like, real
        Parameter. It has no derivative.
    x : array_like, real
        Argument. Shapes broadcast; integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If `n` is not an integer, or another argument is complex.
    ValueError
        If the shapes do not broadcast.
    NotImplementedError
        If a derivative with respect to a parameter is requested.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 18.9.15.

    Examples
    --------
    >>> pb.special.eval_jacobi(2, 0.5, 1.0, [0.0, 0.5, 1.0])
    Tensor([-0.65625  , -0.1640625,  1.875    ], dtype=float32)
    """
    return _jacobi(integer_orders(n, "eval_jacobi"), alpha, beta, x, takes_complex=False)
