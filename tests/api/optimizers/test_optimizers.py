"""The optimizers: steps, what they refuse, and when nothing moves. Their rules are in
test_optimizer_rules.py."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
from support.each import each

import pullback as pb
from pullback.optimizers import Adam, GradientDescent, Momentum, RMSProp

# --- the learning rate


def test_learning_rates():
    v, rate = pb.Variable(1.0), pb.Variable(0.5, trainable=False)
    optimizer = GradientDescent(rate)
    optimizer.apply_gradients([(1.0, v)])
    rate.assign(0.25)
    optimizer.apply_gradients([(1.0, v)])
    assert v.item() == 0.25

    rates = iter([0.5, 0.125])
    optimizer = GradientDescent(lambda: next(rates))
    optimizer.apply_gradients([(1.0, v)])
    optimizer.apply_gradients([(1.0, v)])
    assert v.item() == -0.375

    wide = pb.Variable(1.0, dtype="float64")
    GradientDescent(pb.constant(0.5)).apply_gradients([(1.0, wide)])
    assert wide.item() == 0.5
    for wrong in (None, "fast"):
        with pytest.raises(TypeError, match="learning_rate"):
            GradientDescent(wrong)


def test_a_new_rate_is_no_new_plan():
    v = pb.Variable(1.0)
    for k in range(3):
        GradientDescent(0.1 / (k + 1)).minimize(lambda: v * v)
        v.numpy()
    before = pb._core.status()["plan_misses"]
    for k in range(50):
        GradientDescent(0.1 / (k + 7)).minimize(lambda: v * v)
        v.numpy()
    assert pb._core.status()["plan_misses"] == before


# --- long loops


@pytest.mark.parametrize("way", ["apply_gradients", "minimize"])
def test_a_thousand_steps(way):
    x = pb.Variable(0.0, name="x")
    a, b, c = pb.constant(1.0), pb.constant(-2.0), pb.constant(1.0)

    def f():
        return a * pb.pow(x, 2) + b * x + c

    optimizer = GradientDescent(learning_rate=0.01)
    for _ in range(1000):
        if way == "minimize":
            optimizer.minimize(f)
        else:
            with pb.GradientTape() as tape:
                y = f()
            optimizer.apply_gradients([(tape.gradient(y, x), x)])
    assert x.item() == pytest.approx(0.99999857, abs=6e-8)
    assert f().item() == 0.0


# --- compute and apply


def test_compute_gradients():
    v, w, frozen = pb.Variable(2.0), pb.Variable(3.0), pb.Variable(5.0, trainable=False)
    optimizer = GradientDescent(0.1)

    def loss():
        return w * v * frozen

    pairs = optimizer.compute_gradients(loss)
    assert [var for _, var in pairs] == [v, w]  # in the order in which they were made
    assert [float(g) for g, _ in pairs] == [15.0, 10.0]
    assert all(var is expected for (_, var), expected in zip(pairs, [v, w], strict=True))
    ((g, var),) = optimizer.compute_gradients(loss, var_list=frozen)
    assert float(g) == 6.0 and var is frozen
    pairs = optimizer.compute_gradients(lambda: v * 1.0, [w, v])
    assert pairs[0][0] is None and float(pairs[1][0]) == 1.0


def test_a_loss_that_is_no_scalar_is_summed():
    v = pb.Variable([1.0, 2.0])
    ((g, _),) = GradientDescent(1.0).compute_gradients(lambda: v * v)
    assert g.numpy().tolist() == [2.0, 4.0]


def test_variables_without_a_gradient_stay():
    v, w = pb.Variable(1.0, name="v"), pb.Variable(1.0)
    optimizer = Adam(0.5)
    optimizer.apply_gradients(zip([pb.constant(1.0), None], [v, w], strict=True))
    assert v.item() == pytest.approx(0.5) and w.item() == 1.0
    assert optimizer.state_dict().keys() == {"v/m", "v/s", "steps"}


def test_gradients_that_are_no_tensors():
    v = pb.Variable([1.0, 2.0])
    optimizer = GradientDescent(1.0)
    optimizer.apply_gradients(iter([([1, 1], v), (np.array([1.0, 0.5]), v)]))  # both count
    assert v.numpy().tolist() == [-1.0, 0.5]
    s = pb.Variable(1.0)
    optimizer.apply_gradients([(0.25, s), (s, s)])
    assert s.item() == -0.25


def test_updates_use_the_values_from_before():
    """The gradient of each variable depends on the other one."""
    w, b = pb.Variable(2.0), pb.Variable(1.0)
    gw, gb = pb.gradients(pb.square(w * b - 3), [w, b])
    GradientDescent(0.1).apply_gradients([(gw, w), (gb, b)])
    assert w.item() == pytest.approx(2.0 - 0.1 * 2 * (2 - 3) * 1)
    assert b.item() == pytest.approx(1.0 - 0.1 * 2 * (2 - 3) * 2)


def test_clipping_between_gradients_and_apply_gradients():
    rng = np.random.default_rng(1)
    v, w = pb.Variable(rng.normal(size=(3, 2))), pb.Variable(rng.normal(size=4))
    before = [v.numpy(), w.numpy()]
    loss = 100 * (pb.sum(v**2) + pb.sum(w**4))
    clipped, norm = pb.clip_by_global_norm(pb.gradients(loss, [v, w]), 0.5)
    assert norm.item() > 0.5
    GradientDescent(0.1).apply_gradients(list(zip(clipped, [v, w], strict=True)))
    moved = np.concatenate([(b - t.numpy()).ravel() for b, t in zip(before, [v, w], strict=True)])
    assert np.linalg.norm(moved) == pytest.approx(0.1 * 0.5)


def test_clipping_between_compute_and_apply():
    v = pb.Variable([1.0, -20.0, 0.1])
    optimizer = GradientDescent(0.5)
    pairs = optimizer.compute_gradients(lambda: pb.sum(v * v))
    optimizer.apply_gradients([(pb.clip_by_value(g, -1.0, 1.0), var) for g, var in pairs])
    np.testing.assert_allclose(v.numpy(), [0.5, -19.5, 0.0], atol=1e-7)


def test_a_gradient_that_is_nan_is_applied():
    v = pb.Variable(1.0)
    GradientDescent(0.5).apply_gradients([(np.nan, v)])
    assert np.isnan(v.item())


def test_dqn():
    """A stopped target network: no gradient; it changes when it is copied and only then."""
    rng = np.random.default_rng(2)
    states, following = rng.normal(size=(2, 32, 4))
    actions, rewards = rng.integers(0, 3, 32), rng.normal(size=32)
    main = [pb.Variable(0.5 * rng.normal(size=shape)) for shape in ((4, 8), (8, 3))]
    target = [pb.Variable(p.numpy()) for p in main]

    def network(x, params):
        return pb.relu(x @ params[0]) @ params[1]

    def loss():
        q = pb.sum(network(states, main) * pb.one_hot(actions, 3, dtype="float64"), axis=1)
        best = pb.max(network(following, target), axis=1)
        return pb.mean(pb.square(q - pb.stop_gradient(rewards + 0.9 * best)))

    optimizer = RMSProp(0.01)
    pairs = optimizer.compute_gradients(loss, main + target)
    assert [g is None for g, _ in pairs] == [False, False, True, True]
    frozen = [p.numpy().copy() for p in target]
    first = float(loss())
    for _ in range(40):
        optimizer.minimize(loss, main)
    assert float(loss()) < 0.5 * first
    for p, old in zip(target, frozen, strict=True):
        np.testing.assert_array_equal(p.numpy(), old)
    for p, source in zip(target, main, strict=True):
        p.assign(source)
        np.testing.assert_array_equal(p.numpy(), source.numpy())


# --- what is refused, with nothing half done


def test_no_gradients_says_why():
    w = pb.Variable([1.0, 2.0], name="weights")
    n = pb.Variable(3, name="count")
    idle = pb.Variable(0.0, name="idle")
    optimizer = GradientDescent(0.1)
    with pytest.raises(ValueError, match="No gradients provided") as caught:
        optimizer.minimize(lambda: pb.sum(pb.stop_gradient(w)) * n * 1.0, [w, n, idle])
    text = str(caught.value)
    lines = {line.split("'")[1]: line for line in text.splitlines() if line.startswith("  '")}
    assert "stop_gradient" in lines["weights"] and "(2,)" in lines["weights"]
    assert "int64" in lines["count"]
    assert "does not depend on the variable" in lines["idle"]
    with pytest.raises(ValueError, match=r"No gradients provided.*\n.*'idle'.*None"):
        optimizer.apply_gradients([(None, idle)])


def apply(*pairs):
    return lambda: GradientDescent(0.1).apply_gradients(pairs)


V = pb.Variable([1.0, 2.0], name="v")
OTHER = pb.Variable(1.0, name="other")


@each(
    ("call", "error", "words"),
    [
        (lambda: GradientDescent(0.1).minimize(V * 2), TypeError, "function"),
        (lambda: GradientDescent(0.1).minimize(lambda: 3.0), TypeError, "from loss(), got 3.0"),
        (lambda: GradientDescent(0.1).minimize(lambda: None), TypeError, "from loss(), got None"),
        (lambda: GradientDescent(0.1).minimize(lambda: pb.argmax(V)), ValueError, "int64"),
        (
            lambda: GradientDescent(0.1).minimize(lambda: pb.ones(2)),
            ValueError,
            "at least one variable for var_list",
        ),
        (
            lambda: GradientDescent(0.1).minimize(lambda: V * 1, []),
            ValueError,
            "at least one variable for var_list",
        ),
        (
            lambda: GradientDescent(0.1).minimize(lambda: V * 1, [V.read()]),
            TypeError,
            "var_list[0]",
        ),
        (apply(), ValueError, "pair (gradient, variable), got none"),
        (
            apply((1.0, OTHER), (pb.ones(3), V)),
            ValueError,
            "shape (2,) for the gradient of 'v', got (3,)",
        ),
        (apply((1.0, OTHER), (1.0, V)), ValueError, "'v'"),
        (apply((1.0, OTHER), (pb.ones(2, "float64"), V)), TypeError, "float64"),
        (apply((1.0, OTHER), (pb.ones(2), V.read())), TypeError, "pair 1"),
        (apply((1.0, OTHER), V), TypeError, "pairs"),
        (apply((1.0, OTHER), ("text", V)), TypeError, "'v'"),
        (lambda: Adam(beta1=1.0), ValueError, "beta1"),
        (
            lambda: pb.optimizers.Optimizer(0.1).apply_gradients([(1.0, OTHER)]),
            NotImplementedError,
            "",
        ),
    ],
)
def test_refused(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
    assert V.numpy().tolist() == [1.0, 2.0] and OTHER.item() == 1.0


def test_an_exception_in_the_loss_leaves_nothing_behind():
    def loss():
        raise KeyError

    with pytest.raises(KeyError):
        GradientDescent(0.1).minimize(loss)
    x = pb.constant(1.0)
    assert not pb._core.is_tracked(x * x)


def test_a_loss_that_the_tape_did_not_see():
    v = pb.Variable(1.0, name="v")
    with pb.GradientTape() as tape:
        y = v * v
    loss = y * v
    g = tape.gradient(loss, v)
    assert g is None
    with pytest.raises(ValueError, match="made while the tape did not record"):
        GradientDescent(0.5).apply_gradients([(g, v)])


@each("make", [GradientDescent, lambda rate: Momentum(rate, 0.9), RMSProp, Adam])
@each("style", ["eager", "function"])
def test_a_batch_with_a_bad_index_changes_nothing(make: Any, style: str) -> None:
    def trained(batches: list[list[int]]) -> list[Any]:
        a, b = pb.Variable(1.0, name="a"), pb.Variable([1.0, 2.0], name="b")
        optimizer = make(0.1)

        def step(rows: Any) -> None:
            optimizer.minimize(lambda: a * a + pb.sum(pb.square(pb.take(b, rows))))

        run = pb.function(step) if style == "function" else step
        for rows in batches:
            if max(rows) > 1:
                with pytest.raises(IndexError, match="index 9"):
                    run(np.array(rows))
            else:
                run(np.array(rows))
        state = optimizer.state_dict()
        return [
            a.numpy().tolist(),
            b.numpy().tolist(),
            [np.asarray(state[k]) for k in sorted(state)],
        ]

    assert str(trained([[0, 1], [0, 9], [1, 1]])) == str(trained([[0, 1], [1, 1]]))


def test_subclasses_pass_keywords_on() -> None:
    class Registered:
        names: ClassVar[list[str]] = []

        def __init_subclass__(cls, *, key: str, **keywords: Any) -> None:
            super().__init_subclass__(**keywords)
            Registered.names.append(key)

    class Mine(pb.optimizers.Adam, Registered, key="mine"):
        def __init__(self, learning_rate: float, **settings: Any) -> None:
            if settings:
                raise TypeError("the settings are wrong")
            super().__init__(learning_rate)

    assert Registered.names == ["mine"] and Mine(0.1).learning_rate == 0.1
    with pytest.raises(TypeError, match=r"^the settings are wrong$"):
        Mine(0.1, lr=0.2)  # **settings accepts lr, so its name is not the error
