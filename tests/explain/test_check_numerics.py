"""`check_numerics` raises at the line whose operation makes the first number that is not finite."""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np
import pytest

import pullback as pb
from explain.broken import weights


def line_that_raised(call: Any) -> tuple[str, str]:
    """The source of the innermost line of this file, and the message."""
    with pytest.raises(FloatingPointError) as caught:
        call()
    frames = [f for f in traceback.extract_tb(caught.tb) if f.filename == __file__]
    return str(frames[-1].line), str(caught.value)


def test_a_value() -> None:
    def step() -> None:
        w = weights(1, 0, -1)
        a = pb.exp(w)
        b = pb.log(w)
        pb.sum(a * b)

    with pb.check_numerics():
        line, message = line_that_raised(step)
    assert line == "b = pb.log(w)"
    assert "log" in message and "NaN (2 of 3 entries, the first at [1])" in message
    assert "of finite numbers" in message


def test_an_operator_and_an_infinity() -> None:
    def step() -> None:
        w = pb.Variable(np.array([[1.0, 2.0], [0.0, 4.0]]))
        pb.sum(1 / w)

    with pb.check_numerics():
        line, message = line_that_raised(step)
    assert line == "pb.sum(1 / w)" and "infinite (1 of 4 entries, the first at [1, 0])" in message


def test_a_cotangent() -> None:
    def step() -> None:
        w = weights(0, 4)
        y = pb.sum(pb.sqrt(w))
        pb.gradients(y, w)

    with pb.check_numerics():
        line, message = line_that_raised(step)
    assert line == "pb.gradients(y, w)"
    assert "backward: the slope of sqrt, made at" in message and "test_check_numerics.py" in message


def test_through_a_tape_and_an_optimizer() -> None:
    w = weights(0, 0)

    def loss() -> Any:
        return pb.sqrt(pb.sum(w * w))

    def step() -> None:
        pb.optimizers.GradientDescent(0.1).minimize(loss)

    def taped() -> None:
        with pb.GradientTape() as tape:
            y = loss()
        tape.gradient(y, w)

    with pb.check_numerics():
        assert "slope of sqrt" in line_that_raised(step)[1]
        assert "slope of sqrt" in line_that_raised(taped)[1]
    np.testing.assert_array_equal(w.numpy(), [0, 0])


def test_traced_functions_run_as_written() -> None:
    @pb.function
    def loss(w: Any) -> Any:
        ratio = w / pb.sum(w)
        return pb.sum(ratio)

    loss(weights(1, 2))
    with pb.check_numerics():
        line, _ = line_that_raised(lambda: loss(weights(0, 0)))
    assert line == "ratio = w / pb.sum(w)"


def test_data_that_is_not_finite_is_named() -> None:
    data = pb.constant([1.0, np.nan])
    with pb.check_numerics():
        _, message = line_that_raised(lambda: data * 2)
    assert "receives a constant that is NaN (1 of 2 entries, the first at [1]) already" in message


def test_only_inside_and_only_what_is_not_finite() -> None:
    w = weights(0, 1)
    with pb.check_numerics():
        mask = pb.constant([-np.inf, 0.0])
        with pb.check_numerics():
            assert float(pb.sum(w * 2)) == 2
        y = pb.sum(pb.where(w > 0, pb.log(pb.maximum(w, 1e-3)), 0.0))
        assert np.isfinite(pb.gradients(y, w)[0].numpy()).all()
        with pytest.raises(FloatingPointError):
            pb.log(w)
    assert np.isneginf(pb.log(w).numpy()[0]) and mask.shape == (2,)


def test_other_threads_go_on() -> None:
    from threading import Thread

    found = []
    with pb.check_numerics():
        thread = Thread(target=lambda: found.append(float(pb.log(pb.constant(0.0)))))
        thread.start()
        thread.join()
    assert found == [-np.inf]


def test_a_jacobian_is_checked_like_a_gradient() -> None:
    x = pb.Variable([0.0, 1.0])
    with pb.check_numerics():
        with pb.GradientTape() as tape:
            y = pb.sqrt(x)
        with pytest.raises(FloatingPointError, match="backward: the slope of sqrt"):
            tape.jacobian(y, x)
    with pb.check_numerics():
        x.assign([4.0, 1.0])
        with pb.GradientTape() as tape:
            y = pb.sqrt(x)
        assert tape.jacobian(y, x).numpy().tolist() == [[0.25, 0.0], [0.0, 0.5]]


def test_the_result_of_a_composite_is_checked_not_the_operations_inside() -> None:
    x = pb.Variable([1.0, np.inf])
    with pb.check_numerics():
        # The logarithm inside is -inf, and then masked.
        assert np.isfinite(float(pb.nn.kl_divergence([0.5, 0.5], [0.0, 1.0])))
        pb.nn.relu6(x)
        with pytest.raises(FloatingPointError, match=r"corrcoef.*, returns a value that is NaN"):
            pb.corrcoef(pb.zeros((2, 3)))
        with pytest.raises(FloatingPointError, match=r"layer_norm.*, returns a value that is NaN"):
            pb.nn.layer_norm(x)
        parts = pb.clip_by_global_norm({"a": pb.ones(3)}, 1.0)[0]
        assert parts["a"].shape == (3,)
