"""`ScipyFunction`: a function of `scipy.special` as an elementwise operation.

Values are those of SciPy in float64 or complex128, rounded once; derivatives are rules made of
operations of this library. SciPy is imported at the first call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from .. import _core
from .._autodiff.callback import callback_operation
from .._autodiff.custom import custom_gradient
from .._core import Tensor

Slopes = Callable[..., Sequence[Any]]


def scipy_special(who: str) -> Any:
    """Return the module; raise an ImportError that names the function if it is not installed."""
    try:
        import scipy.special
    except ImportError as error:
        raise ImportError(f"{who}: its values are computed by SciPy; install scipy") from error
    return scipy.special


class ScipyFunction:
    """One function, called with orders, which have no derivative, and then with variables.

    Parameters
    ----------
    name : str
        Name in `scipy.special`.
    slopes : callable
        Returns the derivatives of the results: for each result one for each variable. It receives
        the orders and variables as tensors of float64 or complex128 of one shape.
    orders : tuple of str, optional
        Names of the orders, for errors.
    results : int, optional
        Number of results of SciPy's function.
    is_complex : bool, optional
        If True, results are complex for real arguments too.
    arranged : callable, optional
        Returns the arguments in SciPy's order. Default: orders, then variables.
    """

    def __init__(
        self,
        name: str,
        slopes: Slopes,
        orders: tuple[str, ...] = (),
        results: int = 1,
        is_complex: bool = False,
        arranged: Callable[..., Any] | None = None,
    ) -> None:
        self._name, self._slopes, self._orders = name, slopes, orders
        self._results, self._is_complex, self._arranged = results, is_complex, arranged
        self._operation = custom_gradient(self._values, jvp=self._tangents)

    def __call__(self, *args: Any, takes_complex: bool = True) -> Tensor:
        """Return the result for arguments that broadcast."""
        return self.several(*args, takes_complex=takes_complex)[0]

    def several(self, *args: Any, takes_complex: bool = True) -> tuple[Tensor, ...]:
        """Return all results for arguments that broadcast."""
        who = self._name
        tensors = [_operand(x, who) for x in args]
        orders = len(self._orders)
        for name, x in zip(self._orders, tensors, strict=False):
            if x.dtype.kind == "c":
                raise TypeError(f"{who}: expected real numbers for {name}, got {x.dtype}")
        dtype = _floating_dtype(args, tensors)
        if dtype.kind == "c" and not takes_complex:
            raise TypeError(f"{who}: expected real numbers, got {dtype}")
        tensors[:orders] = [
            _order(x, self._name, n) for x, n in zip(tensors[:orders], self._orders, strict=True)
        ]
        shape = _shape(tensors, self._name)
        results = self._of_float64([_core.broadcast_to(_wide(x), shape) for x in tensors])
        if results[0].dtype.kind == "c" and dtype.kind != "c":
            dtype = _core.promote(dtype, np.dtype("complex64"))
        return tuple(_core.cast(y, dtype) for y in results)

    def of_float64(self, *tensors: Any) -> Any:
        """Return the results for tensors of float64 or complex128, without conversions."""
        shape = _shape(tensors, self._name)
        results = self._of_float64([_core.broadcast_to(_wide(x), shape) for x in tensors])
        return results[0] if self._results == 1 else results

    def _of_float64(self, tensors: list[Any]) -> tuple[Any, ...]:
        out = self._operation(*tensors)
        return (out,) if self._results == 1 else tuple(out)

    def _values(self, *xs: Tensor) -> Any:
        function = getattr(scipy_special(self._name), self._name)
        orders = len(self._orders)

        def evaluate(*arrays: Any) -> Any:
            with np.errstate(all="ignore"):
                out = function(*(self._arranged(*arrays) if self._arranged else arrays))
            out = out if self._results == 1 else np.stack(out, -1)
            return np.ascontiguousarray(out, dtype)

        is_complex = self._is_complex or any(x.dtype.kind == "c" for x in xs[orders:])
        dtype = np.dtype("complex128" if is_complex else "float64")
        shape = xs[0].shape
        if self._results == 1:
            return callback_operation(evaluate, xs, dtype, shape, takes_batches=True)
        stacked = callback_operation(
            evaluate, xs, dtype, (*shape, self._results), takes_batches=True
        )
        return tuple(stacked[..., k] for k in range(self._results))

    def _tangents(self, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
        rows = self._slopes(*primals)
        rows = [rows] if self._results == 1 else rows
        orders = len(self._orders)
        # An order has an answer, so that the rule of `_order` is called, which raises.
        of_orders = [0.0 * t for t in tangents[:orders]]
        made = []
        for row in rows:
            terms = [slope * t for slope, t in zip(row, tangents[orders:], strict=True)]
            made.append(reduce(_core.add, [*terms, *of_orders]))
        return made[0] if self._results == 1 else tuple(made)


def _is_scalar(x: Any) -> bool:
    return isinstance(x, (bool, int, float, complex)) or (
        isinstance(x, Tensor) and _core.is_number(x)
    )


def _operand(x: Any, who: str) -> Any:
    """Return a tensor; Python numbers keep all of their digits."""
    if isinstance(x, (bool, int, float)):
        return _core.constant(x, "float64")
    if isinstance(x, complex):
        return _core.constant(x, "complex128")
    return _core.operands([x], who)[0]


def _floating_dtype(args: Sequence[Any], tensors: Sequence[Any]) -> Any:
    """Return the promoted dtype of the arguments that are floating and no Python numbers."""
    found = [
        tensor.dtype
        for x, tensor in zip(args, tensors, strict=True)
        if tensor.dtype.kind not in "biu" and not _is_scalar(x)
    ]
    dtype = reduce(_core.promote, found) if found else _core.default_float()
    if any(tensor.dtype.kind == "c" for tensor in tensors):
        dtype = _core.promote(dtype, np.dtype("complex64"))
    return dtype


def _wide(x: Any) -> Any:
    return _core.cast(x, "complex128" if x.dtype.kind == "c" else "float64")


def _shape(tensors: Sequence[Any], who: str) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*(x.shape for x in tensors))
    except ValueError:
        shapes = ", ".join(str(x.shape) for x in tensors)
        raise ValueError(f"{who}: expected shapes that broadcast, got {shapes}") from None


def _order(x: Any, who: str, name: str) -> Any:
    """Return an order; a gradient that needs its derivative raises NotImplementedError."""
    if x.dtype.kind in "biu":
        return x

    def rule(upstream: Any) -> Any:
        raise NotImplementedError(
            f"{who}: the derivative with respect to {name} is not implemented; apply "
            f"stop_gradient to it"
        )

    return custom_gradient(lambda value: (value, rule), intentional=True)(x)
