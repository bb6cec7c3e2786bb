"""Complex numbers: their parts, and functions of the parts.

The gradient of a real loss L with respect to z = x + iy is dL/dx + i dL/dy, the direction of
steepest ascent. The rule of a holomorphic function multiplies the cotangent by the conjugate of
the derivative. Kernels compute a complex tensor as a pair of real ones.
"""

from __future__ import annotations

from typing import Any

from .. import _core
from .._base.checks import flag, number
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike

__all__ = [
    "angle",
    "complex",
    "conj",
    "conjugate",
    "imag",
    "iscomplex",
    "iscomplexobj",
    "isreal",
    "isrealobj",
    "real",
    "real_if_close",
]


def complex(real: TensorLike, imag: TensorLike) -> Tensor:
    """Make complex numbers from real and imaginary parts.

    Differentiable in both parts.

    Parameters
    ----------
    real, imag : array_like, real
        Parts whose shapes broadcast. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; complex128 if a part is float64 after this conversion, else complex64.

    Raises
    ------
    TypeError
        If a part is complex.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.complex([1.0, 2.0], 0.5)
    Tensor([1.+0.5j, 2.+0.5j], dtype=complex64)
    """
    return _core.make_complex(real, imag)


def real(x: TensorLike, /) -> Tensor:
    """Return the real part of `x`.

    A real input is returned unchanged.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.

    Returns
    -------
    Tensor
        Shape of `x`; the dtype of the parts of a complex `x`, else the dtype of `x`.

    Examples
    --------
    >>> pb.real([1 + 2j, 3j])
    Tensor([1., 0.], dtype=float32)
    """
    return _core.real(x)


def imag(x: TensorLike, /) -> Tensor:
    """Return the imaginary part of `x`; zeros if `x` is real.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.

    Returns
    -------
    Tensor
        Shape of `x`; the dtype of the parts of a complex `x`, else the dtype of `x`.

    Examples
    --------
    >>> pb.imag([1 + 2j, 3j])
    Tensor([2., 3.], dtype=float32)
    """
    return _core.imag(x)


def conj(x: TensorLike, /) -> Tensor:
    """Return the complex conjugate of `x`.

    A real input is returned unchanged.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Examples
    --------
    >>> pb.conj([1 + 2j, 3j])
    Tensor([1.-2.j, 0.-3.j], dtype=complex64)
    """
    return _core.conj(x)


def conjugate(x: TensorLike, /) -> Tensor:
    """Alias of `conj`, under NumPy's other name.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Examples
    --------
    >>> pb.conjugate(3j)
    Tensor(0.-3.j, dtype=complex64)
    """
    return conj(x)


@composite
def angle(x: TensorLike, /, deg: bool = False) -> Tensor:
    """Compute the angle between `x` and the positive real axis.

    The gradient at 0 is 0.

    Parameters
    ----------
    x : array_like
        Input of any shape. Integers and bool become the default floating dtype.
    deg : bool, optional
        If True, return degrees, from -180 to 180. Default: radians, from -pi to pi.

    Returns
    -------
    Tensor
        Shape of `x`; the dtype of the parts of a complex `x`, the dtype of a floating `x`, or the
        default floating dtype.

    Raises
    ------
    TypeError
        If `deg` is not a bool.

    Examples
    --------
    >>> pb.angle([1j, -1.0]), pb.angle(1j, deg=True)
    (Tensor([1.5707964, 3.1415927], dtype=float32), Tensor(90., dtype=float32))
    """
    if deg is not False:
        deg = flag(deg, "angle", "deg")
    z = _core.constant(x, who="angle")
    out = _core.atan2(_core.imag(z), _core.real(z))
    return _core.multiply(out, 57.29577951308232) if deg else out


def isreal(x: TensorLike, /) -> Tensor:
    """Test whether the imaginary part of each entry is 0.

    The result has no gradient.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.

    Returns
    -------
    Tensor
        Shape of `x`; dtype bool.

    See Also
    --------
    isrealobj

    Examples
    --------
    >>> pb.isreal([1 + 2j, 3.0])
    Tensor([False,  True], dtype=bool)
    """
    return _core.equal(imag(x), 0)


def iscomplex(x: TensorLike, /) -> Tensor:
    """Test whether the imaginary part of each entry differs from 0.

    The result has no gradient.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.

    Returns
    -------
    Tensor
        Shape of `x`; dtype bool.

    See Also
    --------
    iscomplexobj

    Examples
    --------
    >>> pb.iscomplex([1 + 2j, 3.0])
    Tensor([ True, False], dtype=bool)
    """
    return _core.not_equal(imag(x), 0)


def iscomplexobj(x: Any, /) -> bool:
    """Test whether the dtype of `x` is complex, regardless of its values.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.

    Returns
    -------
    bool
        True if the dtype is complex64 or complex128.

    See Also
    --------
    iscomplex

    Examples
    --------
    >>> pb.iscomplexobj([1.0]), pb.iscomplexobj([1 + 0j])
    (False, True)
    """
    return bool(_core.constant(x, who="iscomplexobj").dtype.kind == "c")


def isrealobj(x: Any, /) -> bool:
    """Test whether the dtype of `x` is not complex, regardless of its values.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.

    Returns
    -------
    bool
        True if the dtype is neither complex64 nor complex128.

    See Also
    --------
    isreal

    Examples
    --------
    >>> pb.isrealobj([1.0])
    True
    """
    return not iscomplexobj(x)


@composite
def real_if_close(x: TensorLike, /, tol: float = 100) -> Tensor:
    """Return the real part of `x` if all imaginary parts are close to 0, else `x`.

    The function reads the values of a complex `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    tol : float, optional
        Bound of the absolute imaginary parts. If it exceeds 1, it is in units of the machine
        epsilon. Default: 100.

    Returns
    -------
    Tensor
        Shape of `x`; the dtype of the parts if they are returned, else the dtype of `x`.

    Raises
    ------
    TypeError
        If `tol` is not a number.
    RuntimeError
        If a complex `x` is a tensor without a value in a function that is being traced.

    Examples
    --------
    >>> pb.real_if_close([2.1 + 4e-8j]), pb.real_if_close([2.1 + 4e-3j])
    (Tensor([2.1], dtype=float32), Tensor([2.1+0.004j], dtype=complex64))
    """
    from .dtype_functions import finfo

    tol = number(tol, "real_if_close", "tol")
    z = _core.constant(x, who="real_if_close")
    if z.dtype.kind != "c":
        return z
    bound = tol * finfo(z.dtype).eps if tol > 1 else tol
    return _core.real(z) if bool(_core.all(_core.less(_core.abs(_core.imag(z)), bound))) else z
