"""Errors of a run name the operation that failed, not the call that came to look; what is long is
shortened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

X = pb.constant(np.ones((3, 4), np.float32))
N = pb.constant(np.arange(3))


def bad_take() -> Any:
    return pb.take(pb.constant([1.0, 2.0]), pb.constant([7]) + 0)


def deep(look: Callable[[Any], Any]) -> None:
    """A chain so long that making it looks."""
    x = bad_take()
    for _ in range(5000):
        x = look(x)


def in_a_function() -> None:
    pb.function(lambda i: pb.sin(pb.take(pb.constant([1.0, 2.0]), i)))(np.array([7]))


def in_a_gradient() -> None:
    v = pb.Variable([1.0, 2.0])
    (g,) = pb.gradients(pb.sum(pb.sin(pb.take(v, pb.constant([7]) + 0))), [v])
    pb.clip_by_norm(g, 1.0).numpy()


def in_a_session() -> None:
    import pullback.compat.tf1 as tf

    with tf.Graph().as_default(), tf.Session() as session:
        i = tf.placeholder("int32", [1])
        session.run(tf.sin(tf.gather([1.0, 2.0], i)), {i: [7]})


def integers(op: Callable[[Any, Any], Any], a: int, b: int) -> Callable[[], Any]:
    """Beside another operation that may fail and does not, in one group."""
    return lambda: pb.evaluate(
        op(pb.constant([a]), pb.constant([b])) * (pb.constant([2]) ** pb.constant([3]))
    )


# fmt: off
RUNS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: deep(pb.sin), IndexError, "^take: index 7"),
    (lambda: deep(lambda x: x * 1.5), IndexError, "^take: index 7"),
    (lambda: deep(lambda x: pb.expand_dims(x, 0)[0]), IndexError, "^take: index 7"),
    (lambda: deep(lambda x: pb.mean(x, keepdims=True)), IndexError, "^take: index 7"),
    (lambda: bool(pb.all(pb.sin(bad_take()) > 0)), IndexError, "^take: index 7"),
    (lambda: pb.ones(3)[pb.cast(bad_take(), "bool")], IndexError, "^take: index 7"),
    (lambda: pb.Variable(0.0).assign(pb.sum(bad_take())).numpy(), IndexError, "^take: index 7"),
    (lambda: f"{pb.sum(bad_take()):.3f}", IndexError, "^take: index 7"),
    (in_a_function, IndexError, "^take: index 7"),
    (in_a_gradient, IndexError, "^(take|scatter_add): index 7"),
    (in_a_session, Exception, "take: index 7"),
    (integers(pb.floor_divide, 1, 0), ZeroDivisionError, "^floor_divide: integer division"),
    (integers(pb.remainder, 1, 0), ZeroDivisionError, "^remainder: integer division"),
    (lambda: pb.evaluate(N // (N + 1) + N ** pb.constant(-3)), ValueError, "^pow: expected exp"),
]
# fmt: on


@each("run, error, text", RUNS)
def test_errors_of_a_run(run: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        run()


# --- what is long is shortened


MANY = (1,) * 100_000
# fmt: off
LONG: list[Callable[[], Any]] = [
    lambda: pb.zeros(MANY),
    lambda: pb.reshape(X, MANY),
    lambda: pb.broadcast_to(X, MANY),
    lambda: pb.full(MANY, 1.0),
    lambda: pb.random.uniform(MANY),
    lambda: pb.expand_dims(X, MANY),
    lambda: pb.transpose(X, MANY),
    lambda: pb.sum(X, axis=MANY),
    lambda: pb.squeeze(X, MANY),
    lambda: pb.split(X, list(MANY)),
    lambda: pb.zeros([*MANY, "x"]),
    lambda: pb.zeros([MANY]),
    lambda: pb.one_hot(MANY, MANY),
    lambda: pb.Variable(MANY).assign([[1.0] * 1000] * 100),
    lambda: X[MANY],
    lambda: X[(None,) * 100_000],
    lambda: pb.constant("é" * 100_000),
    lambda: pb.cast(X, "é" * 100_000),
    lambda: pb.einsum("ij" * 100_000, X),
    lambda: pb.clip_by_norm(X, MANY),
    lambda: pb.moveaxis(X, MANY, MANY) if hasattr(pb, "moveaxis") else pb.permute_dims(X, MANY),
    lambda: pb.tensordot(X, X, axes=(MANY, MANY)),
    lambda: pb.grad(pb.sum, argnums=MANY)(X),
    lambda: pb.function(lambda x: x, static_argnums=[MANY]),
    lambda: pb.arange(MANY),
    lambda: pb.eye(MANY),
    lambda: pb.softmax(X, axis=MANY),
    lambda: pb.set_default_dtype(MANY),
    lambda: pb.set_num_threads(MANY),
    lambda: pb.random.seed(MANY),
    lambda: pb.gradients(MANY, X),
    lambda: pb.GradientTape().watch(MANY),
    lambda: pb.take(X, [0], axis=MANY),
    lambda: X.at[MANY].set(1.0),
]
# fmt: on


@pytest.mark.parametrize("call", LONG, ids=range(len(LONG)))
def test_long_values_are_shortened(call: Callable[[], Any]) -> None:
    with pytest.raises(Exception) as caught:
        call()
    assert len(str(caught.value)) < 400


def test_shapes_of_too_many_axes_say_how_many() -> None:
    with pytest.raises(ValueError, match=r"shape \(1, 1, 1, 1, …: 100000 axes\)"):
        pb.zeros(MANY)
    with pytest.raises(ValueError, match=r"\(1, 1, 1, 1, …: 17 axes\)"):
        pb.zeros((1,) * 17)
