"""Methods of Tensor and Variable, made from the public functions of the same names.

The tensor is the first argument. `METHODS` lists the functions. A positional argument after those
of the function is its `axis`, as in NumPy. Methods with other arguments are written out.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from .. import _core
from .._core import Tensor, Variable
from . import array_api
from .rounding import round

METHODS = [
    "all", "any", "argmax", "argmin", "argsort", "astype", "clip", "conj", "conjugate", "cumprod",
    "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero", "prod", "ptp", "ravel", "repeat",
    "round", "searchsorted", "sort", "squeeze", "std", "sum", "swapaxes", "take", "trace", "var",
]  # fmt: skip


def copy(self: Any) -> Tensor:
    """copy(self) -> Tensor

    A tensor of the same value: what is assigned to its items leaves this one as it is."""
    return _core.identity(self)


def flatten(self: Any) -> Tensor:
    """flatten(self) -> Tensor

    The entries in one row."""
    return _core.reshape(self, (-1,) if self.size else (0,))


def reshape(self: Any, *shape: Any) -> Tensor:
    """reshape(self, *shape: typing.Any) -> Tensor

    `pullback.reshape`, with the lengths given one by one or as a tuple."""
    return _core.reshape(self, shape[0] if len(shape) == 1 else shape)


def transpose(self: Any, *axes: Any) -> Tensor:
    """transpose(self, *axes: typing.Any) -> Tensor

    `pullback.transpose`, with the axes given one by one or as a tuple."""
    if len(axes) == 1 and (axes[0] is None or hasattr(axes[0], "__len__")):
        axes = axes[0]
    return _core.transpose(self, axes if axes != () or self.shape == () else None)


def rounded(self: Any, decimals: int | None = None) -> Any:
    """__round__(self, decimals: int | None = None) -> typing.Any

    `round(x, n)` is `pullback.round`; `round(x)` of rank 0 a Python integer."""
    if decimals is None and self.shape == ():
        return int(round(self))
    return round(self, decimals or 0)


def real(self: Any) -> Tensor:
    """The real part, `pullback.real` of this tensor."""
    return _core.real(self)


def imag(self: Any) -> Tensor:
    """The imaginary part, `pullback.imag` of this tensor."""
    return _core.imag(self)


OWN = {
    "real": property(real),
    "imag": property(imag),
    "copy": copy,
    "flatten": flatten,
    "reshape": reshape,
    "transpose": transpose,
    "__round__": rounded,
    "to_device": array_api.to_device,
    "__array_namespace__": array_api.namespace,
    "__dlpack__": array_api.dlpack,
    "__dlpack_device__": array_api.dlpack_device,
    "device": property(array_api.device),
}


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    name, taken = function.__name__, function.__code__.co_argcount

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if len(args) == taken and "axis" not in kwargs:
            return function(self, *args[:-1], axis=args[-1], **kwargs)
        return function(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    first, *others = inspect.signature(function).parameters.values()
    plain = [other.replace(annotation=inspect.Parameter.empty) for other in others]
    taken_by_it = [inspect.Parameter("self", first.kind), *plain]
    method.__signature__ = inspect.Signature(taken_by_it)  # type: ignore[attr-defined]
    method.__doc__ = f"{name}(self, ...)\n\n`pullback.{name}` of this tensor."
    method.__wrapped__ = function  # type: ignore[attr-defined]
    return method


def add_methods(public: Mapping[str, Any]) -> None:
    """Gives both classes their methods, made of the public functions."""
    made = {name: _method(public[name]) for name in METHODS if name in public}
    for cls in (Tensor, Variable):
        for name, method in {**OWN, **made}.items():
            setattr(cls, name, method)
