"""Steps of a variable of which only rows were read: the numbers of a whole update, at the cost of
the rows, in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.each import each
from support.memory import bytes_beside

import pullback as pb

OPTIMIZERS = {
    "GradientDescent": lambda: pb.optimizers.GradientDescent(0.1),
    "Adagrad": lambda: pb.optimizers.Adagrad(0.1),
    "Momentum": lambda: pb.optimizers.Momentum(0.1, 0.9),
    "Adam": lambda: pb.optimizers.Adam(0.1),
    "ProximalGradientDescent": lambda: pb.optimizers.ProximalGradientDescent(0.1, l1=0.5),
    "RMSProp": lambda: pb.optimizers.RMSProp(0.1),
}
rng = np.random.default_rng(8)


def steps(make: Any, table: Any, batches: Any, loss: Any, *, whole: bool, traced: bool) -> Any:
    """The table and the state after a step for each batch; `whole` gradients are plain tensors."""
    v = pb.Variable(table, name="v")
    optimizer = make()

    def step(ids: Any) -> None:
        (g,) = pb.gradients(loss(v, ids), [v])
        assert isinstance(g, pb.Tensor)
        assert g.shape == v.shape
        optimizer.apply_gradients([(g * 1 if whole else g, v)])

    run = pb.function(step) if traced else step
    for ids in batches:
        run(ids)
    return v.numpy(), optimizer.state_dict()


@each("traced", [False, True])
@each("dtype", ["float32", "float64"])
@each("name", OPTIMIZERS)
def test_rows_have_the_numbers_of_whole_updates(name: str, dtype: str, traced: bool) -> None:
    table = rng.normal(size=(40, 5)).astype(dtype)
    table[3], table[7, 0] = -0.0, np.inf

    def loss(v: Any, ids: Any) -> Any:
        a, b = pb.take(v, ids, axis=0), pb.take(v, ids[:3], axis=0)
        return pb.sum(pb.sin(a) * 3) + pb.sum(b * b * 0.5) + pb.sum(v[ids[0]])

    batches = [rng.integers(-40, 40, n) for n in (6, 6, 9, 18)]
    batches += [np.array([5, 5, -35, 5]), np.array([7, 3, 0])]
    found = [steps(OPTIMIZERS[name], table, batches, loss, whole=w, traced=traced) for w in (0, 1)]
    assert np.array_equal(found[0][0], found[1][0], equal_nan=True)
    for key, value in found[1][1].items():
        assert np.array_equal(found[0][1][key], value, equal_nan=True), key


def test_a_vector_and_rows_of_matrices() -> None:
    for shape in ((50,), (50, 2, 3), (50, 0)):
        table = rng.normal(size=shape)
        batches = [rng.integers(0, 50, (2, 3))]

        def loss(v: Any, ids: Any) -> Any:
            return pb.sum(pb.take(v, ids, axis=0) ** 2)

        a, b = (
            steps(OPTIMIZERS["Adagrad"], table, batches, loss, whole=w, traced=False)[0]
            for w in (False, True)
        )
        assert np.array_equal(a, b)


@pytest.mark.parametrize("rate", [np.inf, np.nan])
def test_a_rate_that_makes_nan_of_zeros_does_so(rate: float) -> None:
    v = pb.Variable(np.ones((10, 2)))
    pb.optimizers.GradientDescent(lambda: rate).minimize(lambda: pb.sum(pb.take(v, [1], axis=0)))
    assert np.isnan(v.numpy()[0]).all()


def test_who_holds_the_value_keeps_it() -> None:
    v = pb.Variable(np.ones((1000, 8), np.float32))
    optimizer = pb.optimizers.GradientDescent(0.5)
    before, read = v.numpy(), v.read()

    def step() -> None:
        optimizer.minimize(lambda: pb.sum(pb.take(v, [3, 3], axis=0)))

    step()
    assert v.numpy()[3].tolist() == [0] * 8
    assert (before == 1).all()
    assert (read.numpy() == 1).all()
    again = v.read()
    step()
    step()
    assert v.numpy()[3].tolist() == [-2] * 8
    assert again.numpy()[3].tolist() == [0] * 8


def test_a_failure_of_a_step_leaves_the_table() -> None:
    """The second table's positions are looked at before the first is written."""
    v, w = (pb.Variable(np.ones((n, 4), np.float32)) for n in (100, 50))
    optimizer = pb.optimizers.GradientDescent(1.0)

    @pb.function
    def step(ids: Any) -> None:
        def loss() -> Any:
            return pb.sum(pb.take(v, ids, axis=0)) * pb.sum(pb.take(w, ids, axis=0))

        optimizer.minimize(loss)

    step(np.array([1, 2]))
    after = v.numpy().copy(), w.numpy().copy()
    with pytest.raises(IndexError, match="70"):
        step(np.array([1, 70]))
    assert np.array_equal(v.numpy(), after[0])
    assert np.array_equal(w.numpy(), after[1])


@pytest.mark.usefixtures("processor")
def test_at_changes_a_variable_in_place() -> None:
    v = pb.Variable(np.ones((200_000, 64), np.float32))
    first = iter(range(20))

    def change() -> None:
        ids = rng.integers(0, 200_000, 5)
        ids[0] = next(first)
        v.assign(v.at[pb.constant(ids) + 0].set(0))  # nobody knows the positions yet
        float(v[0, 0])

    assert bytes_beside(change, 20) < 1_000_000  # of the 51 MB that it has
    assert not v[:20].numpy().any()

    @pb.function
    def step(ids: Any) -> None:
        v.assign(v.at[ids].set(7))

    with pytest.raises(IndexError, match="200000"):
        step(np.array([3, 200_000]))
    assert not v[:20].numpy().any()
    step(np.array([3, 21]))
    assert v[3, 0] == v[21, 63] == 7


@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize("name", ["GradientDescent", "Adagrad"])
@pytest.mark.parametrize("traced", [False, True])
def test_a_step_costs_the_rows(name: str, traced: bool) -> None:
    """Nothing of the 51 MB of a table is made; two tables, of which one is read twice."""
    v, w = (pb.Variable(np.ones((200_000, 64), np.float32)) for _ in range(2))
    optimizer = OPTIMIZERS[name]()
    ids = rng.integers(0, 200_000, 100)

    def loss(at: Any) -> Any:
        a = pb.take(v, at, axis=0) * pb.take(w, at, axis=0) * pb.mean(pb.take(v, at[:50], axis=0))
        return pb.sum(a * a)

    def step(at: Any) -> Any:
        optimizer.minimize(lambda: loss(at))

    run = pb.function(step) if traced else step

    def look() -> None:
        run(ids)
        float(v[0, 0])

    assert bytes_beside(look) < 1_000_000
