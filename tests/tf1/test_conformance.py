"""TensorFlow's answers to the programs in conformance/, recorded by tools/record_conformance."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import math
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from support.check import Check
from support.tf1 import eager, graph_of_its_own  # noqa: F401

import pullback.compat.tf1 as tf
from pullback.compat.tf1._training import saver
from pullback.compat.tf1._training.stored_graph import Stored

# What TensorFlow logs, pullback warns of; other tests see to that.
pytestmark = pytest.mark.filterwarnings("ignore")

FOLDER = Path(__file__).parent / "conformance"
RECORD = json.loads((FOLDER / "answers.json").read_text())
# Programs that still answer differently; each leaves the list with the change that mends it.
OPEN = set(json.loads((FOLDER / "open.json").read_text()))

spec = importlib.util.spec_from_file_location("answers", FOLDER / "answers.py")
assert spec and spec.loader
answers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(answers)


def deliberate() -> Iterator[tuple[str, str, Any]]:
    """(reason, program, what pullback answers) for each program of differences.txt."""
    reason = ""
    for part in (FOLDER / "differences.txt").read_text().split("\n\n"):
        lines = [x for x in part.strip().split("\n") if not x.startswith("# ")]
        if lines and lines[0].startswith("## "):
            reason = lines.pop(0)[3:]
        if lines:
            answer = lines.pop().removeprefix("=> ")
            name = answer.removeprefix("raises ")
            known = {"error": [name]} if name != answer else {"answer": json.loads(answer)}
            yield reason, "\n".join(lines), known


DELIBERATE = {program: answer for _, program, answer in deliberate()}
INTEGERS = [program for reason, program, _ in deliberate() if reason.startswith("integers are")]


def table(which: str) -> dict[str, list[str]]:
    """The programs about a subject."""
    subjects = defaultdict(list)
    for program, recorded in RECORD[which]["programs"].items():
        subjects[recorded["about"]].append(program)
    return subjects


def check_all(which: str, programs: list[str]) -> None:
    found = Check()
    for program in programs:
        got = answers.Machine(tf, which == "eager").answer(program)
        try:
            check(got, DELIBERATE.get(program, RECORD[which]["programs"][program]))
            found.that(f"{which}: {program}" not in OPEN, f"answers now, but is open: {program}")
        except AssertionError as error:
            found.that(f"{which}: {program}" in OPEN, f"{program}: {error}")
    found.done()


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


@pytest.mark.parametrize("about", table("graph"))
def test_graph(about: str) -> None:
    check_all("graph", table("graph")[about])


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("about", table("eager"))
def test_eager(about: str) -> None:
    check_all("eager", table("eager")[about])


@pytest.mark.parametrize("program", INTEGERS)
def test_later_integers(program: str) -> None:
    """With the later behaviour switched on, integers answer as they do there."""
    tf.set_integer_gradients(False)
    try:
        check(answers.Machine(tf, False).answer(program), RECORD["graph"]["programs"][program])
    finally:
        tf.set_integer_gradients(True)


def test_graphs_of_many_programs_come_back():
    """Dtypes and shapes of all that is stored, in the programs of the conformance tests; nothing is
    left out but what holds an object of the program."""
    objects = "function|Dataset|OpDef|raw_op"
    found, count = Check(), 0
    for _, program in answers.programs("graph"):
        with graph_of_its_own() as graph, contextlib.suppress(Exception):
            answers.Machine(tf, False)._evaluate(program)
        stored = Stored(graph)
        for op, reason in stored.missing.items():
            found.that(re.search(objects, reason), f"{program}: {op}: {reason}")
        data = {"format": saver._META, "graph": json.loads(json.dumps(stored.document))}
        with tf.Graph().as_default() as again:
            tf.train.import_meta_graph(data)
        for op in again.get_operations():
            first = graph.get_operation_by_name(op.name)
            same = [(x.dtype, x.dims) for x in op.outputs] == [
                (x.dtype, x.dims) for x in first.outputs
            ]
            found.that(same, f"{program}: {op}: {op.outputs} instead of {first.outputs}")
            count += 1
    found.done()
    assert count > 10000


def test_all_are_recorded() -> None:
    known = set()
    for which in ("graph", "eager"):
        written = [program for _, program in answers.programs(which)]
        assert set(written) == set(RECORD[which]["programs"])
        assert len(written) == len(set(written))
        known |= set(written)
    assert set(DELIBERATE) <= known


def differs(got: Any, recorded: Any) -> bool:
    try:
        check(got, recorded)
    except AssertionError:
        return True
    return False


def test_what_differs_on_purpose_differs() -> None:
    """No entry of differences.txt excuses a program that TensorFlow answers as pullback does."""
    for program, ours in DELIBERATE.items():
        recorded = [RECORD[x]["programs"].get(program) for x in ("graph", "eager")]
        assert any(differs(ours, r) for r in recorded if r), program


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("tensorflow"), reason="TensorFlow is not installed")
@pytest.mark.parametrize("which", ["graph", "eager"])
def test_tensorflow_beside(which: str) -> None:
    """The programs on both, each in a process of its own; the record has no part in it."""
    both = []
    for library in ("tensorflow", "pullback"):
        command = [sys.executable, "-W", "ignore", str(FOLDER / "answers.py"), library, which]
        printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        both.append(json.loads(printed.splitlines()[-1])["programs"])
    theirs, ours = both
    unlike = [
        program
        for program, answer in theirs.items()
        if f"{which}: {program}" not in OPEN
        and differs(ours[program], DELIBERATE.get(program, answer))
    ]
    assert not unlike
