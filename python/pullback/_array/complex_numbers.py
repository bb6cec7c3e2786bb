"""Complex numbers: their parts, and what is made of parts.

A complex tensor is a pair of real ones wherever it is computed. The gradient of a real loss L by
z = x + iy is dL/dx + i dL/dy, the direction in which L grows most: what is differentiable in the
complex sense passes its cotangent times the conjugate of its derivative.
"""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .arguments import flag, number


def complex(real: TensorLike, imag: TensorLike) -> Tensor:
    """real + i imag, of real numbers that broadcast: complex128 where one of them is float64, else
    complex64 (integers count as the default dtype). Complex parts are a TypeError.

    >>> pb.complex([1.0, 2.0], 0.5)
    Tensor([1.+0.5j, 2.+0.5j], dtype=complex64)
    """
    return _core.make_complex(real, imag)


def real(x: TensorLike, /) -> Tensor:
    """The real part; x itself where it is not complex.

    >>> pb.real([1 + 2j, 3j])
    Tensor([1., 0.], dtype=float32)
    """
    return _core.real(x)


def imag(x: TensorLike, /) -> Tensor:
    """The imaginary part: zeros of the dtype of x where it is not complex.

    >>> pb.imag([1 + 2j, 3j])
    Tensor([2., 3.], dtype=float32)
    """
    return _core.imag(x)


def conj(x: TensorLike, /) -> Tensor:
    """The conjugate: the imaginary part with the other sign; x itself where it is not complex.

    >>> pb.conj([1 + 2j, 3j])
    Tensor([1.-2.j, 0.-3.j], dtype=complex64)
    """
    return _core.conj(x)


def conjugate(x: TensorLike, /) -> Tensor:
    """`conj`, as NumPy calls it too.

    >>> pb.conjugate(3j)
    Tensor(0.-3.j, dtype=complex64)
    """
    return conj(x)


def angle(x: TensorLike, /, deg: bool = False) -> Tensor:
    """The angle to the positive real axis, from -pi to pi, or in degrees; always floating. Its
    gradient at 0 is 0.

    >>> pb.angle([1j, -1.0]), pb.angle(1j, deg=True)
    (Tensor([1.5707964, 3.1415927], dtype=float32), Tensor(90., dtype=float32))
    """
    if deg is not False:
        deg = flag(deg, "angle", "deg")
    z = _core.constant(x, who="angle")
    out = _core.atan2(_core.imag(z), _core.real(z))
    return _core.multiply(out, 57.29577951308232) if deg else out


def isreal(x: TensorLike, /) -> Tensor:
    """Whether an entry's imaginary part is 0.

    >>> pb.isreal([1 + 2j, 3.0])
    Tensor([False,  True], dtype=bool)
    """
    return _core.equal(imag(x), 0)


def iscomplex(x: TensorLike, /) -> Tensor:
    """Whether an entry's imaginary part is not 0.

    >>> pb.iscomplex([1 + 2j, 3.0])
    Tensor([ True, False], dtype=bool)
    """
    return _core.not_equal(imag(x), 0)


def iscomplexobj(x: Any, /) -> bool:
    """Whether the dtype of x is complex, whatever its entries are.

    >>> pb.iscomplexobj([1.0]), pb.iscomplexobj([1 + 0j])
    (False, True)
    """
    return bool(_core.constant(x, who="iscomplexobj").dtype.kind == "c")


def isrealobj(x: Any, /) -> bool:
    """Whether the dtype of x is not complex.

    >>> pb.isrealobj([1.0])
    True
    """
    return not iscomplexobj(x)


def real_if_close(x: TensorLike, /, tol: float = 100) -> Tensor:
    """The real part where all imaginary parts are closer to 0 than `tol`, in units of the machine
    epsilon where that is above 1; else x. It looks at the values, which is an error inside of a
    function that is traced.

    >>> pb.real_if_close([2.1 + 4e-8j]), pb.real_if_close([2.1 + 4e-3j])
    (Tensor([2.1], dtype=float32), Tensor([2.1+0.004j], dtype=complex64))
    """
    from .dtypes import finfo

    tol = number(tol, "real_if_close: tol")
    z = _core.constant(x, who="real_if_close")
    if z.dtype.kind != "c":
        return z
    bound = tol * finfo(z.dtype).eps if tol > 1 else tol
    return _core.real(z) if bool(_core.all(_core.less(_core.abs(_core.imag(z)), bound))) else z
