"""function: trace once, replay after. The call path is in cpp/bind/function.cpp."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import update_wrapper
from operator import index
from typing import Any, ParamSpec, TypeVar, overload

from .. import _core
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
    """Decorator: runs f once for each signature and records it; later calls replay the record.

    The signature is the structure of the arguments (nests of dict, list, tuple, namedtuple and
    dataclass) with the dtype and shape of every tensor, NumPy array, NumPy number and Python float
    among them, which are traced; and everything else by value, Python integers and bool included,
    which must be hashable. So f runs again for another shape or another integer, and not for
    another float. A dataclass reaches f, and comes back, as a new object with the same fields,
    made without `__init__`.

    static_argnums, static_argnames: positional arguments by number, and arguments by name, that
        count by value as a whole: a Python float there is part of the signature and a float inside
        f. The first argument of a method, `self`, is number 0.
    cache_size: how many traces are kept; where there are more signatures, the trace that was not
        used for the longest time goes. Calls that trace again and again are warned about, with
        the argument that changes. What equals nothing but itself, such as the `self` of a method,
        is not kept alive: its traces go with it.

    Inside, a traced tensor has no value: choose with `where` instead of `if`. Variables are read
    and assigned as if f ran, in every call; they must be made outside. What f makes of constants
    alone is computed once. Everything else that f looks up, globals and attributes such as
    `self.rate` or `optimizer.learning_rate`, is read while f is traced and stays as it was then:
    keep what changes in a Variable, or pass it. A float argument takes the dtype of what it meets;
    where it meets nothing, it computes in the default dtype. Python side effects happen only while
    f is traced. An exception while tracing leaves nothing behind.

    The result is as differentiable as without the decorator. While a tape records, a call builds
    the operations of f into the graph, and nothing is computed before somebody looks. Otherwise the
    plan runs at the call, and a result that depends on something tracked remembers the arguments,
    and the variables as they were; the operations are built when a gradient asks for them, and what
    the gradient needs of f's inside is then computed again. So let a training step compute its
    gradients inside, or record it with a tape. The rule of a `custom_gradient` inside may look at
    its upstream, but not at what f computed.

    What a function assigns takes the memory of the old value where nobody holds that (the lines "in
    place" of a plan). A result that depends on a trainable variable which the function assigns, as
    the loss of a training step does, therefore has no history outside of a tape unless an argument
    is tracked: its gradient by such a variable is a RuntimeError. Results that depend on other
    variables only are differentiable as ever.

    The result of the decorator has further attributes: `cache_info()` with the numbers of hits,
    misses and traces; `clear_cache()`; `plan(*args, **kwargs)` and `graph(*args, **kwargs)`,
    readable listings of the plan that such a call runs and of what was recorded for it. They trace
    if no such call was made yet, and run nothing. For a method pass the object too:
    `Model.step.plan(model, x)`.

    Raises TypeError for arguments that are neither tensors nor hashable; ValueError for a static
    argument that f does not have; RuntimeError, while tracing, where f looks at a value.

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
        raise TypeError(f"function: expected a function, got {f!r}")
    if not hasattr(cache_size, "__index__"):
        raise TypeError(f"function: cache_size: expected an integer, got {_core.shown(cache_size)}")
    capacity = min(index(cache_size), 2**31 - 1)  # more than anybody can have
    if capacity < 1:
        raise ValueError(f"function: cache_size is at least 1, got {cache_size}")
    positions, names = _static(f, static_argnums, static_argnames)
    name = getattr(f, "__qualname__", type(f).__qualname__)
    return update_wrapper(_core.make_function(f, name, place(f), positions, names, capacity), f)


@contextmanager
def inlined_functions() -> Iterator[None]:
    """Context manager: calls of traced functions are made of operations, as their arguments stand
    for others that come later."""
    _core.inline_functions(1)
    try:
        yield
    finally:
        _core.inline_functions(-1)


def _static(f: Any, argnums: Any, argnames: Any) -> tuple[list[int], list[str]]:
    """Positions and names of the static arguments: each by both where f's signature says how."""
    one = hasattr(argnums, "__index__") or not hasattr(argnums, "__iter__")
    numbers = [argnums] if one else list(argnums)
    one = isinstance(argnames, str) or not hasattr(argnames, "__iter__")
    names = [argnames] if one else list(argnames)
    for what, entries, kind in (("argnums", numbers, "__index__"), ("argnames", names, "lower")):
        for entry in entries:
            if not hasattr(entry, kind) or isinstance(entry, bool):
                expected = "int" if what == "argnums" else "str"
                raise TypeError(
                    f"function: static_{what}: expected {expected} or a tuple of them, "
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
                f"function: static_argnums: {place(f)} has {count} positional arguments, "
                f"got {number}; expected {-count} to {count - 1}"
            )
    known = {p.name: p for p in parameters}
    for name in names:
        if name not in known and not any(p.kind is p.VAR_KEYWORD for p in parameters):
            raise ValueError(
                f"function: static_argnames: {place(f)} has no argument {name!r}; "
                f"expected one of {', '.join(known)}"
            )
    positions = {number + count if number < 0 else number for number in numbers}
    positions |= {i for i, p in enumerate(positional) if p.name in names}
    both = {positional[i].name for i in positions if i < count}
    return sorted(positions), sorted(both | set(names))
