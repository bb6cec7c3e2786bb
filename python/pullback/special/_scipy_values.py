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
        Returns the derivative by each variable. It receives the orders and variables as tensors of
        float64 or complex128. Variables have one shape; an order can be a single number.
    orders : tuple of str, optional
        Names of the orders, for errors.
    result : int, optional
        Number of the result, if SciPy's function has several. Each is an operation of its own: an
        infinite slope of another one must not meet its cotangent, which is 0.
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
        result: int | None = None,
        is_complex: bool = False,
        arranged: Callable[..., Any] | None = None,
    ) -> None:
        self._name, self._slopes, self._orders = name, slopes, orders
        self._result, self._is_complex, self._arranged = result, is_complex, arranged
        self._operation = custom_gradient(self._value, jvp=self._tangent, verify="never")

    def __call__(self, *args: Any, takes_complex: bool = True) -> Tensor:
        """Return the result for arguments that broadcast."""
        tensors, dtype = self._converted(args, takes_complex)
        return _rounded(self.of_float64(*tensors), dtype)

    def of_float64(self, *tensors: Any) -> Tensor:
        """Return the result in float64 or complex128."""
        made: Tensor = self._operation(*self._operands(tensors))
        return made

    def _converted(self, args: Sequence[Any], takes_complex: bool) -> tuple[list[Any], Any]:
        """Return the arguments as tensors, and the dtype of the result."""
        who = self._name
        tensors = [_operand(x, who) for x in args]
        arrays = [x for x, given in zip(tensors, args, strict=True) if _has_dtype(given)]
        if not any(x.dtype.kind == "c" for x in tensors):  # Python's numbers in lists
            for k, given in enumerate(args):
                if not (_has_dtype(given) or _is_scalar(given)):
                    tensors[k] = _core.operands([given, *arrays], who)[0]
        orders = len(self._orders)
        for name, x in zip(self._orders, tensors, strict=False):
            if x.dtype.kind == "c":
                raise TypeError(f"{who}: expected real numbers for {name}, got {x.dtype}")
        dtype = _floating_dtype(args, tensors)
        if dtype.kind == "c" and not takes_complex:
            raise TypeError(f"{who}: expected real numbers, got {dtype}")
        tensors[:orders] = [
            _order(x, who, n) for x, n in zip(tensors[:orders], self._orders, strict=True)
        ]
        return tensors, dtype

    def _operands(self, tensors: Sequence[Any]) -> list[Any]:
        try:
            shape = np.broadcast_shapes(*(x.shape for x in tensors))
        except ValueError:
            shapes = ", ".join(str(x.shape) for x in tensors)
            raise ValueError(
                f"{self._name}: expected shapes that broadcast, got {shapes}"
            ) from None
        operands = [_wide(x) for x in tensors]
        for k, x in enumerate(operands):
            # An order for all elements stays a single number, which SciPy's loops broadcast.
            single = k < len(self._orders) and x.size == 1
            operands[k] = (
                _core.reshape(x, (1,) * len(shape)) if single else _core.broadcast_to(x, shape)
            )
        return operands

    def _value(self, *xs: Tensor) -> Tensor:
        return self._computed(xs)

    def _computed(self, xs: Sequence[Tensor], count: int | None = None) -> Tensor:
        """Return the value; with `count`, all of as many results along a last axis."""
        function = getattr(scipy_special(self._name), self._name)

        def evaluate(*arrays: Any) -> None:
            *given, out = arrays
            try:
                if self._arranged:
                    given = self._arranged(*given)
                with np.errstate(all="ignore"):
                    if count is not None:
                        function(*given, out=tuple(out[..., k] for k in range(count)))
                    elif isinstance(function, np.ufunc):
                        outs = [None] * function.nout
                        outs[self._result or 0] = out
                        function(*given, out=tuple(outs))
                    else:
                        results = function(*given)
                        out[...] = results if self._result is None else results[self._result]
            finally:
                del arrays, given, out  # a traceback would keep them
                outs = []

        variables = xs[len(self._orders) :]
        is_complex = self._is_complex or any(x.dtype.kind == "c" for x in variables)
        dtype = np.dtype("complex128" if is_complex else "float64")
        shape = np.broadcast_shapes(*(x.shape for x in xs))
        if count is not None:
            shape = (*shape, count)
        return callback_operation(evaluate, xs, dtype, shape, takes_batches=True, in_place=True)

    def _tangent(self, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
        orders = len(self._orders)
        slopes = self._slopes(*primals)
        terms = [slope * t for slope, t in zip(slopes, tangents[orders:], strict=True)]
        # An order has an answer, so that the rule of `_order` is called, which raises.
        return reduce(_core.add, [*terms, *(0.0 * t for t in tangents[:orders])])


def all_results(
    functions: Sequence[ScipyFunction], *args: Any, takes_complex: bool = True
) -> tuple[Tensor, ...]:
    """Return all results of one function, in order, with values of one call of SciPy."""
    first = functions[0]
    tensors, dtype = first._converted(args, takes_complex)
    operands = first._operands(tensors)
    packed = first._computed(operands, len(functions))
    return tuple(
        _rounded(
            custom_gradient(_constantly(packed[..., k]), jvp=one._tangent, verify="never")(
                *operands
            ),
            dtype,
        )
        for k, one in enumerate(functions)
    )


def _constantly(value: Tensor) -> Callable[..., Tensor]:
    return lambda *xs: value


def _rounded(y: Tensor, dtype: Any) -> Tensor:
    if y.dtype.kind == "c" and dtype.kind != "c":
        dtype = _core.promote(dtype, np.dtype("complex64"))
    return _core.cast(y, dtype)


def _has_dtype(x: Any) -> bool:
    return hasattr(x, "dtype") and not _is_scalar(x)


def _is_scalar(x: Any) -> bool:
    if isinstance(x, Tensor):
        return _core.is_number(x)
    # NumPy's scalars have a dtype.
    return isinstance(x, (bool, int, float, complex)) and not isinstance(x, np.generic)


def _operand(x: Any, who: str) -> Any:
    """Return a tensor; Python numbers keep all of their digits."""
    if _is_scalar(x) and not isinstance(x, Tensor):
        return _core.constant(x, "complex128" if isinstance(x, complex) else "float64")
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
