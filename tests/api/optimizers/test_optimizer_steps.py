"""A step of an optimizer is whole or nothing; hyper-parameters of every kind; the state, and saving
it. What the rules compute is in test_optimizers.py."""

import pickle

import numpy as np
import pytest
from support.each import each

import pullback as pb
from pullback.optimizers import Adam, GradientDescent, Momentum, RMSProp

KINDS = {
    "descent": lambda r: GradientDescent(r),
    "momentum": lambda r: Momentum(r, 0.9, use_nesterov=True),
    "rmsprop": lambda r: RMSProp(r, momentum=0.5, centered=True),
    **{
        name: getattr(pb.optimizers, name)
        for name in pb.optimizers.__all__
        if isinstance(getattr(pb.optimizers, name), type)
        and issubclass(getattr(pb.optimizers, name), pb.optimizers.Optimizer)
        and name not in ("Accumulated", "GradientDescent", "Momentum", "Optimizer", "RMSProp")
    },
    "accumulated": lambda r: pb.optimizers.Accumulated(Adam(r), 1),
}


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


def made(dtype="float32"):
    return [pb.Variable([1.0, 2.0], name="a", dtype=dtype), pb.Variable(3.0, name="b", dtype=dtype)]


def loss(variables):
    return lambda: sum(pb.sum(v * v) for v in variables)


def state(optimizer, variables):
    numbers = {name: value.tolist() for name, value in optimizer.state_dict().items()}
    return [v.numpy().tolist() for v in variables], numbers


def raising():
    raise ArithmeticError("no rate today")


class Late:
    """Fails when the second variable is asked for."""

    calls = 0

    def __array__(self, dtype=None, copy=None):
        self.calls += 1
        if self.calls > 1:
            raise ArithmeticError("no rate today")
        return np.array(0.25, "float32")


@each(
    ("rate", "error"),
    [
        (raising, ArithmeticError),
        (lambda: [0.1, 0.2], ValueError),
        (lambda: pb.ones(2), ValueError),
        (lambda: pb.ones((1, 1)), ValueError),
        (lambda: "much", TypeError),
        (lambda: None, TypeError),
        (Late(), ArithmeticError),
    ],
)
def test_a_step_that_fails_changes_nothing(kind, rate, error):
    variables = made()
    fresh, used = kind(0.25), kind(0.25)
    used.minimize(loss(variables))
    before = [state(optimizer, variables) for optimizer in (fresh, used)]
    good = fresh.learning_rate
    for optimizer in (fresh, used):
        optimizer.learning_rate = rate
        with pytest.raises(error):
            optimizer.minimize(loss(variables))
        if isinstance(rate, Late):
            rate.calls = 0
        optimizer.learning_rate = good
    assert [state(optimizer, variables) for optimizer in (fresh, used)] == before
    assert not fresh.variables()
    used.minimize(loss(variables))
    assert state(used, variables) != before[1]


def test_a_bad_gradient_or_hyper_parameter_changes_nothing():
    variables = made()
    optimizer = Momentum(0.5, 0.9)
    optimizer.minimize(loss(variables))
    before = state(optimizer, variables)
    for bad in (pb.ones(3), pb.ones(2, "float64")):
        with pytest.raises((ValueError, TypeError)):
            optimizer.apply_gradients([(pb.constant(1.0), variables[1]), (bad, variables[0])])
    optimizer.momentum = [0.9, 0.9]
    with pytest.raises(ValueError, match="expected a scalar for momentum, got shape"):
        optimizer.minimize(loss(variables))
    assert state(optimizer, variables) == before


@each("dtype", ["float32", "float64"])
@each(
    "number",
    [
        float,
        np.float32,
        np.float64,
        np.array,
        lambda x: pb.constant(x, "float64"),
        lambda x: pb.Variable(x, dtype="float32"),
        lambda x: lambda: np.float64(x),
    ],
)
def test_rates_of_any_kind(kind, number, dtype):
    expected, got = made(dtype), made(dtype)
    for variables, rate in ((expected, 0.5), (got, number(0.5))):
        optimizer = kind(rate)
        for _ in range(3):
            optimizer.minimize(loss(variables))
    for v, w in zip(expected, got, strict=True):
        assert w.dtype == dtype
        np.testing.assert_array_equal(v.numpy(), w.numpy())


@each("number", [np.float64, np.float32, lambda x: pb.constant(x, "float64")])
@each(
    "make",
    [
        lambda n: Momentum(0.5, n(0.5)),
        lambda n: RMSProp(0.5, decay=n(0.5), momentum=n(0.25), epsilon=n(0.125)),
        lambda n: Adam(0.5, n(0.5), n(0.25), n(0.125)),
    ],
)
def test_other_hyper_parameters_of_any_kind(make, number):
    """All are exact in float32, so the results are the same bit for bit."""
    expected, got = made(), made()
    for variables, optimizer in ((expected, make(float)), (got, make(number))):
        for _ in range(3):
            optimizer.minimize(loss(variables))
    for v, w in zip(expected, got, strict=True):
        np.testing.assert_array_equal(v.numpy(), w.numpy())


def test_steps_counts_what_was_finished():
    optimizer, v = Adam(0.5), pb.Variable(1.0)
    assert optimizer.steps == 0
    for done in range(3):
        optimizer.minimize(lambda: v * v)
        assert optimizer.steps == done + 1
        with pytest.raises(ValueError, match="at least one variable for var_list"):
            optimizer.minimize(lambda: pb.constant(1.0))
        optimizer.learning_rate, good = pb.ones(2), optimizer.learning_rate
        with pytest.raises(ValueError, match="expected a scalar for learning_rate, got shape"):
            optimizer.minimize(lambda: v * v)
        optimizer.learning_rate = good
        assert optimizer.steps == done + 1


def test_steps_inside_a_function():
    optimizer, v = Adam(0.5), pb.Variable(1.0)
    step = pb.function(lambda: optimizer.minimize(lambda: v * v))
    for _ in range(4):
        step()
    assert optimizer.steps == 4


NAMES = {
    "descent": (),
    "momentum": ("momentum",),
    "rmsprop": ("rms", "momentum", "mean"),
    "Adadelta": ("accumulator", "updates"),
    "Adagrad": ("accumulator",),
    "AdagradDA": ("gradients", "squares"),
    "Ftrl": ("accumulator", "linear"),
    "Lion": ("m",),
    "ProximalAdagrad": ("accumulator",),
    "ProximalGradientDescent": (),
    "Adafactor": ("s",),
    **dict.fromkeys(("Adam", "AdamW", "Lamb", "Nadam"), ("m", "s")),
    "accumulated": ("accumulated", "m", "s"),
}
OF_ALL_STEPS = {
    **dict.fromkeys(
        ("Adafactor", "AdagradDA", "Adam", "AdamW", "Lamb", "Nadam"), frozenset({"steps"})
    ),
    "accumulated": {"steps", "calls"},
}


@each("name", KINDS)
def test_the_state_is_public(name):
    optimizer, variables = KINDS[name](0.5), made()
    assert optimizer.variables() == [] and optimizer.state_dict() == {}
    optimizer.minimize(loss(variables))
    found = optimizer.state_dict()
    expected = {f"{v.name}/{slot}" for v in variables for slot in NAMES[name]}
    assert found.keys() == expected | OF_ALL_STEPS.get(name, set())
    assert len(optimizer.variables()) == len(found)
    assert all(isinstance(v, pb.Variable) and not v.trainable for v in optimizer.variables())
    for key, value in found.items():
        assert isinstance(value, np.ndarray)
        assert key in ("steps", "calls") or value.shape == variables["ab".index(key[0])].shape


def test_a_saved_state_goes_on_where_it_was(kind):
    """Saved after two of five steps, and loaded before the first step or after one."""
    straight = made()
    optimizer = kind(0.1)
    for _ in range(5):
        optimizer.minimize(loss(straight))
    variables = made()
    first = kind(0.1)
    for _ in range(2):
        first.minimize(loss(variables))
    saved = pickle.loads(pickle.dumps((variables, first.state_dict())))
    for warm in (False, True):
        second = kind(0.1)
        loaded = made()
        if warm:
            second.minimize(loss(loaded))
        second.load_state_dict(saved[1])
        for v, w in zip(loaded, saved[0], strict=True):
            v.assign(w)
        for key, value in second.state_dict().items():
            np.testing.assert_array_equal(value, saved[1][key])
        for _ in range(3):
            second.minimize(loss(loaded))
        for v, w in zip(straight, loaded, strict=True):
            np.testing.assert_array_equal(v.numpy(), w.numpy())


def test_variables_of_one_name_have_states_of_their_own():
    variables = [pb.Variable(float(k), name="v") for k in range(1, 4)]
    optimizer = Momentum(0.1, 0.9)
    optimizer.minimize(loss(variables))
    found = {key: value.item() for key, value in optimizer.state_dict().items()}
    assert found == {"v/momentum": 2.0, "v_1/momentum": 4.0, "v_2/momentum": 6.0}


def test_a_state_that_does_not_fit():
    v = pb.Variable([1.0, 2.0], name="v")
    optimizer = Momentum(0.1, 0.9)
    optimizer.load_state_dict({"v/momentum": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match=r"v/momentum.*\(3,\)"):
        optimizer.minimize(lambda: pb.sum(v))
    optimizer.load_state_dict({"v/momentum": [1.0, 2.0]})
    optimizer.minimize(lambda: pb.sum(v))
    before = state(optimizer, [v])
    with pytest.raises(ValueError, match=r"v/momentum.*\(3,\)"):
        optimizer.load_state_dict({"v/momentum": [1.0, 2.0, 3.0]})
    assert state(optimizer, [v]) == before


def test_one_variable_twice_in_a_step():
    """As two steps, one after the other."""
    once, twice = pb.Variable(1.0), pb.Variable(1.0)
    one, other = Momentum(0.5, 0.5), Momentum(0.5, 0.5)
    for g in (1.0, 3.0):
        one.apply_gradients([(g, once)])
    other.apply_gradients([(1.0, twice), (3.0, twice)])
    assert once.item() == twice.item()
    assert one.variables()[0].item() == other.variables()[0].item()


def test_gradients_and_variables_that_do_not_match():
    a, b = made()
    with pytest.raises(ValueError, match="keys 'a', 'b'"):
        GradientDescent(0.1).apply_gradients({"a": pb.ones(2)}, {"a": a, "b": b})
    with pytest.raises(TypeError, match="Variable"):
        GradientDescent(0.1).apply_gradients({"a": pb.ones(2)}, {"a": pb.ones(2)})
    GradientDescent(1.0).apply_gradients({"a": None, "b": 1.0}, {"a": a, "b": b})
    assert a.numpy().tolist() == [1.0, 2.0] and b.item() == 2.0
    GradientDescent(1.0).apply_gradients(pb.constant(1.0), b)
    assert b.item() == 1.0
