"""The state of an optimizer, saved and loaded: whose it is, what fits, what is missing; and steps
of several threads."""

from __future__ import annotations

import copy
import threading
import warnings

import numpy as np
import pytest
from support.each import each

import pullback as pb
from pullback.optimizers import Adam, GradientDescent, Momentum, Optimizer, RMSProp


def stepped(optimizer, *variables):
    optimizer.apply_gradients([(1.0, v) for v in variables])
    return optimizer


def named(*names):
    return [pb.Variable(float(k), name=name) for k, name in enumerate(names)]


# --- a step that does not fit


def test_a_variable_that_is_not_floating_is_refused_before_anything_changes():
    floats, integers = pb.Variable(1.0, name="f"), pb.Variable(5, name="i")
    for optimizer in (GradientDescent(0.5), Adam(0.5)):
        for g in (1, pb.constant(1)):
            with pytest.raises(
                TypeError, match=r"apply_gradients: .* floating .*'i' of dtype int64"
            ):
                optimizer.apply_gradients([(1.0, floats), (g, integers)])
        assert floats.item() == 1.0 and optimizer.variables() == []
        optimizer.apply_gradients([(0.0, floats), (None, integers)])


@pytest.mark.parametrize("wrong", ["step", "slot"])
def test_a_rule_that_makes_something_else_changes_nothing(wrong):
    """Of the second variable: the first is not changed either."""

    class Faulty(Optimizer):
        _state = {"sum": 0.0}  # noqa: RUF012

        @staticmethod
        def _rule(v, g, state, hyper):
            bad = pb.cast(g, "float64") if g.shape else g
            good = state["sum"] + g
            return (bad, {"sum": good}) if wrong == "step" else (g, {"sum": bad})

    optimizer, v, w = Faulty(0.1), pb.Variable(1.0), pb.Variable([1.0, 2.0], name="w")
    with pytest.raises(TypeError, match=r"update rule for 'w.*got float64 of shape"):
        optimizer.apply_gradients([(1.0, v), ([1.0, 1.0], w)])
    assert v.item() == 1.0 and optimizer.variables() == []


def test_what_is_lazy_fails_when_it_is_computed():
    v = pb.Variable([1.0, 2.0])
    late = pb.take(v, pb.constant([7]) + 0, axis=0)
    GradientDescent(0.5).apply_gradients([(pb.broadcast_to(late, (2,)), v)])
    with pytest.raises(IndexError):
        v.numpy()


def test_betas_that_are_tensors_inside_a_function():
    expected, got = named("a", "a")
    plain = Adam(0.25, 0.5, 0.75)
    late = Adam(0.25, pb.Variable(0.5), pb.constant(0.75))
    step = pb.function(lambda: late.apply_gradients([(1.0, got)]))
    expected.assign(got)
    for _ in range(3):
        stepped(plain, expected)
        step()
        np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-6)


# --- names


def owners(optimizer):
    """By the momentum, which each variable has from a gradient of its own."""
    state = {value.item(): key for key, value in optimizer.state_dict().items()}
    return [state[g].removesuffix("/momentum") for g in sorted(state)]


def numbered(optimizer, variables):
    optimizer.apply_gradients([(float(k), v) for k, v in enumerate(variables)])
    return optimizer


def test_names_in_a_state_are_all_different():
    variables = named("v", "v", "v_1", "v", "v_3")
    optimizer = numbered(Momentum(0.5, 1.0), variables)
    assert owners(optimizer) == ["v", "v_1", "v_1_1", "v_2", "v_3"]
    optimizer = numbered(Momentum(0.5, 1.0), variables[::-1])
    assert owners(optimizer) == ["v_3", "v", "v_1", "v_2", "v_4"]
    numbered(optimizer, variables[:1] * 2)  # they keep their names
    assert owners(optimizer) == ["v_3", "v", "v_1", "v_2", "v_4"]


def test_a_name_is_given_once():
    """Not looked for among all slots, for each of them."""
    optimizer = numbered(Momentum(0.5, 1.0), named(*["v"] * 3000))
    assert owners(optimizer) == ["v", *(f"v_{k}" for k in range(1, 3000))]


def test_variables_of_an_optimizer():
    v = named("v")
    optimizer = stepped(Adam(0.5), *v)
    assert [own.name for own in optimizer.variables()] == ["v/m", "v/s", "Adam/steps"]
    twin = copy.deepcopy(optimizer)
    assert twin.steps == 1 and twin.state_dict() == optimizer.state_dict()


# --- loading


def test_a_state_of_another_kind_is_refused():
    v = named("v")
    states = [stepped(made, *v).state_dict() for made in (Adam(0.5), RMSProp(0.5))]
    state = {"v/momentum": 1.0} | states[0]
    for name, expected in (
        ("Momentum", "'…/momentum', 'steps'"),
        ("GradientDescent", "'steps'"),
    ):
        optimizer = {"Momentum": Momentum(0.5, 0.5), "GradientDescent": GradientDescent(0.5)}[name]
        with pytest.raises(ValueError) as caught:
            optimizer.load_state_dict(state)
        message = f"{name}.load_state_dict: expected entries {expected}, got 'v/m"
        assert str(caught.value).startswith(message)
    with pytest.raises(ValueError, match="expected the entries 'v/mean', got none"):
        RMSProp(0.5, centered=True).load_state_dict(states[1])


@each(
    ("change", "words"),
    [
        ({"v/s": None}, "'v/s'"),
        ({"v/s": "text"}, "'v/s'"),
        ({"steps": 1.5}, "expected an integer >= 0 for 'steps'"),
        ({"steps": -1}, "expected an integer >= 0 for 'steps'"),
        ({"steps": [1]}, "expected an integer >= 0 for 'steps'"),
        ({"w": 1.0}, "expected entries .*, got 'w'"),
        ({"/m": 1.0}, "expected entries .*, got '/m'"),
        ({7: 1.0}, "expected entries .*, got 7"),
        ({"w/m": 1.0}, "expected the entries 'w/s', got none"),
        ({"v/s": [1.0, 2.0]}, r"expected shape .* for 'v/s', got \(2,\)"),
    ],
)
def test_a_state_with_a_mistake_is_refused_as_a_whole(change, words):
    (v,) = named("v")
    optimizer = stepped(Adam(0.5), v)
    before = optimizer.state_dict()
    with pytest.raises(ValueError, match=words):
        optimizer.load_state_dict({"v/m": 7.0, "v/s": 7.0, "steps": 7} | change)
    assert optimizer.state_dict() == before and optimizer.steps == 1


def test_a_state_without_steps_is_refused():
    with pytest.raises(ValueError, match="expected the entries 'steps', got none"):
        Adam(0.5).load_state_dict({"v/m": 1.0, "v/s": 1.0})


def test_steps_are_those_of_the_state_at_once():
    (v,) = named("v")
    optimizer = Adam(0.5)
    optimizer.load_state_dict({"v/m": 1.0, "v/s": 1.0, "steps": np.int32(41)})
    assert optimizer.steps == 41
    stepped(optimizer, v)
    assert optimizer.steps == 42
    optimizer.load_state_dict({"v/m": 1.0, "v/s": 1.0, "steps": 7})
    assert optimizer.steps == 7


def test_what_was_loaded_is_a_copy():
    m = np.array([1.0, 2.0], "float32")
    optimizer = Momentum(0.5, 0.5)
    optimizer.load_state_dict({"v/momentum": m, "w/momentum": 3.0, "u/momentum": pb.ones(2)})
    m[:] = 7.0
    state = optimizer.state_dict()
    assert state["v/momentum"].tolist() == [1.0, 2.0]
    assert all(isinstance(value, np.ndarray) for value in state.values())
    assert not any(value.flags.writeable for value in state.values())
    assert state["w/momentum"].item() == 3.0 and state["u/momentum"].tolist() == [1.0, 1.0]


def test_a_variable_that_the_state_has_nothing_of():
    """Unnamed ones count through a process, so the next one finds nothing under their names."""
    old = pb.Variable(1.0)
    state = stepped(Adam(0.5), old).state_dict()
    new, optimizer = pb.Variable(1.0), Adam(0.5)
    optimizer.load_state_dict(state)
    with pytest.warns(RuntimeWarning, match=f"no entries for '{new.name}'.*it has '{old.name}'"):
        stepped(optimizer, new)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stepped(optimizer, new, old)
        stepped(Adam(0.5), new)
    with pytest.warns(RuntimeWarning, match=f"no entries for '{new.name}', whose slots stay"):
        optimizer.load_state_dict(state)


def test_a_failing_step_gives_back_what_was_loaded():
    (v,) = named("v")
    optimizer = Momentum(pb.ones(2), 0.5)
    optimizer.load_state_dict({"v/momentum": 2.0})
    for _ in range(2):
        with pytest.raises(ValueError, match="scalar"):
            stepped(optimizer, v)
    optimizer.learning_rate = 1.0
    stepped(optimizer, v)
    assert v.item() == -2.0


# --- threads


def test_threads_share_an_optimizer():
    """Every step counts, and a step that fails takes nothing of the others' away."""
    optimizer = Adam(0.5)
    groups = [named(*(f"v{k}_{i}" for i in range(12))) for k in range(4)]
    shared = pb.Variable(0.0, name="shared")
    failed: list[BaseException] = []

    def work(variables):
        try:
            for _ in range(10):
                for v in variables:
                    stepped(optimizer, v, shared)
                    with pytest.raises(ValueError, match="shape"):
                        optimizer.apply_gradients([(1.0, v), ([1.0], shared)])
                    optimizer.state_dict()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(group,)) for group in groups]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and optimizer.steps == 4 * 10 * 12
    assert len(optimizer.variables()) == 2 * (4 * 12 + 1) + 1
    # Of 480 gradients of 1, one after the other.
    assert optimizer.state_dict()["shared/m"] == pytest.approx(1 - 0.9**480)
