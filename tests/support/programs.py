"""Random programs, built once and run in several ways: as one plan, or an operation at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import pullback as pb
from pullback import _core

SIZES = (0, 1, 1, 2, 3, 5, 7, 13, 31, 64, 97, 1021, 1024, 8191, 8192, 8193)
LARGEST = 40_000  # elements
BOUND = 8  # larger numbers are clipped, so that sums and products stay exact


@dataclass
class Operation:
    name: str
    run: Callable[..., Any]
    inputs: list[int]


@dataclass
class Program:
    """Values are the leaves, then one for each operation; `results` are looked at."""

    leaves: list[np.ndarray]
    operations: list[Operation] = field(default_factory=list)
    results: list[int] = field(default_factory=list)

    def build(self, leaves: list[Any], each: Callable[[Any], Any] = lambda x: x) -> list[Any]:
        values = list(leaves)
        for operation in self.operations:
            values.append(each(operation.run(*(values[i] for i in operation.inputs))))
        return values

    def __str__(self) -> str:
        lines = [f"{i}: leaf {x.dtype}{x.shape}" for i, x in enumerate(self.leaves)]
        lines += [
            f"{len(self.leaves) + i}: {o.name} {o.inputs}" for i, o in enumerate(self.operations)
        ]
        return "\n".join([*lines, f"results {self.results}"])


class Maker:
    """`whole`: numbers are small integers and operations give such, so that no order of a sum
    changes anything."""

    def __init__(self, seed: int, whole: bool, dtype: Any = np.float64) -> None:
        self.random = np.random.default_rng(seed)
        self.whole, self.dtype = whole, dtype
        rows, length, other = (int(self.random.choice(SIZES)) for _ in range(3))
        while rows * length > LARGEST:
            rows = int(self.random.choice(SIZES[:11]))
        if length * other > LARGEST or rows * other > LARGEST:
            other = int(self.random.choice(SIZES[:8]))
        shapes = [
            (rows, length),
            (length,),
            (rows, 1),
            (),
            (rows,),
            (length, other),
            (rows, length),
        ]
        self.program = Program([self.data(shape) for shape in shapes])
        self.values = [pb.constant(x) for x in self.program.leaves]

    def data(self, shape: tuple[int, ...]) -> np.ndarray:
        if self.whole:
            return self.random.integers(-3, 4, shape).astype(self.dtype)
        return np.asarray(self.random.normal(0, 0.7, shape)).astype(self.dtype)

    def number(self) -> float:
        if self.whole:
            return float(self.random.integers(-2, 3))
        return float(np.round(self.random.normal(), 2))

    def any_of(self, *choices: Any) -> Any:
        return choices[int(self.random.integers(len(choices)))]

    def add(self, name: str, run: Callable[..., Any], *inputs: int) -> int | None:
        """The number of the new value, evaluated by itself; None where it is not allowed."""
        try:
            value = run(*(self.values[i] for i in inputs))
        except (ValueError, IndexError, TypeError):
            return None
        if value.size > LARGEST or value.ndim > 4:
            return None
        value = pb.constant(value.numpy())
        self.program.operations.append(Operation(name, run, list(inputs)))
        self.values.append(value)
        number = len(self.values) - 1
        largest = np.max(np.abs(value.numpy()), initial=0)
        if largest > BOUND:
            return self.add("clip", lambda x: pb.clip(x, -BOUND, BOUND), number)
        return number

    def make(self, operations: int) -> Program:
        kinds = [self.pointwise] * 5 + [self.binary] * 6 + [self.fold] * 4 + [self.softmax]
        kinds += [self.movement] * 4 + [self.product, self.selection, self.indexed, self.layer_norm]
        for _ in range(operations):
            self.any_of(*kinds)()
        used = {i for o in self.program.operations for i in o.inputs}
        ends = [i for i in range(len(self.program.leaves), len(self.values)) if i not in used]
        others = range(len(self.program.leaves), len(self.values))
        self.program.results = ends + [i for i in others if self.random.random() < 0.05]
        return self.program

    # --- operations

    def value(self) -> int:
        """Newer values more often, so that programs grow deep."""
        n = len(self.values)
        if self.random.random() < 0.5:
            return n - 1 - int(self.random.integers(min(4, n)))
        return int(self.random.integers(n))

    def axes(self, i: int) -> Any:
        ndim = self.values[i].ndim
        if ndim == 0 or self.random.random() < 0.25:
            return None
        return int(self.random.integers(-ndim, ndim))

    def pointwise(self) -> None:
        names = ["negative", "abs", "relu", "square", "stop_gradient"]
        if self.whole:
            names += ["sign", "floor"]  # where rounding decides nothing
        else:
            names += ["sin", "cos", "tanh", "sigmoid", "softplus", "exp", "erf", "identity"]
        name = self.any_of(*names)
        space = pb.special if name == "erf" else pb
        self.add(name, getattr(space, name), self.value())

    def binary(self) -> None:
        name = self.any_of("add", "multiply", "subtract", "maximum", "minimum")
        run = getattr(pb, name)
        if self.random.random() < 0.3:
            number = self.any_of(0.0, 1.0, -1.0, self.number())
            left = bool(self.random.integers(2))
            self.add(
                f"{name} {number}",
                lambda x: run(pb.constant(number, x.dtype), x) if left else run(x, number),
                self.value(),
            )
            return
        for _ in range(4):
            if self.add(name, run, self.value(), self.value()) is not None:
                return

    def fold(self) -> None:
        names = ["sum", "sum", "max", "min"] + ([] if self.whole else ["mean", "logsumexp"])
        name, i = self.any_of(*names), self.value()
        axes, keepdims = self.axes(i), bool(self.random.integers(2))
        if name not in ("sum", "mean") and self.values[i].size == 0:
            return
        run = pb.special.logsumexp if name == "logsumexp" else getattr(pb, name)
        self.add(f"{name} {axes} {keepdims}", lambda x: run(x, axis=axes, keepdims=keepdims), i)

    def softmax(self) -> None:
        i = self.value()
        ndim = self.values[i].ndim
        if self.whole or ndim == 0 or self.values[i].size == 0:
            return
        axis = int(self.random.integers(ndim))
        name = self.any_of("softmax", "log_softmax")
        self.add(f"{name} {axis}", lambda x: getattr(pb, name)(x, axis=axis), i)

    def layer_norm(self) -> None:
        """Of the last axis; of whole numbers, what is the same without dividing."""
        i = self.value()
        if self.values[i].ndim == 0 or self.values[i].size == 0:
            return

        def run(x: Any) -> Any:
            if self.whole:
                centred = x - pb.max(x, axis=-1, keepdims=True)
                return centred * pb.sum(pb.sign(centred), axis=-1, keepdims=True)
            centred = x - pb.mean(x, axis=-1, keepdims=True)
            spread = pb.mean(pb.square(centred), axis=-1, keepdims=True)
            return centred / pb.sqrt(spread + 0.5)

        self.add("layer_norm", run, i)

    def movement(self) -> None:
        i = self.value()
        shape = self.values[i].shape
        ndim, size = len(shape), self.values[i].size
        kind = self.any_of("transpose", "reshape", "slice", "broadcast", "concat", "stack", "cast")
        if kind == "transpose":
            order = tuple(int(k) for k in self.random.permutation(ndim))
            self.add(f"transpose {order}", lambda x: pb.permute_dims(x, order), i)
        elif kind == "reshape":
            other = self.any_of(*(v.shape for v in self.values))
            to = other if np.prod(other) == size else self.any_of((-1,), (1, -1), (-1, 1))
            if size or -1 not in to:
                self.add(f"reshape {to}", lambda x: pb.reshape(x, to), i)
        elif kind == "slice" and ndim:
            step = self.any_of(
                slice(None, None, -1), slice(1, None), slice(None, -1), slice(None, None, 2), 0, -1
            )
            index = (..., step) if self.random.integers(2) else (step,)
            self.add(f"slice {index}", lambda x: x[index], i)
        elif kind == "broadcast":
            to = self.any_of((2, *shape), self.values[0].shape, (3, 1, *shape))
            self.add(f"broadcast {to}", lambda x: pb.broadcast_to(x, to), i)
        elif kind == "concat" and ndim:
            axis = int(self.random.integers(ndim))
            self.add(f"concat {axis}", lambda x, y: pb.concat([x, y], axis=axis), i, self.value())
        elif kind == "stack":
            self.add("stack", lambda x, y: pb.stack([x, y]), i, self.value())
        elif kind == "cast":
            to, back = self.any_of(np.float32, np.int64, np.int32), self.dtype
            if self.whole or to is np.float32:
                self.add(f"cast {to}", lambda x: pb.astype(pb.astype(x, to), back), i)

    def product(self) -> None:
        for _ in range(4):
            if self.add("matmul", pb.matmul, self.value(), self.value()) is not None:
                return

    def selection(self) -> None:
        name = self.any_of("less", "greater_equal", "equal", "any", "argmax", "isnan")
        i, j, k = self.value(), self.value(), self.value()
        if name == "any" and self.values[i].ndim:
            keep = bool(self.random.integers(2))
            self.add(
                f"where any {keep}",
                lambda x, y: pb.where(pb.any(x > 0.5, axis=-1, keepdims=keep), y, -y),
                *(i, j),
            )
        elif name == "argmax" and self.values[i].size and self.values[i].ndim:
            self.add("argmax", lambda x: pb.astype(pb.argmax(x, axis=-1) % 7, self.dtype), i)
        elif name == "isnan":
            self.add("where isnan", lambda x, y: pb.where(pb.isnan(x), x, y), i, j)
        elif name in ("less", "greater_equal", "equal") and self.whole:
            run = getattr(pb, name)
            self.add(f"where {name}", lambda x, y, z: pb.where(run(x, y), x, z), i, j, k)

    def indexed(self) -> None:
        i = self.value()
        shape = self.values[i].shape
        if not shape or self.values[i].size == 0:
            return
        kind = self.any_of("take", "pick", "place", "at add", "at set", "at window")
        axis = int(self.random.integers(len(shape)))
        places = self.random.integers(-shape[axis], shape[axis], int(self.random.integers(1, 6)))
        if kind == "take":
            self.add(f"take {axis}", lambda x: pb.take(x, places, axis=axis), i)
        elif kind == "pick":
            entries = self.random.integers(0, shape[-1], shape[:-1])
            self.add("pick", lambda x: _core.pick(x, pb.constant(entries)), i)
        elif kind == "place":
            width = self.any_of(1, 3, 8)
            entries = self.random.integers(0, width, shape)
            self.add(f"place {width}", lambda x: _core.place(x, pb.constant(entries), width), i)
        elif kind == "at add":
            firsts = self.random.integers(0, shape[0], 3)
            self.add("at add", lambda x: x.at[firsts].add(2.0), i)
        elif kind == "at set":
            first = int(self.random.integers(0, shape[0]))
            self.add("at set", lambda x, y: x.at[first].set(pb.sum(y)), i, self.value())
        else:
            self.add("at window", lambda x: x.at[..., ::2].multiply(-1.0), i)


def alone(program: Program) -> tuple[list[np.ndarray], list[np.ndarray | None]]:
    """Values and the gradients of the sum of all results, an operation at a time: the reverse pass
    is here, and each slope is asked for on its own."""

    def seen(x: Any) -> Any:
        return pb.constant(x.numpy())

    values = program.build([pb.constant(x) for x in program.leaves], seen)
    slopes: list[Any] = [None] * len(values)

    def send(i: int, slope: Any) -> None:
        slopes[i] = seen(slope if slopes[i] is None else slopes[i] + slope)

    for i in program.results:
        send(i, pb.ones(values[i].shape, dtype=values[i].dtype))
    first = len(program.leaves)
    for k in reversed(range(len(program.operations))):
        if slopes[first + k] is None:
            continue
        operation = program.operations[k]
        inputs = [pb.Variable(values[i].numpy()) for i in operation.inputs]
        result = operation.run(*inputs)
        found = pb.gradients(result, inputs, grad_ys=slopes[first + k])
        for i, slope in zip(operation.inputs, found, strict=True):
            if slope is not None:
                send(i, slope)
    gradients = [None if s is None else s.numpy() for s in slopes[:first]]
    return [values[i].numpy() for i in program.results], gradients


def fused(program: Program, leaves: list[Any]) -> list[Any]:
    """The results, then the gradients of their sum."""
    values = program.build(leaves)
    results = [values[i] for i in program.results]
    return [*results, *pb.gradients(results, leaves)]
