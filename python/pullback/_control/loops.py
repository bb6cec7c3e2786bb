"""Loops as operations: one step of a plan, whose body is planned once and run many times."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

from .. import _core
from .bodies import Nest, Recording, callable_of, int64_of, settled

__all__ = ["fori_loop", "map", "scan", "while_loop"]


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    carry: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """Goes along xs with a state: (carry, y) = f(carry, x) for each entry x of the first axis.

    carry: a nest of tensors, arrays and numbers; f returns one of the same structure, shapes and
        dtypes. A number of Python takes the dtype that f gives it, for which f is called once more.
    xs: a nest of tensors with one length n of their first axis, of which f sees one entry after
        the other; or None, and `length` says how often f runs.
    reverse: from the last entry to the first; y of an entry stands where its x does.

    Returns (carry, ys): the last state, and each y stacked along a first axis of length n. Where
    n is 0, that is the first state, and empty tensors.

    f is called once, with stand-ins, and what it does is one operation: a plan of its own that
    runs n times, however large n is. Inside, tensors have no value; what f uses from outside,
    variables included, is as it was at the call. A random number is another one in every
    iteration. The gradient is a scan the other way, which computes the inside of an iteration
    again from the state it began with, and is differentiable in turn; the states take n times the
    memory of one.

    Raises TypeError where f returns no pair or another dtype; ValueError for another shape or
    structure, and for lengths that differ; RuntimeError where f looks at a value or assigns a
    variable; OverflowError for a length beyond int64.

    >>> total, sums = pb.scan(lambda s, x: (s + x, s + x), 0.0, pb.constant([1.0, 2.0, 3.0]))
    >>> float(total), sums.numpy().tolist()
    (6.0, [1.0, 3.0, 6.0])
    >>> w = pb.Variable(2.0)
    >>> last, _ = pb.scan(lambda s, _: (w * s, None), 1.0, length=10)
    >>> float(last), float(pb.gradients(last, w)[0])
    (1024.0, 5120.0)
    """
    callable_of(f, "scan", "f")
    state = Nest(carry, "scan: carry")
    along = Nest(xs, "scan: xs")
    trips = _length(along, length, "scan")
    while True:
        with Recording("scan", f) as body:
            given = [*body.stand_ins(state.tensors), *body.stand_ins(along.tensors, True)]
            count = len(state.tensors)
            result = f(state.like(given[:count]), along.like(given[count:]))
            if not isinstance(result, (tuple, list)) or len(result) != 2:
                raise TypeError(
                    f"scan: {body.place} returned {_core.shown(result)}: expected a pair (carry, y)"
                )
            after = body.returned(result[0], "the carry")
            each = body.returned(result[1], "y")
        if settled(state, after, "scan", body.place, "carry"):
            break
    recorded = body.close([*after.tensors, *each.tensors])
    outputs = _core.scan_loop(recorded, state.tensors, along.tensors, trips, bool(reverse))
    return state.like(outputs[:count]), each.like(outputs[count:-1])


def _length(along: Nest, length: Any, who: str) -> int:
    lengths = {}
    for path, x in zip(along.names(), along.tensors, strict=True):
        if not x.shape:
            raise ValueError(f"{who}: xs{path} has no axis to go along: its shape is ()")
        lengths[path] = x.shape[0]
    if length is not None:
        try:
            length = index(length)
        except TypeError:
            raise TypeError(
                f"{who}: length: expected an integer, got {_core.shown(length)}"
            ) from None
        if length < 0:
            raise ValueError(f"{who}: length is at least 0, got {length}")
        int64_of(length, who, "length")
    elif not lengths:
        what_to_do = ": say with `length` how many iterations there are" if who == "scan" else ""
        raise ValueError(f"{who}: xs has no tensors to go along{what_to_do}")
    known = next(iter(lengths.values())) if length is None else length
    for path, n in lengths.items():
        if n != known:
            raise ValueError(
                f"{who}: xs{path} has length {n} along its first axis, expected {known}"
            )
    return int(known)


def map(f: Callable[[Any], Any], xs: Any) -> Any:
    """f of each entry of the first axis of xs, stacked: f(xs[0]), f(xs[1]), and so on.

    xs: a nest of tensors with one length of their first axis; f sees one entry of each, and returns
        any nest. Returns that nest with the results stacked along a first axis.

    A `scan` that carries nothing. What f does is computed for one entry at a time, in the memory
    of one.

    Raises ValueError for lengths that differ; see `scan`.

    >>> pb.map(lambda row: pb.sum(row * row), pb.constant([[1.0, 2.0], [3.0, 4.0]]))
    Tensor([ 5., 25.], dtype=float32)
    """
    callable_of(f, "map", "f")
    along = Nest(xs, "map: xs")
    trips = _length(along, None, "map")
    with Recording("map", f) as body:
        each = body.returned(f(along.like(body.stand_ins(along.tensors, True))), "the result")
    recorded = body.close(each.tensors)
    outputs = _core.scan_loop(recorded, [], along.tensors, trips, False)
    return each.like(outputs[:-1])


def fori_loop(lower: Any, upper: Any, body: Callable[[Any, Any], Any], state: Any) -> Any:
    """state = body(i, state) for i = lower … upper - 1.

    lower, upper: integers. A tensor of rank 0 is one that is known when the loop runs: then its
        gradient is that of a `while_loop`.
    body: takes i, an int64 tensor of rank 0, and the state; returns the state.
    state: a nest of tensors, arrays and numbers, whose structure, shapes and dtypes stay.

    Returns the last state; the given one where upper is not above lower.

    Raises TypeError for bounds that are no integers, and OverflowError for numbers beyond int64;
    see `scan`.

    >>> pb.fori_loop(0, 5, lambda i, total: total + i, 0)
    Tensor(10, dtype=int64)
    """
    callable_of(body, "fori_loop", "body")
    first, last = _bound(lower, "lower"), _bound(upper, "upper")
    start = Nest(state, "fori_loop: state")
    while True:
        with Recording("fori_loop", body) as inside:
            i, *given = inside.stand_ins([_core.constant(0), *start.tensors])
            after = inside.returned(body(i, start.like(given)), "the result")
            following = _core.add(i, 1)
        if settled(start, after, "fori_loop", inside.place, "state"):
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
                f"fori_loop: {what}: expected an integer, got {bound.dtype} of shape {bound.shape}"
            )
        return bound
    try:
        number = index(bound)
    except TypeError:
        raise TypeError(
            f"fori_loop: {what}: expected an integer, got {_core.shown(bound)}"
        ) from None
    return int64_of(number, "fori_loop", what)


def while_loop(
    cond: Callable[[Any], Any],
    body: Callable[[Any], Any],
    state: Any,
    *,
    memory_limit: int | None = None,
) -> Any:
    """state = body(state) for as long as cond(state) holds.

    cond: takes the state and returns a bool tensor of rank 0.
    body: takes the state and returns it.
    state: a nest of tensors, arrays and numbers, given to both as one value; its structure, shapes
        and dtypes stay. A number of Python takes the dtype that body gives it, for which body is
        called once more.
    memory_limit: how many bytes of memory a gradient may take for states. A gradient goes back over
        the states that the loop went through, for which the loop runs once more; where there are
        too many to keep, some are kept and the others made again from these, bit for bit, as few
        times as can be (Griewank and Walther, "Algorithm 799: revolve", 2000).

    Returns the last state: the given one where cond does not hold for it.

    Both are called once, with stand-ins; the loop is one operation, and how often it runs is found
    out when it does. Otherwise as `scan`. Under `vmap` it runs until all entries are done: body and
    cond are computed for those that are done as well, with the state that they keep.

    Raises TypeError for a condition that is no bool of rank 0, and where a dtype changes;
    ValueError where a shape or the structure does, and for a memory_limit that does not hold three
    states; OverflowError for one beyond int64; RuntimeError where one looks at a value.

    >>> x = pb.Variable(3.0)
    >>> y = pb.while_loop(lambda s: s < 100.0, lambda s: s * s, x)
    >>> float(y), float(pb.gradients(y, x)[0])
    (6561.0, 17496.0)
    """
    callable_of(cond, "while_loop", "cond")
    callable_of(body, "while_loop", "body")
    start = Nest(state, "while_loop: state")
    while True:
        with Recording("while_loop", body) as inside:
            after = inside.returned(body(start.like(inside.stand_ins(start.tensors))), "the result")
        if settled(start, after, "while_loop", inside.place, "state"):
            break
    recorded = inside.close(after.tensors)
    with Recording("while_loop", cond) as question:
        answer = question.returned(
            cond(start.like(question.stand_ins(start.tensors))), "the result"
        )
        good = len(answer.tensors) == 1 and answer.paths == [""]
        if not good or answer.tensors[0].dtype != bool or answer.tensors[0].shape != ():
            found = answer.tensors[0] if good else None
            got = f"{found.dtype} of shape {found.shape}" if found is not None else "a nest"
            raise TypeError(
                f"while_loop: {question.place} returned {got}: expected a bool of shape ()"
            )
    memory = 0 if memory_limit is None else _memory(memory_limit, start)
    outputs = _core.while_loop(question.close(answer.tensors), recorded, start.tensors, memory)
    return start.like(outputs[:-1])


def _memory(limit: Any, state: Nest) -> int:
    try:
        limit = index(limit)
    except TypeError:
        raise TypeError(
            f"while_loop: memory_limit: expected a number of bytes, got {_core.shown(limit)}"
        ) from None
    least = 3 * sum(-(-x.nbytes // 64) * 64 for x in state.tensors)
    if limit < max(least, 1):
        raise ValueError(
            f"while_loop: memory_limit: {limit} bytes do not hold three states, which take {least}"
        )
    return int64_of(limit, "while_loop", "memory_limit")
