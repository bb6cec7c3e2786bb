"""Bessel functions, elementwise: floats; integers become the default float.

None has a derivative by its order: the gradient of an order is None. Orders may be arrays, which
broadcast.
"""

from __future__ import annotations

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .arguments import integer_orders


def i0(x: TensorLike, /) -> Tensor:
    """The modified Bessel function of the first kind of order 0: DLMF 10.25.2.

    >>> pb.special.i0([0.0, 1.0, -5.0])
    Tensor([ 1.       ,  1.2660658, 27.239872 ], dtype=float32)
    """
    return _core.i0(x)


def i0e(x: TensorLike, /) -> Tensor:
    """exp(-|x|) i0(x).

    The slope has a form of its own, where i1e - i0e cancels; at 0 it is 0.

    >>> pb.special.i0e([0.0, 1.0, 1e10])
    Tensor([1.000000e+00, 4.657596e-01, 3.989423e-06], dtype=float32)
    """
    return _core.i0e(x)


def i1(x: TensorLike, /) -> Tensor:
    """The modified Bessel function of the first kind of order 1: DLMF 10.25.2.

    >>> pb.special.i1([0.0, 1.0, -5.0])
    Tensor([  0.       ,   0.5651591, -24.335642 ], dtype=float32)
    """
    return _core.i1(x)


def i1e(x: TensorLike, /) -> Tensor:
    """exp(-|x|) i1(x).

    >>> pb.special.i1e([0.0, 1.0, 1e10])
    Tensor([0.0000000e+00, 2.0791042e-01, 3.9894230e-06], dtype=float32)
    """
    return _core.i1e(x)


def iv(v: TensorLike, x: TensorLike, /) -> Tensor:
    """The modified Bessel function of the first kind of real order v: DLMF 10.25.2.

    NaN where x < 0 and v is not whole. The gradient of v is None. Where v is below -1 and not
    whole, the function may change its sign, near which digits are lost.

    >>> pb.special.iv(0.5, [1.0, 5.0])
    Tensor([ 0.9376749, 26.477547 ], dtype=float32)
    """
    return _core.iv(v, x)


def ive(v: TensorLike, x: TensorLike, /) -> Tensor:
    """exp(-|x|) iv(v, x).

    The gradient of v is None. Second derivatives lose digits where v is 30 and more and x between v
    and v^2 / 2.

    >>> pb.special.ive(0.5, [1.0, 1e10])
    Tensor([3.449513e-01, 3.989423e-06], dtype=float32)
    """
    return _core.ive(v, x)


def j0(x: TensorLike, /) -> Tensor:
    """The Bessel function of the first kind of order 0: DLMF 10.2.2. 0 at infinity.

    >>> pb.special.j0([0.0, 1.0, -5.0])
    Tensor([ 1.        ,  0.7651977 , -0.17759678], dtype=float32)
    """
    return _core.j0(x)


def j1(x: TensorLike, /) -> Tensor:
    """The Bessel function of the first kind of order 1: DLMF 10.2.2. 0 at infinity.

    >>> pb.special.j1([0.0, 1.0, -5.0])
    Tensor([0.        , 0.44005057, 0.32757914], dtype=float32)
    """
    return _core.j1(x)


def y0(x: TensorLike, /) -> Tensor:
    """The Bessel function of the second kind of order 0: DLMF 10.2.3. -inf at 0, NaN below.

    >>> pb.special.y0([0.0, 1.0, 5.0])
    Tensor([       -inf,  0.08825696, -0.30851763], dtype=float32)
    """
    return _core.y0(x)


def y1(x: TensorLike, /) -> Tensor:
    """The Bessel function of the second kind of order 1: DLMF 10.2.3. -inf at 0, NaN below.

    >>> pb.special.y1([0.0, 1.0, 5.0])
    Tensor([       -inf, -0.7812128 ,  0.14786315], dtype=float32)
    """
    return _core.y1(x)


def jn(n: TensorLike, x: TensorLike, /) -> Tensor:
    """The Bessel function of the first kind of a whole order: DLMF 10.2.2.

    The order is an integer or an array of them, up to 2^20 in size: NaN beyond. Other orders are a
    TypeError. The gradient of x is (jn(n - 1, x) - jn(n + 1, x)) / 2.

    >>> pb.special.jn(2, [0.0, 1.0, 5.0])
    Tensor([0.        , 0.11490349, 0.04656512], dtype=float32)
    """
    return _core.jn(integer_orders(n, "jn"), x)


def yn(n: TensorLike, x: TensorLike, /) -> Tensor:
    """The Bessel function of the second kind of a whole order: DLMF 10.2.3. -inf at 0, NaN below.

    Orders as in `jn`.

    >>> pb.special.yn(2, [0.0, 1.0, 5.0])
    Tensor([       -inf, -1.6506826 ,  0.36766288], dtype=float32)
    """
    return _core.yn(integer_orders(n, "yn"), x)
