"""`vmap` and `vectorize`: a function of one example as a function of a batch.

The function is called once, on placeholders for one example. The core then rebuilds the graph for
the whole batch (cpp/transform/batch.h). `_Batch` is one call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import wraps
from operator import index
from typing import Any, overload

import numpy as np

from .. import _core
from .._base.checks import counted
from .._base.pytree import (
    flatten,
    flatten_once,
    keys_in_order,
    own_entries,
    unflatten,
    written_behind,
)
from .._core import Tensor, Variable
from .._typing import P, R
from .function import inlined_functions
from .jacobian import mapped_entries
from .rules import place

__all__ = ["vectorize", "vmap"]

F = Callable[..., Any]


def vmap(
    f: Callable[P, R], in_axes: Any = 0, out_axes: Any = 0, size: int | None = None
) -> Callable[P, R]:
    """Return a function that computes `f` for all entries along an axis of its arguments.

    `f` is called once, on placeholders for one entry that have no values. The operations that it
    creates are then rebuilt for all entries: a batched operation takes the place of a loop.

    All gradients pass through, and may be taken inside. Calls of `vmap` may be nested, and
    `function` may contain them. `stop_gradient` and custom and overridden gradients keep their
    meaning: a rule written in Python is called once, for one entry. Random numbers are drawn for
    each entry. All entries of one operation are a single draw, so the numbers differ from those of
    a loop.

    Parameters
    ----------
    f : callable
        Function of arrays or pytrees of them that returns a Tensor or a pytree of Tensors. It must
        not read values of its arguments or assign variables.
    in_axes : int, None or sequence, optional
        The mapped axis of the arguments: an integer for all arguments, or a tuple with one entry
        for each positional argument. An entry is an integer, None for an argument that is the same
        for all entries, or a pytree of these like the argument. Arguments passed by keyword have
        axis 0. Default: 0.
    out_axes : int, None or sequence, optional
        Position of the mapped axis in the results, in the same form. None is for a result that is
        the same for all entries. Default: 0.
    size : int, optional
        Size of the mapped axis. It is required if no argument has a mapped axis, for example if `f`
        only draws random numbers.

    Returns
    -------
    callable
        Function of the batched arguments. Its results have the structure of the results of `f` and
        one more axis.

    Raises
    ------
    TypeError
        If `f` is not callable or `size` is not an integer from 0 on. At the call: if an argument
        has no axes and its entry of `in_axes` is not None.
    ValueError
        At the call: if an axis is out of range, if the sizes of the mapped axes differ, or if the
        size is not known. Also if `in_axes` or `out_axes` does not fit the structure, or if
        `out_axes` is None for a result that differs between entries.
    RuntimeError
        At the call: if `f` reads the value of a placeholder or assigns a variable.
    NotImplementedError
        At the call: if an operation, which the message names, cannot be batched. `numpy_function`
        is one. No operation is replaced by a loop.

    See Also
    --------
    vectorize, map, per_example_gradients

    Examples
    --------
    >>> dot = lambda x, y: pb.sum(x * y)
    >>> x = pb.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> pb.vmap(dot, in_axes=(0, None))(x, pb.constant([1.0, 10.0]))
    Tensor([21., 43., 65.], dtype=float32)
    >>> pb.vmap(pb.grad(lambda x: pb.sum(x**3)), in_axes=1, out_axes=1)(x)
    Tensor([[  3.,  12.],
            [ 27.,  48.],
            [ 75., 108.]], dtype=float32)
    """
    if not callable(f):
        raise TypeError(f"vmap: expected a function for f, got {_core.shown(f)}")
    if size is not None and (isinstance(size, bool) or not hasattr(size, "__index__") or size < 0):
        raise TypeError(f"vmap: expected a non-negative integer for size, got {_core.shown(size)}")

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        batch = _Batch(f, size)
        axes = _axes_of_arguments(in_axes, len(args))
        inner = [
            batch.replace(arg, axis, f"argument {i}")
            for i, (arg, axis) in enumerate(zip(args, axes, strict=True))
        ]
        named = {k: batch.replace(arg, 0, f"argument {k}") for k, arg in kwargs.items()}
        return batch.close(batch.call(inner, named), out_axes)

    return call


class _Batch:
    """One call of a mapped function: the placeholders and the batches that they stand for."""

    def __init__(self, f: F, size: int | None) -> None:
        self.f = f
        self.count = None if size is None else index(size)
        self.count_from = "size"
        self.trace = _core.Trace(f"vmap of {place(f)}")
        self.placeholders: list[Tensor] = []
        self.batches: list[Tensor] = []
        self.first = 0

    def replace(self, argument: Any, axes: Any, who: str) -> Any:
        """Return an argument with placeholders for the entries of its mapped leaves."""
        leaves, structure = flatten(argument)
        spread = spread_axes(axes, argument, f"vmap: in_axes of {who}")
        for i, (leaf, axis) in enumerate(zip(leaves, spread, strict=True)):
            if axis is not None:
                path = written_behind(argument)[i] if len(leaves) > 1 else ""
                leaves[i] = self._placeholder(leaf, axis, f"{who}{path}")
        return unflatten(structure, leaves)

    def _placeholder(self, leaf: Any, axis: int, who: str) -> Tensor:
        if not isinstance(leaf, (Tensor, Variable, np.ndarray, np.generic, int, float, complex)):
            raise TypeError(
                f"vmap: expected an array for {who}, got {_core.shown(leaf)}, which has no axes; "
                "set its in_axes to None"
            )
        x = _core.constant(leaf)
        if not -x.ndim <= axis < x.ndim:
            raise ValueError(
                f"vmap: in_axes={axis} is out of range for {who} of shape {x.shape}; set it to "
                "None if it is the same for all entries"
            )
        axis %= x.ndim
        length = x.shape[axis]
        if self.count is None:
            self.count, self.count_from = length, who
        if length != self.count:
            raise ValueError(
                f"vmap: expected size {self.count} for axis {axis} of {who}, given by "
                f"{self.count_from}, got shape {x.shape}"
            )
        order = (axis, *(d for d in range(x.ndim) if d != axis))
        batch = _core.transpose(x, order) if axis else x
        placeholder = self.trace.argument(x.dtype.name, batch.shape[1:], False)
        self.placeholders.append(placeholder)
        self.batches.append(batch)
        return placeholder

    def call(self, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if self.count is None:
            raise ValueError(
                "vmap: expected a mapped axis in at least one argument, got none; pass size"
            )
        self.first = _core.next_number()
        entries = mapped_entries.set(self.count * mapped_entries.get())
        try:
            with _core.BatchScope(), inlined_functions():
                return self.f(*args, **kwargs)
        finally:
            mapped_entries.reset(entries)

    def close(self, result: Any, out_axes: Any) -> Any:
        """Return the result for all entries, with their axes in place."""
        assert self.count is not None  # call() has checked it
        leaves, structure = flatten(result)
        axes = spread_axes(out_axes, result, "vmap: out_axes")
        for i, leaf in enumerate(leaves):
            if isinstance(leaf, (Variable, np.ndarray, np.generic, int, float, complex)):
                leaves[i] = _core.constant(leaf)
        tensors = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
        mapped = [i for i in tensors if axes[i] is not None]
        same = [leaves[i] for i in tensors if axes[i] is None]
        if any(_core.computed_from(same, self.placeholders)):
            raise ValueError(
                f"vmap: expected an integer for out_axes of a result of {place(self.f)} that "
                "differs between entries, got None"
            )
        made = _core.batched(
            [leaves[i] for i in mapped], self.placeholders, self.batches, self.count, self.first
        )
        for i, y in zip(mapped, made, strict=True):
            leaves[i] = self._move_batch_axis(y, axes[i] or 0)
        return unflatten(structure, leaves)

    def _move_batch_axis(self, y: Tensor, axis: int) -> Tensor:
        if not -y.ndim <= axis < y.ndim:
            raise ValueError(
                f"vmap: out_axes={axis} is out of range for a result of shape {y.shape}"
            )
        if axis % y.ndim == 0:
            return y
        order = list(range(1, y.ndim))
        order.insert(axis % y.ndim, 0)
        return _core.transpose(y, order)


def _axes_of_arguments(in_axes: Any, count: int) -> list[Any]:
    if not isinstance(in_axes, (tuple, list)):
        return [in_axes] * count
    if len(in_axes) != count:
        raise ValueError(
            f"vmap: expected {counted(count, 'entry')} for in_axes, one for each positional "
            f"argument, got {len(in_axes)}"
        )
    return list(in_axes)


def spread_axes(axes: Any, tree: Any, who: str) -> list[int | None]:
    """Return an axis for each leaf of a pytree.

    `axes` is one axis for all leaves, or a pytree of axes that is a prefix of `tree`.

    Examples
    --------
    >>> spread_axes(({"a": 0, "b": None}, 1), ({"a": 1, "b": [2, 3]}, 4), "f")
    [0, None, None, 1]
    """
    if axes is None:
        return [None] * len(flatten(tree)[0])
    if hasattr(axes, "__index__") and not isinstance(axes, bool):
        return [index(axes)] * len(flatten(tree)[0])
    parts: list[Any] | None = None
    entries: list[Any] = []
    if (own := own_entries(tree)) is not None:
        entries, structure = own
        given, form = flatten_once(axes)
        parts = given if form == structure else None
    elif isinstance(axes, dict) and isinstance(tree, dict) and axes.keys() == tree.keys():
        keys = keys_in_order(tree)
        parts, entries = [axes[key] for key in keys], [tree[key] for key in keys]
    elif isinstance(axes, (tuple, list)) and isinstance(tree, (tuple, list)):
        parts, entries = list(axes), list(tree)
    if parts is not None and len(parts) == len(entries):
        pairs = zip(parts, entries, strict=True)
        return [axis for one, part in pairs for axis in spread_axes(one, part, who)]
    raise ValueError(
        f"{who}: expected an integer, None or a pytree like {_core.shown(tree)}, got "
        f"{_core.shown(axes)}"
    )


@overload
def vectorize(
    f: Callable[..., R], *, signature: str | None = None, excluded: Iterable[int] = ()
) -> Callable[..., R]: ...
@overload
def vectorize(
    f: None = None, *, signature: str | None = None, excluded: Iterable[int] = ()
) -> Callable[[Callable[..., R]], Callable[..., R]]: ...
def vectorize(
    f: F | None = None, *, signature: str | None = None, excluded: Iterable[int] = ()
) -> Any:
    """Return a function that broadcasts `f` over further leading axes.

    The leading axes broadcast as in arithmetic. `f` is computed for all of their entries at once by
    `vmap`, whose restrictions apply. Also usable as a decorator.

    Parameters
    ----------
    f : callable, optional
        Function of arrays with few axes. Without it, a decorator is returned.
    signature : str, optional
        The axes that `f` takes and returns, in the notation of NumPy's generalised universal
        functions: "(n),(n)->()" maps two vectors to a number. Axes of the same name have the same
        size; a number is a size. Without it, `f` maps numbers to one number.
    excluded : iterable of int, optional
        Positions of arguments that are passed to `f` unchanged. The signature omits them.

    Returns
    -------
    callable
        Function of arrays. The shapes of its results are the broadcast leading axes followed by the
        axes of the signature.

    Raises
    ------
    TypeError
        If `f` is not callable. At the call: if an argument cannot be converted to a tensor.
    ValueError
        If `signature` is invalid. At the call: if arguments or results do not fit it, or if the
        leading axes do not broadcast.

    See Also
    --------
    vmap

    Examples
    --------
    >>> @pb.vectorize(signature="(n),(n)->()")
    ... def dot(x, y):
    ...     return pb.sum(x * y)
    >>> dot(pb.ones((4, 1, 3)), pb.ones((2, 3))).shape
    (4, 2)
    """
    if f is None:
        return lambda f: vectorize(f, signature=signature, excluded=excluded)
    if not callable(f):
        raise TypeError(f"vectorize: expected a function for f, got {_core.shown(f)}")
    parsed = None if signature is None else _parse_signature(signature)
    constants = {index(i) for i in excluded}

    @wraps(f)
    def call(*args: Any) -> Any:
        places = [i for i in range(len(args)) if i not in constants]
        arrays = [_core.constant(args[i], who=f"vectorize: argument {i}") for i in places]
        ins, outs = parsed or ([()] * len(arrays), [()])
        if len(ins) != len(arrays):
            raise ValueError(
                f"vectorize: expected {counted(len(ins), 'array')} for {place(f)} by its signature "
                f"{signature}, got {len(arrays)}"
            )
        sizes: dict[str, int] = {}
        free = [
            _free_axes(x.shape, names, sizes, f"argument {i}", signature)
            for i, x, names in zip(places, arrays, ins, strict=True)
        ]
        try:
            loop = np.broadcast_shapes(*free)
        except ValueError:
            raise ValueError(
                "vectorize: expected leading axes that broadcast, got shapes "
                f"{', '.join(map(str, free))}"
            ) from None

        def on_arrays(*own: Any) -> Any:
            full = list(args)
            for i, x in zip(places, own, strict=True):
                full[i] = x
            results = f(*full)
            parts = results if isinstance(results, (tuple, list)) else [results]
            if len(parts) != len(outs):
                raise ValueError(
                    f"vectorize: expected {counted(len(outs), 'result')} of {place(f)} by its "
                    f"signature {signature or '()->()'}, got {len(parts)}"
                )
            for k, (part, names) in enumerate(zip(parts, outs, strict=True)):
                rest = _free_axes(np.shape(part), names, sizes, f"result {k}", signature)
                if rest:
                    raise ValueError(
                        f"vectorize: expected {counted(len(names), 'axis')} for result {k} of "
                        f"{place(f)} by its signature {signature or '()->()'}, got shape "
                        f"{np.shape(part)}"
                    )
            return results

        mapped: F = on_arrays
        # The last leading axis is mapped first. An axis of size 1 that broadcasts is not mapped.
        for d in range(1, len(loop) + 1):
            axes = [0 if len(own) >= d and own[-d] == loop[-d] else None for own in free]
            mapped = vmap(mapped, in_axes=tuple(axes), size=loop[-d])
        for k, (x, own) in enumerate(zip(arrays, free, strict=True)):
            lead = len(loop) - len(own)
            dropped = tuple(d for d, n in enumerate(own) if n != loop[lead + d])
            arrays[k] = _core.squeeze(x, dropped) if dropped else x
        return mapped(*arrays)

    return call


def _parse_signature(signature: str) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    axes = r"\(\s*(?:\w+\s*(?:,\s*\w+\s*)*)?\)"
    if not isinstance(signature, str) or not re.fullmatch(
        rf"\s*(?:{axes}\s*(?:,\s*{axes}\s*)*)?->\s*{axes}\s*(?:,\s*{axes}\s*)*", signature
    ):
        raise ValueError(
            "vectorize: expected a string like '(m,n),(n)->(m)' for signature, got "
            f"{_core.shown(signature)}"
        )
    left, right = signature.split("->")
    ins, outs = (
        [tuple(re.findall(r"\w+", part)) for part in re.findall(axes, side)]
        for side in (left, right)
    )
    return ins, outs


def _free_axes(
    shape: tuple[int, ...], names: tuple[str, ...], sizes: dict[str, int], who: str, text: Any
) -> tuple[int, ...]:
    if len(shape) < len(names):
        raise ValueError(
            f"vectorize: expected at least {counted(len(names), 'axis')} for {who} by the "
            f"signature {text}, got shape {shape}"
        )
    split = len(shape) - len(names)
    for name, length in zip(names, shape[split:], strict=True):
        known = int(name) if name.isdigit() else sizes.setdefault(name, length)
        if known != length:
            raise ValueError(
                f"vectorize: expected size {known} for axis {name} of {who}, got {length} in shape "
                f"{shape}"
            )
    return shape[:split]
