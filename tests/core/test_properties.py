"""Random programs: a few operations on small arrays of any shape, put together by hypothesis. Their
value is NumPy's, their gradient is what differences in long double say, and how they are evaluated
(lazily, step by step, traced, taped, with how many threads) changes no bit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.cases import same_bits
from support.each import examples
from support.oracle import along, gradient, off
from support.reference import logsumexp, sigmoid, softplus

import pullback as pb

BUDGET = settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


# --- programs: a list of operations on a stack of arrays, run by NumPy or by us


@dataclass(frozen=True)
class Operation:
    name: str
    ours: Callable[..., Any]
    numpy: Callable[..., Any]
    arity: int


def both(name: str, f: Callable[..., Any], arity: int = 1) -> Operation:
    return Operation(name, f, f, arity)


# Bounded functions of bounded slopes, so that programs stay within reach of differences, and smooth
# ones only: kinks have tables of their own.
POINTWISE = [
    Operation("tanh", pb.tanh, np.tanh, 1),
    Operation("sin", pb.sin, np.sin, 1),
    Operation("cos", pb.cos, np.cos, 1),
    Operation("sigmoid", pb.sigmoid, sigmoid, 1),
    Operation("softplus", pb.softplus, softplus, 1),
    Operation("log(x²+1)", lambda x: pb.log(x * x + 1), lambda x: np.log(x * x + 1), 1),
    Operation("sqrt(x²+1)", lambda x: pb.sqrt(x * x + 1), lambda x: np.sqrt(x * x + 1), 1),
    Operation("exp(-x²)", lambda x: pb.exp(-x * x), lambda x: np.exp(-x * x), 1),
    both("affine", lambda x: 0.5 * x - 0.25),
    both("power", lambda x: (0.3 * x) ** 3),
]
BINARY = [
    both("add", lambda a, b: a + b, 2),
    both("subtract", lambda a, b: a - b, 2),
    both("multiply", lambda a, b: 0.5 * a * b, 2),
    both("divide", lambda a, b: a / (b * b + 1), 2),
]


@st.composite
def reductions(draw: Any, shape: tuple[int, ...]) -> Operation:
    axes = draw(st.sets(st.integers(0, len(shape) - 1)).map(sorted)) if shape else []
    axis = draw(st.sampled_from([None, tuple(axes), tuple(a - len(shape) for a in axes)]))
    keep = draw(st.booleans())
    kind = draw(st.sampled_from(["sum", "mean", "logsumexp"]))
    if np.prod(shape) == 0:
        kind = "sum"
    ours = getattr(pb, kind)
    theirs = logsumexp if kind == "logsumexp" else getattr(np, kind)
    return Operation(
        f"{kind} axis={axis} keepdims={keep}",
        lambda x: 0.5 * ours(x, axis=axis, keepdims=keep),
        lambda x: 0.5 * theirs(x, axis=axis, keepdims=keep),
        1,
    )


@st.composite
def slices(draw: Any, length: int) -> slice:
    bound = st.none() | st.integers(-length - 1, length + 1)
    step = draw(st.sampled_from([1, 1, 2, -1, -2, 3]))
    return slice(draw(bound), draw(bound), step)


@st.composite
def movements(draw: Any, shape: tuple[int, ...]) -> Operation:
    kind = draw(st.sampled_from(["transpose", "slice", "flatten", "expand", "take", "twice"]))
    if kind == "slice":
        key = tuple(draw(slices(n)) for n in shape)
        return both(f"slice {key}", lambda x: x[key])
    if kind == "expand":
        axis = draw(st.integers(0, len(shape)))
        key = (*(slice(None),) * axis, None)
        return both(f"expand {axis}", lambda x: x[key])
    if kind == "transpose":
        order = tuple(draw(st.permutations(range(len(shape)))))
        ours = lambda x: pb.transpose(x, order)  # noqa: E731
        return Operation(f"transpose {order}", ours, lambda x: np.transpose(x, order), 1)
    if kind == "take" and shape and shape[0]:
        some = draw(st.lists(st.integers(-shape[0], shape[0] - 1), max_size=4))
        indices = np.array(some, np.int64)
        ours = lambda x: pb.take(x, indices, axis=0)  # noqa: E731
        return Operation(f"take {some}", ours, lambda x: np.take(x, indices, axis=0), 1)
    if kind == "twice" and shape:
        ours = lambda x: pb.concat([x, 2 * x], axis=-1)  # noqa: E731
        return Operation("twice", ours, lambda x: np.concatenate([x, 2 * x], axis=-1), 1)
    return Operation("flatten", lambda x: pb.reshape(x, (-1,)), lambda x: np.reshape(x, (-1,)), 1)


@dataclass
class Program:
    inputs: list[Any]
    steps: list[tuple[Operation, tuple[int, ...]]]

    def run(self, xs: Any, mine: bool, between: Callable[[Any, int], Any] | None = None) -> Any:
        """The sum over everything that nobody used. `between` may look at values, or swap them."""
        values = list(xs)
        used = set()
        for operation, arguments in self.steps:
            used.update(arguments)
            function = operation.ours if mine else operation.numpy
            values.append(function(*[values[k] for k in arguments]))
            if between:
                values[-1] = between(values[-1], len(values) - 1)
        total = pb.sum if mine else np.sum
        unused = [k for k in range(len(values)) if k not in used]
        return sum((total(pb.sin(values[k]) if mine else np.sin(values[k])) for k in unused), 0.0)

    def ours(self, *xs: Any) -> Any:
        return self.run(xs, True)

    def reference(self, *xs: Any) -> Any:
        return np.asarray(self.run(xs, False))

    def __repr__(self) -> str:
        shapes = [x.shape for x in self.inputs]
        return f"{shapes} " + "; ".join(f"{o.name}{args}" for o, args in self.steps)


@st.composite
def programs(draw: Any, most: int = 9) -> Program:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shapes = st.lists(st.sampled_from([0, 1, 2, 2, 3, 3]), max_size=3).map(tuple)
    inputs = [rng.uniform(-1.5, 1.5, draw(shapes)) for _ in range(draw(st.integers(1, 3)))]
    values = [x.astype(np.longdouble) for x in inputs]
    steps = []
    for _ in range(draw(st.integers(2, most))):
        k = draw(st.integers(0, len(values) - 1))
        shape = values[k].shape
        kind = draw(st.sampled_from(["point", "point", "two", "two", "fold", "move", "product"]))
        arguments: tuple[int, ...] = (k,)
        if kind == "two":
            fits = [j for j, v in enumerate(values) if broadcasts(shape, v.shape)]
            arguments = (k, draw(st.sampled_from(fits)))
            operation = draw(st.sampled_from(BINARY))
        elif kind == "product" and (pair := multipliable(values, k)):
            arguments = (k, draw(st.sampled_from(pair)))
            operation = both("matmul", lambda a, b: 0.3 * (a @ b), 2)
        elif kind == "fold":
            operation = draw(reductions(shape))
        elif kind == "move" and len(shape) < 4:
            operation = draw(movements(shape))
        else:
            operation = draw(st.sampled_from(POINTWISE))
        value = np.asarray(operation.numpy(*[values[j] for j in arguments]))
        assume(value.size <= 60 and value.ndim <= 5)
        values.append(value)
        steps.append((operation, arguments))
    return Program(inputs, steps)


def broadcasts(a: Any, b: Any) -> bool:
    try:
        return int(np.prod(np.broadcast_shapes(a, b))) <= 60
    except ValueError:
        return False


def multipliable(values: list[Any], k: int) -> list[int]:
    a = values[k]
    if a.ndim == 0:
        return []
    return [
        j
        for j, b in enumerate(values)
        if b.ndim
        and a.shape[-1] == b.shape[-2 if b.ndim > 1 else 0]
        and broadcasts(a.shape[:-2], b.shape[:-2])
    ]


# --- what holds of all of them


@given(programs())
@BUDGET
def test_values_and_gradients(program: Program) -> None:
    xs = [pb.Variable(x) for x in program.inputs]
    y = program.ours(*xs)
    exact = [x.astype(np.longdouble) for x in program.inputs]
    expected = program.reference(*exact)
    assert abs(y.numpy() - expected) <= 1e-13 * max(1.0, abs(expected)), program
    wrt = range(len(xs))
    slopes = pb.gradients(y, xs, unconnected_gradients="zero")
    for got, want in zip(
        slopes, gradient(program.reference, exact, wrt, np.longdouble(1)), strict=True
    ):
        assert off(got.numpy(), want, 1.0) <= 2e-12, program
    # Second order along a direction: <H d, d> against the difference of the slope along d.
    ds = [np.sin(np.arange(x.size)).reshape(x.shape) for x in program.inputs]
    total = sum((pb.sum(g * d) for g, d in zip(slopes, ds, strict=True)), pb.constant(0.0))
    second = pb.gradients(total, xs, unconnected_gradients="zero")
    got = sum(float(pb.sum(h * d)) for h, d in zip(second, ds, strict=True))

    def slope(*at: Any) -> Any:
        return along(program.reference, at, ds)

    want = along(slope, exact, ds)
    assert abs(got - want) <= 1e-9 * max(1.0, abs(want)), program


@given(programs(most=14))
@BUDGET
def test_how_it_is_evaluated_changes_no_bit(program: Program) -> None:
    def results(between: Callable[[Any, int], Any] | None = None) -> list[Any]:
        xs = [pb.Variable(x) for x in program.inputs]
        y = program.run(xs, True, between)
        return [y, *pb.gradients(y, xs, unconnected_gradients="zero")]

    def look(x: Any, k: int) -> Any:
        x.numpy()
        return x

    together = results()
    pb.evaluate(together)
    one_by_one = results()
    forced = results(look)
    copied = results(lambda x, k: pb.identity(x))
    for k in reversed(range(len(together))):
        want = together[k].numpy()
        for other in (one_by_one, forced):
            assert same_bits(other[k].numpy(), want), program
        # With a node in between, contributions to one gradient may be added in another order.
        assert off(copied[k].numpy(), want.astype(np.longdouble), 1.0) < 1e-14, program

    def loss(*xs: Any) -> Any:
        return program.ours(*xs)

    traced = pb.function(loss)
    inputs = [pb.constant(x) for x in program.inputs]
    assert same_bits(traced(*inputs).numpy(), together[0].numpy()), program
    with pb.GradientTape() as tape:
        for x in inputs:
            tape.watch(x)
        y = loss(*inputs)
    for got, want in zip(tape.gradient(y, inputs), together[1:], strict=True):
        value = np.zeros(want.shape) if got is None else got.numpy()
        assert np.array_equal(value, want.numpy()), program


@given(programs(), st.data())
@BUDGET
def test_with_respect_to_what_is_in_the_middle(program: Program, data: Any) -> None:
    """The gradient at an intermediate tensor is that of the rest of the program at its value."""
    first = len(program.inputs)
    at = data.draw(st.integers(first, first + len(program.steps) - 1))
    kept: list[Any] = []

    def keep(x: Any, k: int) -> Any:
        if k == at:
            kept.append(pb.identity(x))  # a tensor of its own, wherever the operation is a no-op
        return kept[0] if k == at else x

    y = program.run([pb.Variable(x) for x in program.inputs], True, keep)
    (g,) = pb.gradients(y, kept, unconnected_gradients="zero")
    instead = pb.Variable(kept[0].numpy())
    swapped = program.run(
        [pb.Variable(x) for x in program.inputs], True, lambda x, k: instead if k == at else x
    )
    (want,) = pb.gradients(swapped, [instead], unconnected_gradients="zero")
    assert off(g.numpy(), want.numpy().astype(np.longdouble), 1.0) < 1e-14, program
    (stopped,) = pb.gradients(y, kept, stop_gradients=kept, unconnected_gradients="zero")
    assert same_bits(stopped.numpy(), g.numpy()), program


# --- algebra


SHAPES = st.lists(st.integers(0, 3), max_size=3).map(tuple)


@given(SHAPES, st.data())
@BUDGET
def test_indexing_is_numpys(shape: tuple[int, ...], data: Any) -> None:
    x = np.arange(float(np.prod(shape))).reshape(shape)
    entries: list[Any] = []
    for n in shape[: data.draw(st.integers(0, len(shape)))]:
        choices = slices(n) if n == 0 else slices(n) | st.integers(-n, n - 1)
        entries.append(data.draw(choices))
    if data.draw(st.booleans()):
        entries.insert(data.draw(st.integers(0, len(entries))), None)
    if data.draw(st.booleans()):
        entries.append(Ellipsis)
    key = tuple(entries)
    assert np.array_equal(pb.constant(x)[key].numpy(), x[key])
    v = pb.Variable(x)
    cotangent = np.arange(1.0, 1.0 + x[key].size).reshape(x[key].shape)
    (g,) = pb.gradients(v[key], [v], grad_ys=cotangent)
    want = np.zeros_like(x)
    want[key] = cotangent
    assert np.array_equal(g.numpy(), want)


@given(SHAPES, SHAPES)
@BUDGET
def test_broadcasting_is_numpys(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    x, y = pb.Variable(np.ones(a)), pb.Variable(np.full(b, 2.0))
    try:
        shape = np.broadcast_shapes(a, b)
    except ValueError:
        try:
            x + y
        except ValueError as error:
            assert "broadcast" in str(error)
            return
        raise
    z = x * y
    assert z.shape == shape
    gx, gy = pb.gradients(z, [x, y])
    size = float(np.prod(shape))
    for g, source, slope in ((gx, x, 2.0), (gy, y, 1.0)):
        assert g.shape == source.shape
        assert float(pb.sum(g)) == slope * size


@given(st.lists(st.floats(allow_nan=True, width=32), min_size=1, max_size=30))
@BUDGET
def test_extremes_of_any_floats(numbers: list[float]) -> None:
    x = np.array(numbers, np.float32)
    for ours, theirs in ((pb.max, np.max), (pb.min, np.min)):
        assert np.array_equal(ours(pb.constant(x)).numpy(), theirs(x), equal_nan=True)
    assert pb.argmax(pb.constant(x)).item() == np.argmax(x)
    assert pb.argmin(pb.constant(x)).item() == np.argmin(x)
    v = pb.Variable(x)
    (g,) = pb.gradients(pb.max(v), [v])
    top = np.max(x)
    wins = np.isnan(x) if np.isnan(top) else x == top
    np.testing.assert_array_equal(g.numpy(), wins / np.float32(wins.sum()))
