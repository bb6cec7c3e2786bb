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
    @@
    """
    return _core.i0(x)


def i0e(x: TensorLike, /) -> Tensor:
    """exp(-|x|) i0(x).

    The slope has a form of its own, where i1e - i0e cancels; at 0 it is 0.

    >>> pb.special.i0e([0.0, 1.0, 1e10])
    @@
    """
    return _core.i0e(x)


def i1(x: TensorLike, /) -> Tensor:
    """The modified Bessel function of the first kind of order 1: DLMF 10.25.2.

    >>> pb.special.i1([0.0, 1.0, -5.0])
    @@
    """
    return _core.i1(x)


def i1e(x: TensorLike, /) -> Tensor:
    """exp(-|x|) i1(x).

    >>> pb.special.i1e([0.0, 1.0, 1e10])
    @@
    """
    return _core.i1e(x)


def iv(v: TensorLike, x: TensorLike, /) -> Tensor:
    """The modified Bessel function of the first kind of real order v: DLMF 10.25.2.

    NaN where x < 0 and v is not whole. The gradient of v is None. Where v is below -1 and not
    whole, the function may change its sign, near which digits are lost.

    >>> pb.special.iv(0.5, [1.0, 5.0])
    @@
    """
    return _core.iv(v, x)


def ive(v: TensorLike, x: TensorLike, /) -> Tensor:
    """exp(-|x|) iv(v, x).

    The gradient of v is None. Second derivatives lose digits where v is 30 and more and x between v
    and v^2 / 2.

    >>> pb.special.ive(0.5, [1.0, 1e10])
    @@
    """
    return _core.ive(v, x)


def j0(x: TensorLike, /) -> Tensor:
    """The Bessel function of the first kind of order 0: DLMF 10.2.2. 0 at infinity.

    >>> pb.special.j0([0.0, 1.0, -5.0])
    @@
    """
    return _core.j0(x)


def j1(x: TensorLike, /) -> Tensor:
    """The Bessel function of the first kind of order 1: DLMF 10.2.2. 0 at infinity.

    >>> pb.special.j1([0.0, 1.0, -5.0])
    @@
    """
    return _core.j1(x)


def y0(x: TensorLike, /) -> Tensor:
    """The Bessel function of the second kind of order 0: DLMF 10.2.3. -inf at 0, NaN below.

    >>> pb.special.y0([0.0, 1.0, 5.0])
    @@
    """
    return _core.y0(x)


def y1(x: TensorLike, /) -> Tensor:
    """The Bessel function of the second kind of order 1: DLMF 10.2.3. -inf at 0, NaN below.

    >>> pb.special.y1([0.0, 1.0, 5.0])
    @@
    """
    return _core.y1(x)


def jn(n: TensorLike, x: TensorLike, /) -> Tensor:
    """The Bessel function of the first kind of a whole order: DLMF 10.2.2.

    The order is an integer or an array of them, up to 2^20 in size: NaN beyond. Other orders are a
    TypeError. The gradient of x is (jn(n - 1, x) - jn(n + 1, x)) / 2.

    >>> pb.special.jn(2, [0.0, 1.0, 5.0])
    @@
    """
    return _core.jn(integer_orders(n, "jn"), x)


def yn(n: TensorLike, x: TensorLike, /) -> Tensor:
    """The Bessel function of the second kind of a whole order: DLMF 10.2.3. -inf at 0, NaN below.

    Orders as in `jn`.

    >>> pb.special.yn(2, [0.0, 1.0, 5.0])
    @@
    """
    return _core.yn(integer_orders(n, "yn"), x)
