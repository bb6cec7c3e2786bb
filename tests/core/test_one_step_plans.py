"""Plans of one step: the backend `one_step` runs each step of a plan as a plan of its own, with
copies of its slots. Values and gradients have the bits of the direct run, for every kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback import _core

X = np.random.default_rng(0).standard_normal((6, 8))
INDICES = np.array([5, 0, 0, 3])


def gradient_of(value: pb.Tensor, *xs: pb.Tensor) -> list[Any]:
    return [value, *pb.gradients(pb.sum(value), list(xs))]


def tiles() -> list[Any]:
    x = pb.Variable(X)
    y = gradient_of(pb.softmax(x) * pb.exp(x[:, :1]), x)
    halves = gradient_of(pb.tanh(pb.cast(x, "float16")) * pb.constant(3, dtype="float16"), x)
    return [*y, *halves]


def products() -> list[Any]:
    x, w = pb.Variable(X), pb.Variable(X.T.copy())
    return [*gradient_of(pb.tanh(x @ w + 1.0), x, w), pb.constant(INDICES) @ pb.constant(INDICES)]


def convolutions() -> list[Any]:
    x = pb.Variable(X.reshape(1, 6, 4, 2))
    w = pb.Variable(X[:3, :6].reshape(3, 1, 2, 3))
    y = pb.relu(pb.nn.conv2d(x, w))
    return gradient_of(pb.nn.max_pool(y, 2), x, w)


def movement() -> list[Any]:
    x = pb.Variable(X)
    y = pb.concat([x[:, ::2], x[:, 1::2] * 2, pb.transpose(x)[:6, :6]], axis=1)
    return [*gradient_of(y, x), x.at[1:3].add(1.0), x.at[1:3].set(0.0)]


def indices() -> list[Any]:
    x = pb.Variable(X)
    y = pb.take(x, INDICES, axis=0)
    rows = [x.at[INDICES].set(y * 2), x.at[INDICES].multiply(3.0), x.at[INDICES].max(0.0)]
    return [*gradient_of(pb.square(y), x), *rows]


def orders() -> list[Any]:
    x = pb.Variable(X)
    return [
        pb.argmax(x, axis=1),
        pb.argsort(x, axis=0),
        *gradient_of(pb.sort(x, axis=1), x),
        *gradient_of(pb.cumsum(x, axis=0) * pb.cumprod(x, axis=1), x),
        pb.searchsorted(np.sort(X[0]), x),
        pb.arange(7) * 2,
    ]


def draws() -> list[Any]:
    source = pb.random.Generator(3)
    normal = source.normal((5,))
    return [normal, source.permutation(9), source.gamma(pb.exp(normal)), source.uniform((3,))]


def callbacks() -> list[Any]:
    f = pb.numpy_function(np.sinh, lambda x: x, vjp=lambda xs, gs: gs[0] * pb.cosh(xs[0]))
    x = pb.Variable(X)
    return gradient_of(f(x * 2), x)


def routines() -> list[Any]:
    x = pb.Variable(X[:, :6] + 6 * np.eye(6))
    return [
        *gradient_of(pb.linalg.solve(x, X), x),
        *gradient_of(pb.linalg.eigvalsh(x @ pb.transpose(x)), x),
        pb.linalg.qr(x)[1],
        pb.linalg.slogdet(x)[1],
        pb.real(pb.fft.fft(x)),
        pb.nn.scaled_dot_product_attention(x, x * 2, x),
    ]


def loops() -> list[Any]:
    x, w = pb.Variable(X), pb.Variable(0.1 * X[:, :6])

    def noisy(c: Any, row: Any) -> Any:
        c = pb.tanh(w @ c + row + pb.random.normal(()))
        return c, pb.cond(pb.sum(c) > 0, lambda: c * 2, lambda: pb.exp(c))

    pb.random.seed(1)
    last, rows = pb.scan(noisy, pb.zeros(6, dtype="float64"), pb.transpose(x))
    halved = pb.while_loop(lambda c: pb.sum(pb.square(c)) > 1, lambda c: pb.sin(c) / 2, x)
    return [*gradient_of(pb.sum(last) + pb.sum(rows), x, w), *gradient_of(halved, x)]


def updates() -> list[Any]:
    """Arguments donate their memory to the outputs that replace them."""
    x, m = pb.Variable(X), pb.Variable(np.zeros_like(X))

    @pb.function
    def step() -> pb.Tensor:
        loss = pb.sum(pb.square(pb.sin(x)))
        (g,) = pb.gradients(loss, [x])
        m.assign(0.9 * m + g)
        x.assign_sub(0.1 * m)
        x.assign(x.at[INDICES[:2]].add(1.0))
        return loss

    return [np.array([float(step()) for _ in range(4)]), x, m]


PROGRAMS: dict[str, Callable[[], list[Any]]] = {
    f.__name__: f
    for f in (
        tiles, products, convolutions, movement, indices, orders, draws, callbacks, routines, loops,
        updates,
    )
}  # fmt: skip


@pytest.fixture
def one_step() -> Iterator[Callable[[str], None]]:
    yield _core.set_backend
    _core.set_backend("cpu")


def values_of(program: Callable[[], list[Any]]) -> list[np.ndarray[Any, Any]]:
    return [np.asarray(value) for value in program()]


def test_every_step_runs_alone_with_the_same_bits(one_step: Callable[[str], None]) -> None:
    ran = set()
    for name, program in PROGRAMS.items():
        one_step("cpu")
        expected = values_of(program)
        before = _core.status()["steps"]
        one_step("one_step")
        found = values_of(program)
        after = _core.status()["steps"]
        ran |= {kind for kind in after if after[kind] > before[kind]}
        assert len(found) == len(expected)
        for k, (a, b) in enumerate(zip(found, expected, strict=True)):
            assert a.dtype == b.dtype and a.tobytes() == b.tobytes(), (name, k)
    assert ran == set(_core.status()["steps"])


def test_errors_of_steps_that_run_alone(one_step: Callable[[str], None]) -> None:
    one_step("one_step")
    with pytest.raises(IndexError, match="take: index 10 is out of range for an axis of size 6"):
        pb.take(pb.constant(X), pb.Variable(INDICES) * 2, axis=0).numpy()
    with pytest.raises(np.linalg.LinAlgError, match="cholesky"):
        pb.linalg.cholesky(-np.eye(3)).numpy()
