"""profile: the steps that ran, what they moved and computed, and nothing of other calls."""

import gc
import re
import sys
import threading
import warnings
import weakref

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
    # Each of the ten calls halved it.
    assert w.numpy().tolist() == [0.5**10] * 4


def test_nothing_to_run():
    value = floats(3)
    report = pb.profile(lambda: value)
    assert report.steps == ()
    assert report.total > 0


def test_printed_slowest_first():
    report = pb.profile(lambda x: pb.sum(pb.tanh(x @ x)), floats(128, 128))
    head, *lines = str(report).splitlines()
    columns = "step kind operations µs share MB GB/s GFLOP/s ns/element limit lines"
    assert " ".join(head.split()) == columns
    count = len(report.steps)
    times = [float(re.search(r" (\d+\.\d)  +\d+\.\d%", line)[1]) for line in lines[:count]]
    assert times == sorted(times, reverse=True)
    assert lines[count + 1].split()[:2] == ["a", "call"]
    assert lines[count + 2 :] == (["", *report.advice] if report.advice else [])
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
    assert "  in std  at test_profile.py:" in plan and ">tiles" in pb.draw(plan).svg


def test_programs_that_differ_in_the_inputs_of_a_composite():
    """The values are computed alike, so the plan would be shared if only these counted."""

    @composite
    def sorted_values(x, sine):
        return pb.sort(pb.sin(x) if sine else x)

    x = floats(500)
    programs = [lambda x: sorted_values(x, True), lambda x: sorted_values(pb.sin(x), False)]
    sources = [{step.source for step in pb.profile(f, x).steps} for f in programs]
    assert sources == [{"sorted_values"}, {"sin", "sorted_values"}]


def line_of_this_call():
    return f"test_profile.py:{sys._getframe(1).f_lineno}"


def test_all_operations_and_lines_of_a_group():
    places = []

    def f(x):
        y = pb.exp(x) + 1.0
        places.append(line_of_this_call())
        return pb.nn.softmax(pb.log(y), axis=-1)

    x = floats(30, 40)
    traced = pb.function(f)
    traced(x)
    for g in (f, traced):
        (step,) = pb.profile(g, x).steps
        assert set(step.names) == {"exp", "log", "softmax", "add"}
        assert step.names[-1] == "add"  # the cheapest operation
        first = int(places[0].partition(":")[2]) - 1
        assert step.lines == (f"test_profile.py:{first}", f"test_profile.py:{first + 2}")
        assert (step.elements, step.runs, step.dtype) == (1200, 1, "float64")
    plan = traced.plan(x)
    assert f"  in exp, log, softmax, add  at {', '.join(step.lines)}\n" in plan
    # Lines were found by a trace of their own, which is not kept.
    assert traced.cache_info().currsize == 1 and traced.cache_info().misses == 1


def test_lines_of_an_epilogue_a_gradient_and_a_body():
    x, w = floats(8, 4), floats(4, 3)

    def loss(w):
        return pb.sum(pb.tanh(x @ w))

    value, *_ = pb.profile(loss, w).steps
    assert value.names == ("matmul", "tanh", "sum") and len(value.lines) == 1
    steps = pb.profile(pb.grad(loss), w).steps
    assert any("tanh_slope" in step.names for step in steps)

    def body(i, state):
        return pb.sin(state) * 2.0

    line = f"test_profile.py:{body.__code__.co_firstlineno + 1}"
    (inside,) = (
        s for s in pb.profile(lambda v: pb.fori_loop(0, 25, body, v), floats(300)).steps
        if "sin" in s.names
    )  # fmt: skip
    assert inside.lines == (line,)
    assert (inside.runs, inside.elements, inside.operations) == (25, 25 * 300, 25 * 600)


def test_equal_programs_on_other_lines():
    x = floats(50)
    first = lambda x: pb.exp(x) * 2.0  # noqa: E731
    second = lambda x: pb.exp(x) * 2.0  # noqa: E731
    lines = [pb.profile(f, x).steps[0].lines for f in (first, second)]
    assert lines[0] != lines[1]


def test_a_function_that_is_called_often_is_located_once():
    calls = []

    @pb.function
    def step(x):
        calls.append(1)
        return pb.cos(x)

    def work(x):
        for _ in range(30):
            x = step(x)
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = pb.profile(work, floats(100))
    assert all(s.names == ("cos",) and s.lines for s in report.steps)
    assert len(calls) == 2  # for the calls, and for the lines


def test_nothing_is_kept_and_debugging_goes_on():
    class Model:
        @pb.function
        def call(self, x):
            return pb.exp(x)

    model, x = Model(), floats(3)
    before = _core.status()["plans"]
    for _ in range(2):
        pb.profile(model.call, x)
        assert _core.status()["plans"] <= before + 2
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None
    pb.set_debug(True)
    try:
        y = pb.exp(x)
        pb.profile(pb.exp, x)
        assert _core.place_of(y) is not None
        with pytest.raises(KeyError):
            pb.profile({}.__getitem__, "missing")
        assert _core.place_of(y) is not None
    finally:
        pb.set_debug(False)
    assert _core.place_of(pb.exp(x)) is None


STEP = pb.ProfileStep(
    kind="tiles", source="exp", seconds=1e-3, bytes=1000, operations=1000, share=0.5,
    elements=500, runs=1, dtype="float32", names=("exp",), lines=("a.py:1",),
)  # fmt: skip


def test_what_limits_a_step(monkeypatch):
    from pullback._runtime import profile

    monkeypatch.setattr(profile, "memory_seconds", lambda nbytes: nbytes * 1e-9)
    monkeypatch.setattr(profile, "product_seconds", lambda operations, dtype: operations * 1e-9)
    busy = STEP._replace(seconds=1e-3, bytes=800_000)
    product = STEP._replace(kind="gemm", operations=700_000)
    cases = (
        (busy, "memory", "limited by memory, 0.8 GB/s"),
        (STEP, "compute", "limited by computing, 2,000 ns an element, 1,000 times what moving"),
        (STEP._replace(seconds=2e-6, bytes=900), "compute", "ns an element, 2.2 times what moving"),
        (product, "compute", "0.7 GFLOP/s, 70% of the rate of a large product"),
        (product._replace(operations=1000), "", "GFLOP/s, 0% of the rate"),
        (product._replace(operations=1_300_000), "compute", "1.3 GFLOP/s, at the rate of a large"),
        (STEP._replace(kind="sort"), "", ": 2,000 ns an element, 1,000 times"),
        (STEP._replace(seconds=1e-6), "short", "it is short, 1 µs."),
        (STEP._replace(runs=5000), "short", "it is short, 0.2 µs and runs 5,000 times."),
    )
    for step, limit, text in cases:
        assert step.limit == limit, step
        (sentence,) = pb.Profile((step,), step.seconds).advice
        assert text in sentence and "50% of a call is step 0 (" in sentence


def test_advice_on_overhead(monkeypatch):
    short = STEP._replace(seconds=1e-6, share=0.02)
    report = pb.Profile((short,) * 25, 50e-6)
    first, second = report.advice
    assert "50% of a call passes outside of the steps" in first + second
    assert "50% of a call is in 25 short steps" in first + second
    assert pb.Profile((), 0.0).advice == ()


def test_rates_of_the_machine():
    from pullback._runtime import machine_rates

    times = [machine_rates.memory_seconds(n) for n in (0, 1000, 10**6, 10**9)]
    assert times[0] == 0 and times[1] < times[2] < times[3]
    assert machine_rates.product_seconds(10**6, "float32") > 0
