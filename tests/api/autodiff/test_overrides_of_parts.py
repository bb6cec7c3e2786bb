"""What an operation is made of is its own affair: rules for `sum`, `square` or `log` mean calls of
these, not softmax or x**3 that need them inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.process import run

import pullback as pb
from pullback import _core

X = np.array([[0.5, 2.0, -1.0], [1.5, -0.25, 3.0]])
DEEP = np.sin(np.arange(12.0)).reshape(2, 3, 2)
COMPOSITES: dict[str, Callable[[Any], Any]] = {
    "mean": lambda x: pb.mean(x, axis=1),
    "prod": lambda x: pb.prod(x, axis=0),
    "pow": lambda x: x**3,
    "pow of -1": lambda x: x**-1,
    "max": lambda x: pb.max(x, axis=(0, 2)),  # in two steps
    "min": lambda x: pb.min(x, axis=(0, 2)),
    "softmax": pb.softmax,
    "log_softmax": pb.log_softmax,
    "logsumexp": lambda x: pb.logsumexp(x, axis=0),
    "softmax_cross_entropy": lambda x: pb.softmax_cross_entropy(
        x, [[0.0, 1.0, 0.0], [0.5, 0.5, 0]]
    ),
    "sparse_softmax_cross_entropy": lambda x: pb.sparse_softmax_cross_entropy(x, pb.argmax(x, 1)),
}


def wrong(op: Any, *cotangents: Any) -> Any:
    return [pb.full_like(one, 99.0) if one.dtype.kind == "f" else None for one in op.inputs]


# Comparisons, draws and the like, which nothing passes: overridden only where they are called.
ENDS = {
    *("iota", "random_binomial", "random_exponential"),
    *("random_normal", "random_poisson", "random_uniform"),
}


def but(name: str, ends: set[str]) -> dict[str, Any]:
    said = {"numpy_function", *_core.discrete_op_names()}  # the first has a rule from its call
    names = {*_core.op_names()} - ends - said - {name.split()[0]}
    shared = {"beta", "gamma"}  # also names of draws
    keys = [getattr(pb.special, key) if key in shared else key for key in names]
    return dict.fromkeys(keys, wrong)


def gradient(call: Callable[[Any], Any], of: Any, **options: Any) -> Any:
    x = pb.Variable(of)
    y = call(x)
    return pb.gradients(y, x, pb.cos(y), **options)[0].numpy()


@pytest.mark.parametrize("name", COMPOSITES)
@pytest.mark.parametrize("wrap", [lambda f: f, pb.function], ids=["eager", "function"])
def test_rules_for_parts_do_not_mean_the_whole(name: str, wrap: Any) -> None:
    call = wrap(COMPOSITES[name])
    of = DEEP if name in ("max", "min") else X
    expected = gradient(call, of)
    np.testing.assert_array_equal(gradient(call, of, overrides=but(name, ENDS)), expected)
    x = pb.Variable(of)
    with pb.gradient_override_map(but(name, set())):
        y = call(x)
    np.testing.assert_array_equal(pb.gradients(y, x, pb.cos(y))[0].numpy(), expected)
    own = {name.split()[0]: wrong}
    np.testing.assert_array_equal(gradient(call, of, overrides=own), np.full_like(of, 99.0))


def test_what_a_composite_is_given_is_the_callers() -> None:
    x = pb.Variable(X)
    doubled = {"square": lambda op, g: 2.0 * g}
    np.testing.assert_array_equal(
        pb.gradients(pb.mean(pb.square(x)), x, overrides=doubled)[0].numpy(), np.full_like(X, 2 / 6)
    )
    with pb.gradient_override_map(doubled):
        y = pb.mean(pb.square(x))
    np.testing.assert_array_equal(pb.gradients(y, x)[0].numpy(), np.full_like(X, 2 / 6))


def test_registered_rules() -> None:
    assert run(
        "import pullback as pb\n"
        "for name in ('square', 'multiply', 'sum', 'divide', 'log', 'exp'):\n"
        "    pb.register_gradient(name, replace=True)(\n"
        "        lambda op, g: [pb.full_like(x, 99.0) for x in op.inputs])\n"
        "x = pb.Variable(2.0)\n"
        "one = lambda y: float(pb.gradients(y, x)[0])\n"
        "print(one(x**3), one(pb.mean(x[None])), one(pb.logsumexp(x[None])), one(pb.square(x)))\n"
    ).split() == ["12.0", "1.0", "1.0", "99.0"]


@pytest.mark.parametrize("name", COMPOSITES)
def test_parts_stay_parts_in_a_batch(name: str) -> None:
    of = DEEP if name in ("max", "min") else X
    x = pb.Variable(np.stack([of, of + 0.25]))
    y = pb.sum(pb.vmap(COMPOSITES[name])(x))
    parts = ("add", "divide", "exp", "log", "multiply", "pick", "square", "subtract")
    expected = pb.gradients(y, x)[0].numpy()
    overridden = pb.gradients(y, x, overrides=dict.fromkeys(parts, wrong))[0].numpy()
    np.testing.assert_array_equal(overridden, expected)
