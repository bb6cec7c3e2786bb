"""profile: the steps that ran, what they moved and computed, and nothing of other calls."""

import re
import threading

import numpy as np
import pytest

import pullback as pb
from pullback import _core
from pullback._base.composite import composite

RANDOM = np.random.default_rng(0)


def floats(*shape, dtype=np.float64):
    return pb.constant(RANDOM.normal(size=shape).astype(dtype))


def only_step(f, *args):
    (step,) = pb.profile(f, *args).steps
    return step


def test_kinds_are_documented():
    # Loops and branches have no entry of their own: the steps of their bodies are recorded.
    kinds = set(_core.status()["steps"]) - {"loop", "branch"}
    assert len(kinds) > 10
    assert kinds <= set(re.findall(r'"(\w+)"', pb.ProfileStep.__doc__))


def test_product():
    step = only_step(pb.matmul, floats(5, 7), floats(7, 3))
    assert (step.kind, step.source) == ("gemm", "matmul")
    assert step.operations == 2 * 5 * 7 * 3
    assert step.bytes == 8 * (5 * 7 + 7 * 3 + 5 * 3)


def test_batch_of_products():
    step = only_step(pb.matmul, floats(4, 5, 7), floats(7, 3))
    assert step.operations == 4 * 2 * 5 * 7 * 3
    assert step.bytes == 8 * (4 * 5 * 7 + 7 * 3 + 4 * 5 * 3)  # b is broadcast over the batch


def test_group():
    step = only_step(lambda x: pb.tanh(pb.exp(x)), floats(6, 10, dtype=np.float32))
    assert step.kind == "tiles"
    assert step.bytes == 2 * 4 * 60
    assert step.operations == 2 * 60


def test_the_same_array_twice_moves_once():
    assert only_step(lambda x: pb.exp(x) * pb.sin(x), floats(50)).bytes == 2 * 8 * 50


def test_broadcast_axes_count_once():
    step = only_step(lambda x, y: x * y, floats(6, 10), floats(10))
    assert step.bytes == 8 * (60 + 10 + 60)


def test_reduction():
    step = only_step(pb.sum, floats(40, dtype=np.float32))
    assert step.bytes == 4 * 40 + 4
    assert step.operations == 40


def test_gather_reads_what_it_takes():
    indices = pb.constant(np.arange(3))
    step = only_step(lambda x: pb.take(x, indices, axis=0), floats(1000, 2))
    assert step.kind == "gather"
    assert step.bytes == 8 * 6 + 8 * 3 + 8 * 6
    assert step.operations == 0
    assert step.gflop_per_second == 0


def test_rates_and_shares():
    report = pb.profile(lambda x: pb.sum(pb.tanh(x[0]) + x @ x), floats(64, 64))
    assert {step.kind for step in report.steps} == {"gemm", "tiles"}
    for step in report.steps:
        assert step.seconds > 0
        assert step.share == pytest.approx(step.seconds / report.total)
        assert step.gb_per_second == pytest.approx(step.bytes / step.seconds / 1e9)
        assert step.gflop_per_second == pytest.approx(step.operations / step.seconds / 1e9)
    assert 0 < sum(step.share for step in report.steps) < 1


def test_plain_code_and_a_function_run_the_same_steps():
    def f(w, x):
        return pb.sum(pb.square(x @ w))

    x, w = floats(8, 4), floats(4, 3)
    both = pb.value_and_grad(f)
    kinds = [[s.kind for s in pb.profile(g, w, x).steps] for g in (both, pb.function(both))]
    assert kinds[0] == kinds[1]
    assert kinds[0].count("gemm") == 2


def test_training_step_and_keywords():
    w = pb.Variable(pb.ones(4))

    @pb.function
    def step(x, *, rate):
        loss = pb.sum(pb.square(w * x))
        w.assign_sub(rate * pb.gradients(loss, w)[0])
        return loss

    report = pb.profile(step, pb.ones(4), rate=0.25)
    assert report.steps
    # Each of the nine calls halved it.
    assert w.numpy().tolist() == [0.5**9] * 4


def test_nothing_to_run():
    value = floats(3)
    report = pb.profile(lambda: value)
    assert report.steps == ()
    assert report.total > 0


def test_printed_slowest_first():
    report = pb.profile(lambda x: pb.sum(pb.tanh(x @ x)), floats(128, 128))
    head, *lines = str(report).splitlines()
    assert head.split() == ["step", "kind", "source", "µs", "share", "MB", "GB/s", "GFLOP/s"]
    assert len(lines) == len(report.steps) + 2
    times = [float(line.split()[3]) for line in lines[: len(report.steps)]]
    assert times == sorted(times, reverse=True)
    assert lines[-1].split()[:2] == ["a", "call"]
    assert repr(report) == str(report)


def test_other_steps_each_time():
    lengths = iter(range(100))
    with pytest.raises(ValueError, match="a function that runs the same steps"):
        pb.profile(lambda: pb.exp(pb.ones(next(lengths) + 1)))


def test_an_exception_comes_through_and_ends_the_recording():
    def broken():
        pb.evaluate(pb.exp(floats(3)))
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        _core.recorded_steps(broken)
    inner = []
    outer = _core.recorded_steps(
        lambda: inner.extend(_core.recorded_steps(lambda: pb.evaluate(pb.exp(floats(3)))))
    )
    assert len(inner) == 1
    assert outer == []  # the inner recording had it


def test_other_threads_are_left_out():
    def work():
        thread = threading.Thread(target=lambda: pb.evaluate(pb.exp(floats(3))))
        thread.start()
        thread.join()

    assert _core.recorded_steps(work) == []


def test_steps_inside_a_composite_have_its_name():
    x, y = floats(20, 30), floats(20, 30)
    for f in (lambda x: pb.std(x, axis=0), pb.function(lambda x: pb.std(x, axis=0))):
        assert {step.source for step in pb.profile(f, x).steps} == {"std"}
    # The inputs are not inside, and of nested composites the outermost counts.
    steps = pb.profile(lambda x, y: pb.nn.layer_norm(pb.sort(x @ y.T, axis=0)), x, y).steps
    assert [step.source for step in steps][:2] == ["matmul", "sort"]
    assert {step.source for step in steps[2:]} == {"layer_norm"}
    plan = pb.function(lambda x: pb.std(pb.exp(x), axis=0)).plan(x)
    assert "  in std\n" in plan and ">tiles" in pb.draw(plan).svg


def test_programs_that_differ_in_the_inputs_of_a_composite():
    """The values are computed alike, so the plan would be shared if only these counted."""

    @composite
    def sorted_values(x, sine):
        return pb.sort(pb.sin(x) if sine else x)

    x = floats(500)
    programs = [lambda x: sorted_values(x, True), lambda x: sorted_values(pb.sin(x), False)]
    sources = [{step.source for step in pb.profile(f, x).steps} for f in programs]
    assert sources == [{"sorted_values"}, {"sin", "sorted_values"}]
