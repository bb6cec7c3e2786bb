"""What a type checker sees: mypy --strict on README's examples and on the cases below, and a bit
less strict on the examples, whose functions are not annotated."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy", reason="needs mypy, of the extra dev")

ROOT = Path(__file__).parents[2]

# A comment at the end of a line is what mypy says there.
CASES = """
from typing import Any
import numpy as np
import pullback as pb

@pb.custom_gradient
def through(x: pb.Tensor, k: int = 1) -> tuple[pb.Tensor, Any]:
    return pb.round(x), lambda g: g

@pb.function
def traced(x: pb.Tensor, n: int = 2) -> dict[str, pb.Tensor]:
    return {"y": x * n}

@pb.function(static_argnums=1, cache_size=3)
def static(x: pb.Tensor, n: int) -> pb.Tensor:
    return x * n

class Model:
    @pb.function
    def step(self, x: float) -> pb.Tensor:
        return pb.constant(x)

x = pb.constant(1.0)
v = pb.Variable([1.0, 2.0], name="v")
reveal_type(through(x, k=2))  # Tensor
reveal_type(traced(x, 3))  # dict[str, Tensor]
reveal_type(traced.plan(x))  # str
reveal_type(traced.cache_info().hits)  # int
reveal_type(static(x, 1))  # Tensor
reveal_type(static.graph(x, 1))  # str
reveal_type(pb.function(static, cache_size=3)(x, 1))  # Tensor
reveal_type(Model().step(1.0))  # Tensor
reveal_type(Model.step.cache_info().currsize)  # int
reveal_type(np.ones(2) * x)  # Tensor
reveal_type(np.ones(2) - v)  # Tensor
reveal_type(np.ones(2) @ v)  # Tensor
reveal_type(np.ones(2) < v)  # Tensor
reveal_type(v / np.ones(2))  # Tensor
reveal_type(2.0 * x)  # Tensor
reveal_type(v.sum(0).reshape(2, 3).clip(max=1.0))  # Tensor
reveal_type(divmod(x, 2))  # tuple[Tensor, Tensor]
reveal_type(1 - v)  # Tensor
reveal_type(v[0])  # Tensor
reveal_type([row for row in v])  # list[Tensor]
reveal_type(f"{x:.3f}")  # str
reveal_type(v.assign(x))  # Variable
reveal_type(pb.clip_by_global_norm({"v": x}, 1.0))  # tuple[dict[str, Tensor], Tensor]
reveal_type(v.at[0].set(x))  # Tensor
reveal_type(pb.sum(pb.zeros((np.int64(3), 2)), axis=np.int64(0)))  # Tensor
reveal_type(pb.concat(pb.split(pb.ones(np.int32(4)), [np.int8(1)]), axis=np.int16(0)))  # Tensor
through("text")  # error
x.at[0].put(1.0)  # error
traced()  # error
"""


@pytest.fixture
def checked(tmp_path):
    def check(*arguments):
        command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", *arguments]
        command += ["--no-error-summary", "--no-pretty", "--cache-dir", str(tmp_path / "cache")]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        return done.stdout + done.stderr

    return check


def test_types(tmp_path, checked):
    examples = doctest.DocTestParser().get_examples((ROOT / "README.md").read_text("utf-8"))
    (tmp_path / "readme.py").write_text("".join(example.source for example in examples))
    (tmp_path / "cases.py").write_text(CASES)
    said = checked("readme.py", "cases.py")
    assert "readme.py" not in said, said
    found = {}
    for line, text in re.findall(r"cases\.py:(\d+): (\w+: .*)", said):
        if text.startswith("error"):
            found[int(line)] = "error"
        elif revealed := re.match(r'note: Revealed type is "(.*)"', text):
            found[int(line)] = re.sub(r"\b(builtins|pullback\._core)\.", "", revealed[1])
    lines = enumerate(CASES.splitlines(), 1)
    expected = {number: line.split("  # ")[1] for number, line in lines if "  # " in line}
    assert found == expected, said
    # README's and the cases' modules are in the cache now.
    loose = ["--allow-untyped-defs", "--allow-untyped-calls", "--ignore-missing-imports"]
    examples = sorted((ROOT / "examples").glob("*.py"))
    assert checked(*loose, *map(str, examples)) == ""
