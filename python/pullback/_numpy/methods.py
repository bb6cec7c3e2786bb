"""Methods of Tensor and Variable: public functions with the tensor as their first argument.

`METHODS` lists them; a name that is added there becomes a method. Methods with other arguments than
the function are in `OWN`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import wraps
from opcode import opmap
from types import FrameType
from typing import Any, Literal, SupportsIndex

from .. import _core
from .._base.checks import choice
from .._base.hints import absent_attributes, renamed
from .._core import Tensor, Variable
from .._typing import Axis, Shape, TensorLike
from . import array_api, dlpack, selection
from .flat import Flat
from .rounding import round
from .writing import check_kept

METHODS = [
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "choose", "clip", "conj",
    "conjugate", "cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero",
    "partition", "prod", "ptp", "ravel", "repeat", "round", "searchsorted", "sort", "squeeze",
    "std", "sum", "swapaxes", "take", "trace", "var",
]  # fmt: skip
# NumPy's methods of these names change the array and return None.
IN_PLACE_IN_NUMPY = ("partition", "sort")


def compress(self: Any, condition: TensorLike, axis: SupportsIndex | None = None) -> Tensor:
    """compress(self, condition: pullback._typing.TensorLike, axis: typing.SupportsIndex | None = None) -> Tensor

    Select the slices along an axis where a condition is true.

    Differentiable, like `pullback.compress`.

    Parameters
    ----------
    condition : array_like
        Vector whose elements that are not 0 are true.
    axis : int, optional
        Axis to select along. Default: the flattened tensor.

    Returns
    -------
    Tensor
        Shape with the number of true elements as the size of the axis; the same dtype.

    Raises
    ------
    ValueError
        If `condition` is not a vector or `axis` is out of range.
    IndexError
        If an element of `condition` beyond the end of the axis is true.

    Examples
    --------
    >>> pb.constant([1, 2, 3]).compress([True, False, True])
    Tensor([1, 3], dtype=int64)
    """  # noqa: E501, the stub's line
    return selection.compress(condition, self, axis)


def copy(self: Any) -> Tensor:
    """copy(self) -> Tensor

    Return a tensor with the same value.

    An assignment to items of the copy does not change this tensor.

    Returns
    -------
    Tensor
        The same shape and dtype.

    Examples
    --------
    >>> x = pb.constant([1.0, 2.0])
    >>> y = x.copy()
    >>> y[0] = 5.0
    >>> x
    Tensor([1., 2.], dtype=float32)
    """
    return _core.identity(self)


def fill(self: Any, value: TensorLike) -> None:
    """fill(self, value: pullback._typing.TensorLike) -> None

    Assign a value to all items, as `x[...] = value` does.

    Differentiable in `value`.

    Parameters
    ----------
    value : array_like
        Number or tensor that broadcasts to the shape of this tensor.

    Raises
    ------
    TypeError
        If the dtype of this tensor cannot represent `value`, or if no variable, or attribute or
        item of one, is this tensor: the assignment would be lost.
    ValueError
        If `value` does not broadcast to the shape.

    Examples
    --------
    >>> x = pb.zeros(2)
    >>> x.fill(3.0)
    >>> x
    Tensor([3., 3.], dtype=float32)
    """
    check_kept(self, sys._getframe(1), "fill")
    self[...] = value


def flatten(self: Any) -> Tensor:
    """flatten(self) -> Tensor

    Return the elements as a vector, in row-major order.

    Returns
    -------
    Tensor
        Shape (size,); the same dtype.

    Examples
    --------
    >>> pb.constant([[1, 2], [3, 4]]).flatten()
    Tensor([1, 2, 3, 4], dtype=int64)
    """
    return _core.identity(_core.reshape(self, (-1,) if self.size else (0,)))


def reshape(self: Any, *shape: Shape) -> Tensor:
    """reshape(self, *shape: pullback._typing.Shape) -> Tensor

    Return the elements in another shape, in row-major order.

    Differentiable, like `pullback.reshape`.

    Parameters
    ----------
    *shape : int or tuple of int
        Axis sizes, one by one or as a tuple. One of them may be -1; it is computed from the size.

    Returns
    -------
    Tensor
        The given shape; the same dtype.

    Raises
    ------
    ValueError
        If the number of elements differs.

    Examples
    --------
    >>> pb.constant([1, 2, 3, 4]).reshape(2, -1)
    Tensor([[1, 2],
            [3, 4]], dtype=int64)
    """
    sizes: Any = shape[0] if len(shape) == 1 else shape
    return _core.reshape(self, sizes)


def transpose(self: Any, *axes: Axis) -> Tensor:
    """transpose(self, *axes: pullback._typing.Axis) -> Tensor

    Permute the axes.

    Differentiable, like `pullback.transpose`.

    Parameters
    ----------
    *axes : int or tuple of int
        Axes in the order of the result, one by one or as a tuple. Default: the reverse order.

    Returns
    -------
    Tensor
        The permuted shape; the same dtype.

    Raises
    ------
    ValueError
        If an axis is out of range, missing or repeated.

    Examples
    --------
    >>> pb.constant([[1, 2], [3, 4]]).transpose(1, 0)
    Tensor([[1, 3],
            [2, 4]], dtype=int64)
    """
    order: Any = axes
    if len(axes) == 1 and (axes[0] is None or hasattr(axes[0], "__len__")):
        order = axes[0]
    return _core.transpose(self, order if order != () or self.shape == () else None)


def rounded(self: Any, decimals: int | None = None) -> Tensor | int:
    """__round__(self, decimals: int | None = None) -> Tensor | int

    Implement `round(x, decimals)` by `pullback.round`.

    `round(x)` of rank 0 is a Python integer.
    """
    if decimals is None and self.shape == ():
        return int(round(self))
    return round(self, decimals or 0)


def tobytes(self: Any, order: Literal["C", "F", "A"] = "C") -> bytes:
    """tobytes(self, order: typing.Literal['C', 'F', 'A'] = 'C') -> bytes

    Return the bytes of the value.

    Parameters
    ----------
    order : {"C", "F", "A"}, default "C"
        Order of the elements: the last axis varies fastest ("C" and "A"), or the first ("F").

    Returns
    -------
    bytes
        As many as `nbytes`.

    Raises
    ------
    ValueError
        If `order` is unknown.
    RuntimeError
        If the tensor is traced, since it has no value then.

    Examples
    --------
    >>> pb.constant([1, 2], "uint8").tobytes()
    b'\\x01\\x02'
    """
    choice(order, ("C", "F", "A"), "tobytes", "order")
    _core.check_escape(self, "tobytes")
    data: bytes = self.numpy().tobytes(order)
    return data


def flat(self: Any) -> Flat:
    """Return the elements in row-major order, for reads and assignments.

    Returns
    -------
    Flat
        Iterable of the elements. An index returns a tensor, and an assignment changes the items of
        this tensor.
    """
    return Flat(self)


def set_flat(self: Any, value: TensorLike) -> None:
    """Assign to all elements in row-major order."""
    Flat(self)[:] = value


def real(self: Any) -> Tensor:
    """Return the real part, like `pullback.real`.

    Returns
    -------
    Tensor
        The same shape; the real dtype.
    """
    return _core.real(self)


def imag(self: Any) -> Tensor:
    """Return the imaginary part, like `pullback.imag`.

    Returns
    -------
    Tensor
        The same shape; the real dtype. It is 0 if the tensor is real.
    """
    return _core.imag(self)


OWN = {
    "compress": compress,
    "flat": property(flat, set_flat),
    "tobytes": tobytes,
    "real": property(real),
    "imag": property(imag),
    "copy": copy,
    "fill": fill,
    "flatten": flatten,
    "reshape": reshape,
    "transpose": transpose,
    "__round__": rounded,
    "to_device": array_api.to_device,
    "__array_namespace__": array_api.namespace,
    "__dlpack__": dlpack.dlpack,
    "__dlpack_device__": dlpack.dlpack_device,
    "device": property(array_api.device),
}


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    name = function.__name__

    @wraps(function)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            result = function(self, *args, **kwargs)
        except TypeError:
            if hint := renamed(function, kwargs):
                raise TypeError(f"{name}: {hint}") from None
            raise
        if name in IN_PLACE_IN_NUMPY and _drops_result(sys._getframe(1)):
            raise TypeError(
                f"{name}: the result is not used, and the tensor is unchanged; write "
                f"x = x.{name}(...)"
            )
        return result

    return method


def _drops_result(frame: FrameType) -> bool:
    """Test whether the call that a frame executes is a statement, whose result is not used."""
    code, at = frame.f_code.co_code, frame.f_lasti + 2
    while code[at] == opmap["CACHE"]:
        at += 2
    return code[at] == opmap["POP_TOP"]


def _str(self: Any) -> str:
    """Return the number of a tensor without axes, as NumPy does, and otherwise `repr(self)`."""
    from .display import is_known, value_of

    return repr(self) if self.shape or not is_known(self) else str(value_of(self))


def _html(self: Any) -> str:
    """_repr_html_(self) -> str

    Return the HTML that notebooks show.
    """
    from .display import tensor_html

    return tensor_html(self)


def add_methods(public: Mapping[str, Any]) -> None:
    """Add the methods to both classes; those in METHODS call the public functions."""
    functions = {name: _method(public[name]) for name in METHODS}
    functions |= {"__str__": _str, "_repr_html_": _html}
    for cls in (Tensor, Variable):
        for name, method in {**absent_attributes(), **OWN, **functions}.items():
            setattr(cls, name, method)
