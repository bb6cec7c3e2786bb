"""Makes a program from a seed, line by line: what NumPy refuses, what is too large and what is not
finite is left out."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import helpers, kinds
from .program import Array, Line, Program
from .reference import Reference

LENGTHS = (1, 1, 2, 2, 3, 3, 4, 5)
# Around the lengths of vectors, tiles, rows and chunks.
LARGE_LENGTHS = (1, 2, 3, 5, 7, 13, 31, 64, 97, 1021, 1024, 4097, 8191, 8192, 8193)
LARGEST, LARGEST_OF_ALL = 120, 20_000  # elements of a value
BOUND = 30.0  # larger floats are scaled down, so that no derivative grows without end
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0)


@dataclass
class Value:
    array: Array
    flows: bool  # whether a derivative comes here from a leaf
    unsafe: bool = False


class Generator:
    """The program so far, with its values. `kinds` asks it for values, and adds lines to it."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = np.random.default_rng(seed)
        self.large = seed % 32 == 31
        self.special = not self.large and self.random.random() < 0.12
        self.halves = seed % 16 == 7
        self.looks_at_values = seed % 8 == 5
        self.ties = self.random.random() < 0.2
        self.dtype = np.dtype(np.float32 if self.random.random() < 0.25 else np.float64)
        self.values: list[Value] = []
        self.lines: list[Line] = []
        self.leaves: dict[int, Array] = {}
        self.reference = Reference(exact=False)

    def make(self) -> Program:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # of slices of which nothing is left
            return self._made()

    def _made(self) -> Program:
        for shape in self.shapes():
            self.leaf(self.floats(shape))
        if self.chance(0.5):
            self.leaf(self.random.integers(-3, 4, self.any_shape()).astype(self.pick("l", "i")))
        if self.chance(0.3):
            self.leaf(self.random.random(self.any_shape()) < 0.5)
        wanted = int(self.random.integers(2, 9 if self.large else 16))
        for _ in range(4 * wanted):
            if len(self.lines) >= wanted:
                break
            kind = kinds.KINDS[int(self.random.choice(len(kinds.KINDS), p=kinds.WEIGHTS))]
            kind(self)
        used = {i for line in self.lines for i in line.inputs}
        safe = [i for i, v in enumerate(self.values) if not v.unsafe]
        made = [i for i in safe if i not in self.leaves]
        results = [i for i in made if i not in used or self.chance(0.1)]
        if not any(self.values[i].flows for i in results):
            flowing = [i for i in safe if self.values[i].flows]
            last = self.add("pb.sin({0})", flowing[-1])
            results += [] if last is None else [last]
        looks = frozenset(i for i in safe if self.chance(0.4))
        program = Program(
            self.seed,
            self.leaves,
            tuple(self.lines),
            tuple(results),
            self.special,
            self.large,
            looks,
            self.looks_at_values,
        )
        return program.trimmed()

    # --- chance

    def chance(self, p: float) -> bool:
        return bool(self.random.random() < p)

    def pick(self, *choices: Any) -> Any:
        return choices[int(self.random.integers(len(choices)))]

    def number(self) -> float:
        return float(self.pick(0.0, 1.0, -1.0, 2.0, 0.5, np.round(self.random.normal(), 2)))

    # --- leaves

    def shapes(self) -> list[tuple[int, ...]]:
        """Of two to five leaves, which broadcast against each other or can be multiplied."""
        lengths = LARGE_LENGTHS if self.large else LENGTHS
        n, m, k = (int(self.pick(*lengths)) for _ in range(3))
        if self.large:
            while n * m > LARGEST_OF_ALL:
                m = int(self.pick(*LARGE_LENGTHS[:9]))
            k = int(self.pick(*LARGE_LENGTHS[:5]))
        elif self.chance(0.06):
            m = 0
        choices = [(n, m), (m,), (n, 1), (), (n,), (m, k), (n, m), (2, n, m), (m, m), (1, n, 1, m)]
        fitting = [s for s in choices if np.prod(s) <= self.largest]
        self.pool = fitting
        count = int(self.random.integers(2, 5))
        return [self.pick(*fitting) for _ in range(count)]

    def any_shape(self) -> tuple[int, ...]:
        return self.pick(*self.pool)  # type: ignore[no-any-return]

    @property
    def largest(self) -> int:
        return LARGEST_OF_ALL if self.large else LARGEST

    def floats(self, shape: tuple[int, ...]) -> Array:
        if self.ties:
            x = self.random.integers(-3, 4, shape) / 2
        else:
            x = np.round(self.random.normal(0, 1.2, shape), 3)
        if self.special and self.chance(0.7):
            x = np.where(self.random.random(shape) < 0.3, self.random.choice(SPECIAL, shape), x)
        dtype = self.dtype
        if self.chance(0.05):
            dtype = np.dtype(np.float32 if dtype == np.float64 else np.float64)
        return np.asarray(x, dtype)

    def leaf(self, x: Array) -> int:
        self.leaves[len(self.values)] = x
        self.values.append(Value(x, x.dtype.kind == "f"))
        return len(self.values) - 1

    # --- values

    def array(self, i: int) -> Array:
        return self.values[i].array

    def find(self, allowed: Callable[[Array], bool], flows: bool = False) -> int | None:
        """A value of this kind, newer ones more often."""
        found = [
            i
            for i, v in enumerate(self.values)
            if not v.unsafe and (v.flows or not flows) and allowed(v.array)
        ]
        if not found:
            return None
        if self.chance(0.5):
            return found[-1 - int(self.random.integers(min(3, len(found))))]
        return int(self.pick(*found))

    def float(self, ndim: int = 0) -> int | None:
        return self.find(lambda x: x.dtype.kind == "f" and x.ndim >= ndim)

    def any_number(self) -> int | None:
        return self.find(lambda x: x.dtype.kind in "fi")

    def like(self, i: int) -> int | None:
        """Of the same shape and dtype."""
        x = self.array(i)
        return self.find(lambda y: y.shape == x.shape and y.dtype == x.dtype)

    def beside(self, i: int) -> int | None:
        """A number that broadcasts against i, to nothing that is too large."""
        x = self.array(i)

        def fits(y: Array) -> bool:
            if y.dtype.kind not in "fi" or not _broadcast(x.shape, y.shape):
                return False
            small = x.size * y.size <= self.largest
            return small or math.prod(np.broadcast_shapes(x.shape, y.shape)) <= self.largest

        return self.find(fits)

    # --- lines

    def add(
        self,
        text: str,
        *inputs: int | None,
        ref: str | None = None,
        outputs: int = 1,
        flows: bool = True,
        unsafe: bool = False,
    ) -> int | None:
        """The number of the (first) new value; None where this is no valid line."""
        if any(i is None for i in inputs):
            return None
        given = tuple(i for i in inputs if i is not None)
        first = len(self.values)
        line = Line(text, given, tuple(range(first, first + outputs)), ref, flows, unsafe)
        space = {f"v{i}": self.values[i].array for i in given}
        space |= {"pb": self.reference, "np": np, "helpers": helpers}
        space |= {"inf": np.inf, "nan": np.nan}
        try:
            with np.errstate(all="ignore"):
                exec(line.source(exact=True), space)
        except (ValueError, IndexError, TypeError):
            return None
        new = [np.asarray(space[f"v{i}"]) for i in line.outputs]
        for x in new:
            if x.size > self.largest or x.ndim > 5:
                return None
            if not (self.special or unsafe) and not np.isfinite(x).all():
                return None
        flowing = flows and any(self.values[i].flows for i in given)
        self.values += [Value(x, flowing and x.dtype.kind == "f", unsafe) for x in new]
        self.lines.append(line)
        if outputs == 1 and not unsafe and new[0].dtype.kind == "f":
            with np.errstate(all="ignore"):
                large = float(np.max(np.abs(new[0]), initial=0))
            if large > BOUND:
                return self.add(f"pb.multiply({{0}}, {BOUND / large / 3:.3g})", first)
        return first


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(x == y or 1 in (x, y) for x, y in zip(a[::-1], b[::-1], strict=False))
