"""Views of a profile: table, flame graph, trace; and profile_memory against counted bytes."""

import gc
import json
import re
from xml.dom.minidom import parseString

import numpy as np
import pytest

import pullback as pb
from pullback import _core

STEP = pb.ProfileStep(
    kind="tiles", source="exp", seconds=2e-4, bytes=1000, operations=1000, share=0.2,
    elements=500, runs=1, dtype="float32", names=("exp", "<b>"), lines=("a.py:1",),
)  # fmt: skip
PROFILE = pb.Profile(
    (STEP, STEP._replace(seconds=3e-4, lines=("b.py:2",)), STEP._replace(names=("sin",))), 1e-3
)


def rectangles(svg):
    """Return title, x and width of each bar."""
    found = []
    for group in parseString(svg).getElementsByTagName("g"):
        title = group.getElementsByTagName("title")[0].firstChild.data
        bar = group.getElementsByTagName("rect")[0]
        found.append((title, float(bar.getAttribute("x")), float(bar.getAttribute("width"))))
    return found


def test_flame_graph():
    bars = rectangles(PROFILE.flame_graph().svg)
    whole = bars[0][2]
    assert bars[0][0].startswith("a call")
    first, exp, sin, second, last, outside = bars[1:7]
    assert first[0].startswith("a.py:1") and first[2] == pytest.approx(0.4 * whole, abs=0.1)
    assert (exp[0].split("  ")[0], sin[0].split("  ")[0]) == ("exp, <b>", "sin")
    assert exp[1] == first[1] and sin[1] == pytest.approx(exp[1] + 0.2 * whole, abs=0.1)
    assert second[0].startswith("b.py:2") and second[2] == pytest.approx(0.3 * whole, abs=0.1)
    assert last[1] == second[1] and outside[2] == pytest.approx(0.3 * whole, abs=0.1)
    assert rectangles(pb.Profile((), 0.0).flame_graph().svg)[0][2] == 0.5
    # Medians of different runs: the steps may take longer than the call.
    long = pb.Profile((STEP, STEP), 1e-4).flame_graph()
    assert all(x + width <= 975 for _, x, width in rectangles(long.svg))


def test_trace(tmp_path):
    PROFILE.save_trace(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text("utf-8"))
    name, call, *steps = trace["traceEvents"]
    assert name["ph"] == "M" and name["args"]["name"] == "pullback"
    assert all(e["ph"] == "X" and e["pid"] == 1 and e["tid"] == 1 for e in (call, *steps))
    assert (call["ts"], call["dur"]) == (0.0, pytest.approx(1000.0))
    assert [e["ts"] for e in steps] == pytest.approx([0.0, 200.0, 500.0])
    assert [e["dur"] for e in steps] == pytest.approx([200.0, 300.0, 200.0])
    assert steps[0]["args"]["lines"] == ["a.py:1"] and steps[2]["name"] == "sin"


def test_html():
    html = PROFILE._repr_html_()
    parseString(f"<div>{html}</div>")
    assert "<b>" not in html and html.count("<svg") == 1
    assert len(re.findall(r"<tr>", html)) == 1 + 3 + 2
    memory = pb.profile_memory(pb.exp, pb.ones(1000))._repr_html_()
    parseString(f"<div>{memory}</div>")
    assert "arguments and variables" in memory


def test_memory_by_line():
    def f(x):
        y = pb.sort(x)
        z = pb.concat([pb.cumsum(y), y, y])
        return pb.sum(pb.sort(z)) + x

    first = f.__code__.co_firstlineno
    report = pb.profile_memory(f, np.ones(1000))
    names = ("arguments and variables", *(f"test_profile_views.py:{first + i}" for i in (2, 3)))
    # At the last sort: x, its input of 3000 numbers and its result; y is not live any more.
    assert {line.line: line.bytes for line in report.lines} == dict(
        zip(names, (8000, 24000, 24000), strict=True)
    ), report
    assert report.reserved >= report.peak == 56000
    assert str(report).startswith("0.056 MB at the peak")


def test_memory_of_values_that_a_gradient_needs():
    w = pb.Variable(pb.ones((50, 50)), name="w")

    def report(layers):
        def loss(x):
            for _ in range(layers):
                x = pb.tanh(x @ w)
            return pb.sum(x)

        return pb.profile_memory(lambda x: pb.gradients(loss(x), w), pb.ones((400, 50)))

    layer = 2 * 4 * 400 * 50  # each layer keeps its product and its tanh
    for n in (3, 6):
        more, fewer = report(n + 2), report(n)
        assert more.peak - fewer.peak == more.reserved - fewer.reserved == 2 * layer


def test_memory_of_a_training_step_counts_variables_once():
    w = pb.Variable(pb.ones(10_000), name="w")

    @pb.function
    def step(x):
        loss = pb.sum(pb.square(w * x))
        w.assign_sub(0.1 * pb.gradients(loss, w)[0])
        return loss

    before = w.numpy()
    report = pb.profile_memory(step, pb.ones(10_000))
    assert np.array_equal(w.numpy(), before)  # it does not run
    assert report.lines[0] == ("arguments and variables", 80_000, 2)
    assert report.peak < 85_000


def test_an_argument_is_not_overwritten():
    # The plan can overwrite an argument that the caller gives away; a caller keeps this one.
    report = pb.profile_memory(pb.exp, pb.ones(1000))
    assert (report.peak, report.reserved) == (8000, 8000)
    empty = pb.profile_memory(pb.exp, pb.ones(0))
    assert empty.peak == 0 and str(empty).startswith("0.000 MB")


@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize("name", ["sort", "loss", "scan", "cond"])
def test_memory_is_close_to_what_is_measured(name):
    functions = {
        "sort": lambda x: pb.sort(x, axis=0) + x,
        "loss": lambda x: pb.gradients(pb.sum(pb.tanh(x @ pb.tanh(x @ x))), x),
        "scan": lambda x: pb.gradients(
            pb.sum(pb.scan(lambda c, r: (pb.tanh(c @ x + r), c), x[0], x)[1]), x
        ),
        "cond": lambda x: pb.cond(pb.sum(x) > 0, lambda x: pb.sort(x @ x) @ x, pb.exp, x),
    }
    f = pb.function(functions[name])
    x = pb.constant(np.random.default_rng(0).normal(size=(256, 256)))
    for _ in range(2):
        pb.evaluate(f(x))
    gc.collect()
    _core.reset_peak_bytes()
    before = _core.status()["live_bytes"]
    pb.evaluate(f(x))
    measured = _core.status()["peak_bytes"] - before + x.nbytes
    # Blocks are rounded up, and some steps need buffers inside.
    assert 0.6 <= pb.profile_memory(f, x).peak / measured <= 1.01


def test_memory_inside_of_loops():
    def body(carry, x):
        return pb.sort(carry + x), pb.sum(carry)

    report = pb.profile_memory(lambda x: pb.scan(body, x[0], x), pb.ones((5, 1000)))
    line = f"test_profile_views.py:{body.__code__.co_firstlineno + 1}"
    assert any(entry.line == line and entry.bytes >= 4000 for entry in report.lines), report


def test_memory_errors():
    with pytest.raises(TypeError, match="profile_memory: expected a function for f, got 3"):
        pb.profile_memory(3)
    assert pb.profile_memory(lambda: pb.ones(3)).peak in (0, 12)
