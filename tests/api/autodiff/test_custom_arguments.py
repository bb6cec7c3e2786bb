"""custom_gradient: which arguments it covers, and what a rule may answer for each."""

from __future__ import annotations

import numpy as np
import pytest
from support.gradients import each_mode  # noqa: F401

import pullback as pb


def test_arguments_are_bound_by_signature(mode):
    @pb.custom_gradient
    def f(x, scale, y=None, *rest, flag=False, **more):
        assert isinstance(scale, str) and flag
        total = x + y + sum(rest) + more["z"]
        return total, lambda g: tuple(k * g for k in (1, 10, 100, 1000))

    def call(a, b, c, d):
        return f(a, "scale", b, c, z=d, flag=True)

    def by_keyword(a, b, c, d):
        return f(z=c, flag=True, y=b, scale="scale", x=a) + d

    assert mode(call, 1.0, 2.0, 3.0, 4.0) == [1.0, 10.0, 100.0, 1000.0]

    @pb.custom_gradient
    def g(x, y):
        return 2 * x + 3 * y, lambda up: (1000 * up, 2000 * up)

    assert mode(lambda a, b: g(y=b, x=a), 1.0, 1.0) == [1000.0, 2000.0]


@pytest.mark.parametrize("other", [3, 2.5, "text", None, len, np.ones(3), True])
def test_what_is_not_a_tensor_passes_through(other):
    seen = []

    @pb.custom_gradient
    def f(other, x):
        seen.append(other)
        return x * 2, lambda g: 5 * g

    x = pb.Variable(1.0)
    assert float(pb.gradients(f(other, x), x)[0]) == 5.0
    assert seen[0] is other


@pytest.mark.parametrize("other", [3, 2.5, "text", None, len, np.ones(3), True])
def test_none_is_an_answer_for_what_is_not_a_tensor(other):
    @pb.custom_gradient
    def f(x, other, y):
        return x * y, lambda g: (5 * g, None, 7 * g)

    x, y = pb.Variable(1.0), pb.Variable(2.0)
    assert [float(g) for g in pb.gradients(f(x, other, y), [x, y])] == [5.0, 7.0]


def test_an_answer_for_what_can_have_none_is_refused():
    f = pb.custom_gradient(lambda x, name: (x * 2, lambda g: (5 * g, g)))
    x = pb.Variable(1.0)
    with pytest.raises(ValueError, match="expected 1 gradient for its arguments, got 2"):
        pb.gradients(f(x, "name"), x)


@pytest.mark.parametrize("answers", ["tensors", "none", "all"])
def test_numbers_may_be_traced_or_not(answers):
    """A rule that is right for a number is right where a `function` makes a tensor of it."""

    @pb.custom_gradient
    def scale(x, k):
        def rule(g):
            slope = g * k * 3
            return {
                "tensors": slope,
                "none": (slope, None),
                "all": (slope, pb.sum(g * x)),
            }[answers]

        return x * k, rule

    x = pb.Variable(np.array([1.0, 2.0]))
    for f in (scale, pb.function(scale)):
        (g,) = pb.gradients(f(x, 2.5), x)
        assert g.numpy().tolist() == [7.5, 7.5]
    g = pb.function(lambda x, k: pb.gradients(scale(x, k), [x])[0])(x, 2.5)
    assert g.numpy().tolist() == [7.5, 7.5]
    if answers == "all":
        g = pb.function(lambda x, k: pb.gradients(scale(x, k), [k])[0])(x, 2.5)
        assert float(g) == 3.0


@pytest.mark.parametrize("other", [np.float64(2.5), np.full(2, 2.5)])
def test_none_for_an_array_that_may_be_traced(other):
    f = pb.custom_gradient(lambda x, k: (x * k, lambda g: (g * k * 3, None)))
    x = pb.Variable(np.array([1.0, 2.0]))
    for call in (f, pb.function(f)):
        assert pb.gradients(call(x, other), x)[0].numpy().tolist() == [7.5, 7.5]


def test_nested_containers(mode):
    @pb.custom_gradient
    def f(params, x):
        w, (b, name) = params["w"], params["b"]
        assert name == "bias"
        return w * x + b, lambda g: ({"b": (g * 100, g * 10)}, g)

    assert mode(lambda w, b, x: f({"w": w, "b": (b, "bias")}, x), 2.0, 3.0, 4.0) == [
        10.0,
        100.0,
        1.0,
    ]
