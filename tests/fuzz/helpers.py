"""Functions that programs call: custom gradients, overrides, gradients inside of programs, recorded
functions. Each takes `pb` first. With a `Meaning` in its place it says what the function's
derivative is that of: `with_slope_of(value, other)`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from .reference import Meaning


def straight(pb: Any, x: Any) -> Any:
    """round(x) with the slope of 2 x."""
    if isinstance(pb, Meaning):
        return pb.with_slope_of(pb.round(x), 2 * x)

    @pb.custom_gradient
    def f(x: Any) -> Any:
        return pb.round(x), lambda g: 2 * g

    return f(x)


def pair(pb: Any, x: Any, y: Any) -> Any:
    """Two outputs, with the slopes of sin(x) and x * y."""
    if isinstance(pb, Meaning):
        return pb.with_slope_of(x + y, pb.sin(x)), pb.with_slope_of(pb.cos(y), x * y)

    @pb.custom_gradient
    def f(x: Any, y: Any) -> Any:
        def rule(g: Any, h: Any) -> Any:
            return g * pb.cos(x) + h * y, h * x

        return (x + y, pb.cos(y)), rule

    return f(x, y)


def with_index(pb: Any, x: Any, k: int) -> Any:
    """An output of integers at place k of three, the others with the slopes of 3 x and sin(x)."""
    if isinstance(pb, Meaning):
        out = [pb.with_slope_of(x * x, 3 * x), pb.with_slope_of(-x, pb.sin(x))]
        out.insert(k, pb.astype(pb.floor(x), "int32"))
        return tuple(out)

    @pb.custom_gradient
    def f(x: Any) -> Any:
        def rule(*cotangents: Any) -> Any:
            g, h = (g for i, g in enumerate(cotangents) if i != k)
            return 3 * g + h * pb.cos(x)

        out = [x * x, -x]
        out.insert(k, pb.astype(pb.floor(x), "int32"))
        return tuple(out), rule

    return f(x)


def nested(pb: Any, x: Any) -> Any:
    """A custom gradient whose rule is made of one."""
    if isinstance(pb, Meaning):
        return pb.with_slope_of(pb.abs(x), x * x)

    @pb.custom_gradient
    def slope(x: Any) -> Any:
        return 2 * x, lambda g: 2 * g

    @pb.custom_gradient
    def f(x: Any) -> Any:
        return pb.abs(x), lambda g: g * slope(x)

    return f(x)


def overridden(pb: Any, x: Any) -> Any:
    """floor(x) + sin(x), where floor has the slope of x and sin that of x * x."""
    if isinstance(pb, Meaning):
        return pb.with_slope_of(pb.floor(x), x) + pb.with_slope_of(pb.sin(x), x * x)
    rules = {"floor": lambda op, g: g, "sin": lambda op, g: 2 * g * op.inputs[0]}
    with pb.gradient_override_map(rules):
        return pb.floor(x) + pb.sin(x)


def shaped(pb: Any, x: Any) -> Any:
    """Gradients that are turned round, scaled, masked, limited and hooked, one after the other."""
    if isinstance(pb, Meaning):
        y = pb.with_slope_of(x, -2 * x)
        y = pb.with_slope_of(y, 0.75 * y)
        y = pb.with_slope_of(y, pb.where(pb.greater(y, 0.25), 0.0, y))
        y = pb.with_slope_of(y, pb.sin(y))
        return y * pb.stop_gradient(x)
    y = pb.scale_gradient(pb.reverse_gradient(x, 2), 0.75)
    y = pb.zero_gradient_where(y > 0.25, y)
    y = pb.with_gradient(y, lambda g, at=y: g * pb.cos(at))
    y = pb.clip_gradient(pb.clip_gradient(y, float("inf")), float("inf"), by="norm")
    return y * pb.prevent_gradient(pb.stop_gradient(x))


def through(pb: Any, x: Any) -> Any:
    """Values of one function with the slopes of another."""
    if isinstance(pb, Meaning):
        return pb.with_slope_of(pb.round(x), pb.sin(x)), pb.with_slope_of(pb.floor(x), x)
    return pb.straight_through(pb.round, pb.sin)(x), pb.grad_pass_through(pb.floor)(x)


def slope(pb: Any, x: Any, y: Any) -> Any:
    """A gradient inside of the program."""
    if isinstance(pb, Meaning):
        return pb.cos(x) * y + 2 * x
    return pb.grad(lambda t: pb.sum(pb.sin(t) * y + t * t))(x)


def slopes(pb: Any, x: Any, y: Any) -> Any:
    """Gradients by two tensors that have a history of their own."""
    if isinstance(pb, Meaning):
        return pb.cos(x * y) * y, pb.cos(x * y) * x
    x, y = pb.identity(x), pb.identity(y)  # neither is made from the other
    return tuple(pb.gradients(pb.sin(x * y), [x, y]))


def curvature(pb: Any, x: Any) -> Any:
    """A second derivative, by tapes."""
    if isinstance(pb, Meaning):
        return -pb.sin(x) + 6 * x
    x = pb.identity(x)
    with pb.GradientTape() as outer:
        outer.watch(x)
        with pb.GradientTape() as inner:
            inner.watch(x)
            y = pb.sin(x) + x * x * x
        first = inner.gradient(y, x)
    return outer.gradient(first, x)


def value_and_slope(pb: Any, x: Any) -> Any:
    """value_and_grad, through a dict."""
    if isinstance(pb, Meaning):
        return pb.sum(pb.exp(-x * x)), -2 * x * pb.exp(-x * x)
    value, slopes = pb.value_and_grad(lambda p: pb.sum(pb.exp(-p["x"] * p["x"])))({"x": x})
    return value, slopes["x"]


def recorded(pb: Any, x: Any, y: Any) -> Any:
    """A function that is recorded once per signature, and called with whatever comes."""
    if isinstance(pb, Meaning):
        return pb.tanh(x) * y + x, pb.sum(y * y)
    # A new one before calls that trace anew so often are warned of.
    if "recorded" not in _functions or _functions["recorded"].cache_info().misses > 12:

        @pb.function
        def f(x: Any, y: Any) -> Any:
            return pb.tanh(x) * y + x, pb.sum(y * y)

        _functions["recorded"] = f
    return _functions["recorded"](x, y)


def assigned(pb: Any, x: Any, key: Any, update: str, value: float) -> Any:
    """An assignment to a copy, and x as it was."""
    if isinstance(pb, Meaning):
        return pb.add(pb.multiply(pb.at(x, key, update, value), 0.5), 0)
    y = x.copy()
    if update == "set":
        y[key] = value
    elif update == "add":
        y[key] += value
    else:
        y[key] *= value
    return y * 0.5 + 0


def assigned_part(pb: Any, x: Any, y: Any) -> Any:
    """What was assigned has its gradient, what was replaced has none."""
    if isinstance(pb, Meaning):
        return pb.at(x, 0, "set", pb.sin(y[-1])) * x
    z = x.copy()
    z[0] = pb.sin(y[-1])
    return z * x


def black_box(pb: Any, x: Any) -> Any:
    """A function of NumPy arrays."""
    if isinstance(pb, Meaning):
        return pb.sin(x)

    def rule(primals: Any, upstream: Any) -> Any:
        return upstream[0] * pb.cos(primals[0])

    return pb.numpy_function(np.sin, lambda x: x, vjp=rule)(x)


def computed_again(pb: Any, x: Any) -> Any:
    """A checkpoint."""
    if isinstance(pb, Meaning):
        return pb.tanh(x) * pb.exp(-x * x)
    return pb.checkpoint(lambda t: pb.tanh(t) * pb.exp(-t * t))(x)


def looped(pb: Any, x: Any) -> Any:
    """A scan, with a tensor from outside."""
    if isinstance(pb, Meaning):
        return pb.sin(pb.sin(pb.sin(x) * x) * x) * x
    return pb.scan(lambda s, _: (pb.sin(s) * x, None), x, length=3)[0]


def repeated(pb: Any, x: Any) -> Any:
    """A loop that finds out how often it runs, in one that knows."""
    if isinstance(pb, Meaning):
        y = x * 0.5 + pb.cos(x * x)
        y = y * 0.5 + pb.cos(y * x)
        y = y * 0.5 + pb.cos(y * x)
        return y * 0.5 + pb.cos(y * x)

    def twice(i: Any, y: Any) -> Any:
        step = lambda s: (s[0] + 1, s[1] * 0.5 + pb.cos(s[1] * x))  # noqa: E731
        return pb.while_loop(lambda s: s[0] < 2, step, (0, y))[1]

    return pb.fori_loop(0, 2, twice, x)


def branched(pb: Any, x: Any) -> Any:
    """A choice of one, and a choice in it."""
    if isinstance(pb, Meaning):
        return pb.exp(-x * x) * 2

    def chosen(t: Any) -> Any:
        return pb.switch(1, [pb.log, lambda t: pb.exp(-t * t), pb.sin], t) * 2

    return pb.cond(True, chosen, lambda t: 1 / t, x)


def each(pb: Any, x: Any) -> Any:
    """Entry by entry."""
    if isinstance(pb, Meaning):
        return pb.sin(x) * x
    return pb.reshape(pb.map(lambda t: pb.sin(t) * t, pb.reshape(x, (-1,))), x.shape)


_functions: dict[str, Any] = {}
ALL: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        straight,
        pair,
        with_index,
        nested,
        overridden,
        shaped,
        through,
        slope,
        slopes,
        curvature,
        value_and_slope,
        recorded,
        assigned,
        assigned_part,
        black_box,
        computed_again,
        looped,
        repeated,
        branched,
        each,
    )
}
# Forward mode transposes the rules of these, and of functions that mix rows. Called, a rule gets
# tensors, in which no zero is structural; transposed, what it says keeps those that are.
TRANSPOSED = {
    f"helpers.{f.__name__}("
    for f in (straight, pair, with_index, nested, overridden, shaped, through, black_box,
              computed_again)
} | {"softmax", "logsumexp", "cumulative_prod"}  # fmt: skip


def source_of(f: Callable[..., Any]) -> str:
    """As it stands, without the lines for the reference."""
    lines = inspect.getsource(f).splitlines()
    start = next(i for i, line in enumerate(lines) if "isinstance(pb, Meaning)" in line)
    end = start + 1
    while end < len(lines) and lines[end].startswith("        "):
        end += 1
    kept = [line for line in lines[:start] + lines[end:] if '"""' not in line]
    text = "\n".join(kept).replace("(pb: Any, ", "(").replace(": Any", "").replace(" -> Any", "")
    if "_functions" in text:
        text = "functions = {}\n" + text.replace("_functions", "functions")
    return text + "\n"
