"""Reading and updating by index."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..program import listed
from .registry import Generator, axis_of, kind


def key_of(g: Generator, shape: tuple[int, ...], advanced: bool) -> str:
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
    g.add(f"{{0}}[{key_of(g, g.array(x).shape, g.chance(0.5))}]", x)


@kind(1.5)
def taken(g: Generator) -> None:
    x = g.find(lambda x: x.ndim > 0 and x.size > 0)
    if x is None:
        return
    array = g.array(x)
    axis = axis_of(g, x)
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
    key = key_of(g, g.array(x).shape, g.chance(0.5))
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
    if update == "set" and "np.array" in key and _repeats(g.array(x), key):
        update = "add"  # which value stays is nobody's promise
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
