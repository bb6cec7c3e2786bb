"""Rules that refer to tensors of the iteration or call, or apply functions with rules."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pullback as pb


def programs(f: Callable[[Any, Any], Any]) -> Iterator[tuple[str, Callable[[Any, Any], Any]]]:
    """Programs with the value of f(x, q), in which f is called in another scope."""
    yield "function", pb.function(f)
    yield "checkpoint", pb.checkpoint(f)
    yield "function of checkpoint", pb.function(pb.checkpoint(f))
    yield "checkpoint of function", pb.checkpoint(pb.function(f))
    yield "function of function", pb.function(lambda x, q: pb.function(f)(x * 1.0, q))
    yield "fori_loop", lambda x, q: pb.fori_loop(0, 1, lambda i, c: f(c, q), x)
    yield "carried", lambda x, q: pb.fori_loop(0, 1, lambda i, c: (f(*c), c[1]), (x, q))[0]
    yield "scanned", lambda x, q: pb.scan(lambda c, t: (f(c, t), None), x, pb.reshape(q, (1,)))[0]
    yield "map", lambda x, q: pb.map(lambda t: f(x, t), pb.reshape(q, (1,)))[0]
    yield "cond", lambda x, q: pb.cond(x > 0, f, lambda x, q: x, x, q)
    yield "vmap", lambda x, q: pb.vmap(f)(pb.reshape(x, (1,)), pb.reshape(q, (1,)))[0]
    yield (
        "vmap of loop",
        lambda x, q: pb.vmap(lambda x, q: pb.fori_loop(0, 1, lambda i, c: f(c, q), x))(
            pb.reshape(x, (1,)), pb.reshape(q, (1,))
        )[0],
    )
    yield "loop in function", pb.function(lambda x, q: pb.fori_loop(0, 1, lambda i, c: f(c, q), x))


def derivatives(f: Callable[[Any, Any], Any]) -> list[Any]:
    x, q = pb.constant(0.6, "float64"), pb.constant(1.2, "float64")

    def outer(x: Any, q: Any) -> Any:
        return pb.sin(f(pb.cos(x), q))

    def first(x: Any, q: Any) -> Any:
        of_x, of_q = pb.grad(outer, argnums=(0, 1))(x, q)
        return of_x + 0.3 * of_q

    def second(x: Any, q: Any) -> Any:
        return pb.grad(first)(x, q) + 0.7 * pb.jvp(pb.grad(outer), (x, q), (q, x))[1]

    return [first(x, q), second(x, q), *pb.grad(second, argnums=(0, 1))(x, q)]


def refers(x: Any, q: Any) -> Any:
    """The value does not depend on q, the rule does."""
    return pb.custom_gradient(lambda x: (pb.sin(x), lambda g: g * q))(x)


def applies(x: Any, q: Any) -> Any:
    """The rule applies another function with a rule to its cotangent."""
    inner = pb.custom_gradient(lambda d: (d * 1.0, lambda g: g * q))
    return pb.custom_gradient(lambda x: (x * x, lambda d: inner(d) * x + inner(x) * d))(x)


def chained(x: Any, q: Any) -> Any:
    """The second rule refers to the result of the first one."""
    y = pb.custom_gradient(lambda x: (x * 0.8, lambda g: g * q))(x)
    return pb.custom_gradient(lambda y: (y * 0.9, lambda g: g * (y * q)))(y)


def test_derivatives_are_those_of_the_call_itself():
    for f in (refers, applies, chained):
        expected = np.array(derivatives(f))
        for name, program in programs(f):
            np.testing.assert_allclose(
                derivatives(program), expected, rtol=1e-12, err_msg=f"{f.__name__}: {name}"
            )


def test_a_rule_that_refers_to_the_scanned_entry_alone():
    """The gradient is the product of the entries, as each rule returns g * t."""

    def f(x: Any, ts: Any) -> Any:
        return pb.scan(lambda c, t: (refers(c, t), None), x, ts)[0]

    x, ts = pb.constant(0.6, "float64"), pb.constant([1.2, 0.4, -0.5], "float64")
    assert np.isclose(float(pb.grad(f)(x, ts)), -0.24)
    mixed = pb.grad(lambda ts: pb.grad(f)(x, ts))(ts)
    np.testing.assert_allclose(mixed.numpy(), [-0.2, -0.6, 0.48], rtol=1e-14)


def test_a_rule_of_what_all_entries_share() -> None:
    """It cannot refer to a mapped argument; the value is computed once for all entries."""
    x, q = pb.constant(0.6, "float64"), pb.constant([1.2, 0.4], "float64")
    for f in (refers, applies):

        def summed(x: Any, q: Any, f: Any = f) -> Any:
            return pb.sum(pb.vmap(lambda t: f(x, t) * t)(q))

        with pytest.raises(NotImplementedError, match="refers to a mapped argument"):
            pb.grad(lambda x, q, g=summed: pb.grad(g)(x, q))(x, q)
    calls = []

    @pb.custom_gradient
    def shared(x: Any) -> Any:
        calls.append(0)
        return pb.sin(x), lambda g: g * pb.cos(x)

    found = pb.grad(lambda x: pb.sum(pb.vmap(lambda t: shared(x) * t)(q)))(x)
    assert np.isclose(float(found), 1.6 * np.cos(0.6)) and len(calls) == 1
