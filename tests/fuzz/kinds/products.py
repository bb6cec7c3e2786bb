"""Products of all kinds."""

from __future__ import annotations

import math

import numpy as np

from .registry import Generator, kind


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
                x.dtype.kind in "fi"
                and x.ndim > 0
                and x.shape[-2 if x.ndim > 1 else 0] == inner
                and x.size * g.array(a).size <= 10**6 * max(inner, 1)
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
        b = g.any_number()
        if b is not None and g.array(a).size * g.array(b).size <= 10**6:
            g.add("pb.outer({0}, {1})", a, b)
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
