"""Comparisons, logic, branches and the guards people write; casts."""

from __future__ import annotations

import numpy as np

from ..program import listed
from .registry import Generator, kind

COMPARISONS = ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"]
SYMBOLS = dict(zip(COMPARISONS, ["<", "<=", ">", ">=", "==", "!="], strict=True))


def _compared(g: Generator, x: int | None) -> int | None:
    if x is None:
        return None
    name = g.pick(*COMPARISONS)
    if g.chance(0.5):
        other = repr(g.number())
        text = f"{{0}} {SYMBOLS[name]} {other}" if g.chance(0.5) else f"pb.{name}({{0}}, {other})"
        return g.add(text, x, ref=f"pb.{name}({{0}}, {other})")
    y = g.beside(x)
    text = f"{{0}} {SYMBOLS[name]} {{1}}" if g.chance(0.5) else f"pb.{name}({{0}}, {{1}})"
    return g.add(text, x, y, ref=f"pb.{name}({{0}}, {{1}})")


@kind(1.5)
def compared(g: Generator) -> None:
    _compared(g, g.any_number())


@kind(1)
def logic(g: Generator) -> None:
    name = g.pick("logical_and", "logical_or", "logical_xor", "logical_not", "isnan", "isinf")
    name = g.pick(name, name, name, "isfinite", "isposinf", "isneginf")
    if name.startswith("is"):
        g.add(f"pb.{name}({{0}})", g.any_number())
        return
    x = g.find(lambda x: x.dtype == bool)
    if x is None:
        return
    if name == "logical_not":
        g.add(g.pick("~{0}", "pb.logical_not({0})"), x, ref="pb.logical_not({0})")
        return
    symbol = {"logical_and": "&", "logical_or": "|", "logical_xor": "^"}[name]
    y = g.like(x)
    g.add(
        g.pick(f"{{0}} {symbol} {{1}}", f"pb.{name}({{0}}, {{1}})"),
        x,
        y,
        ref=f"pb.{name}({{0}}, {{1}})",
    )


@kind(2.5)
def where(g: Generator) -> None:
    x = g.any_number()
    mask = g.find(lambda m: m.dtype == bool) if g.chance(0.5) else _compared(g, x)
    if mask is None or x is None:
        return
    other = g.pick("{2}", "{2}", "0", "0.0", "1.5")
    if other == "{2}":
        g.add("pb.where({0}, {1}, {2})", mask, x, g.beside(x))
    elif g.chance(0.5):
        g.add(f"pb.where({{0}}, {{1}}, {other})", mask, x)
    else:
        g.add(f"pb.where({{0}}, {other}, {{1}})", mask, x)


UNSAFE = [
    "pb.log({0})",
    "pb.sqrt({0})",
    "pb.divide(1.0, {0})",
    "pb.pow({0}, 1.5)",
    "pb.pow({0}, -0.5)",
    "pb.log1p(pb.subtract({0}, 1.0))",
    "pb.divide({0}, {0})",
]
AFTER = [
    "pb.multiply({0}, 2.0)",
    "pb.exp(pb.negative({0}))",
    "pb.tanh({0})",
    "pb.square({0})",
    "pb.negative({0})",
    "pb.multiply({0}, {0})",
    "pb.add({0}, 1.0)",
]


def _unsafe(g: Generator, x: int) -> int | None:
    """Of x, what is infinite or NaN where x is not positive; perhaps with something behind it."""
    u = g.add(g.pick(*UNSAFE), x, unsafe=True)
    for _ in range(int(g.random.integers(3))):
        u = g.add(g.pick(*AFTER), u, unsafe=True)
    return u


# What mixes the entries of a row, or moves them, but leaves rows apart.
ROWWISE = [
    "pb.softmax({0}, axis=-1)",
    "pb.log_softmax({0}, axis=-1)",
    "pb.logsumexp({0}, axis=-1, keepdims=True)",
    "pb.mean({0}, axis=-1, keepdims=True)",
    "pb.max({0}, axis=-1, keepdims=True)",
    "pb.prod({0}, axis=-1, keepdims=True)",
    "pb.sqrt(pb.add(pb.sum(pb.square({0}), axis=-1, keepdims=True), 0.2))",
    "pb.concat([{0}, {0}], axis=-1)",
    "pb.take({0}, [0, -1, 0], axis=-1)",
    "pb.relu({0})",
    "pb.clip({0}, -1.0, 0.5)",
    "pb.maximum({0}, 0.1)",
    "pb.expand_dims({0}, -2)[..., 0, :]",
]


def _mixed(g: Generator, u: int | None) -> int | None:
    """Of u, whose rows may be infinite or NaN, what is so in the same rows."""
    for _ in range(int(g.random.integers(1, 4))):
        if u is None:
            return None
        *rows, n = g.array(u).shape
        form = g.pick("product", "product", "einsum", "slice", "reshape", "row", "row", "row")
        weights = g.find(lambda w, n=n: w.ndim == 2 and len(w) == n and w.dtype.kind == "f")
        if form == "product" and weights is not None and g.chance(0.7):
            u = g.add("pb.matmul({0}, {1})", u, weights, unsafe=True)
        elif form == "product" and n:
            w = listed(g.floats((n, int(g.random.integers(1, 4)))))
            u = g.add(f"pb.matmul({{0}}, {w})", u, unsafe=True)
        elif form == "einsum" and len(rows) == 1 and weights is not None:
            u = g.add("pb.einsum('ij,jk->ik', {0}, {1})", u, weights, unsafe=True)
        elif form == "slice" and n > 1:
            u = g.add(g.pick("{0}[..., 1:]", "{0}[..., ::-1]", "{0}[..., :-1]"), u, unsafe=True)
        elif form == "reshape" and rows:
            text = f"pb.reshape(pb.exp(-pb.reshape({{0}}, (-1, {n}))), {(*rows, n)})"
            u = g.add(text, u, unsafe=True)
        elif form == "row" and n:
            u = g.add(g.pick(*ROWWISE), u, unsafe=True)
    return u


def _finite_in(g: Generator, rows: int, first: int) -> bool:
    """Whether what was made on the way is finite in the rows that are taken: float32 may overflow
    there, and its slopes say so, while a long double goes on."""
    taken = g.array(rows)[..., 0]
    made = [g.array(i) for i in range(first, len(g.values))]
    return all(np.isfinite(x[taken]).all() for x in made if x.shape[:-1] == taken.shape)


@kind(1.5)
def guarded_rows(g: Generator) -> None:
    """where(rows, f(x), …), where f mixes what is in a row; rows of the whole shape, too."""
    x = g.float(1)
    if x is None or g.special or g.array(x).size == 0:
        return
    axis = g.pick(-1, -1, None)
    rows = g.add(f"pb.all(pb.greater({{0}}, 0.1), axis={axis}, keepdims=True)", x)
    first = len(g.values)
    u = _mixed(g, _unsafe(g, x))
    if u is None or rows is None or not _finite_in(g, rows, first):
        return
    if g.chance(0.3):
        rows = g.add(f"pb.broadcast_to({{0}}, {g.array(u).shape})", rows)
        # Nobody looks at it: a mask that has its value is only what it shows, entry by entry. The
        # bound is none that values have but for rounding.
        rows = g.add("pb.logical_and({0}, pb.less({1}, 2.0371))", rows, u, unsafe=True)
    if g.chance(0.2):
        x = g.find(lambda y: y.shape == g.array(u).shape)
        g.add("pb.where({0}, {1}, {2})", rows, u, x)
    elif g.chance(0.2):
        g.add("pb.sum(pb.where({0}, pb.tanh({1}), 0), axis=-1)", rows, u)
    else:
        g.add("pb.where({0}, {1}, 0)", rows, u)


@kind(3)
def guarded(g: Generator) -> None:
    """where(x > 0, f(x), …): no infinity of the branch that is not taken may leak."""
    x = g.float()
    if x is None or g.special:
        return
    shape = g.array(x).shape
    form = g.pick("same", "same", "row", "flag", "sum", "two", "slices", "masks", "minimum")
    low = g.pick(0.05, 0.3)
    if form == "minimum":
        y = g.like(x)
        x = g.add("pb.minimum({0}, {1})", x, y)
        form = "same"
    if x is None:
        return
    u = _unsafe(g, x)
    if u is None:
        return
    if form == "same":
        mask = g.add(f"pb.greater({{0}}, {low})", x)
        g.add(g.pick("pb.where({0}, {1}, 0)", "pb.where({0}, {1}, {2})"), mask, u, x)
    elif form == "row" and shape:
        rows = f"pb.all(pb.greater({{0}}, {low}), axis=-1, keepdims=True)"
        g.add("pb.where({0}, {1}, 0)", g.add(rows, x), u)
    elif form in ("flag", "sum"):
        flag = g.add(f"pb.all(pb.greater({{0}}, {low}))", x)
        if form == "sum":
            u = g.add(g.pick("pb.sum({0})", "pb.mean({0})", "pb.sum(pb.square({0}))"), u,
                      unsafe=True)  # fmt: skip
        g.add("pb.where({0}, {1}, 0)", flag, u)
    elif form == "two":
        mask = g.add(f"pb.greater({{0}}, {low})", x)
        half = "pb.where({0}, {1}, 0)"
        g.add("pb.add({0}, pb.multiply(2.0, {1}))", g.add(half, mask, u), g.add(half, mask, u))
    elif form == "masks":
        first = g.add(f"pb.greater({{0}}, {low})", x)
        second = g.add(f"pb.greater({{0}}, {low + 0.4})", x)
        left = g.add("pb.where({0}, {1}, 0)", first, u)
        right = g.add("pb.where({0}, pb.multiply({1}, 3.0), 1.0)", second, u)
        g.add("pb.add({0}, {1})", left, right)
    elif form == "slices" and len(shape) == 1 and shape[0] > 2:
        positive = g.add("pb.add(pb.abs({0}), 0.3)", x)
        zero = g.add("{0}.at[0].set(0.0)", positive, ref="pb.at({0}, 0, 'set', 0.0)", unsafe=True)
        u = None if zero is None else _unsafe(g, zero)
        g.add("pb.add(pb.sum({0}[1:]), pb.sum({0}[2:]))", u)


@kind(1.5)
def cast(g: Generator) -> None:
    x = g.find(lambda x: True)
    to = g.pick("float32", "float64", "float64", "int32", "int64", "bool")
    g.add(f"pb.{g.pick('astype', 'cast')}({{0}}, '{to}')", x)


@kind(1)
def stopped(g: Generator) -> None:
    g.add("pb.stop_gradient({0})", g.float(), flows=False)
