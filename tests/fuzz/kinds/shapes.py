"""Shapes, parts and tensors that are made."""

from __future__ import annotations

import numpy as np

from ..program import listed
from .registry import Generator, axis_of, kind


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
        axis = axis_of(g, x)
        shape = np.delete(array.shape, axis).tolist()
        y = g.find(lambda y: y.ndim == array.ndim and np.delete(y.shape, axis).tolist() == shape)
        g.add(f"pb.concat([{{0}}, {{1}}], axis={axis})", x, y)


@kind(1)
def split(g: Generator) -> None:
    x = g.find(lambda x: x.ndim > 0)
    if x is None:
        return
    axis = axis_of(g, x)
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
