"""Loops as operations: one step of a plan, whose body is planned once and run many times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from .. import _core
from .._autodiff.rules import called
from .._base.checks import flag, integer
from .._typing import TensorTree, Tree
from .bodies import Pytree, Recording, callable_of, int64_of, resolve_dtypes

__all__ = ["fori_loop", "map", "scan", "while_loop"]

# A result has the type that the signature of a body states if all leaves there are tensors: a body
# may return numbers too, in place of which the result has tensors.
Carry = TypeVar("Carry", bound=TensorTree)


@overload
def scan(
    f: Callable[[Any, Any], tuple[Carry, Tree]],
    carry: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
) -> tuple[Carry, Tree]: ...
@overload
def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    carry: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
) -> tuple[Any, Any]: ...
def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    carry: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """Iterate a function along the first axis of `xs` with a carried state.

    Each iteration computes `(carry, y) = f(carry, x)` for an entry x of the first axis. `f` is
    called once, with placeholders, and becomes one operation: a plan of its own that runs n times,
    for any n. Placeholders have no values. Outer tensors and variables that `f` uses have their
    values at the time of the call. A random operation draws new numbers in every iteration.

    The gradient is a scan in the opposite direction, which recomputes each iteration from the state
    that it began with. It is differentiable in turn. The states take n times the memory of one.

    Parameters
    ----------
    f : callable
        Function `f(carry, x)` that returns a pair (carry, y). The new carry has the structure,
        shapes and dtypes of the old one.
    carry : pytree of array_like
        Initial state of tensors, arrays and numbers. A Python number takes the dtype that `f` gives
        it; `f` is then called once more.
    xs : pytree of array_like, optional
        Inputs whose first axes have the same size n. `f` receives one entry of each. Without it,
        `length` is required.
    length : int, optional
        Number of iterations. Default: the size of the first axis of `xs`.
    reverse : bool, optional
        If True, iterate from the last entry to the first; each y is at the position of its x.
        Default: False.

    Returns
    -------
    carry : Tensor or pytree of Tensor
        The last state; the initial state if n is 0.
    ys : Tensor or pytree of Tensor
        The results y, stacked along a new first axis of size n.

    Raises
    ------
    TypeError
        If `f` is not callable or does not return a pair, if a dtype of the carry changes, if
        `length` is not an integer, or if `reverse` is not a bool.
    ValueError
        If a shape or the structure of the carry changes, if the sizes of the first axes differ, or
        if the number of iterations is negative or not known.
    RuntimeError
        If `f` reads the value of a placeholder or assigns a variable.
    OverflowError
        If `length` does not fit in int64.

    See Also
    --------
    map, fori_loop, while_loop, associative_scan

    Examples
    --------
    >>> total, sums = pb.scan(lambda s, x: (s + x, s + x), 0.0, pb.constant([1.0, 2.0, 3.0]))
    >>> float(total), sums.numpy().tolist()
    (6.0, [1.0, 3.0, 6.0])
    >>> w = pb.Variable(2.0)
    >>> last, _ = pb.scan(lambda s, _: (w * s, None), 1.0, length=10)
    >>> float(last), float(pb.gradients(last, w)[0])
    (1024.0, 5120.0)
    """
    callable_of(f, "scan", "f")
    reverse = flag(reverse, "scan", "reverse")
    state = Pytree(carry, "scan: carry")
    scanned = Pytree(xs, "scan: xs")
    trips = _trip_count(scanned, length, "scan")
    while True:
        with Recording("scan", f) as body:
            given = [*body.placeholders(state.tensors), *body.placeholders(scanned.tensors, True)]
            count = len(state.tensors)
            entries = (state.like(given[:count]), scanned.like(given[count:]))
            result = called(f, "scan", "(carry, x)", *entries)
            if not isinstance(result, (tuple, list)) or len(result) != 2:
                raise TypeError(
                    f"scan: expected a pair (carry, y) from {body.place}, got {_core.shown(result)}"
                )
            after = body.returned(result[0], "the carry")
            each = body.returned(result[1], "y")
        if resolve_dtypes(state, after, "scan", body.place, "carry"):
            break
    recorded = body.close([*after.tensors, *each.tensors])
    outputs = _core.scan_loop(recorded, state.tensors, scanned.tensors, trips, reverse)
    return state.like(outputs[:count]), each.like(outputs[count:-1])


def _trip_count(scanned: Pytree, length: Any, who: str) -> int:
    """Return the number of iterations: `length`, or the size of the first axes."""
    lengths = {}
    for path, x in zip(scanned.tensor_paths(), scanned.tensors, strict=True):
        if not x.shape:
            advice = "; for a number of iterations pass length=n" if who == "scan" else ""
            raise ValueError(
                f"{who}: expected at least one axis for xs{path}, got shape (){advice}"
            )
        lengths[path] = x.shape[0]
    if length is not None:
        length = integer(length, who, "length")
        if length < 0:
            raise ValueError(f"{who}: expected a non-negative integer for length, got {length}")
        int64_of(length, who, "length")
    elif not lengths:
        what_to_do = "; pass the number of iterations as length" if who == "scan" else ""
        raise ValueError(f"{who}: expected at least one tensor for xs, got none{what_to_do}")
    known = next(iter(lengths.values())) if length is None else length
    for path, n in lengths.items():
        if n != known:
            raise ValueError(
                f"{who}: expected size {known} for the first axis of xs{path}, got {n}"
            )
    return int(known)


@overload
def map(f: Callable[[Any], Tree], xs: Any) -> Tree: ...
@overload
def map(f: Callable[[Any], Any], xs: Any) -> Any: ...
def map(f: Callable[[Any], Any], xs: Any) -> Any:
    """Apply `f` to each entry of the first axis of `xs` and stack the results.

    This is a `scan` without a carried state. The entries are computed one after the other, in the
    memory of one. See `vmap` for all entries at once.

    Parameters
    ----------
    f : callable
        Function of one entry that returns a tensor or a pytree of tensors.
    xs : pytree of array_like
        Inputs whose first axes have the same size n. `f` receives one entry of each.

    Returns
    -------
    Tensor or pytree of Tensor
        Structure of the result of `f`, with a new first axis of size n.

    Raises
    ------
    TypeError
        If `f` is not callable.
    ValueError
        If the sizes of the first axes differ, or if `xs` has no tensors.
    RuntimeError
        If `f` reads the value of a placeholder or assigns a variable.

    See Also
    --------
    scan, vmap

    Examples
    --------
    >>> pb.map(lambda row: pb.sum(row * row), pb.constant([[1.0, 2.0], [3.0, 4.0]]))
    Tensor([ 5., 25.], dtype=float32)
    """
    callable_of(f, "map", "f")
    scanned = Pytree(xs, "map: xs")
    trips = _trip_count(scanned, None, "map")
    with Recording("map", f) as body:
        entry = scanned.like(body.placeholders(scanned.tensors, True))
        each = body.returned(called(f, "map", "an entry", entry), "the result")
    recorded = body.close(each.tensors)
    outputs = _core.scan_loop(recorded, [], scanned.tensors, trips, False)
    return each.like(outputs[:-1])


@overload
def fori_loop(lower: Any, upper: Any, body: Callable[[Any, Any], Tree], state: Any) -> Tree: ...
@overload
def fori_loop(lower: Any, upper: Any, body: Callable[[Any, Any], Any], state: Any) -> Any: ...
def fori_loop(lower: Any, upper: Any, body: Callable[[Any, Any], Any], state: Any) -> Any:
    """Iterate `state = body(i, state)` for i from `lower` to `upper - 1`.

    `body` is called once, with placeholders, as in `scan`. With bounds that are Python integers the
    gradient is that of `scan`. With a tensor as bound, which is known when the loop runs, it is
    that of `while_loop`.

    Parameters
    ----------
    lower, upper : int or Tensor
        Bounds: integers, or tensors of an integer dtype and shape ().
    body : callable
        Function of i, an int64 tensor of shape (), and the state. It returns the state with the
        same structure, shapes and dtypes.
    state : pytree of array_like
        Initial state of tensors, arrays and numbers. A Python number takes the dtype that `body`
        gives it.

    Returns
    -------
    Tensor or pytree of Tensor
        The last state; the initial state if `upper` is not above `lower`.

    Raises
    ------
    TypeError
        If `body` is not callable, if a bound is not an integer, or if a dtype of the state changes.
    ValueError
        If a shape or the structure of the state changes.
    RuntimeError
        If `body` reads the value of a placeholder or assigns a variable.
    OverflowError
        If a bound, or the number of iterations, does not fit in int64.

    See Also
    --------
    scan, while_loop

    Examples
    --------
    >>> pb.fori_loop(0, 5, lambda i, total: total + i, 0)
    Tensor(10, dtype=int64)
    """
    callable_of(body, "fori_loop", "body")
    first, last = _bound(lower, "lower"), _bound(upper, "upper")
    start = Pytree(state, "fori_loop: state")
    while True:
        with Recording("fori_loop", body) as inside:
            i, *given = inside.placeholders([_core.constant(0), *start.tensors])
            after = inside.returned(
                called(body, "fori_loop", "(i, state)", i, start.like(given)), "the result"
            )
            following = _core.add(i, 1)
        if resolve_dtypes(start, after, "fori_loop", inside.place, "state"):
            break
    recorded = inside.close([following, *after.tensors])
    if isinstance(first, int) and isinstance(last, int):
        trips = int64_of(max(last - first, 0), "fori_loop", "upper - lower")
        carries = [_core.constant(first), *start.tensors]
        outputs = _core.scan_loop(recorded, carries, [], trips, False)
    else:
        carries = [_core.cast(first, "int64"), *start.tensors]
        count = _core.subtract(_core.cast(last, "int64"), carries[0])
        outputs = _core.counted_loop(count, recorded, carries)
    return start.like(outputs[1:-1])


def _bound(bound: Any, what: str) -> Any:
    if isinstance(bound, (_core.Tensor, _core.Variable)):
        if bound.dtype.kind not in "iu" or bound.shape != ():
            raise TypeError(
                f"fori_loop: expected an integer for {what}, got {bound.dtype} of shape "
                f"{bound.shape}"
            )
        return bound
    return int64_of(integer(bound, "fori_loop", what), "fori_loop", what)


@overload
def while_loop(
    cond: Callable[[Any], Any],
    body: Callable[[Any], Tree],
    state: Any,
    *,
    memory_limit: int | None = None,
) -> Tree: ...
@overload
def while_loop(
    cond: Callable[[Any], Any],
    body: Callable[[Any], Any],
    state: Any,
    *,
    memory_limit: int | None = None,
) -> Any: ...
def while_loop(
    cond: Callable[[Any], Any],
    body: Callable[[Any], Any],
    state: Any,
    *,
    memory_limit: int | None = None,
) -> Any:
    """Iterate `state = body(state)` while `cond(state)` is True.

    Both functions are called once, with placeholders, as in `scan`. The loop is one operation,
    whose number of iterations is determined when it runs. Under `vmap` it runs until all entries
    are done; `body` and `cond` are evaluated for finished entries too, with their final state.

    A gradient visits the states of all iterations in reverse, for which the loop runs once more. If
    they do not fit in `memory_limit`, some are stored and the others recomputed from these, bit for
    bit, in the least number of evaluations [1]_.

    Parameters
    ----------
    cond : callable
        Function of the state that returns a bool tensor of shape ().
    body : callable
        Function of the state that returns the state with the same structure, shapes and dtypes.
    state : pytree of array_like
        Initial state of tensors, arrays and numbers, passed to both functions as one argument. A
        Python number takes the dtype that `body` gives it; `body` is then called once more.
    memory_limit : int, optional
        Memory in bytes that a gradient may take for states; at least three states. Default: no
        limit.

    Returns
    -------
    Tensor or pytree of Tensor
        The last state; the initial state if `cond` is False for it.

    Raises
    ------
    TypeError
        If a function is not callable, if the condition is not a bool of shape (), if a dtype of the
        state changes, or if `memory_limit` is not an integer.
    ValueError
        If a shape or the structure of the state changes, or if three states do not fit in
        `memory_limit`.
    RuntimeError
        If a function reads the value of a placeholder or assigns a variable.
    OverflowError
        If `memory_limit` does not fit in int64.

    See Also
    --------
    fori_loop, scan

    References
    ----------
    .. [1] A. Griewank, A. Walther, "Algorithm 799: revolve", ACM Trans. Math. Softw. 26, 2000.

    Examples
    --------
    >>> x = pb.Variable(3.0)
    >>> y = pb.while_loop(lambda s: s < 100.0, lambda s: s * s, x)
    >>> float(y), float(pb.gradients(y, x)[0])
    (6561.0, 17496.0)
    """
    callable_of(cond, "while_loop", "cond")
    callable_of(body, "while_loop", "body")
    start = Pytree(state, "while_loop: state")
    while True:
        with Recording("while_loop", body) as inside:
            given = start.like(inside.placeholders(start.tensors))
            after = inside.returned(called(body, "while_loop", "the state", given), "the result")
        if resolve_dtypes(start, after, "while_loop", inside.place, "state"):
            break
    recorded = inside.close(after.tensors)
    with Recording("while_loop", cond) as condition:
        given = start.like(condition.placeholders(start.tensors))
        decision = condition.returned(called(cond, "while_loop", "the state", given), "the result")
        good = len(decision.tensors) == 1 and decision.paths == [""]
        if not good or decision.tensors[0].dtype != bool or decision.tensors[0].shape != ():
            found = decision.tensors[0] if good else None
            got = f"{found.dtype} of shape {found.shape}" if found is not None else "a pytree"
            raise TypeError(
                f"while_loop: expected a bool of shape () from {condition.place}, got {got}"
            )
    memory = 0 if memory_limit is None else _checked_limit(memory_limit, start)
    outputs = _core.while_loop(condition.close(decision.tensors), recorded, start.tensors, memory)
    return start.like(outputs[:-1])


def _checked_limit(limit: Any, state: Pytree) -> int:
    """Return a memory limit, which must suffice for three states."""
    limit = integer(limit, "while_loop", "memory_limit")
    least = 3 * sum(-(-x.nbytes // 64) * 64 for x in state.tensors)
    if limit < max(least, 1):
        raise ValueError(
            f"while_loop: expected at least {least} bytes, the size of three states, for "
            f"memory_limit, got {limit}"
        )
    return int64_of(limit, "while_loop", "memory_limit")
