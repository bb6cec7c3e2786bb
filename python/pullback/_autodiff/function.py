"""`function`: trace a Python function once and replay the trace.

The path of a call is in cpp/bind/types/function.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import update_wrapper
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from operator import index
from typing import Any, ParamSpec, TypeVar, overload

from .. import _core
from .._base.checks import counted
from .._typing import Function
from .rules import place

__all__ = ["function"]

P = ParamSpec("P")
R = TypeVar("R")


@overload
def function(
    f: Callable[P, R],
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    cache_size: int = 256,
) -> Function[P, R]: ...
@overload
def function(
    f: None = None,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    cache_size: int = 256,
) -> Callable[[Callable[P, R]], Function[P, R]]: ...
def function(
    f: Any = None,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    cache_size: int = 256,
) -> Any:
    """Return a function that traces `f` once for each signature and replays the trace later.

    The arguments are pytrees of dicts, lists, tuples, namedtuples and dataclasses; their structure
    is part of the signature. Tensors, NumPy arrays, NumPy numbers and Python floats in them are
    traced, and contribute their dtypes and shapes. Everything else, such as Python integers and
    bool, contributes its value and must be hashable. So `f` is traced again for another shape or
    another integer, but not for another float. A dataclass reaches `f`, and is returned, as a new
    object with the same fields, created without `__init__`.

    Inside, a traced tensor has no value: use `where` in place of `if`. Variables are read and
    assigned in every call as if `f` ran; they must be created outside. Operations on constants
    alone are evaluated once. Everything else that `f` reads, such as globals and attributes like
    `self.rate` or `optimizer.learning_rate`, is read during the trace and then stays fixed: store
    changing values in a Variable, or pass them. A float argument takes the dtype of the other
    operand of its operations, or the default dtype if there is none. Python side effects happen
    only during the trace. An exception during the trace leaves nothing behind.

    The result is as differentiable as without the decorator. While a tape records, a call adds the
    operations of `f` to the graph, and evaluation stays lazy. Otherwise the plan runs at the call.
    A result that depends on something tracked then remembers the arguments and the values of the
    variables; its operations are built when a gradient is requested, and intermediate values that
    the gradient needs are computed again. Therefore compute the gradients of a training step inside
    the function, or record it with a tape. The rule of a `custom_gradient` inside may read its
    upstream gradient, but not values that `f` computed.

    A value that the function assigns to a variable takes the memory of the old value if that is not
    referenced elsewhere (the lines "in place" of a plan). A result that depends on a trainable
    variable which the function assigns, such as the loss of a training step, therefore has no
    history outside a tape unless an argument is tracked: its gradient with respect to such a
    variable raises a RuntimeError. Results that depend on other variables only remain
    differentiable.

    Parameters
    ----------
    f : callable, optional
        Function to trace. Without it, a decorator is returned.
    static_argnums : int or sequence of int, optional
        Positions of arguments that count by value as a whole: a Python float there is part of the
        signature, and a float inside `f`. The first argument of a method, `self`, is number 0.
    static_argnames : str or sequence of str, optional
        Names of such arguments.
    cache_size : int, optional
        Number of traces that are kept, at least 1. If there are more signatures, the least recently
        used trace is dropped. Calls that are traced again and again give a warning that names the
        changing argument. An object that equals nothing but itself, such as the `self` of a method,
        is not kept alive: its traces are dropped with it. Default: 256.

    Returns
    -------
    callable
        Function with the arguments and results of `f` and these methods: `plan(*args, **kwargs)`
        and `graph(*args, **kwargs)` return readable listings of the plan that such a call runs, and
        of the operations recorded for it. They run nothing; `plan` traces anew, to find the
        lines of the program, `graph` if there was no such call yet. For a method pass the
        object too: `Model.step.plan(model, x)`. `cache_info()` returns the numbers of hits,
        misses and traces, and `clear_cache()` drops all traces.

    Raises
    ------
    TypeError
        If `f` is not callable, or if an option has another type. At the call: if an argument is
        neither a tensor nor hashable.
    ValueError
        If `f` does not have a static argument, or if `cache_size` is below 1.
    RuntimeError
        During the trace: if `f` reads the value of a tensor.

    See Also
    --------
    checkpoint, GradientTape

    Examples
    --------
    >>> v = pb.Variable(1.0)
    >>> @pb.function
    ... def step(x, rate):
    ...     loss = pb.mean(pb.square(v * x - 6))
    ...     v.assign_sub(rate * pb.gradients(loss, v)[0])
    ...     return loss
    >>> float(step(pb.ones(3), 0.5)), float(step(pb.ones(3), 0.25)), float(v)
    (25.0, 0.0, 6.0)
    >>> step.cache_info()
    CacheInfo(hits=1, misses=1, currsize=1)

    >>> @pb.function(static_argnums=1)
    ... def power(x, k):
    ...     return x**k if k > 0.5 else pb.sqrt(x)
    >>> float(power(4.0, 2.0)), float(power(4.0, 0.5))
    (16.0, 2.0)
    """
    if f is None:
        return lambda f: function(
            f,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            cache_size=cache_size,
        )
    if not callable(f):
        raise TypeError(f"function: expected a function for f, got {_core.shown(f)}")
    if iscoroutinefunction(f) or isgeneratorfunction(f) or isasyncgenfunction(f):
        raise TypeError(
            f"function: expected a function that returns its result, got {_core.shown(f)}, which "
            "is a generator or a coroutine"
        )
    if not hasattr(cache_size, "__index__"):
        raise TypeError(
            f"function: expected an integer for cache_size, got {_core.shown(cache_size)}"
        )
    capacity = min(index(cache_size), 2**31 - 1)  # a limit that no program reaches
    if capacity < 1:
        raise ValueError(f"function: expected a positive integer for cache_size, got {cache_size}")
    positions, names = _static(f, static_argnums, static_argnames)
    name = getattr(f, "__qualname__", type(f).__qualname__)
    return update_wrapper(_core.make_function(f, name, place(f), positions, names, capacity), f)


@contextmanager
def inlined_functions() -> Iterator[None]:
    """Return a context manager inside which traced functions are inlined.

    Their arguments are placeholders for values that are given later.
    """
    _core.inline_functions(1)
    try:
        yield
    finally:
        _core.inline_functions(-1)


def _static(f: Any, argnums: Any, argnames: Any) -> tuple[list[int], list[str]]:
    """Return the positions and the names of the static arguments.

    An argument has both entries if the signature of `f` states its position.
    """
    one = hasattr(argnums, "__index__") or not hasattr(argnums, "__iter__")
    numbers = [argnums] if one else list(argnums)
    one = isinstance(argnames, str) or not hasattr(argnames, "__iter__")
    names = [argnames] if one else list(argnames)
    for what, entries, kind in (("argnums", numbers, "__index__"), ("argnames", names, "lower")):
        for entry in entries:
            if not hasattr(entry, kind) or isinstance(entry, bool):
                expected = "int" if what == "argnums" else "str"
                raise TypeError(
                    f"function: expected {expected} or a tuple of them for static_{what}, "
                    f"got {_core.shown(entry)}"
                )
    numbers = [index(number) for number in numbers]
    if not numbers and not names:
        return [], []
    from inspect import signature

    parameters = list(signature(f).parameters.values())
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    count = len(positional)
    open_ended = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    for number in numbers:
        if number < -count or (number >= count and not open_ended):
            raise ValueError(
                f"function: expected {-count} to {count - 1} for static_argnums of {place(f)}, "
                f"which has {counted(count, 'positional argument')}, got {number}"
            )
    known = {p.name: p for p in parameters}
    for name in names:
        if name not in known and not any(p.kind is p.VAR_KEYWORD for p in parameters):
            raise ValueError(
                f"function: static_argnames must be among {', '.join(map(repr, known))}, the "
                f"arguments of {place(f)}; got {name!r}"
            )
    positions = {number + count if number < 0 else number for number in numbers}
    positions |= {i for i, p in enumerate(positional) if p.name in names}
    both = {positional[i].name for i in positions if i < count}
    return sorted(positions), sorted(both | set(names))
