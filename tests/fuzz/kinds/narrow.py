"""Integers and bits of all widths, halves, and what has as many results as its values say."""

from __future__ import annotations

from .indexing import key_of
from .registry import Generator, kind

BITS = ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift")
WIDTHS = ("int8", "int16", "uint8", "uint16", "uint32", "int32", "uint64")
WRAPPING = ("add", "subtract", "multiply", "maximum", "minimum")


@kind(0.8)
def bits(g: Generator) -> None:
    name = g.pick(*BITS, "bitwise_invert", "divmod")
    x = g.find(lambda x: x.dtype.kind == "i" or (x.dtype == bool and name in BITS[:3]))
    if x is None:
        return
    if name == "bitwise_invert":
        g.add("pb.bitwise_invert({0})", x)
    elif name == "divmod":
        below = "pb.add(pb.abs({1}), 1)"
        g.add(f"pb.divmod({{0}}, {below})", x, g.like(x), outputs=2,
              ref=f"(pb.floor_divide({{0}}, {below}), pb.remainder({{0}}, {below}))")  # fmt: skip
    elif "shift" in name:
        g.add(f"pb.{name}({{0}}, pb.remainder({{1}}, 5))", x, g.like(x))
    else:
        g.add(f"pb.{name}({{0}}, {{1}})", x, g.like(x))


@kind(0.8)
def narrow_integers(g: Generator) -> None:
    """They wrap, and meet as NumPy's do."""
    x = g.find(lambda x: x.dtype.kind == "i")
    if x is None:
        return
    first, second = g.pick(*WIDTHS), g.pick(*WIDTHS)
    if {first, second} & {"uint64"} and first != second:
        return  # they meet in float64
    name = g.pick(*WRAPPING)
    wide = "pb.multiply({0}, 37)"
    text = (
        f"pb.astype(pb.{name}(pb.astype({wide}, '{first}'), pb.astype({{1}}, '{second}')), 'int64')"
    )
    g.add(text, x, g.like(x))


HALVES = {
    "add": 2, "subtract": 2, "multiply": 2, "divide": 2, "maximum": 2, "sqrt": 1, "negative": 1,
    "square": 1, "identity": 1, "sum": 1,
}  # fmt: skip


@kind(2)
def halves(g: Generator) -> None:
    """In some programs only, as all of their derivatives have few digits."""
    x = g.float()
    if x is None or g.special or not g.halves:
        return
    name, to, dtype = g.pick(*HALVES), g.pick("float16", "bfloat16"), g.array(x).dtype
    first = "pb.add(pb.abs({0}), 0.4)" if name == "sqrt" else "{0}"
    second = "pb.add(pb.abs({1}), 0.4)" if name == "divide" else "{1}"
    inputs = [x] if HALVES[name] == 1 else [x, g.like(x)]
    given = [first, second][: len(inputs)]
    cast = ", ".join(f"pb.astype({a}, '{to}')" for a in given)
    axis = ", axis=-1" if name == "sum" else ""
    if axis and not g.array(x).ndim:
        return
    g.add(f"pb.astype(pb.{name}({cast}{axis}), '{dtype}')", *inputs,
          ref=f"pb.narrowed('{name}', '{to}', {', '.join(given)}{axis})")  # fmt: skip


@kind(1.5)
def counted_out(g: Generator) -> None:
    """Shapes that depend on values: not inside of a traced function."""
    x = g.float(1)
    if x is None or not g.looks_at_values or g.special or g.array(x).size == 0:
        return
    form = g.pick("mask", "mask", "nonzero", "flatnonzero", "argwhere", "unique", "extract", "sets",
                  "compress", "counts", "histogram")  # fmt: skip
    if form == "mask":
        g.add("{0}[{0} > 0.1]", x, ref="{0}[pb.greater({0}, 0.1)]")
    elif form == "nonzero":
        g.add("{0}[pb.nonzero(pb.greater({0}, 0.1))]", x, ref="{0}[pb.greater({0}, 0.1)]")
    elif form == "flatnonzero":
        g.add("pb.take({0}, pb.flatnonzero(pb.less({0}, 0.3)))", x,
              ref="{0}[pb.less({0}, 0.3)]")  # fmt: skip
    elif form == "argwhere":
        g.add("pb.argwhere(pb.less({0}, 0.3))", x, ref="np.argwhere(pb.less({0}, 0.3))")
    elif form == "extract":
        g.add("pb.extract(pb.less({0}, 0.3), {0})", x, ref="{0}[pb.less({0}, 0.3)]")
    elif form == "compress":
        g.add("pb.compress(pb.less(pb.ravel({0}), 0.3), {0})", x, ref="{0}[pb.less({0}, 0.3)]")
    elif form == "histogram":
        g.add("pb.histogram({0}, 4, range=(-2.03, 2.03))[0]", x,
              ref="pb.chosen(np.histogram({0}, 4, range=(-2.03, 2.03))[0])")  # fmt: skip
    else:
        i = g.find(lambda i: i.dtype.kind == "i")
        name = g.pick("unique", "unique_values", "unique_counts", "unique_inverse", "unique_all",
                      "union1d", "intersect1d", "bincount")  # fmt: skip
        if name in ("union1d", "intersect1d"):
            g.add(f"pb.{name}({{0}}, [-1, 2])", i, ref=f"np.{name}({{0}}, np.array([-1, 2]))")
        elif name == "bincount":
            g.add("pb.bincount(pb.ravel(pb.remainder({0}, 4)))", i,
                  ref="np.bincount(np.ravel(pb.remainder({0}, 4)))")  # fmt: skip
        elif name in ("unique", "unique_values"):
            g.add(f"pb.{name}({{0}})", i, ref="np.unique({0})")
        else:
            outputs = {"unique_counts": 2, "unique_inverse": 2, "unique_all": 4}[name]
            g.add(f"tuple(pb.{name}({{0}}))", i, outputs=outputs, ref=f"tuple(np.{name}({{0}}))")


@kind(1.2)
def assigned(g: Generator) -> None:
    """y = x.copy(), then y[key] = v, y[key] += v."""
    x = g.float(1)
    if x is None:
        return
    key = key_of(g, g.array(x).shape, False)
    form = g.pick("set", "add", "multiply")
    number = g.number()
    g.add(f"helpers.assigned(pb, {{0}}, np.s_[{key}], '{form}', {number})", x)
