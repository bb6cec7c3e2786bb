"""TensorFlow's answers to the programs in conformance/, recorded by tools/record_conformance."""

from __future__ import annotations

import importlib.util
import json
import math
from pathlib import Path
from typing import Any

import pytest

import pullback.compat.tf1 as tf
from pullback.compat.tf1 import mode

# What TensorFlow logs, pullback warns of; other tests see to that.
pytestmark = pytest.mark.filterwarnings("ignore")

FOLDER = Path(__file__).parent / "conformance"
RECORD = json.loads((FOLDER / "answers.json").read_text())
# Programs that still answer differently; each leaves the list with the change that mends it.
OPEN = set(json.loads((FOLDER / "open.json").read_text()))
# Where pullback differs on purpose: why, and what it answers.
DELIBERATE: dict[str, tuple[str, Any]] = {}


def differs(why: str, answers: dict[str, Any]) -> None:
    DELIBERATE.update({program: (why, answer) for program, answer in answers.items()})


def number(value: str, kind: str = "float32 ()") -> Any:
    return {"answer": {"is": kind, "value": [value], "shape": []}}


def failure(name: str) -> Any:
    return {"error": [name]}


differs(
    "numbers and arrays take the dtype of the tensor beside them",
    {
        "tf.add(np.float64(1), tf.constant(1.0))": number("2.0"),
        "tf.concat([[1.0], [2]], 0)": {
            "answer": {"is": "float32 (2,)", "value": ["1.0", "2.0"], "shape": [2]}
        },
        "tf.nn.sigmoid_cross_entropy_with_logits(labels=[1, 0], logits=[2.0, -3.0])": {
            "answer": {
                "is": "float32 (2,)",
                "value": ["0.12692801", "0.04858735"],
                "shape": [2],
            }
        },
    },
)
differs(
    "where broadcasts",
    {
        "tf.where([True, False], 1.0, 2.0)": {
            "answer": {"is": "float32 (2,)", "value": ["1.0", "2.0"], "shape": [2]}
        },
        "tf.where([True, False], [1.0, 2.0], [1.0])": {
            "answer": {"is": "float32 (2,)", "value": ["1.0", "1.0"], "shape": [2]}
        },
    },
)
differs(
    "labels and logits are named, as TensorFlow 1 demanded",
    {
        "tf.nn.softmax_cross_entropy_with_logits([[0.0, 1.0]], [[1.0, 2.0]])": failure(
            "ValueError"
        ),
        "tf.nn.sigmoid_cross_entropy_with_logits([0.0], [1.0])": failure("ValueError"),
    },
)
differs(
    "names and types that no program of the time depends on",
    {
        "tf.stack([1, 2]).op.type": {"answer": "Pack"},
        'x = tf.constant(2.0); tf.gradients(x ** 4, x, name="slope")[0].name': {
            "answer": "slope/pow_grad/Reshape:0"
        },
        "v = tf.Variable(3.0); (v.op.type, v.dtype, v.trainable)": {
            "answer": ["VariableV2", "<dtype: 'float32'>", True]
        },
    },
)
differs(
    "integers are differentiable, as they were in TensorFlow 1",
    {"x = tf.constant(2); tf.gradients(x * x, x)": {"answer": [number("4", "int32 ()")["answer"]]}},
)
differs(
    "what cannot have a gradient has none",
    {"x = tf.constant([1.0, 2.0]); tf.gradients(tf.is_nan(x), x)": {"answer": [None]}},
)
differs(
    "a feed counts everywhere; TensorFlow's optimiser loses it where it rewrites x * x",
    {
        "x = hole([]); y = x * x; z = y * y; feed = {x: 3.0, y: 10.0}; tf.gradients(z, y)": {
            "answer": [number("20.0")["answer"]]
        },
        "x = tf.constant(2.0)\ny = x * x\nrun(y + 1.0, {y: 10.0})": {
            "answer": {"value": ["11.0"], "shape": []}
        },
    },
)
differs(
    "what is no tensor is an error, not None",
    {
        'x = tf.constant(3.0); tf.gradients(x * x, "x")': failure("TypeError"),
        "tape = tf.GradientTape()\ntape.gradient(None, tf.constant(1.0))": failure("TypeError"),
    },
)
differs(
    "Add is another name of AddV2, so an override of it is heard",
    {
        '@tf.RegisterGradient("Other")\ndef rule(op, g):\n    return g\nx = tf.constant(2.0)\n'
        'with tf.get_default_graph().gradient_override_map({"Add": "Other"}):\n    y = x + x\n'
        "tf.gradients(y, x)": failure("ValueError"),
    },
)
differs(
    "both gradients are of the values before the run",
    {
        "a = tf.Variable(1.0)\nb = tf.Variable(2.0)\nga, gb = tf.gradients(a * a * b, [a, b])\n"
        "run([a.assign(a - 0.1 * ga), b.assign(b - 0.1 * gb)])\n(a, b)": {
            "answer": [number("0.6")["answer"], number("1.9")["answer"]]
        },
    },
)
differs(
    "dtypes that do not mix are a TypeError in both modes",
    {
        "tf.add(1, 2.0)": failure("TypeError"),
        "tf.constant(1) + tf.constant(1.0)": failure("TypeError"),
    },
)
differs(
    "a rule may leave out `variables`, which then have their ordinary gradients",
    {
        "@tf.custom_gradient\ndef f(x):\n    return x * v, lambda g: g\nv = tf.Variable(2.0)\n"
        "with tf.GradientTape() as tape:\n    y = f(tf.constant(1.0))\ntape.gradient(y, v)": number(
            "1.0", "float32"
        ),
    },
)

spec = importlib.util.spec_from_file_location("answers", FOLDER / "answers.py")
assert spec and spec.loader
answers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(answers)


def table(which: str) -> list[Any]:
    rows = []
    for program, recorded in RECORD[which]["programs"].items():
        mark = [pytest.mark.xfail(strict=True)] if f"{which}: {program}" in OPEN else []
        expected = DELIBERATE.get(program, ("", recorded))[1]
        name = f"{recorded['about']}: {program[:60]}"
        rows.append(pytest.param(program, expected, id=name, marks=mark))
    return rows


def check(got: Any, recorded: Any) -> None:
    """Errors need a class of those recorded that says something; numbers agree to 1e-5."""
    if "error" in recorded:
        known = [c for c in recorded["error"] if c not in {"Exception", "BaseException"}]
        assert "error" in got, f"TensorFlow raises {known[0]}, pullback answers {got['answer']}"
        assert set(known) & set(got["error"]), f"{got['error'][0]} instead of {known[0]}"
        return
    assert "answer" in got, f"{got['error'][0]} instead of {recorded['answer']}"
    compare(got["answer"], recorded["answer"])


def compare(got: Any, wanted: Any) -> None:
    if isinstance(wanted, dict) and "value" in wanted:
        assert isinstance(got, dict)
        assert got.keys() == wanted.keys()
        assert got["shape"] == wanted["shape"]
        assert got.get("is") == wanted.get("is")
        for a, b in zip(got["value"], wanted["value"], strict=True):
            assert same_number(a, b), f"{got['value']} instead of {wanted['value']}"
    elif isinstance(wanted, dict):
        assert got.keys() == wanted.keys()
        for key in wanted:
            compare(got[key], wanted[key])
    elif isinstance(wanted, list):
        assert isinstance(got, list)
        assert len(got) == len(wanted)
        for a, b in zip(got, wanted, strict=True):
            compare(a, b)
    else:
        assert got == wanted


def same_number(a: str, b: str) -> bool:
    if a == b:
        return True
    if {a, b} & {"True", "False"}:
        return False
    x, y = float(a), float(b)
    return (math.isnan(x) and math.isnan(y)) or math.isclose(x, y, rel_tol=1e-5, abs_tol=1e-6)


@pytest.mark.parametrize(("program", "recorded"), table("graph"))
def test_graph(program: str, recorded: Any) -> None:
    check(answers.Machine(tf, False).answer(program), recorded)


@pytest.mark.parametrize(("program", "recorded"), table("eager"))
def test_eager(program: str, recorded: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from pullback.compat.tf1 import graph

    monkeypatch.setattr(graph._stack, "graphs", [])
    monkeypatch.setattr(mode, "enabled", True)
    check(answers.Machine(tf, True).answer(program), recorded)


def test_all_are_recorded() -> None:
    for which in ("graph", "eager"):
        written = [program for _, program in answers.programs(which)]
        assert set(written) == set(RECORD[which]["programs"])
        assert len(written) == len(set(written))
