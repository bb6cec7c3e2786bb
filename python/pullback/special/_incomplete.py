"""Incomplete gamma and beta functions, their inverses, and Student's distribution."""

from __future__ import annotations

from .. import _core
from .._core import Tensor
from .._typing import TensorLike


def gammainc(a: TensorLike, x: TensorLike, /) -> Tensor:
    """Compute the regularized lower incomplete gamma function.

    The value is the fraction of the integral gamma(a) below `x`.

    It is defined for a, x >= 0, except where both are 0 or both are infinite; elsewhere the value
    is NaN. Differentiable in both arguments. The gradient with respect to `x` is the density of the
    gamma distribution and has derivatives of any order. Derivatives with respect to `a` exist up to
    the second order.

    Parameters
    ----------
    a : array_like, real
        Shape parameter. Shapes broadcast; integers and bool become the default floating dtype.
    x : array_like, real
        Upper limit of the integral.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.
    NotImplementedError
        If a third derivative with respect to `a` is requested.

    See Also
    --------
    gammaincc, gammaincinv

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 8.2.4.

    Examples
    --------
    >>> pb.special.gammainc([0.5, 1.0, 50.0], [0.5, 1.0, 60.0])
    Tensor([0.6826895 , 0.63212055, 0.9155933 ], dtype=float32)
    """
    return _core.gammainc(a, x)


def gammaincc(a: TensorLike, x: TensorLike, /) -> Tensor:
    """Compute the regularized upper incomplete gamma function.

    The value is 1 - gammainc(a, x) without cancellation.

    It is defined for a, x >= 0, except where both are 0 or both are infinite; elsewhere the value
    is NaN. Differentiable in both arguments. The gradient with respect to `x` is the density of the
    gamma distribution with the opposite sign and has derivatives of any order. Derivatives with
    respect to `a` exist up to the second order.

    Parameters
    ----------
    a : array_like, real
        Shape parameter. Shapes broadcast; integers and bool become the default floating dtype.
    x : array_like, real
        Lower limit of the integral.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.
    NotImplementedError
        If a third derivative with respect to `a` is requested.

    See Also
    --------
    gammainc, gammainccinv

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 8.2.4.

    Examples
    --------
    >>> pb.special.gammaincc([0.5, 1.0, 2.0], [0.5, 1.0, 60.0])
    Tensor([3.1731051e-01, 3.6787945e-01, 5.3414714e-25], dtype=float32)
    """
    return _core.gammaincc(a, x)


def betainc(a: TensorLike, b: TensorLike, x: TensorLike, /) -> Tensor:
    """Compute the regularized incomplete beta function.

    The value is the fraction of the integral beta(a, b) below `x`.

    It is defined for 0 <= x <= 1 and a, b >= 0, except where both are 0 or both are infinite;
    elsewhere the value is NaN. Differentiable in all arguments. The gradient with respect to `x` is
    the density of the beta distribution and has derivatives of any order. Derivatives with respect
    to `a` and `b` exist up to the second order.

    Parameters
    ----------
    a, b : array_like, real
        Shape parameters. Shapes broadcast; integers and bool become the default floating dtype.
    x : array_like, real
        Upper limit of the integral.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.
    NotImplementedError
        If a third derivative with respect to `a` and `b` is requested.

    See Also
    --------
    betaincc, betaincinv

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 8.17.2.

    Examples
    --------
    >>> pb.special.betainc([0.5, 2.0], [0.5, 3.0], [0.25, 0.5])
    Tensor([0.33333334, 0.6875    ], dtype=float32)
    """
    return _core.betainc(a, b, x)


def betaincc(a: TensorLike, b: TensorLike, x: TensorLike, /) -> Tensor:
    """Compute the complement of the regularized incomplete beta function.

    The value is 1 - betainc(a, b, x) without cancellation.

    It is defined for 0 <= x <= 1 and a, b >= 0, except where both are 0 or both are infinite;
    elsewhere the value is NaN. Differentiable in all arguments. The gradient with respect to `x` is
    the density of the beta distribution with the opposite sign and has derivatives of any order.
    Derivatives with respect to `a` and `b` exist up to the second order.

    Parameters
    ----------
    a, b : array_like, real
        Shape parameters. Shapes broadcast; integers and bool become the default floating dtype.
    x : array_like, real
        Lower limit of the integral.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.
    NotImplementedError
        If a third derivative with respect to `a` and `b` is requested.

    See Also
    --------
    betainc, betainccinv

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 8.17.4.

    Examples
    --------
    >>> pb.special.betaincc([0.5, 2.0], [0.5, 30.0], [0.25, 0.5])
    Tensor([6.6666669e-01, 1.4901161e-08], dtype=float32)
    """
    return _core.betaincc(a, b, x)


def gammaincinv(a: TensorLike, p: TensorLike, /) -> Tensor:
    """Return `x` such that gammainc(a, x) = p.

    The value is 0 at p = 0 and infinite at p = 1. Differentiable in both arguments.

    Parameters
    ----------
    a : array_like, real
        Shape parameter. For a negative or an infinite one the result is NaN. Shapes broadcast;
        integers and bool become the default floating dtype.
    p : array_like, real
        Probability in [0, 1]; outside the result is NaN.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.special.gammaincinv([0.5, 1.0, 50.0], [0.5, 0.5, 1e-5])
    Tensor([ 0.22746821,  0.6931472 , 25.355469  ], dtype=float32)
    """
    return _core.gammaincinv(a, p)


def gammainccinv(a: TensorLike, q: TensorLike, /) -> Tensor:
    """Return `x` such that gammaincc(a, x) = q.

    The value is accurate for a small `q`. It is infinite at q = 0 and 0 at q = 1. Differentiable in
    both arguments.

    Parameters
    ----------
    a : array_like, real
        Shape parameter. For a negative or an infinite one the result is NaN. Shapes broadcast;
        integers and bool become the default floating dtype.
    q : array_like, real
        Probability in [0, 1]; outside the result is NaN.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.special.gammainccinv([0.5, 1.0, 50.0], [0.5, 1e-30, 1e-5])
    Tensor([ 0.22746821, 69.07755   , 86.04947   ], dtype=float32)
    """
    return _core.gammainccinv(a, q)


def betaincinv(a: TensorLike, b: TensorLike, p: TensorLike, /) -> Tensor:
    """Return `x` such that betainc(a, b, x) = p.

    Differentiable in all arguments.

    Parameters
    ----------
    a, b : array_like, real
        Shape parameters. If one is not positive, or infinite, the result is NaN. Shapes broadcast;
        integers and bool become the default floating dtype.
    p : array_like, real
        Probability in [0, 1]; outside the result is NaN.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.special.betaincinv([0.5, 2.0], [0.5, 3.0], [0.5, 1e-10])
    Tensor([5.000000e-01, 4.082494e-06], dtype=float32)
    """
    return _core.betaincinv(a, b, p)


def betainccinv(a: TensorLike, b: TensorLike, q: TensorLike, /) -> Tensor:
    """Return `x` such that betaincc(a, b, x) = q.

    The value is accurate for a small `q`. Differentiable in all arguments.

    Parameters
    ----------
    a, b : array_like, real
        Shape parameters. If one is not positive, or infinite, the result is NaN. Shapes broadcast;
        integers and bool become the default floating dtype.
    q : array_like, real
        Probability in [0, 1]; outside the result is NaN.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.special.betainccinv([0.5, 2.0], [0.5, 30.0], [0.5, 1e-10])
    Tensor([0.5       , 0.57875425], dtype=float32)
    """
    return _core.betainccinv(a, b, q)


def stdtr(df: TensorLike, t: TensorLike, /) -> Tensor:
    """Compute the distribution function of Student's t distribution.

    Differentiable in both arguments. The gradient with respect to `t` is the density and has
    derivatives of any order. Derivatives with respect to `df` exist up to the second order.

    Parameters
    ----------
    df : array_like, real
        Degrees of freedom. If they are not positive, the result is NaN; infinity is the normal
        distribution. Shapes broadcast; integers and bool become the default floating dtype.
    t : array_like, real
        Argument.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.
    NotImplementedError
        If a third derivative with respect to `df` is requested.

    See Also
    --------
    stdtrit

    Examples
    --------
    >>> pb.special.stdtr([1.0, 3.0], [1.0, -30.0])
    Tensor([7.50000e-01, 4.06764e-05], dtype=float32)
    """
    return _core.stdtr(df, t)


def stdtrit(df: TensorLike, p: TensorLike, /) -> Tensor:
    """Return `t` such that stdtr(df, t) = p.

    Differentiable in both arguments.

    Parameters
    ----------
    df : array_like, real
        Degrees of freedom. Shapes broadcast; integers and bool become the default floating dtype.
    p : array_like, real
        Probability in [0, 1]; outside the result is NaN.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    stdtr

    Examples
    --------
    >>> pb.special.stdtrit([1.0, 3.0], [0.75, 0.5])
    Tensor([1., 0.], dtype=float32)
    """
    return _core.stdtrit(df, p)
