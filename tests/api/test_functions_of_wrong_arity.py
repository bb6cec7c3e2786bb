"""Functions that do not take the arguments of a call: the error names them and the form."""

from collections.abc import Callable
from typing import Any

import pytest
from support.each import each

import pullback as pb

X = pb.Variable([1.0, 2.0])


def _custom(rule: Callable[..., Any]) -> Any:
    return pb.gradients(pb.custom_gradient(lambda x: (x * 2, rule))(X), X)


def _overridden(rule: Callable[..., Any]) -> Any:
    return pb.gradients(pb.square(X), X, overrides={"square": rule})


CALLS: dict[str, Callable[[Any], Any]] = {
    "scan: .* of (carry, x)": lambda f: pb.scan(f, 0.0, X),
    "map: .* of an entry": lambda f: pb.map(f, X),
    "fori_loop: .* of (i, state)": lambda f: pb.fori_loop(0, 2, f, 0.0),
    "while_loop: .* of the state": lambda f: pb.while_loop(lambda s: s < 3, f, 0.0),
    "while_loop: .* of  the state": lambda f: pb.while_loop(f, lambda s: s + 1, 0.0),
    "cond: .* of the operands": lambda f: pb.cond(True, f, f, 1.0),
    "odeint: .* of (y, t, *args)": lambda f: pb.integrate.odeint(f, 1.0, [0.0, 1.0]),
    "custom_gradient: .* of one cotangent for each output": _custom,
    "gradients: .* of (op, *cotangents)": _overridden,
}


@each("message", CALLS)
def test_the_function_is_named(message: str) -> None:
    head, _, form = " ".join(message.split()).partition(" .* ")
    with pytest.raises(TypeError) as caught:
        CALLS[message](lambda *, option: option)
    text = str(caught.value)
    assert text.startswith(head) and f"expected a function {form}, got " in text, text
    assert "<lambda> (" in text and text.endswith(": too many positional arguments"), text


@each("message", CALLS)
def test_errors_inside_stay(message: str) -> None:
    def f(*args: Any) -> Any:
        raise TypeError("mine")

    with pytest.raises(TypeError, match=r"^mine$"):
        CALLS[message](f)
