"""The ways to run a program: each gives the results, the gradients by all floating leaves and the
Hessian times a direction, as arrays; None stands for no gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import pullback as pb

from .oracle import Expected
from .program import Array, Program


@dataclass
class Answer:
    values: list[Any]
    gradients: list[Any]
    products: list[Any]  # Hessian times expected.p

    def arrays(self) -> Answer:
        return Answer(*([_array(x) for x in part] for part in self.parts()))

    def parts(self) -> tuple[list[Any], list[Any], list[Any]]:
        return self.values, self.gradients, self.products

    def flat(self) -> list[Any]:
        return [x for part in self.parts() for x in part]


def _array(x: Any) -> Any:
    return None if x is None else x.numpy()


Mode = Callable[[Program, Expected], Answer]


def _split(program: Program, xs: Sequence[Any]) -> list[Any]:
    """All leaves, with xs for those that have a gradient."""
    given = iter(xs)
    return [next(given) if x.dtype.kind == "f" else x for x in _constants(program)]


def _constants(program: Program) -> list[Any]:
    return [pb.constant(x) for x in program.leaves.values()]


def _starts(program: Program) -> list[Array]:
    return [x for x in program.leaves.values() if x.dtype.kind == "f"]


def _targets(values: list[Any], expected: Expected) -> tuple[list[Any], list[Array]]:
    pairs = [(y, c) for y, c in zip(values, expected.cotangents, strict=True) if c is not None]
    return [y for y, _ in pairs], [c for _, c in pairs]


def _gradients(ys: list[Any], xs: list[Any], weights: list[Any]) -> list[Any]:
    """Where nothing depends on a tensor to differentiate by, it is refused: that is no gradient."""
    kept = [(y, w) for y, w in zip(ys, weights, strict=True) if y is not None]
    if not kept:
        return [None] * len(xs)
    try:
        return list(pb.gradients([y for y, _ in kept], xs, grad_ys=[w for _, w in kept]))
    except ValueError as error:
        if "tracked" not in str(error):
            raise
        return [None] * len(xs)


def _twice(values: list[Any], xs: list[Any], expected: Expected) -> Answer:
    ys, weights = _targets(values, expected)
    first = _gradients(ys, xs, weights)
    return Answer(values, first, _gradients(first, xs, expected.p))


def lazy(program: Program, expected: Expected, looks: bool = False) -> Answer:
    """Built at once, and computed as one plan."""
    xs = [pb.Variable(x) for x in _starts(program)]
    answer = _twice(program.function(looks=looks)(pb, *_split(program, xs)), xs, expected)
    if not looks:
        pb.evaluate([x for x in answer.flat() if x is not None])
    return answer


def forced(program: Program, expected: Expected) -> Answer:
    """Some values are looked at before the next line is built."""
    return lazy(program, expected, looks=True)


def line_by_line(program: Program, expected: Expected) -> Answer:
    """All values are, so that no pass of the optimiser sees two lines at once."""
    every = frozenset(i for line in program.lines for i in line.outputs)
    return lazy(replace(program, looks=every), expected, looks=True)


def in_steps(program: Program, expected: Expected) -> Answer:
    """Results are computed before the gradient is built, and it before the second one."""
    xs = [pb.Variable(x) for x in _starts(program)]
    values = program.function()(pb, *_split(program, xs))
    pb.evaluate(values)
    ys, weights = _targets(values, expected)
    first = _gradients(ys, xs, weights)
    pb.evaluate([x for x in first if x is not None])
    return Answer(values, first, _gradients(first, xs, expected.p))


def by_tapes(program: Program, expected: Expected) -> Answer:
    xs = [pb.constant(x) for x in _starts(program)]
    with pb.GradientTape() as outer:
        outer.watch(xs)
        with pb.GradientTape() as inner:
            inner.watch(xs)
            values = program.function()(pb, *_split(program, xs))
        ys, weights = _targets(values, expected)
        first = inner.gradient(ys, xs, output_gradients=weights)
    kept = [(g, v) for g, v in zip(first, expected.p, strict=True) if g is not None]
    second = [None] * len(xs)
    if kept:
        targets, directions = [g for g, _ in kept], [v for _, v in kept]
        second = outer.gradient(targets, xs, output_gradients=directions)
    return Answer(values, first, second)


def by_jacobians(program: Program, expected: Expected) -> Answer:
    """The rows of jacobians, weighed as the cotangents say; the gradients themselves where rows are
    not finite, as zero times infinity is NaN in rows as in any product, and where they are many."""
    xs = [pb.constant(x) for x in _starts(program)]
    with pb.GradientTape(persistent=True) as outer:
        outer.watch(xs)
        with pb.GradientTape(persistent=True) as inner:
            inner.watch(xs)
            values = program.function()(pb, *_split(program, xs))
        ys, weights = _targets(values, expected)
        plain = list(inner.gradient(ys, xs, weights))
        first = _weighed(inner, ys, xs, weights) or plain
    second = []
    for slopes in (first, plain):
        kept = [(g, v) for g, v in zip(slopes, expected.p, strict=True) if g is not None]
        targets, directions = [g for g, _ in kept], [v for _, v in kept]
        second = second or _weighed(outer, targets, xs, directions)
    return Answer(values, first, second or list(outer.gradient(targets, xs, directions)))


def _weighed(tape: pb.GradientTape, ys: list[Any], xs: list[Any], weights: list[Any]) -> list[Any]:
    """Sums of rows; nothing where they are not finite, or too many."""
    largest = max([x.size for x in xs], default=0)
    if max([y.size * largest for y in ys], default=0) > 20_000:
        return []
    totals: list[Any] = [None] * len(xs)
    for y, c in zip(ys, weights, strict=True):
        for k, rows in enumerate(tape.jacobian(y, xs)):
            if rows is not None:
                if not np.isfinite(rows.numpy()).all():
                    return []
                lifted = np.reshape(c, c.shape + (1,) * len(xs[k].shape))
                part = pb.sum(rows * pb.cast(lifted, rows.dtype), axis=tuple(range(c.ndim)))
                totals[k] = part if totals[k] is None else totals[k] + part
    return totals


def by_grad(program: Program, expected: Expected) -> Answer:
    """value_and_grad of the weighted sum, and grad of what that gives along q."""
    run = program.function()
    starts = _starts(program)
    numbers = tuple(range(len(starts)))

    def total(*xs: Any) -> Any:
        values = run(pb, *_split(program, xs))
        ys, weights = _targets(values, expected)
        terms = [pb.cast(pb.sum(y * c), "float64") for y, c in zip(ys, weights, strict=True)]
        return sum(terms[1:], start=terms[0]), values

    slope = pb.value_and_grad(total, numbers, has_aux=True)

    def along(*xs: Any) -> Any:
        (_, values), first = slope(*xs)
        pairs = zip(first, expected.p, strict=True)
        terms = [pb.cast(pb.sum(g * v), "float64") for g, v in pairs]
        return sum(terms[1:], start=terms[0]), (values, first)

    second, (values, first) = pb.grad(along, numbers, has_aux=True)(*starts)
    return Answer(values, list(first), list(second))


def by_tangents(program: Program, expected: Expected) -> Answer:
    """Forward mode: what is linear in the tangents, transposed, once and twice."""
    xs = [pb.Variable(x) for x in _starts(program)]
    values = program.function()(pb, *_split(program, xs))
    ys, weights = _targets(values, expected)
    first = _transposed(ys, xs, weights)
    slopes = _gradients(ys, xs, weights)
    return Answer(values, first, _transposed(slopes, xs, expected.p))


def _transposed(ys: list[Any], xs: list[Any], weights: list[Any]) -> list[Any]:
    pairs = [(y, w) for y, w in zip(ys, weights, strict=True) if y is not None]
    if not pairs or not xs:
        return [None] * len(xs)
    us = [pb.Variable(np.zeros_like(x.numpy())) for x in xs]
    try:
        moved = pb.tangents([y for y, _ in pairs], xs, [u.read() for u in us])
    except ValueError as error:
        if "tracked" not in str(error):
            raise
        return [None] * len(xs)
    return _gradients(moved, us, [w for _, w in pairs])


def by_vmap(program: Program, expected: Expected) -> Answer:
    """One entry of a batch of two; lines that know no batch go alone."""
    starts = _starts(program)

    def f(*xs: Any) -> Any:
        tracked = [pb.identity(x) for x in xs]
        with pb.GradientTape(persistent=True) as tape:
            tape.watch(tracked)
            answer = _twice(program.function()(pb, *_split(program, tracked)), tracked, expected)
        return answer.parts()

    try:
        batch = pb.vmap(f)(*(np.stack([x, x]) for x in starts))
    except NotImplementedError as error:
        if "cannot be computed for a batch" not in str(error):
            raise
        return lazy(program, expected)
    return Answer(*([None if x is None else x[0] for x in part] for part in batch))


def in_function(program: Program, expected: Expected) -> Answer:
    """All of it inside a function of the leaves, recorded with other ones."""
    run = program.function()

    @pb.function
    def f(*xs: Any) -> Any:
        answer = _twice(run(pb, *_split(program, xs)), list(xs), expected)
        return answer.parts()

    starts = _starts(program)
    f(*_others(program, starts))
    return Answer(*(list(part) for part in f(*starts)))


def through_function(program: Program, expected: Expected) -> Answer:
    """Gradients from outside, by what a function was called with."""
    f = pb.function(lambda *xs: program.function()(pb, *_split(program, xs)))
    xs = [pb.Variable(x) for x in _starts(program)]
    f(*[x.read() for x in xs])
    return _twice(list(f(*[x.read() for x in xs])), xs, expected)


def with_updates(program: Program, expected: Expected) -> Answer:
    """Variables get their values by assignments, inside and outside of a function, and what was
    built before keeps the old ones."""
    starts = _starts(program)
    others = _others(program, starts)
    xs = [pb.Variable(x) for x in others]
    run = program.function()
    before = run(pb, *_split(program, xs))

    @pb.function
    def f(*values: Any) -> Any:
        for x, value in zip(xs, values, strict=True):
            x.assign(value)
        answer = _twice(run(pb, *_split(program, xs)), xs, expected)
        return answer.parts()

    f(*others)
    for x, start in zip(xs, starts, strict=True):
        x.assign(start)
        x.assign_sub(np.zeros_like(start))  # keeps -0
    answer = _twice(run(pb, *_split(program, xs)), xs, expected)
    again = Answer(*(list(part) for part in f(*starts)))
    _same(answer, again)
    old = run(pb, *_split(program, [pb.Variable(x) for x in others]))
    for x, y in zip(before, old, strict=True):
        assert _close(x.numpy(), y.numpy()), "a value from before an assignment"
    return answer


def _others(program: Program, starts: list[Array]) -> list[Array]:
    """Other values, unless the program makes positions or divisors of them that are none."""
    others = [np.roll(x, 1) for x in starts]
    try:
        pb.evaluate(program.function()(pb, *_split(program, [pb.Variable(x) for x in others])))
    except (ZeroDivisionError, IndexError):
        return starts
    return others


def _same(a: Answer, b: Answer) -> None:
    for k, (x, y) in enumerate(zip(a.flat(), b.flat(), strict=True)):
        x, y = _array(x), _array(y)
        if x is None or y is None:
            assert x is y, f"entry {k} is None in one of two ways"
        else:
            assert _close(x, y), f"entry {k}, two ways: {x} and {y}"


def _close(x: Array, y: Array) -> bool:
    if x.dtype != y.dtype or x.shape != y.shape:
        return False
    if x.dtype.kind != "f":
        return bool(np.array_equal(x, y))
    scale = float(np.max(np.abs(y), initial=1, where=np.isfinite(y)))
    tolerance = (1e-9 if x.dtype == np.float64 else 1e-3) * scale
    return bool(np.allclose(x, y, rtol=0, atol=tolerance, equal_nan=True))


MODES: dict[str, Mode] = {
    f.__name__: f
    for f in (
        lazy,
        forced,
        line_by_line,
        in_steps,
        by_tapes,
        by_jacobians,
        by_grad,
        by_tangents,
        by_vmap,
        in_function,
        through_function,
        with_updates,
    )
}
TRACED = ("by_vmap", "in_function", "through_function", "with_updates")
