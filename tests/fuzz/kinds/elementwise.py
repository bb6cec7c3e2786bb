"""Elementwise operations, with numbers and with others."""

from __future__ import annotations

import numpy as np

from .registry import Generator, axis_of, kind

SMOOTH = ["sin", "cos", "tanh", "sigmoid", "softplus", "exp", "expm1", "square", "special.erf"]
SMOOTH += ["atan", "asinh", "deg2rad"]
KINKED = ["abs", "relu", "negative", "positive", "identity"]
STEPS = ["sign", "floor", "ceil", "round", "trunc"]


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
    "log2": "pb.add(pb.abs({0}), 0.3)",
    "log10": "pb.add(pb.abs({0}), 0.3)",
    "rsqrt": "pb.add(pb.square({0}), 0.4)",
    "reciprocal": "pb.add(pb.square({0}), 0.6)",
    "acosh": "pb.add(pb.square({0}), 1.4)",
    "asin": "pb.multiply(pb.tanh({0}), 0.9)",
    "acos": "pb.multiply(pb.tanh({0}), 0.9)",
    "atanh": "pb.multiply(pb.tanh({0}), 0.9)",
    "tan": "pb.tanh({0})",
    "exp2": "pb.tanh({0})",
    "sinh": "pb.tanh({0})",
    "cosh": "pb.tanh({0})",
    "rad2deg": "pb.tanh({0})",
}


@kind(2)
def bounded(g: Generator) -> None:
    name = g.pick(*BOUNDED)
    g.add(f"pb.{name}({'{0}' if g.special else BOUNDED[name]})", g.float())


# Of two arguments, the second or both inside of the domain.
PAIRS = {
    "logaddexp": "{1}",
    "logaddexp2": "{1}",
    "atan2": "pb.add(pb.square({1}), 0.4)",
    "hypot": "pb.add(pb.square({1}), 0.4)",
    "xlogy": "pb.add(pb.square({1}), 0.4)",
    "xlog1py": "pb.square({1})",
    "fma": "{1}, 0.5",
    "lerp": "{1}, 0.25",
}


@kind(2)
def pair(g: Generator) -> None:
    name, x = g.pick(*PAIRS), g.float()
    if x is None or g.special:
        return
    y = g.beside(x)
    if y is not None and g.array(y).dtype.kind == "f":
        g.add(f"pb.{name}({{0}}, {PAIRS[name]})", x, y)


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
        g.add(f"pb.clip_by_norm({{0}}, {abs(high) + 0.3}, axis={axis_of(g, x)})", x)
    elif name == "global" and np.sum(np.abs(g.array(x))) >= 0.1:  # a norm has a kink at 0
        text = f"pb.clip_by_global_norm([{{0}}, {{1}}], {abs(high) + 0.3})"
        split = "(lambda found: (*found[0], found[1]))"
        g.add(f"{split}({text})", x, g.find(lambda y: y.dtype == g.array(x).dtype), outputs=3)
