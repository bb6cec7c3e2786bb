"""Case: one operation and all that is needed to check it. The table of them is in table/.

A case says how to call the operation on tensors (`run`), what the same means on NumPy arrays of
any floating dtype (`reference`), where its arguments may lie (`domains`), and the shapes to try.
Values, gradients to second order, dtypes, broadcasting, CPU levels and threads follow from that.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import pullback as pb
from pullback import _core

from . import reference as ref

DTYPES = {"b": "bool", "i": "int32", "l": "int64", "f": "float32", "d": "float64"}
FLOATS = "fd"
NUMBERS = "ilfd"
ALL = "bilfd"
# Stored, and computed in another: whatever takes that one takes these.
STORED = {
    "i": {"a": "int8", "s": "int16", "A": "uint8", "S": "uint16", "I": "uint32", "L": "uint64"},
    "f": {"h": "float16", "g": "bfloat16"},
}
NAMES = DTYPES | STORED["i"] | STORED["f"]
UNSIGNED = "ASIL"
# Bits of a number, its least and its largest exponent.
FORMATS = {"f": (24, -126, 127), "d": (53, -1022, 1023), "h": (11, -14, 15), "g": (8, -126, 127)}

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Domain:
    """Where an argument lies: uniform in [low, high], `gap` away from every kink.

    With `grid` the values are multiples of it plus `offset`, give or take a tenth of it: arguments
    of different offsets never come near each other. With `distinct` no two of one array do.
    """

    low: float = -2.0
    high: float = 2.0
    kinks: tuple[float, ...] = ()
    gap: float = 0.1
    grid: float = 0.0
    offset: float = 0.0
    distinct: bool = False
    dtype: str | None = None  # a fixed one, whatever the others have

    def draw(self, rng: np.random.Generator, shape: Shape, dtype: str) -> Any:
        dtype = self.dtype or dtype
        if dtype == "b":
            return np.asarray(rng.random(shape) < 0.5)
        if dtype not in FORMATS:
            low, high = int(np.ceil(self.low)), int(np.floor(self.high))
            if dtype in UNSIGNED and low < 0:
                low, high = (0, high) if high >= 0 else (-high, -low)
            values = rng.integers(low, high + 1, shape)
            for kink in self.kinks:
                values = np.where(values == kink, values + 1, values)
            return np.asarray(values, NAMES[dtype])
        if self.distinct:
            n = int(np.prod(shape))
            values = (rng.permutation(n) - 0.5 * n + rng.uniform(-0.2, 0.2, n)) * (12.0 / (n + 1))
            values = values.reshape(shape)
        elif self.grid:
            low, high = round(self.low / self.grid), round(self.high / self.grid)
            steps = rng.integers(low, high + 1, shape) + rng.uniform(-0.1, 0.1, shape)
            values = steps * self.grid + self.offset
        else:
            values = rng.uniform(self.low, self.high, shape)
        for kink in self.kinks:
            close = np.abs(values - kink) < self.gap
            side = np.where(values < kink, -1.0, 1.0)
            values = np.where(close, kink + side * self.gap * (1 + rng.random(shape)), values)
        # float32 values in float64 too, so that both compute with the same numbers.
        if dtype == "g":
            return rounded(values, "g").astype(np.float32)
        return np.asarray(np.asarray(values, np.float32), NAMES[dtype])


@dataclass(frozen=True)
class Case:
    id: str
    op: str  # its name in _core.op_names()
    run: Callable[..., Any]
    reference: Callable[..., Any]
    domains: tuple[Domain, ...]
    shapes: tuple[tuple[Shape, ...], ...]  # one tuple of argument shapes for each call
    dtypes: str = FLOATS
    result: str = "same"  # dtype: same, bool, float (integers become the default), wide, index
    wrt: tuple[int, ...] = ()  # arguments that have a gradient
    ulp: float = 0.51  # bound on the error, in units of the last place of `size`
    size: Callable[..., Any] | None = None  # what rounding errors are relative to; default: result
    elementwise: bool = False
    without: str = ""  # of whose stored relatives it takes none: i or f

    def arrays(self, shapes: Sequence[Shape], dtype: str, salt: str = "") -> list[Any]:
        """The arguments of one call: always the same numbers for the same case and shapes."""
        rng = np.random.default_rng(zlib.crc32(f"{self.id} {shapes} {salt}".encode()))
        pairs = zip(self.domains, shapes, strict=True)
        return [domain.draw(rng, shape, dtype) for domain, shape in pairs]

    def exact(self, xs: Sequence[Any]) -> list[Any]:
        """The arguments in long double, except those of a fixed dtype."""
        pairs = zip(self.domains, xs, strict=True)
        return [x if domain.dtype else np.asarray(x, np.longdouble) for domain, x in pairs]

    @property
    def largest(self) -> tuple[Shape, ...]:
        """The shapes of the call with the most elements."""
        return max(self.shapes, key=lambda shapes: sum(int(np.prod(shape)) for shape in shapes))

    def result_dtype(self, dtype: str) -> str:
        if self.result == "bool":
            return "b"
        if self.result == "index":
            return "l"
        if self.result == "float":
            if dtype == "L" and any(d.dtype == "l" for d in self.domains):
                return "d"  # where both kinds of integers fit, as in NumPy
            return dtype if dtype in FORMATS else "f"
        if self.result == "wide" and dtype not in FORMATS:
            return "L" if dtype in UNSIGNED else "l"
        return dtype

    @property
    def stored(self) -> str:
        """The dtypes that come with those of the row."""
        if all(domain.dtype for domain in self.domains):
            return ""
        kinds = [kind for kind in STORED if kind in self.dtypes and kind not in self.without]
        return "".join("".join(STORED[kind]) for kind in kinds)

    def __str__(self) -> str:
        return self.id


# --- elementwise: shapes of one, two and three arguments

UNARY_SHAPES: tuple[tuple[Shape, ...], ...] = tuple(
    (shape,) for shape in [(), (1,), (7,), (0,), (3, 5), (2, 0, 3), (2, 3, 4), (2, 3, 1, 5)]
)
BINARY_SHAPES: tuple[tuple[Shape, ...], ...] = (
    ((), ()),
    ((5,), (5,)),
    ((0,), (0,)),
    ((2, 3), (2, 3)),
    ((3, 1), (1, 4)),
    ((), (2, 3)),
    ((2, 3), ()),
    ((4,), (2, 1, 4)),
    ((2, 1, 3), (1,)),
    ((1,), (0,)),
    ((2, 1, 3, 1), (4, 1, 5)),
    ((3, 0, 1), (1, 4)),
)
TERNARY_SHAPES: tuple[tuple[Shape, ...], ...] = (
    ((), (), ()),
    ((5,), (5,), (5,)),
    ((2, 3), (), ()),
    ((3,), (2, 3), ()),
    ((2, 1), (1, 3), (2, 3)),
    ((1, 4), (3, 1, 1), (2, 1)),
    ((0,), (1,), ()),
)
SHAPES_OF = {1: UNARY_SHAPES, 2: BINARY_SHAPES, 3: TERNARY_SHAPES}


def public(name: str) -> Callable[..., Any]:
    """The function of pb, pb.nn or pb.special; the core's where only gradients use a row."""

    def call(*args: Any) -> Any:
        home: Any = next((m for m in (pb, pb.nn, pb.special) if name in vars(m)), _core)
        return getattr(home, name)(*args)

    return call


def _row(
    name: str, reference: Any, domains: tuple[Domain, ...], dtypes: str, result: str, more: Any
) -> Case:
    options = {"dtypes": dtypes, "wrt": tuple(range(len(domains))), "elementwise": True, **more}
    shapes = SHAPES_OF[len(domains)]
    return Case(name, name, public(name), reference, domains, shapes, result=result, **options)


# Rows of elementwise.def, by its domains: differentiable in every argument unless `wrt` says
# otherwise.


def numbers(name: str, reference: Any, *domains: Domain, **more: Any) -> Case:
    """N: computes int32, int64, float32 and float64."""
    return _row(name, reference, domains, NUMBERS, "same", more)


def floats(name: str, reference: Any, *domains: Domain, ulp: float = 1.0, **more: Any) -> Case:
    """F: computes floats; integers and bool become the default float dtype."""
    return _row(name, reference, domains, ALL, "float", {"ulp": ulp, **more})


def truth(name: str, reference: Any, *domains: Domain) -> Case:
    """Any dtypes in, bool out, no gradient."""
    return _row(name, reference, domains, ALL, "bool", {"wrt": ()})


def words(name: str, reference: Any, arity: int = 2, dtypes: str = "bil") -> Case:
    """W and I: integers and bool, no gradient."""
    domains = (Domain(0.0, 20.0),) * arity
    return _row(name, reference, domains, dtypes, "same", {"wrt": ()})


def positions(name: str, reference: Any, *domains: Domain) -> Case:
    """P: computes int64, no gradient."""
    return _row(name, reference, domains, "l", "same", {"wrt": ()})


# --- reductions: which axes of which shapes

REDUCED: tuple[tuple[Shape, Any, bool], ...] = (
    ((), None, False),
    ((5,), None, False),
    ((5,), 0, True),
    ((0,), None, False),
    ((3, 4), 0, False),
    ((3, 4), -1, True),
    ((3, 4), (), False),
    ((2, 3, 4), (0, 2), False),
    ((2, 3, 4), (-2,), True),
    ((2, 3, 4), None, True),
    ((2, 3, 2, 3), (0, 3), False),
    ((2, 3, 2, 3), (1, 2), False),
    ((2, 1, 3), (2, 0), True),
    ((0, 3), 0, False),
    ((3, 0), 0, False),
    ((2, 37, 3), 1, False),
)


def _length(shape: Shape, axis: Any) -> int:
    if axis is None:
        return int(np.prod(shape))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return int(np.prod([shape[a] for a in axes]))


def reduction(
    name: str,
    reference: Callable[..., Any],
    domain: Domain,
    *,
    empty: bool = True,
    one: bool = False,
    dtypes: str = ALL,
    result: str = "same",
    wrt: tuple[int, ...] = (0,),
    ulp: float = 0.51,
    size: Callable[..., Any] | None = None,
) -> list[Case]:
    """One case for every entry of REDUCED that the operation takes .

    `empty`: whether it has a value where there is nothing to reduce; `one`: a single axis only."""
    out = []
    for shape, axis, keepdims in REDUCED:
        if one and (isinstance(axis, tuple) or shape == ()):
            continue
        if not empty and _length(shape, axis) == 0:
            continue

        def call(f: Any, x: Any, axis: Any = axis, keepdims: bool = keepdims) -> Any:
            return f(x, axis=axis, keepdims=keepdims)

        out.append(
            Case(
                f"{name} {shape} axis={axis}{' keepdims' if keepdims else ''}",
                name,
                lambda x, call=call: call(getattr(pb, name), x),
                lambda x, call=call: call(reference, x),
                (domain,),
                ((shape,),),
                dtypes,
                result,
                wrt,
                ulp,
                None if size is None else lambda x, call=call: call(size, x),
            )
        )
    return out


REAL = Domain()


def calls(
    op: str, run: Any, reference: Any, *variants: Any, domain: Domain = REAL, **more: Any
) -> list[Case]:
    """One case for each variant (shape, argument…): all functions get the extra arguments.

    In place of the shape of the only tensor there may be a list of the shapes of several.
    """
    size = more.pop("size", None)
    name = more.pop("name", getattr(run, "__name__", op).replace("<lambda>", op))
    out = []
    for first, *extra in variants:
        shapes = tuple(first) if isinstance(first, list) else (first,)
        out.append(
            Case(
                f"{name} {', '.join(str(e) for e in [*shapes, *extra])}",
                op,
                lambda *x, extra=extra: run(*x, *extra),
                lambda *x, extra=extra: reference(*x, *extra),
                (domain,) * len(shapes),
                (shapes,),
                size=size and (lambda *x, extra=extra: size(*x, *extra)),
                **{"dtypes": ALL, "wrt": tuple(range(len(shapes))), **more},
            )
        )
    return out


def indexed(op: str, run: Any, reference: Any, *shapes: tuple[Shape, Shape], **more: Any) -> Case:
    """A function of a tensor and of indices into an axis of length 4."""
    domains = (REAL, Domain(-4, 3, dtype="l"))
    name = more.pop("name", op)
    return Case(name, op, run, reference, domains, shapes, **{"dtypes": ALL, "wrt": (0,), **more})


def updates(update: str, shapes: tuple[Shape, Shape], key: Any) -> list[Case]:
    """x.at[key].min or .max, where no two entries come near each other."""
    domains = (Domain(grid=0.5), Domain(grid=0.5, offset=0.25))
    return [
        Case(
            f"at {update} {key}",
            "at_index",
            lambda x, value: ref.at(x, value, key, update),
            lambda x, value: ref.put(x, value, key, update),
            domains,
            (shapes,),
            ALL,
            wrt=(0, 1),
        )
    ]


def same_bits(a: Any, b: Any) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def same_numbers(got: Any, expected: Any, tolerance: float) -> bool:
    """Test whether shapes and NaNs are equal and numbers differ by at most `tolerance`, absolute
    and relative."""
    if np.shape(got) != np.shape(expected):
        return False
    return np.allclose(got, expected, rtol=tolerance, atol=tolerance, equal_nan=True)


def tensor(x: Any, dtype: str) -> Any:
    """A drawn array as one of this dtype: bfloat16 values are drawn as float32 ones."""
    return pb.astype(pb.constant(x), "bfloat16") if dtype == "g" else pb.constant(x)


def numpy_of(y: Any) -> Any:
    return (pb.astype(y, "float32") if y.dtype == pb.bfloat16 else y).numpy()


def last_place(x: Any, dtype: str) -> Any:
    """What the last bit of numbers of this size is worth."""
    bits, least, largest = FORMATS[dtype]
    with np.errstate(all="ignore"):
        exponent = np.frexp(np.abs(np.asarray(x, np.longdouble)))[1] - 1
    exponent = np.clip(np.where(x == 0, least, exponent), least, largest)
    return np.ldexp(np.longdouble(1), (exponent - bits + 1).astype(np.int32))


def rounded(x: Any, dtype: str) -> Any:
    """The nearest long doubles that are numbers of this dtype."""
    x = np.asarray(x, np.longdouble)
    last = last_place(x, dtype)
    largest = np.ldexp(np.longdouble(2), FORMATS[dtype][2])
    with np.errstate(all="ignore"):
        near = np.where(np.isfinite(x), np.copysign(np.rint(x / last) * last, x), x)
    return np.where(np.abs(near) >= largest, np.copysign(np.longdouble("inf"), near), near)


def ulp_errors(got: Any, expected: Any, dtype: str, size: Any = None) -> Any:
    """Errors in units of the last place (of `size`, default: the exact result) of the dtype.

    Infinities and NaNs must be the same ones; where they are not, the error is infinite.
    """
    got = np.asarray(got)
    exact = np.asarray(expected, np.longdouble)
    with np.errstate(all="ignore"):
        near = rounded(exact, dtype)
        error = np.abs(got.astype(np.longdouble) - exact)
        error = error / last_place(exact if size is None else size, dtype)
        same = (got == near) | (np.isnan(got) & np.isnan(near))
    special = ~np.isfinite(near) | ~np.isfinite(got)
    return np.where(same & special, 0.0, np.where(special, np.inf, error))
