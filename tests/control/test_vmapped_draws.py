"""vmap draws for each entry, and whatever computes an iteration or a checkpoint again draws the
same numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

XS = np.array([1.0, 2.0, 0.5])


def noise() -> Any:
    return pb.abs(pb.random.normal((), dtype="float64"))


def until(x: Any) -> Any:
    """As many iterations as it takes: linear in x for the same draws and count."""
    return pb.while_loop(
        lambda s: s[1] < 5, lambda s: (s[0] + 1, s[1] + noise() * x), (0, np.float64(0.0))
    )[1]


def squares(x: Any) -> Any:
    return pb.while_loop(
        lambda s: s[1] < 5, lambda s: (s[0] + 1, s[1] + noise() * x * x), (0, np.float64(0.0))
    )[1]


@pytest.mark.parametrize("wrapped", [lambda f: f, pb.function, pb.checkpoint])
@pytest.mark.parametrize(("f", "power"), [(until, 1), (squares, 2)])
def test_entries_that_run_for_different_numbers(
    f: Callable[[Any], Any], power: int, wrapped: Any
) -> None:
    y, g = pb.vmap(wrapped(pb.value_and_grad(f)))(XS)
    np.testing.assert_allclose(g.numpy(), power * y.numpy() / XS, rtol=1e-12)
    if power == 2:
        pb.random.seed(3)
        value = pb.vmap(f)(XS).numpy()
        pb.random.seed(3)
        second = pb.vmap(pb.hessian(f))(XS).numpy()
        np.testing.assert_allclose(second, 2 * value / XS**2, rtol=1e-12)


def test_a_mapped_number_of_iterations() -> None:
    def total(x: Any, n: Any) -> Any:
        return pb.fori_loop(0, n, lambda i, s: s + noise() * x, np.float64(0.0))

    counts = np.array([1, 0, 4])
    y, g = pb.vmap(lambda x, n: pb.value_and_grad(lambda x: total(x, n))(x))(XS, counts)
    np.testing.assert_allclose(g.numpy() * XS, y.numpy(), rtol=1e-12)


@pytest.mark.parametrize("wrapped", [lambda f: f, pb.function])
def test_checkpoints_and_batches_of_batches_draw_for_each_entry(wrapped: Any) -> None:
    f = pb.checkpoint(lambda x: x * x * noise())
    y = pb.vmap(wrapped(f))(np.ones(4)).numpy()
    assert len(np.unique(y)) == 4
    y, g = pb.vmap(wrapped(pb.value_and_grad(f)))(XS)
    np.testing.assert_allclose(g.numpy(), 2 * y.numpy() / XS, rtol=1e-12)
    x = pb.Variable(XS)
    y = pb.vmap(wrapped(f))(x)
    [g] = pb.gradients(pb.sum(y), x)
    np.testing.assert_allclose(g.numpy(), 2 * y.numpy() / XS, rtol=1e-12)

    rows = pb.vmap(wrapped(pb.vmap(lambda x: x * noise())))(np.ones((3, 2))).numpy()
    assert len(np.unique(rows)) == 6
    nested = pb.vmap(lambda a: pb.vmap(lambda b: a * f(b))(np.ones(2)))(np.ones(3)).numpy()
    assert len(np.unique(nested)) == 6
    orders = pb.vmap(lambda a: pb.vmap(lambda b: pb.random.permutation(9) + b)(np.zeros(2)) + a)
    assert len(np.unique(orders(np.zeros(3)).numpy().reshape(6, 9), axis=0)) == 6


def test_examples_of_a_checkpoint_have_masks_of_their_own() -> None:
    def loss(w: Any, x: Any) -> Any:
        return pb.sum(pb.checkpoint(lambda v: pb.dropout(v * w, 0.5))(x))

    rows = pb.per_example_gradients(loss, np.ones(64), np.ones((3, 64))).numpy()
    assert len(np.unique(rows, axis=0)) == 3
