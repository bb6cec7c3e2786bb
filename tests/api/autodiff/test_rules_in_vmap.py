"""Rules of the user inside of `vmap` whose answers do not depend on the cotangents, or not on the
batch, against the same rules example by example."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

X = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 4.0]])
CAPTURED = pb.constant([5.0, 6.0, 7.0], "float64")
ANSWERS = {
    "zeros": lambda u: pb.zeros_like(u),
    "ones": lambda u: pb.ones_like(u),
    "captured": lambda u: CAPTURED,
    "array": lambda u: np.full(3, 2.5),
    "used": lambda u: 2.0 * u,
}


def batched_and_single(f: Any) -> tuple[Any, Any]:
    """Gradients of the sum over a batch, by vmap and by a Python loop."""
    x, y = pb.Variable(X), pb.Variable(X)
    (batched,) = pb.gradients(pb.sum(pb.vmap(f)(x)), [x])
    (single,) = pb.gradients(sum(pb.sum(f(y[i])) for i in range(len(X))), [y])
    return batched.numpy(), single.numpy()


@each("name", sorted(ANSWERS))
def test_answers_that_ignore_the_cotangent(name: str) -> None:
    g = pb.custom_gradient(lambda x: (pb.tanh(x), ANSWERS[name]))
    for f in (g, lambda x: g(pb.sin(x)) + 2.0 * x, lambda x: pb.vmap(lambda a: g(x) * a)(x)):
        batched, single = batched_and_single(f)
        np.testing.assert_allclose(batched, single, rtol=1e-14)
        mapped, x = pb.vmap(f), pb.constant(X)
        for of in (pb.function(mapped), pb.checkpoint(mapped)):
            slope = pb.grad(lambda x, of=of: pb.sum(of(x)))
            np.testing.assert_allclose(slope(x), single, rtol=1e-14)
            np.testing.assert_allclose(pb.function(slope)(x), single, rtol=1e-14)


@each("key", [pb.nn.softmax, pb.tanh, pb.round, pb.linalg.norm])
def test_overrides_that_ignore_the_cotangent(key: Any) -> None:
    def f(x: Any) -> Any:
        with pb.gradient_override_map({key: lambda op, g: pb.ones_like(op.inputs[0])}):
            return key(x)

    batched, single = batched_and_single(f)
    np.testing.assert_array_equal(batched, single)
    np.testing.assert_array_equal(single, np.ones_like(X))


def test_a_rule_of_several_results_that_ignores_a_cotangent() -> None:
    def f(x: Any) -> Any:
        with pb.gradient_override_map({pb.split: lambda op, g, h, k: pb.concat([g, g, g])}):
            return sum((i + 1.0) * part for i, part in enumerate(pb.split(x, 3)))

    batched, single = batched_and_single(f)
    np.testing.assert_array_equal(batched, single)


def test_a_later_rule_of_results_of_which_one_has_no_batch() -> None:
    shared = pb.Variable([3.0, 4.0])
    rule = {pb.broadcast_arrays: lambda op, g, h: [10.0 * g + 100.0 * h, 1000.0 * h + g]}

    def uses(x: Any) -> Any:
        a, b = pb.broadcast_arrays(x, shared)
        return pb.stack([pb.sum(a * b), pb.sum(b * b)])

    x = pb.Variable([1.0, 2.0])
    batch = pb.stack([x, x])
    for part in (0, 1):
        alone = pb.gradients(uses(x)[part], [x, shared], overrides=rule)
        together = pb.gradients(
            pb.sum(pb.vmap(uses)(batch)[:, part]) / 2.0, [x, shared], overrides=rule
        )
        for one, other in zip(alone, together, strict=True):
            np.testing.assert_allclose(other.numpy(), one.numpy())
    np.testing.assert_array_equal(
        pb.gradients(uses(x)[0], [x], overrides=rule)[0].numpy(), [130.0, 240.0]
    )


def test_the_name_that_a_rule_is_given() -> None:
    seen: list[str] = []

    def rule(op: Any, g: Any) -> Any:
        seen.append(op.type)
        return g

    with pb.gradient_override_map(dict.fromkeys(("softmax", "sin"), rule)):
        x = pb.Variable(X)
        y = pb.vmap(lambda x: pb.sum(pb.nn.softmax(pb.sin(x)), axis=-1, keepdims=True))(x)
        pb.gradients(pb.sum(y), x)
    assert seen == ["softmax", "sin"]


def test_a_wrong_dtype_and_a_wrong_shape_are_reported_together() -> None:
    f = pb.custom_gradient(lambda x: (pb.exp(x), lambda g: pb.zeros(7)))
    with pytest.raises(TypeError, match=r"float64 of shape \(3,\) .* float32 of shape \(7,\)"):
        pb.grad(lambda x: pb.sum(f(x)))(np.ones(3))


def test_advice_for_an_input_without_gradient() -> None:
    rule = {pb.where: lambda op, g: [g, g, g]}
    x = pb.Variable(X)
    with pytest.raises(TypeError, match="for input 0, got float64; return None for it"):
        pb.gradients(pb.where(X > 1, x, 2.0 * x), x, overrides=rule)
