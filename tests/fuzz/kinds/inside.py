"""Gradients inside of programs."""

from __future__ import annotations

from .registry import Generator, kind


@kind(2.5)
def called(g: Generator) -> None:
    x = g.find(lambda x: x.dtype.kind == "f", flows=True)
    name = g.pick("straight", "pair", "with_index", "nested", "overridden", "shaped", "through",
                  "slope", "slopes", "curvature", "value_and_slope", "recorded", "black_box",
                  "computed_again", "assigned_part", "looped", "repeated", "branched",
                  "each")  # fmt: skip
    if x is None:
        return
    if name == "with_index":
        g.add(f"helpers.with_index(pb, {{0}}, {int(g.random.integers(3))})", x, outputs=3)
    elif name in ("pair", "slopes", "recorded"):
        shape, dtype = g.array(x).shape, g.array(x).dtype
        y = g.find(lambda y: y.shape == shape and y.dtype == dtype, flows=True)
        g.add(f"helpers.{name}(pb, {{0}}, {{1}})", x, y, outputs=2)
    elif name == "assigned_part":
        if g.array(x).ndim:
            g.add("helpers.assigned_part(pb, {0}, {1})", x, g.like(x))
    elif name == "slope":
        g.add("helpers.slope(pb, {0}, {1})", x, g.like(x))
    else:
        g.add(f"helpers.{name}(pb, {{0}})", x, outputs=1 + (name in ("through", "value_and_slope")))
