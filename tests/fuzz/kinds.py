"""The kinds of lines: each function adds some to a program, or none where nothing fits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .program import listed

if TYPE_CHECKING:
    from .generate import Generator

Kind = Callable[["Generator"], Any]
_kinds: list[tuple[Kind, float]] = []


def kind(weight: float) -> Callable[[Kind], Kind]:
    def register(f: Kind) -> Kind:
        _kinds.append((f, weight))
        return f

    return register


# --- elementwise

SMOOTH = ["sin", "cos", "tanh", "sigmoid", "softplus", "exp", "expm1", "square", "special.erf"]
KINKED = ["abs", "relu", "negative", "positive", "identity"]
STEPS = ["sign", "floor", "ceil", "round"]


@kind(6)
def unary(g: Generator) -> None:
    name = g.pick(*SMOOTH, *SMOOTH, *KINKED, *STEPS)
    if g.chance(0.15):
        g.add(f"pb.{name}({{0}})", g.find(lambda x: x.dtype.kind == "i"))
    else:
        g.add(f"pb.{name}({{0}})", g.float())


# Functions with a boundary, and arguments inside of it.
BOUNDED = {
    "log": "pb.add(pb.abs({0}), 0.3)",
    "sqrt": "pb.add(pb.square({0}), 0.2)",
    "log1p": "pb.subtract(pb.square({0}), 0.5)",
}


@kind(2)
def bounded(g: Generator) -> None:
    name = g.pick(*BOUNDED)
    g.add(f"pb.{name}({'{0}' if g.special else BOUNDED[name]})", g.float())


OPERATORS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "floor_divide": "//",
    "remainder": "%",
    "pow": "**",
}


def _call(g: Generator, name: str, a: str, b: str) -> tuple[str, str]:
    """A binary operation as a call or by its operator, and for the reference."""
    call = f"pb.{name}({a}, {b})"
    if name in OPERATORS and g.chance(0.5):
        return f"{a} {OPERATORS[name]} {b}", call
    return call, call


@kind(6)
def binary(g: Generator) -> None:
    names = ["add", "subtract", "multiply", "add", "multiply", "maximum", "minimum"]
    x = g.any_number()
    if x is None:
        return
    text, ref = _call(g, g.pick(*names), "{0}", "{1}")
    g.add(text, x, g.beside(x), ref=ref)


@kind(2)
def with_number(g: Generator) -> None:
    name = g.pick("add", "subtract", "multiply", "maximum", "minimum")
    sides = ["{0}", repr(g.number())]
    if g.chance(0.4):
        sides.reverse()
    text, ref = _call(g, name, *sides)
    g.add(text, g.any_number(), ref=ref)


@kind(2)
def quotient(g: Generator) -> None:
    x = g.any_number()
    if x is None:
        return
    y = g.beside(x)
    name = g.pick("divide", "divide", "floor_divide", "remainder")
    if g.special or (g.array(x).dtype.kind == "i" and g.chance(0.5)):
        text, ref = _call(g, name, "{0}", "{1}")
        g.add(text, x, y, ref=ref)
        return
    below = g.add("pb.add(pb.square({0}), 0.7)", y)
    text, ref = _call(g, name, "{0}", "{1}")
    g.add(text, x, below, ref=ref)


@kind(1.5)
def power(g: Generator) -> None:
    x = g.any_number()
    if x is None:
        return
    if g.chance(0.6):
        exponent = g.pick("0", "1", "2", "3", "4", "2.0", "3.0", "0.0")
        if g.array(x).dtype.kind == "f":
            exponent = g.pick(exponent, "-1", "-2", "0.5", "1.5", "-0.5")
        if exponent.lstrip("-") in ("0.5", "1.5", "1", "2") and exponent[0] == "-":
            x = g.add("pb.add(pb.square({0}), 0.4)", x)
        elif exponent in ("0.5", "1.5") and not g.special:
            x = g.add("pb.add(pb.abs({0}), 0.3)", x)
        text, ref = _call(g, "pow", "{0}", exponent)
        g.add(text, x, ref=ref)
    else:
        base = g.add("pb.add(pb.abs({0}), 0.3)", x)
        y = None if base is None else g.beside(base)
        text, ref = _call(g, "pow", "{0}", "{1}")
        g.add(text, base, g.add("pb.tanh({0})", y), ref=ref)


@kind(1.5)
def clipped(g: Generator) -> None:
    low, high = sorted([g.number(), g.number()])
    name = g.pick("both", "low", "high", "value", "tensors", "norm", "axis", "global")
    x = g.float()
    if x is None:
        return
    if name == "both":
        g.add(f"pb.clip({{0}}, {low}, {high})", x)
    elif name == "low":
        g.add(f"pb.clip({{0}}, min={low})", x, ref=f"pb.clip({{0}}, {low})")
    elif name == "high":
        g.add(f"pb.clip({{0}}, max={high})", x, ref=f"pb.clip({{0}}, None, {high})")
    elif name == "value":
        g.add(f"pb.clip_by_value({{0}}, {low}, {high})", x)
    elif name == "tensors":
        g.add("pb.clip({0}, {1}, {2})", x, g.like(x), g.like(x))
    elif name == "norm":
        g.add(f"pb.clip_by_norm({{0}}, {abs(high) + 0.3})", x)
    elif name == "axis" and g.array(x).ndim:
        g.add(f"pb.clip_by_norm({{0}}, {abs(high) + 0.3}, axis={_axis(g, x)})", x)
    elif name == "global" and np.sum(np.abs(g.array(x))) >= 0.1:  # a norm has a kink at 0
        text = f"pb.clip_by_global_norm([{{0}}, {{1}}], {abs(high) + 0.3})"
        split = "(lambda found: (*found[0], found[1]))"
        g.add(f"{split}({text})", x, g.find(lambda y: y.dtype == g.array(x).dtype), outputs=3)


# --- bool and choice

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
    name = g.pick(name, name, "isfinite")
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


@kind(1.5)
def guarded_rows(g: Generator) -> None:
    """where(rows, f(x), …), where f mixes what is in a row; rows of the whole shape, too."""
    x = g.float(1)
    if x is None or g.special or g.array(x).size == 0:
        return
    axis = g.pick(-1, -1, None)
    rows = g.add(f"pb.all(pb.greater({{0}}, 0.1), axis={axis}, keepdims=True)", x)
    u = _mixed(g, _unsafe(g, x))
    if u is None or rows is None:
        return
    if g.chance(0.3):
        rows = g.add(f"pb.broadcast_to({{0}}, {g.array(u).shape})", rows)
        rows = g.add("pb.logical_and({0}, pb.less({1}, 2.0))", rows, u)
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


# --- reductions


def _axis(g: Generator, x: int) -> int:
    ndim = g.array(x).ndim
    return int(g.random.integers(-ndim, ndim))


def _axes(g: Generator, x: int) -> Any:
    ndim = g.array(x).ndim
    if ndim == 0 or g.chance(0.25):
        return g.pick(None, None, ())
    if g.chance(0.4):
        count = int(g.random.integers(1, ndim + 1))
        return tuple(int(a) for a in g.random.permutation(ndim)[:count])
    return _axis(g, x)


@kind(5)
def reduced(g: Generator) -> None:
    x = g.any_number()
    if x is None:
        return
    name = g.pick("sum", "sum", "mean", "max", "min", "prod", "logsumexp", "special.logsumexp")
    if g.large and name == "prod":
        return
    g.add(f"pb.{name}({{0}}, axis={_axes(g, x)}, keepdims={g.chance(0.4)})", x)


@kind(1)
def counted(g: Generator) -> None:
    name = g.pick("any", "all", "argmax", "argmin")
    allowed = "b" if name in ("any", "all") else "fi"
    x = g.find(lambda x: x.dtype.kind in allowed)
    if x is None:
        return
    axis = _axes(g, x) if name in ("any", "all") else g.pick(None, _axis_or_none(g, x))
    g.add(f"pb.{name}({{0}}, axis={axis}, keepdims={g.chance(0.4)})", x)


def _axis_or_none(g: Generator, x: int) -> int | None:
    return _axis(g, x) if g.array(x).ndim else None


@kind(1.5)
def softmax(g: Generator) -> None:
    x = g.float(1)
    if x is None or g.array(x).size == 0:
        return
    g.add(f"pb.{g.pick('softmax', 'log_softmax')}({{0}}, axis={_axis(g, x)})", x)


@kind(0.7)
def cross_entropy(g: Generator) -> None:
    x = g.float(1)
    if x is None or g.array(x).size == 0:
        return
    *rows, classes = g.array(x).shape
    if g.chance(0.5):
        labels = listed(g.random.integers(0, classes, rows))
        g.add(f"pb.sparse_softmax_cross_entropy({{0}}, {labels})", x)
    else:
        labels = g.add("pb.softmax({0})", g.like(x))
        g.add("pb.softmax_cross_entropy({0}, {1})", x, labels)


@kind(0.5)
def norm(g: Generator) -> None:
    x = g.float()
    if x is None or np.sum(np.abs(g.array(x))) < 0.1:
        return
    g.add("pb.global_norm([{0}, {1}])", x, g.find(lambda y: y.dtype == g.array(x).dtype))


# --- shapes


@kind(4)
def moved(g: Generator) -> None:
    x = g.find(lambda x: True)
    if x is None:
        return
    array = g.array(x)
    ndim, shape = array.ndim, array.shape
    name = g.pick("transpose", "permute_dims", "T", "matrix_transpose", "reshape", "reshape",
                  "expand_dims", "squeeze", "broadcast_to", "diagonal", "trace")  # fmt: skip
    if name in ("transpose", "permute_dims"):
        order = tuple(int(k) for k in g.random.permutation(ndim))
        g.add(f"pb.{name}({{0}}, {order})", x)
    elif name == "T" and ndim == 2:
        g.add("{0}.T", x)
    elif name == "matrix_transpose" and ndim > 1:
        g.add("pb.matrix_transpose({0})", x)
    elif name == "reshape":
        to = g.pick(*(v.array.shape for v in g.values))
        if np.prod(to) != array.size:
            to = g.pick((-1,), (1, -1), (-1, 1), shape[::-1], (*shape, 1))
        if array.size or -1 not in to:
            g.add(f"pb.reshape({{0}}, {to})", x)
    elif name == "expand_dims":
        g.add(f"pb.expand_dims({{0}}, {int(g.random.integers(-ndim - 1, ndim + 1))})", x)
    elif name == "squeeze":
        g.add("pb.squeeze({0})", x)
    elif name == "broadcast_to":
        to = g.pick((2, *shape), g.any_shape(), (3, 1, *shape))
        g.add(f"pb.broadcast_to({{0}}, {to})", x)
    elif name in ("diagonal", "trace") and ndim > 1 and (name == "diagonal" or array.dtype != bool):
        first, second = (int(k) for k in g.random.permutation(ndim)[:2])
        g.add(f"pb.{name}({{0}}, {int(g.random.integers(-1, 2))}, {first}, {second})", x)


@kind(1.5)
def joined(g: Generator) -> None:
    x = g.find(lambda x: True)
    if x is None:
        return
    array = g.array(x)
    if g.chance(0.4):
        axis = int(g.random.integers(-array.ndim - 1, array.ndim + 1))
        g.add(f"pb.stack([{{0}}, {{1}}], axis={axis})", x,
              g.find(lambda y: y.shape == array.shape))  # fmt: skip
    elif array.ndim:
        axis = _axis(g, x)
        shape = np.delete(array.shape, axis).tolist()
        y = g.find(lambda y: y.ndim == array.ndim and np.delete(y.shape, axis).tolist() == shape)
        g.add(f"pb.concat([{{0}}, {{1}}], axis={axis})", x, y)


@kind(1)
def split(g: Generator) -> None:
    x = g.find(lambda x: x.ndim > 0)
    if x is None:
        return
    axis = _axis(g, x)
    length = g.array(x).shape[axis]
    if g.chance(0.5) and length % 2 == 0 and length:
        g.add(f"pb.split({{0}}, 2, axis={axis})", x, outputs=2)
    elif length > 1:
        first = int(g.random.integers(0, length))
        second = int(g.random.integers(first, length + 1))
        g.add(f"pb.split({{0}}, [{first}, {second}], axis={axis})", x, outputs=3)


@kind(0.6)
def made(g: Generator) -> None:
    """What has no inputs, or only takes their shape."""
    x = g.float()
    if x is None:
        return
    shape, dtype = g.array(x).shape, g.array(x).dtype
    rows, k = shape[0] if shape else 2, int(g.random.integers(-1, 2))
    text = g.pick(
        f"pb.zeros({shape}, '{dtype}')",
        f"pb.ones({shape}, '{dtype}')",
        f"pb.full({shape}, {g.number()}, '{dtype}')",
        f"pb.constant({listed(g.floats(shape))}, '{dtype}')",
        f"pb.eye({rows}, 3, k={k}, dtype='{dtype}')",
        f"pb.arange({shape[-1] if shape else 3}, dtype='{dtype}')",
        f"pb.one_hot({listed(g.random.integers(-1, 4, shape))}, 3, dtype='{dtype}')",
        "pb.zeros_like({0})",
        "pb.ones_like({0})",
        f"pb.full_like({{0}}, {g.number()})",
    )
    g.add(text, x, flows=False)


# --- products


@kind(2.5)
def product(g: Generator) -> None:
    a = g.find(lambda x: x.dtype.kind in "fi" and x.ndim > 0)
    if a is None:
        return
    inner = g.array(a).shape[-1]
    name = g.pick("matmul", "matmul", "@", "dot", "inner", "outer", "vdot", "vecdot", "tensordot")
    if name in ("matmul", "@", "dot"):
        b = g.find(
            lambda x: (
                x.dtype.kind in "fi" and x.ndim > 0 and x.shape[-2 if x.ndim > 1 else 0] == inner
            )
        )
        text = "{0} @ {1}" if name == "@" else f"pb.{name}({{0}}, {{1}})"
        ref = "pb.matmul({0}, {1})" if name == "@" else None
        g.add(text, a, b, ref=ref)
    elif name == "tensordot":
        axes = g.pick("1", "0", "([-1], [0])")
        b = g.find(lambda x: x.dtype.kind in "fi" and x.ndim > 0)
        g.add(f"pb.tensordot({{0}}, {{1}}, {axes})", a, b)
    elif name == "vdot":
        g.add("pb.vdot({0}, {1})", a,
              g.find(lambda x: x.dtype.kind in "fi" and x.size == g.array(a).size))  # fmt: skip
    elif name == "outer":
        g.add("pb.outer({0}, {1})", a, g.any_number())
    else:
        b = g.find(lambda x: x.dtype.kind in "fi" and x.ndim > 0 and x.shape[-1] == inner)
        g.add(f"pb.{name}({{0}}, {{1}})", a, b)


@kind(2)
def einsum(g: Generator) -> None:
    """Letters that agree with the lengths: those of one length may be one letter."""
    count = int(g.random.integers(1, 4))
    # Where infinities meet zeros depends on the order of the products.
    inputs = [
        g.find(lambda x: x.dtype.kind in "fi" and x.ndim < 4 and bool(np.isfinite(x).all()))
        for _ in range(count)
    ]
    letters: dict[int, list[str]] = {}
    fresh = iter("abcdefghijklmnop")
    terms = []
    for i in inputs:
        if i is None:
            return
        term = ""
        for length in g.array(i).shape:
            known = letters.setdefault(length, [])
            if not known or g.chance(0.35):
                known.append(next(fresh))
            term += g.pick(*known)
        terms.append(term)
    if math.prod(n ** len(known) for n, known in letters.items()) > 10**6:
        return  # NumPy goes through all of it
    used = sorted(set("".join(terms)))
    kept = [str(c) for c in g.random.permutation(used)[: int(g.random.integers(0, 4))]]
    text = f"{','.join(terms)}->{''.join(kept)}" if g.chance(0.8) else ",".join(terms)
    names = ", ".join(f"{{{k}}}" for k in range(count))
    g.add(f"pb.einsum('{text}', {names})", *inputs)


# --- indexing


def _key(g: Generator, shape: tuple[int, ...], advanced: bool) -> str:
    """The text of an index."""
    parts: list[str] = []
    axis = 0
    while axis < len(shape) and not g.chance(0.25):
        n = shape[axis]
        what = g.pick("slice", "slice", "number", "none", "list", "mask")
        if what == "none":
            parts.append("None")
            continue
        if what == "number" and n:
            parts.append(str(int(g.random.integers(-n, n))))
        elif what == "list" and advanced and n:
            rows = g.pick((2,), (3,), (1,), (2, 2), (0,))
            parts.append(listed(g.random.integers(-n, n, rows)))
        elif what == "mask" and advanced:
            parts.append(listed(g.random.random(n) < 0.6))
        else:
            parts.append(g.pick(":", "::-1", "1:", ":-1", "::2", "-2:", "1:2", "2::-1"))
        axis += 1
    if not parts or g.chance(0.2):
        parts.append("...")
    return ", ".join(parts)


@kind(3)
def indexed(g: Generator) -> None:
    x = g.find(lambda x: x.ndim > 0)
    if x is None:
        return
    g.add(f"{{0}}[{_key(g, g.array(x).shape, g.chance(0.5))}]", x)


@kind(1.5)
def taken(g: Generator) -> None:
    x = g.find(lambda x: x.ndim > 0 and x.size > 0)
    if x is None:
        return
    array = g.array(x)
    axis = _axis(g, x)
    n = array.shape[axis]
    form = g.pick("take", "flat", "along", "tensor", "tensor index", "argmax")
    rows = g.pick((2,), (4,), (), (2, 2), (0,))
    if form == "take":
        g.add(f"pb.take({{0}}, {listed(g.random.integers(-n, n, rows))}, axis={axis})", x)
    elif form == "flat":
        places = listed(g.random.integers(-array.size, array.size, rows))
        g.add(f"pb.take({{0}}, {places})", x)
    elif form == "along":
        wanted = list(array.shape)
        wanted[axis] = int(g.random.integers(1, 4))
        places = listed(g.random.integers(-n, n, wanted))
        g.add(f"pb.take_along_axis({{0}}, {places}, axis={axis})", x)
    elif form == "argmax" and array.dtype.kind == "f":
        top = g.add(f"pb.argmax({{0}}, axis={axis}, keepdims=True)", x)
        g.add(f"pb.take_along_axis({{0}}, {{1}}, axis={axis})", x, top)
    else:
        i = g.find(lambda i: i.dtype.kind == "i" and i.ndim < 3)
        places = g.add(f"pb.remainder({{0}}, {n})", i)
        if form == "tensor":
            g.add(f"pb.take({{0}}, {{1}}, axis={axis})", x, places)
        elif axis in (0, -array.ndim):
            g.add("{0}[{1}]", x, places)


@kind(2.5)
def updated(g: Generator) -> None:
    x = g.float(1)
    if x is None:
        return
    key = _key(g, g.array(x).shape, g.chance(0.5))
    update = g.pick("set", "add", "multiply", "min", "max")
    try:
        piece = eval(f"x[{key}]", {"x": g.array(x), "np": np})
    except IndexError:
        return
    if g.chance(0.4):
        number = g.number()
        g.add(f"{{0}}.at[{key}].{update}({number})", x,
              ref=f"pb.at({{0}}, np.s_[{key}], '{update}', {number})")  # fmt: skip
        return
    if update in ("set", "multiply") and "np.array" in key and _repeats(g.array(x), key):
        update = "add"  # which value stays is nobody's promise; of products there is no gradient
    dtype = g.array(x).dtype
    y = g.find(
        lambda y: (
            y.dtype == dtype
            and y.ndim <= piece.ndim
            and all(a in (1, b) for a, b in zip(y.shape[::-1], piece.shape[::-1], strict=False))
        )
    )
    g.add(f"{{0}}.at[{key}].{update}({{1}})", x, y,
          ref=f"pb.at({{0}}, np.s_[{key}], '{update}', {{1}})")  # fmt: skip


def _repeats(x: Any, key: str) -> bool:
    places = eval(f"x[{key}]", {"x": np.arange(x.size).reshape(x.shape), "np": np})
    return bool(np.unique(places).size != places.size)


# --- gradients inside of programs


@kind(2.5)
def called(g: Generator) -> None:
    x = g.find(lambda x: x.dtype.kind == "f", flows=True)
    name = g.pick("straight", "pair", "with_index", "nested", "overridden", "slope", "slopes",
                  "curvature", "value_and_slope", "recorded")  # fmt: skip
    if x is None:
        return
    if name == "with_index":
        g.add(f"helpers.with_index(pb, {{0}}, {int(g.random.integers(3))})", x, outputs=3)
    elif name in ("pair", "slopes", "recorded"):
        shape, dtype = g.array(x).shape, g.array(x).dtype
        y = g.find(lambda y: y.shape == shape and y.dtype == dtype, flows=True)
        g.add(f"helpers.{name}(pb, {{0}}, {{1}})", x, y, outputs=2)
    elif name == "slope":
        g.add("helpers.slope(pb, {0}, {1})", x, g.like(x))
    else:
        g.add(f"helpers.{name}(pb, {{0}})", x, outputs=2 if name == "value_and_slope" else 1)


KINDS = [f for f, _ in _kinds]
WEIGHTS = np.array([weight for _, weight in _kinds])
WEIGHTS /= WEIGHTS.sum()
