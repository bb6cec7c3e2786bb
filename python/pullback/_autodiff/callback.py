"""`numpy_function`: a Python function of NumPy arrays (a callback) as an operation.

`callback_operation` creates the operation; `_packed_results` packs several results into one array.
Start reading at `numpy_function`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from math import prod
from typing import Any, Literal

import numpy as np

from .. import _core
from .._base.checks import counted
from .._core import Tensor, Variable
from .custom import custom_gradient
from .rules import place

__all__ = ["numpy_function"]

WHO = "numpy_function"


def numpy_function(
    f: Callable[..., Any],
    out: Any,
    vjp: Callable[..., Any] | Literal["fd"] | None = None,
    jvp: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """Return a function of tensors that calls `f` with NumPy arrays when its result is evaluated.

    `f` receives one read-only copy of an array for each argument. It is called on the evaluating
    thread, once for each call whose result is needed, and at each call of a traced `function`; it
    may be called again if a gradient needs intermediate values of such a function. An exception of
    `f` is raised where the result is read, and the next read calls `f` again.

    Without `vjp` and `jvp` the operation has no gradient.

    Parameters
    ----------
    f : callable
        Function of NumPy arrays that returns an array, or a tuple or list of arrays. Complex
        results can only be combined with results of the same dtype.
    out : object or callable
        Shape and dtype of the result: an object with the attributes `shape` and `dtype`, such as a
        tensor or an array; a pair (shape, dtype); a list of these for several results; or a
        function of the arguments, which are tensors, that returns one of these.
    vjp : callable or "fd", optional
        Reverse-mode rule. `vjp(primals, upstream)` receives two tuples of tensors: the arguments,
        and a gradient for each result. It returns one gradient for each argument, or None. If it
        consists of operations of this library, second derivatives exist; it may be a
        `numpy_function`. "fd" takes central finite differences of `f` with two calls of `f` for
        each entry. The step is the cube root of the machine precision, relative to entries above 1.
        They are accurate to about half of the digits, for real numbers only, and have no second
        derivative.
    jvp : callable, optional
        Forward-mode rule in place of `vjp`. `jvp(primals, tangents)` returns the tangents of the
        results. It must be linear in the tangents; it is transposed for reverse mode.

    Returns
    -------
    callable
        Function of array_like arguments that returns a Tensor, or a tuple of Tensors for several
        results.

    Raises
    ------
    TypeError
        If `f`, `vjp` or `jvp` is not callable, or if `out` is invalid. When the result is
        evaluated: if it has another dtype than `out`; a Python number takes the dtype. When a
        gradient passes: if `vjp` is "fd" and a number is complex.
    ValueError
        If both `vjp` and `jvp` are given. When the result is evaluated: if it has another shape
        than `out`, or if the number of results differs.
    LookupError
        When a gradient passes: if there is no rule, or for the second derivative of "fd".

    See Also
    --------
    custom_gradient

    Examples
    --------
    >>> import numpy as np
    >>> sinc = pb.numpy_function(np.sinc, lambda x: x, vjp="fd")
    >>> x = pb.Variable([0.0, 0.5], dtype="float64")
    >>> y = sinc(x)
    >>> pb.round(y, 4), pb.round(pb.gradients(y, x)[0], 4)
    (Tensor([1.    , 0.6366], dtype=float64), Tensor([ 0.    , -1.2732], dtype=float64))

    >>> cube = pb.numpy_function(lambda x: x**3, ((), "float32"),
    ...                          vjp=lambda primals, upstream: 3 * primals[0] ** 2 * upstream[0])
    >>> x = pb.Variable(2.0)
    >>> (g,) = pb.gradients(cube(x), x)
    >>> g, pb.gradients(g, x)
    (Tensor(12., dtype=float32), [Tensor(12., dtype=float32)])
    """
    if not callable(f):
        raise TypeError(f"{WHO}: expected a function for f, got {_core.shown(f)}")
    for name, rule in (("vjp", vjp), ("jvp", jvp)):
        if rule is not None and not callable(rule) and not (name == "vjp" and rule == "fd"):
            wish = "a function or 'fd'" if name == "vjp" else "a function"
            raise TypeError(f"{WHO}: expected {wish} for {name}, got {_core.shown(rule)}")
    if vjp is not None and jvp is not None:
        raise ValueError(f"{WHO}: {place(f)}: expected a vjp or a jvp, got both")
    if not callable(out):
        _describe(out)

    def results(*xs: Any) -> Any:
        tensors = [x.read() if isinstance(x, Variable) else x for x in xs]
        several, types = _describe(out(*tensors) if callable(out) else out)
        made = _packed_results(f, tensors, types, several)
        return tuple(made) if several else made[0]

    if jvp is not None:
        with_rule: Any = custom_gradient(results, jvp=jvp)
    else:

        def with_vjp(*xs: Any) -> Any:
            tensors = tuple(x.read() if isinstance(x, Variable) else x for x in xs)
            return results(*tensors), lambda *upstream: _apply_vjp(f, vjp, tensors, upstream)

        with_rule = custom_gradient(with_vjp, intentional=vjp is None or vjp == "fd")

    @wraps(f)
    def call(*args: Any) -> Any:
        return with_rule(*map(_plain, args))

    return call


def _plain(x: Any) -> Any:
    """Return a variable, or a tensor without the dtype of a subclass."""
    if isinstance(x, Tensor):
        return _core.view_as(Tensor, x)
    return x if isinstance(x, Variable) else _core.constant(x, who=WHO)


Type = tuple[tuple[int, ...], Any]


def _describe(out: Any) -> tuple[bool, list[Type]]:
    """Return whether there are several results, and their shapes and dtypes."""
    if isinstance(out, list) or (isinstance(out, tuple) and not _is_pair(out)):
        return True, [_type_of(one) for one in out]
    return False, [_type_of(out)]


def _is_pair(out: Any) -> bool:
    """Return whether `out` is (shape, dtype) and not two descriptions."""
    if len(out) != 2 or hasattr(out[0], "dtype"):
        return False
    # Classes and instances of dtypes have a shape too.
    if isinstance(out[1], (str, type, np.dtype)):
        return True
    return not (hasattr(out[1], "shape") or (isinstance(out[1], (tuple, list)) and out[1]))


def _type_of(one: Any) -> Type:
    try:
        shape, dtype = (one.shape, one.dtype) if hasattr(one, "dtype") else one
        lengths = (shape,) if hasattr(shape, "__index__") else tuple(shape)
        example = _core.full(lengths, 0, dtype)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{WHO}: expected (shape, dtype) or an object with a shape and a dtype for out, "
            f"got {_core.shown(one)}: {error}"
        ) from None
    return example.shape, example.dtype


def callback_operation(
    f: Any,
    xs: Sequence[Any],
    dtype: Any,
    shape: tuple[int, ...],
    takes_batches: bool = False,
    in_place: bool = False,
) -> Tensor:
    """Return the call of `f` as an operation.

    Complex arrays are passed as real ones with a last axis of two parts. With `takes_batches`, `f`
    may be called with a further first axis on all of its arguments. With `in_place`, `f` receives
    the array of the result as its last argument, writes to it, and must not keep any of the arrays.
    """
    dtype = _core.dtype(dtype)
    complex_at = {k: x.dtype for k, x in enumerate(xs) if x.dtype.kind == "c"}
    if not complex_at and dtype.kind != "c":
        return _core.callback(f, xs, dtype, shape, takes_batches, in_place)

    def on_views(*arrays: Any) -> None:
        own = [complex_at.get(k) for k in range(len(xs))] + [dtype if dtype.kind == "c" else None]
        f(*(a if as_ is None else a.view(as_)[..., 0] for a, as_ in zip(arrays, own, strict=True)))

    def of_pairs(*arrays: Any) -> Any:
        inputs = list(arrays)
        for k, own in complex_at.items():
            whole = inputs[k].copy().view(own)[..., 0]
            whole.flags.writeable = False
            inputs[k] = whole
        answer = f(*inputs)
        return np.stack([answer.real, answer.imag], -1) if dtype.kind == "c" else answer

    called = on_views if in_place else of_pairs
    inputs = list(xs)
    for k in complex_at:
        inputs[k] = _core.stack([_core.real(xs[k]), _core.imag(xs[k])], -1)
    if dtype.kind != "c":
        return _core.callback(called, inputs, dtype, shape, takes_batches, in_place)
    part = _core.real(_core.full((), 0, dtype)).dtype
    pairs = _core.callback(called, inputs, part, (*shape, 2), takes_batches, in_place)
    return _core.make_complex(pairs[..., 0], pairs[..., 1])


def _packed_results(f: Any, xs: Sequence[Any], types: list[Type], several: bool) -> list[Any]:
    """Return the results of `f` as tensors of one operation.

    Several results are packed into one array.
    """
    checked = _CheckedFunction(f, types, several)
    if not several:
        return [callback_operation(checked, xs, types[0][1], types[0][0])]
    if len({dtype for _, dtype in types}) <= 1:
        common = types[0][1] if types else np.dtype("float64")
        packed = callback_operation(
            lambda *arrays: _pack(checked(*arrays), common),
            xs, common, (sum(prod(shape) for shape, _ in types),),
        )  # fmt: skip
        return [_core.reshape(part, shape) for part, (shape, _) in _unpack(packed, types, 1)]
    # Different dtypes: each number is stored as two floats, high * 2**32 + low or real + imaginary.
    packed = callback_operation(
        lambda *arrays: _pack([_halves(a) for a in checked(*arrays)], np.dtype("float64")),
        xs, "float64", (2 * sum(prod(shape) for shape, _ in types),),
    )  # fmt: skip
    made = []
    for part, (shape, dtype) in _unpack(packed, types, 2):
        high, low = _core.split(_core.reshape(part, (2, *shape)), [1, 1], 0)
        if dtype.kind == "c":
            value = _core.cast(_core.make_complex(high, low), dtype)
        else:
            value = _core.cast(high, dtype)
        if dtype.kind in "iu" and dtype.itemsize > 4:
            value = _core.add(_core.multiply(value, 2**32), _core.cast(low, dtype))
        made.append(_core.reshape(value, shape))
    return made


def _unpack(packed: Tensor, types: list[Type], times: int) -> list[tuple[Any, Type]]:
    sizes = [times * prod(shape) for shape, _ in types]
    return list(zip(_core.split(packed, sizes, 0), types, strict=True))


def _pack(arrays: Sequence[Any], dtype: Any) -> Any:
    return np.concatenate([np.zeros(0, dtype), *(a.reshape(-1) for a in arrays)]).astype(dtype)


def _halves(a: Any) -> Any:
    if a.dtype.kind == "c":
        return np.stack([a.real, a.imag]).astype("float64")
    if a.dtype.kind in "iu" and a.dtype.itemsize > 4:
        return np.stack([(a >> 32).astype("float64"), (a & (2**32 - 1)).astype("float64")])
    return np.stack([a.astype("float64"), np.zeros(a.shape)])


class _CheckedFunction:
    """The function with a check that its results have the shapes and dtypes of `out`."""

    def __init__(self, f: Any, types: list[Type], several: bool) -> None:
        self.f, self.types, self.several = f, types, several

    def __call__(self, *arrays: Any) -> Any:
        answer = self.f(*arrays)
        if not self.several:
            return self._array(answer, self.types[0], "")
        if not isinstance(answer, (tuple, list)) or len(answer) != len(self.types):
            raise ValueError(
                f"{WHO}: {place(self.f)}: expected {counted(len(self.types), 'result')}, "
                f"got {len(answer) if isinstance(answer, (tuple, list)) else _core.shown(answer)}"
            )
        pairs = zip(answer, self.types, strict=True)
        return [self._array(one, type_, f" {k}") for k, (one, type_) in enumerate(pairs)]

    def _array(self, value: Any, type_: Type, which: str) -> Any:
        shape, dtype = type_
        weak = isinstance(value, (bool, int, float, complex))
        array = np.asarray(value, dtype if weak else None)
        if array.shape != shape:
            raise ValueError(
                f"{WHO}: {place(self.f)}: expected shape {shape} for result{which}, as in out, got "
                f"{array.shape}"
            )
        if array.dtype != dtype:
            raise TypeError(
                f"{WHO}: {place(self.f)}: expected dtype {dtype} for result{which}, as in out, got "
                f"{array.dtype}; convert it, or change out"
            )
        return np.ascontiguousarray(array)


def _apply_vjp(f: Any, vjp: Any, primals: tuple[Any, ...], upstream: tuple[Any, ...]) -> Any:
    if vjp is None:
        raise LookupError(
            f"{WHO}: {place(f)} has no gradient; pass vjp, jvp or vjp='fd' (finite differences), "
            "or apply stop_gradient to its result"
        )
    if vjp != "fd":
        return vjp(primals, upstream)
    if any(x.dtype.kind == "c" for x in (*primals, *upstream)):
        raise TypeError(
            f"{WHO}: {place(f)}: vjp='fd' supports real numbers only; pass a function for vjp"
        )
    floats = [k for k, x in enumerate(primals) if x.dtype.kind == "f"]
    slopes = _finite_difference_vjp(f, len(primals), floats)

    def no_second(*_: Any) -> Any:
        raise LookupError(
            f"{WHO}: {place(f)}: vjp='fd' has no second derivative; pass a function of "
            "differentiable operations for vjp"
        )

    found = numpy_function(slopes, [primals[k] for k in floats], no_second)(*primals, *upstream)
    answers: list[Any] = [None] * len(primals)
    for k, g in zip(floats, found, strict=True):
        answers[k] = g
    return answers


def _finite_difference_vjp(f: Any, count: int, floats: list[int]) -> Callable[..., Any]:
    @wraps(f)
    def slopes(*arrays: Any) -> list[Any]:
        primals, upstream = arrays[:count], arrays[count:]

        def total(args: list[Any]) -> Any:
            answer = f(*args)
            several = answer if isinstance(answer, (tuple, list)) else [answer]
            # A difference of large sums would cancel the contributions of small entries.
            return [np.asarray(y, "float64") for y in several]

        found = []
        for k in floats:
            x = primals[k]
            g = np.zeros(x.shape)
            precision = float(np.finfo(x.dtype).eps) ** (1 / 3)
            for at in np.ndindex(x.shape):
                sides, places = [], []
                for sign in (1, -1):
                    moved = x.copy()
                    moved[at] += sign * precision * max(1.0, abs(float(x[at])))
                    places.append(float(moved[at]))
                    moved.flags.writeable = False
                    sides.append(total([*primals[:k], moved, *primals[k + 1 :]]))
                g[at] = sum(
                    float(np.sum(np.asarray(u, "float64") * (a - b)))
                    for u, a, b in zip(upstream, *sides, strict=True)
                    if u.dtype.kind == "f"
                ) / (places[0] - places[1])
            found.append(g.astype(x.dtype))
        return found

    return slopes
