"""The names of rules and of operations: unknown, taken, registered again, and late."""

from __future__ import annotations

import numpy as np
import pytest
from support.overrides import fresh, gradient, times
from support.process import run

import pullback as pb


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("Sign", "sign"),
        ("MatMul", "matmul"),
        ("Matmul", "matmul"),
        ("sqare", "square"),
        ("linalg.det", "det"),
        ("arcttan", "arctan"),
        ("svdval", "svdvals"),
        ("einsumm", "einsum"),
    ],
)
def test_unknown_operations(wrong, near):
    x = pb.Variable(2.0)
    for attempt in (
        lambda: pb.gradient_override_map({"square": times(5), wrong: times(1)}).__enter__(),
        lambda: pb.gradients(x, x, overrides={wrong: times(1)}),
    ):
        with pytest.raises(LookupError, match=f"{wrong}.*did you mean.*'{near}'"):
            attempt()
    assert gradient(pb.square(x), x) == 4  # nothing was installed


@pytest.mark.parametrize("wrong", ["", "no such thing", "value", "read", "custom_gradient"])
def test_unknown_operations_without_neighbours(wrong):
    with pytest.raises(LookupError, match="not an operation"):
        pb.gradient_override_map({wrong: times(1)})


def test_unknown_rules():
    name = fresh()
    pb.register_gradient(name)(times(1))
    with pytest.raises(LookupError, match=f"'{name.upper()}'.*did you mean.*'{name}'"):
        pb.gradient_override_map({"square": name.upper()})


@pytest.mark.parametrize(
    "wrong", [None, [("square", times(1))], "square", {1: times(1)}, {"square": 3}, {"exp": None}]
)
def test_maps_that_are_none(wrong):
    with pytest.raises(TypeError):
        pb.gradient_override_map(wrong)


def test_register():
    name = fresh()
    rule = times(2)
    assert pb.register_gradient(name)(rule) is rule
    with pytest.raises(KeyError, match=rf"{name}.*support/overrides.py:\d+.*replace=True"):
        pb.register_gradient(name)(times(3))
    x = pb.Variable(2.0)
    with pb.gradient_override_map({"square": name}):
        old = pb.square(x)
        pb.register_gradient(name, replace=True)(times(3))
    with pb.gradient_override_map({"square": name}):
        new = pb.square(x)
    assert (gradient(old, x), gradient(new, x)) == (2, 3)


def test_an_operations_own_name_is_taken():
    with pytest.raises(KeyError, match=r"'tanh'.*replace=True"):
        pb.register_gradient("tanh")


def test_replacing_the_rule_of_an_operation():
    """In a process of its own: it lasts."""
    code = (
        "import pullback as pb\n"
        "pb.register_gradient('square', replace=True)(lambda op, g: 5 * g)\n"
        "x = pb.Variable(2.0)\n"
        "y = pb.square(x)\n"
        "with pb.gradient_override_map({'square': lambda op, g: 6 * g}): z = pb.square(x)\n"
        "print([float(pb.gradients(t, x)[0]) for t in (y, z)],\n"
        "      float(pb.gradients(y, x, overrides={'square': lambda op, g: 7 * g})[0]))\n"
    )
    out = run(code)
    assert out.strip() == "[5.0, 6.0] 7.0"


def test_rules_registered_later_reach_what_is_recorded():
    """Also in a process of its own: a traced function, a tape, a lazy graph and a composite that
    has a rule of the library's."""
    code = (
        "import numpy as np, pullback as pb\n"
        "x = pb.Variable(2.0)\n"
        "slope = pb.function(lambda t: pb.gradients(pb.square(t), [t])[0])\n"
        "value = pb.function(lambda t: pb.square(t))\n"
        "first = [float(slope(x)), float(pb.gradients(value(x), x)[0])]\n"
        "lazy, traced, soft = pb.square(x), value(x), pb.softmax(x * np.ones(2), axis=0)\n"
        "with pb.GradientTape() as tape: taped = pb.square(x)\n"
        "with pb.gradient_override_map({'softmax': lambda op, g: 2 * g}):\n"
        "    stamped = pb.softmax(x * np.ones(2), axis=0)\n"
        "pb.register_gradient('square', replace=True)(lambda op, g: 5 * g)\n"
        "pb.register_gradient('softmax', replace=True)(lambda op, g: 7 * g)\n"
        "then = [float(slope(x)), float(pb.gradients(value(x), x)[0])]\n"
        "then += [float(pb.gradients(y, x)[0]) for y in (lazy, traced)]\n"
        "then += [float(tape.gradient(taped, x))]\n"
        "then += [float(pb.gradients(y, x)[0]) for y in (soft, stamped)]\n"
        "pb.register_gradient('square', replace=True)(lambda op, g: 6 * g)\n"
        "print(first, then, float(slope(x)), float(slope(x)))\n"
    )
    out = run(code)
    assert out.strip() == "[4.0, 4.0] [5.0, 5.0, 5.0, 5.0, 5.0, 14.0, 4.0] 6.0 6.0"


def test_rules_registered_for_composites():
    """In a process of its own. They reach what is recorded, also through nested composites."""
    code = (
        "import numpy as np, pullback as pb\n"
        "x = pb.Variable([1.0, 2.0])\n"
        "traced = pb.function(lambda t: pb.std(t))\n"
        "slope = pb.function(lambda t: pb.gradients(pb.std(t), [t])[0])\n"
        "value, old, _ = traced(x), pb.std(x), slope(x)\n"
        "with pb.GradientTape() as tape: taped = pb.std(x)\n"
        "rows = pb.vmap(pb.std)(pb.stack([x, x]))\n"
        "pb.register_gradient('std', replace=True)(lambda op, g: pb.full_like(op.inputs[0], 7.0))\n"
        "found = [pb.gradients(y, x)[0] for y in (value, old, pb.std(x), traced(x))]\n"
        "print([float(g[0]) for g in [*found, slope(x), tape.gradient(taped, x)]],\n"
        "      float(pb.gradients(rows, x)[0][0]))\n"
        "with pb.gradient_override_map({pb.std: 'std', pb.var: 'std'}): y = pb.var(x)\n"
        "print(float(pb.gradients(y, x)[0][0]))\n"
        "with pb.gradient_override_map({'std': lambda op, g: g * op.inputs[0]}): y = pb.std(x)\n"
        "print(float(pb.gradients(y, x)[0][1]))\n"
    )
    assert run(code).split("\n")[:3] == ["[7.0, 7.0, 7.0, 7.0, 7.0, 7.0] 14.0", "7.0", "2.0"]


@pytest.mark.parametrize("wrong", [None, 3, b"name"])
def test_names_are_strings(wrong):
    with pytest.raises(TypeError):
        pb.register_gradient(wrong)
    with pytest.raises(ValueError, match="empty"):
        pb.register_gradient("")


@pytest.mark.parametrize("wrong", [None, 3, "text"])
def test_rules_are_functions(wrong):
    with pytest.raises(TypeError, match="expected a function"):
        pb.register_gradient(fresh())(wrong)


def test_operations_by_their_functions():
    x = pb.Variable([-2.0, 0.5])
    rule = lambda op, g: 10 * g  # noqa: E731
    for key in (pb.sign, pb.round, pb.nn.relu, pb.special.erf, pb.linalg.matmul, pb.astype):
        with pb.gradient_override_map({key: rule}):
            pass
    with pb.gradient_override_map({pb.sign: rule, "round": rule}):
        y = pb.sign(x) + pb.round(x)
    assert pb.gradients(y, x)[0].numpy().tolist() == [20.0, 20.0]
    assert pb.gradients(pb.sign(x), x, overrides={pb.sign: rule})[0].numpy().tolist() == [10.0] * 2
    with pb.gradient_override_map({pb.nn.relu6: rule, "std": rule}):
        y = pb.nn.relu6(x) + pb.stack([pb.std(x[0]), pb.std(x[1])])
    assert pb.gradients(y, x)[0].numpy().tolist() == [20.0, 20.0]
    assert pb.gradients(pb.nn.relu6(x), x, overrides={pb.nn.relu6: rule})[0].numpy()[0] == 10
    with pytest.raises(ValueError, match=r"std: expected shape \(2,\) .*, got \(3, 1\)"):
        with pb.gradient_override_map({pb.std: lambda op, g: pb.ones((3, 1))}):
            y = pb.std(x)
        pb.gradients(y, x)
    for key in ("straight_through", pb.reverse_gradient, pb.clip_gradient):
        with pytest.raises(
            LookupError, match=r"defines its own gradient; call it in .* custom_gradient"
        ):
            pb.gradient_override_map({key: rule})
    with pytest.raises(LookupError, match="'fftfreq' is not an operation with a gradient"):
        pb.gradient_override_map({pb.fft.fftfreq: rule})
    for other in (np.sin, abs, lambda x: x, 3):
        with pytest.raises(TypeError, match="by name or by public function"):
            pb.gradient_override_map({other: rule})


def test_functions_that_share_a_name():
    x = pb.Variable([[2.0, 1.0], [0.5, 3.0]])
    pairs = (
        (pb.trace, pb.linalg.trace, "trace"),
        (pb.diagonal, pb.linalg.diagonal, "diagonal"),
    )
    for one, other, name in pairs:
        with pb.gradient_override_map({other: lambda op, g: pb.full_like(op.inputs[0], 7.0)}):
            values = one(x), other(x)
        own, changed = (pb.gradients(pb.sum(y), x)[0].numpy() for y in values)
        np.testing.assert_array_equal(own, np.eye(2))
        assert (changed == 7).all()
        with pytest.raises(
            LookupError, match=f"map: '{name}' is the name of pb.{name} and pb.linalg.{name}; pass"
        ):
            pb.gradient_override_map({name: times(1)})
    for name, found in (("cond", pb.linalg.cond), ("gamma", pb.special.gamma)):
        with pytest.raises(LookupError, match=f"'{name}' is the name of pb.* and pb.*; pass"):
            pb.gradient_override_map({name: times(1)})
        with pytest.raises(LookupError, match=f"register_gradient: '{name}' is the name of"):
            pb.register_gradient(name)
        with pytest.raises(KeyError, match="is an operation with a gradient of its own"):
            pb.register_gradient(found)
    with pb.gradient_override_map({pb.random.shuffle: times(3)}):  # a method
        y = pb.random.shuffle(x)
    assert (pb.gradients(y, x)[0].numpy() == 3).all()
    for other in (pb.cond, pb.random.gamma, pb.random.beta, pb.random.permutation):
        with pytest.raises(LookupError, match="is not an operation with a gradient"):
            pb.gradient_override_map({other: times(1)})


@pytest.mark.parametrize("name", ["astype", "cast", "permute_dims", "positive", "std"])
def test_names_of_functions_that_are_operations(name):
    with pytest.raises(KeyError, match=f"'{name}'.*replace=True"):
        pb.register_gradient(name)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("scale_gradient", "defines its own gradient"),
        ("ones", "not an operation"),
    ],
)
def test_names_of_functions_that_are_no_operation(name, words):
    """A rule of theirs would never be asked."""
    with pytest.raises(LookupError, match=words):
        pb.register_gradient(name)
    with pytest.raises(LookupError, match=words):
        pb.register_gradient(name, replace=True)


def test_replacing_the_rule_of_an_operation_by_its_functions_name():
    """In a process of its own: it lasts."""
    code = (
        "import pullback as pb\n"
        "x = pb.Variable([[2.0]])\n"
        "for name in ('astype', 'positive', 'permute_dims'):\n"
        "    pb.register_gradient(name, replace=True)(lambda op, g: 5)\n"
        "for y in (pb.astype(x, 'float64'), pb.positive(x), pb.permute_dims(x, (1, 0))):\n"
        "    print(float(pb.gradients(y, x)[0][0, 0]))\n"
        "with pb.gradient_override_map({'sin': 'astype'}): y = pb.sin(x)\n"
        "print(float(pb.gradients(y, x)[0][0, 0]))\n"
    )
    out = run(code)
    assert out.split() == ["5.0"] * 4


@pytest.mark.parametrize(
    "enter", ["{}", "t = threading.Thread(target=lambda: {}); t.start(); t.join()"]
)
def test_a_map_that_is_never_left(enter):
    code = "import threading, pullback as pb\n" + enter.format(
        "pb.gradient_override_map({'sign': lambda op, g: g}).__enter__()"
    )
    run(code)
