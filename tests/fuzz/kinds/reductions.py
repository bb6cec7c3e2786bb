"""Reductions, softmax, norms and losses."""

from __future__ import annotations

import numpy as np

from ..program import listed
from .registry import Generator, axes_of, axis_of, kind


@kind(5)
def reduced(g: Generator) -> None:
    x = g.any_number()
    if x is None:
        return
    name = g.pick("sum", "sum", "mean", "max", "min", "prod", "logsumexp", "special.logsumexp")
    if g.large and name == "prod":
        return
    g.add(f"pb.{name}({{0}}, axis={axes_of(g, x)}, keepdims={g.chance(0.4)})", x)


@kind(1)
def counted(g: Generator) -> None:
    name = g.pick("any", "all", "argmax", "argmin")
    allowed = "b" if name in ("any", "all") else "fi"
    x = g.find(lambda x: x.dtype.kind in allowed)
    if x is None:
        return
    axis = axes_of(g, x) if name in ("any", "all") else g.pick(None, _axis_or_none(g, x))
    g.add(f"pb.{name}({{0}}, axis={axis}, keepdims={g.chance(0.4)})", x)


def _axis_or_none(g: Generator, x: int) -> int | None:
    return axis_of(g, x) if g.array(x).ndim else None


@kind(1.5)
def softmax(g: Generator) -> None:
    x = g.float(1)
    if x is None or g.array(x).size == 0:
        return
    g.add(f"pb.{g.pick('softmax', 'log_softmax')}({{0}}, axis={axis_of(g, x)})", x)


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
