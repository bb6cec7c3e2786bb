"""Small tensors that nobody looks at, made from large ones that go: `norms.append(pb.sum(x))`. They
do not keep the large ones alive, and cost the same at every step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.process import live, over_many_steps

import pullback as pb
from pullback import _core

N = 10_000
X = np.linspace(0.25, 1.0, N)
BYTES = X.nbytes

# What is kept of x, and the same of an array.
PARTS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "sum": (pb.sum, np.sum),
    "entry": (lambda x: x[0], lambda x: x[0]),
    "slice": (lambda x: x[3:5], lambda x: x[3:5]),
    "mean of a product": (lambda x: pb.mean(x * x) * 2.0, lambda x: np.mean(x * x) * 2.0),
    "norm": (lambda x: pb.sqrt(x @ x), lambda x: np.sqrt(x @ x)),
    "take": (lambda x: pb.take(x, [1, 7]), lambda x: x[[1, 7]]),
    "logsumexp": (pb.logsumexp, lambda x: np.log(np.sum(np.exp(x)))),
    "argmax": (pb.argmax, np.argmax),
    "any": (lambda x: pb.any(x > 0.5), lambda x: np.any(x > 0.5)),
    "rows": (lambda x: pb.max(pb.reshape(x, (10, -1)), 1), lambda x: x.reshape(10, -1).max(1)),
    "two": (lambda x: pb.sum(x) / pb.max(x), lambda x: np.sum(x) / np.max(x)),
}
LOOKS: dict[str, Callable[[Any, Any, int], Any]] = {
    "at x": lambda x, y, k: float(pb.max(x)),
    "at something else": lambda x, y, k: float(pb.sum(y * float(k))),
    "never": lambda x, y, k: None,
}


@pytest.fixture(scope="module")
def no_parts_of_other_modules() -> None:
    """The list of them is gone through when there are as many as remained the last time: tests of
    growth leave up to 100 000."""
    for _ in range(120_000):
        pb.sum(X[:200])


@pytest.fixture(autouse=True)
def no_parts_of_other_tests(no_parts_of_other_modules: None) -> None:
    for _ in range(1500):
        pb.sum(X[:200])


def derive(x: Any) -> Any:
    return x - 1e-3 * pb.sin(x)


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("part", PARTS)
def test_states_die(part: str, look: str) -> None:
    of_tensor, of_array = PARTS[part]
    x, y, expected = pb.constant(X), pb.constant([1.0, 2.0]), X
    kept, answers, memory = [], [], []
    for step in range(200):
        x = derive(x)
        expected = expected - 1e-3 * np.sin(expected)
        kept.append(of_tensor(x))
        answers.append(of_array(expected))
        LOOKS[look](x, y, step)
        if step % 50 == 49:
            memory.append(_core.status()["live_bytes"])
    x.numpy()
    # 20 states are 1.6 MB; 150 would be 12.
    assert max(memory) - memory[0] < 20 * BYTES
    np.testing.assert_allclose([z.numpy() for z in kept], answers, rtol=1e-12)


def test_new_arrays_die() -> None:
    before, sums = live()[2], []
    for step in range(300):
        sums.append(pb.sum(pb.constant(X + step)))
    assert live()[2] - before < 20 * BYTES
    np.testing.assert_allclose([float(s) for s in sums], [np.sum(X + k) for k in range(300)])


def runs() -> int:
    status = _core.status()
    return status["plan_misses"] + status["plan_hits"]


def test_what_somebody_holds_is_not_computed_unasked() -> None:
    x = pb.constant(np.ones((300, 1000)))
    before = runs()
    rows = [x[i] for i in range(300)]
    sums = [pb.sum(x * float(i)) for i in range(300)]
    assert runs() == before
    assert float(sums[7]) == 7.0 * 300_000
    assert rows[5].shape == (1000,)


def test_a_softmax_of_what_nobody_holds_is_one_plan() -> None:
    """Its maximum is a part, but to compute it alone would free nothing."""
    pending = [pb.softmax(pb.constant(np.ones((30, 10_000)))) for _ in range(12)]
    before = runs()
    pb.evaluate(pending)
    assert runs() == before + 1


def test_what_has_a_history_is_left_alone() -> None:
    w = pb.Variable(X)
    before = runs()
    losses = [pb.sum(w * float(k)) for k in range(50)]
    assert runs() == before
    assert pb.gradients(losses[3], w)[0].numpy()[0] == 3.0


def test_large_products_are_not_computed_unasked() -> None:
    kept = []
    before = runs()
    for _ in range(20):
        a, b = (pb.constant(np.ones((n, m))) for n, m in ((40, 4000), (4000, 40)))
        kept.append(a @ b)
    assert runs() == before
    assert float(kept[0][0, 0]) == 4000.0


def test_what_cannot_be_computed_raises_where_somebody_looks() -> None:
    kept = []
    for step in range(60):
        x = pb.constant(X)
        kept.append(pb.sum(pb.take(x, pb.constant([10**6 if step % 3 == 0 else 2]) + 0)))
    for step, value in enumerate(kept):
        if step % 3:
            assert float(value) == X[2]
        else:
            with pytest.raises(IndexError, match="take: index 1000000"):
                float(value)


def test_large_values_on_the_way_are_left_to_those_who_look() -> None:
    """A table of all pairs would free the points, at the price of the table."""
    kept, points = [], X[:1000]
    before = live()[0]
    for step in range(200):
        x = pb.constant(points + step)
        kept.append(pb.sum(pb.abs(x[:, None] - x[None, :])))
    assert live()[0] - before > 1000  # of 200 programs, and not of their results
    np.testing.assert_allclose(float(kept[7]), np.sum(np.abs(points[:, None] - points)), rtol=1e-9)


def test_inside_a_function_nothing_is_computed() -> None:
    @pb.function
    def f(scale: Any) -> Any:
        sums = [pb.sum(pb.constant(X + k)) for k in range(40)]
        return scale * pb.sum(pb.stack(sums))

    np.testing.assert_allclose(float(f(2.0)), 2.0 * sum(np.sum(X + k) for k in range(40)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:more than 100000 graph nodes")  # one a step, in the list
@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("part", ["sum", "entry", "two"])
def test_a_hundred_thousand_steps(part: str, look: str) -> None:
    of_tensor, y = PARTS[part][0], pb.constant([1.0, 2.0])
    x, kept = pb.constant(X[:500]), []

    def one(step: int) -> None:
        nonlocal x
        x = derive(x)
        kept.append(of_tensor(x))
        LOOKS[look](x, y, step)

    memory = over_many_steps(one)
    # One small buffer a step, and not the 4000 bytes of a state.
    assert memory[-1] - memory[1] < 90_000 * 130 + 4000 * X[:500].nbytes
