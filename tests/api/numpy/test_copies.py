"""What tensors, variables, tapes and optimizers look like, and their copies: format, repr, copy,
deepcopy, every protocol of pickle; and matplotlib."""

import copy
import pickle
import re

import numpy as np
import pytest
from support.each import each

import pullback as pb

COPIES = [
    copy.copy,
    copy.deepcopy,
    *(
        lambda x, protocol=protocol: pickle.loads(pickle.dumps(x, protocol))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    ),
]


@pytest.mark.parametrize("copied", COPIES)
@each("dtype", ["bool", "int32", "int64", "float32", "float64"])
@each("shape", [(), (0, 3), (2, 3)])
def test_tensors(copied, dtype, shape):
    x = pb.cast(pb.reshape(pb.arange(6.0), (2, 3))[: shape[0]] if shape else 3.7, dtype)
    for tensor in (x, x + x if dtype != "bool" else ~x, pb.transpose(x)):
        twin = copied(tensor)
        assert isinstance(twin, pb.Tensor) and twin is not tensor
        assert twin.dtype == tensor.dtype and twin.shape == tensor.shape
        np.testing.assert_array_equal(twin.numpy(), tensor.numpy())


@each("copied", COPIES)
def test_a_copy_has_no_history(copied):
    v = pb.Variable(2.0)
    y = v * v
    assert pb.gradients(copied(y) * v, v)[0].item() == 4.0


class Named(pb.Variable):
    def __init__(self, first, second):
        super().__init__(first, name="named")
        self.second = second


@each("copied", COPIES)
def test_variables(copied):
    v = pb.Variable([1.0, 2.0], trainable=False, name="v", dtype="float64")
    v.assign_add([1.0, 1.0])
    w = copied(v)
    assert (w.name, w.trainable, w.dtype) == ("v", False, np.dtype("float64"))
    w.assign([0.0, 0.0])
    assert v.numpy().tolist() == [2.0, 3.0] and w.numpy().tolist() == [0.0, 0.0]
    twice = copied([v, v])
    assert (twice[0] is twice[1]) and (twice[0] is v) == (copied is copy.copy)
    named = copied(Named(1.5, {"x": 1}))
    assert type(named) is Named and named.second == {"x": 1} and named.numpy() == 1.5


@pytest.mark.parametrize("copied", COPIES[1:])
def test_nests_of_variables(copied):
    model = {"w": pb.Variable([1.0], name="w"), "steps": 3, "y": pb.ones(2)}
    twin = copied(model)
    assert twin["w"] is not model["w"] and twin["w"].name == "w" and twin["steps"] == 3


@each("copied", COPIES)
def test_what_has_no_value_is_refused(copied):
    with pytest.raises(RuntimeError, match="pickle"):
        pb.function(lambda x: copied(x))(1.0)
    with pytest.raises(RuntimeError, match=r"pickle|created by the trace"):
        v = pb.Variable(1.0)
        pb.function(lambda x: copied(v))(1.0)
    with pytest.raises(RuntimeError, match="__init__"):
        copied(pb.Variable.__new__(pb.Variable))
    with pytest.raises(TypeError, match="__reduce__"):
        pb.Variable.__new__(pb.Variable).__setstate__((1.0,))


def test_formats():
    loss = pb.constant(1.23456)
    assert f"{loss:.3f} {pb.Variable(2.5):8.1e}|" == "1.235  2.5e+00|"
    assert f"{pb.ones((1, 1)):.1f} {pb.constant(7):04d}" == "1.0 0007"
    assert f"{loss}" == str(loss) == "1.23456" and f"{pb.ones(2)}" == str(pb.ones(2))
    with pytest.raises(TypeError, match=r"shape \(2,\)"):
        f"{pb.ones(2):.2f}"
    with pytest.raises(ValueError):
        f"{loss:.2q}"
    with pytest.raises(RuntimeError, match="format"):
        pb.function(lambda x: f"{x:.2f}")(1.0)


def test_unnamed_variables_have_numbers():
    v, w = pb.Variable(1.0), pb.Variable(1.0)
    assert v.name != w.name and v.name.startswith("Variable_") and repr(v) != repr(w)
    assert pb.Variable(1.0, name="w").name == "w"


def test_tapes_tell_each_other_apart():
    with pb.GradientTape(persistent=True) as tape:
        y = pb.Variable(1.0) * 1.0
        assert "persistent" in repr(tape) and "recording, 1 variables" in repr(tape)
    assert "stopped" in repr(tape)
    other = pb.GradientTape()
    assert "not entered" in repr(other) and "persistent" not in repr(other)
    with other:
        pass
    other.gradient(y, y)
    assert "used" in repr(other) and repr(other) != repr(tape)


def test_optimizers_tell_each_other_apart():
    one, other = pb.optimizers.Adam(0.5, beta1=0.8), pb.optimizers.Adam(0.5, beta1=0.8)
    text = r"<Adam at 0x[0-9a-f]+: learning_rate=0.5, beta1=0.8, beta2=0.999, epsilon=1e-08>"
    assert re.fullmatch(text, repr(one)) and repr(one) != repr(other)
    descent = repr(pb.optimizers.GradientDescent(0.5))
    assert re.fullmatch(r"<GradientDescent at 0x[0-9a-f]+: learning_rate=0.5>", descent)
    assert "momentum=0.9" in repr(pb.optimizers.Momentum(0.1, 0.9))


def test_matplotlib_draws_tensors():
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    x, v = pb.arange(3.0), pb.Variable([1.0, 4.0, 9.0])
    (line,) = axes.plot(x, v)
    assert line.get_xydata().tolist() == [[0, 1], [1, 4], [2, 9]]
    (line,) = axes.plot(x * x)
    assert line.get_xydata().tolist() == [[0, 0], [1, 1], [2, 4]]
    axes.scatter(x, v)
    axes.bar(x, v)
    axes.imshow(pb.ones((2, 3)))
    axes.axhline(pb.constant(2.0))
    axes.plot(v[0], v[1], "x")
    axes.quiver(v, v, v, v)
    axes.hist2d(v, v)
    axes.errorbar(x, v, v)
    axes.hist(v)
