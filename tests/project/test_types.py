"""Types of the public functions: mypy --strict on README's examples and on the cases below, and a
bit less strict on the examples, whose functions are not annotated. pyright reads the cases too.

The cases run too: a value must have the type that mypy reveals.
"""

import ast
import doctest
import re
import subprocess
import sys
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

import numpy as np
import pytest
from support.pyright import pyright

import pullback as pb
from pullback._base import hints

pytest.importorskip("mypy", reason="needs mypy, of the extra dev")

ROOT = Path(__file__).parents[2]
STUB = ROOT / "python/pullback/_core.pyi"

# A comment at the end of a line is the type that mypy reveals there, or "error".
CASES = """
from typing import Any, NamedTuple
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
reveal_type(v.sum(0).reshape(1, 1).clip(max=1.0))  # Tensor
reveal_type(divmod(x, 2))  # tuple[Tensor, Tensor]
reveal_type(1 - v)  # Tensor
reveal_type(v[0])  # Tensor
reveal_type(v[..., None, ::2])  # Tensor
reveal_type(v[[1, 0]])  # Tensor
reveal_type(v[np.array([True, False])])  # Tensor
reveal_type(v[v > 1.0, pb.newaxis])  # Tensor
reveal_type(v.reshape((1, 2)).transpose(1, 0))  # Tensor
reveal_type(v.transpose(None))  # Tensor
reveal_type(pow(v, 2))  # Tensor
reveal_type(v.astype("float64", copy=False))  # Tensor
reveal_type(v.__array_namespace__().__name__)  # str
reveal_type([row for row in v])  # list[Tensor]
reveal_type(f"{x:.3f}")  # str
reveal_type(v.assign([1.0, 2.0]))  # Variable
reveal_type(pb.clip_by_global_norm({"v": x}, 1.0))  # tuple[dict[str, Tensor], Tensor]
reveal_type(v.at[0].set(x))  # Tensor
reveal_type(pb.sum(pb.zeros((np.int64(3), 2)), axis=np.int64(0)))  # Tensor
reveal_type(pb.concat(pb.split(pb.ones(np.int32(4)), [np.int8(1)]), axis=np.int16(0)))  # Tensor
through("text")  # error
x.at[0].put(1.0)  # error
v["a"]  # error
v[1.5] = 0.0  # error
x.at["a"]  # error
v.reshape("a")  # error
v.transpose(1.5)  # error
v.astype(dtype="float64")  # error
pow(v, 2, 3)  # error
traced()  # error

class Variables(NamedTuple):
    v: pb.Variable

class Tensors(NamedTuple):
    x: pb.Tensor

def loss(w: pb.Tensor, y: pb.Tensor, scale: float = 1.0) -> pb.Tensor:
    return pb.sum(w * y) * scale

def tree_loss(w: dict[str, pb.Tensor], y: pb.Tensor) -> pb.Tensor:
    return w["v"][0] * y

def tuple_loss(w: Tensors) -> pb.Tensor:
    return pb.sum(w.x)

def aux_loss(w: pb.Tensor) -> tuple[pb.Tensor, str]:
    return pb.sum(w), "aux"

def double(x: pb.Tensor) -> pb.Tensor:
    return x * 2

def pair(x: pb.Tensor) -> tuple[pb.Tensor, dict[str, pb.Tensor]]:
    return x, {"x": x}

def number(x: pb.Tensor) -> float:
    return 1.0

def step(carry: pb.Tensor, x: pb.Tensor) -> tuple[pb.Tensor, tuple[pb.Tensor, None]]:
    return carry + x, (x, None)

y = pb.sum(v * v)
reveal_type(pb.gradients(y, v))  # list[Tensor | Any]
reveal_type(pb.gradients(y, [v, y]))  # list[Tensor | Any]
reveal_type(pb.gradients(y, (v, v)))  # list[Tensor | Any]
reveal_type(pb.gradients(y, {"v": v}))  # dict[str, Tensor | Any]
reveal_type(pb.gradients(y, {"v": v, "y": y}))  # dict[str, Tensor | Any]
reveal_type(pb.gradients(y, Variables(v)))  # Any
reveal_type(pb.gradients(y, {"a": [v]}))  # Any
reveal_type(pb.gradients(pb.stop_gradient(v), v)[0])  # Tensor | Any
reveal_type(pb.tangents([y], v))  # list[Tensor | Any]
reveal_type(pb.tangents({"y": y}, v))  # dict[str, Tensor | Any]
with pb.GradientTape(persistent=True) as tape:
    z = v * v
reveal_type(tape.gradient(z, v))  # Tensor | Any
reveal_type(tape.gradient(z, [v, z]))  # list[Tensor | Any]
reveal_type(tape.gradient(z, (v, v)))  # tuple[Tensor | Any, ...]
reveal_type(tape.gradient(z, {"v": v}))  # dict[str, Tensor | Any]
reveal_type(tape.gradient(z, Variables(v)))  # Any
reveal_type(tape.jacobian(z, v))  # Tensor | Any
reveal_type(pb.grad(loss)(2.0, x))  # Tensor
reveal_type(pb.grad(loss)(v, x, scale=2.0))  # Tensor
reveal_type(pb.grad(tree_loss)({"v": v}, x))  # dict[str, Tensor]
reveal_type(pb.grad(tuple_loss)(Tensors(x)).x)  # Tensor
reveal_type(pb.grad(aux_loss, has_aux=True)(x))  # tuple[Tensor, str]
reveal_type(pb.grad(loss, argnums=(0, 1))(2.0, x))  # tuple[Any, ...]
reveal_type(pb.grad(loss, argnums=1)(2.0, x))  # Any
reveal_type(pb.grad(pb.grad(pb.sin))(1.0))  # Any
reveal_type(pb.grad(pb.sin)(1.0))  # Tensor | Any
reveal_type(pb.grad(lambda p: p["v"] * 2)({"v": 1.0}))  # Any
reveal_type(pb.grad(lambda x: pb.sum(x * 2.0))(1.0))  # Any
reveal_type(pb.jacobian(lambda p, k: p["v"] * k)({"v": 1.0}, 2))  # Any
reveal_type(pb.hessian(lambda x: x**4)(x))  # Any
reveal_type(pb.value_and_grad(loss)(2.0, x))  # tuple[Tensor, Tensor]
reveal_type(pb.value_and_grad(aux_loss, has_aux=True)(x))  # tuple[tuple[Tensor, str], Tensor]
reveal_type(pb.value_and_grad(loss, (0, 1))(2.0, x))  # tuple[Tensor, tuple[Any, ...]]
reveal_type(pb.function(pb.value_and_grad(tree_loss))({"v": v}, x)[1])  # dict[str, Tensor]
reveal_type(pb.vmap(loss, in_axes=(0, None))(v.read(), x))  # Tensor
reveal_type(pb.vmap(pb.grad(loss), in_axes=(0, None))(v, x))  # Tensor
reveal_type(pb.vectorize(loss)(v, 2.0))  # Tensor
reveal_type(pb.per_example_gradients(loss, x, v))  # Tensor
reveal_type(pb.jacobian(double)(v))  # Tensor
reveal_type(pb.jacobian(tree_loss)({"v": v}, x))  # dict[str, Tensor]
reveal_type(pb.jacobian(pair)(v))  # Any
reveal_type(pb.hessian(loss)(2.0, x))  # Tensor | Any
reveal_type(pb.jvp(double, (x,), (1.0,)))  # tuple[Tensor, Tensor | Any]
reveal_type(pb.jvp(pair, (x,), (1.0,))[0])  # tuple[Tensor, dict[str, Tensor]]
reveal_type(pb.linearize(double, x)[1](1.0))  # Tensor | Any
reveal_type(pb.vjp(pair, x)[0])  # tuple[Tensor, dict[str, Tensor]]
reveal_type(pb.vjp(double, x)[1](None))  # tuple[Any, ...]
reveal_type(pb.checkpoint(loss)(x, x))  # Tensor
reveal_type(pb.scan(step, 0.0, v))  # tuple[Tensor, tuple[Tensor, None]]
reveal_type(pb.map(pair, v))  # tuple[Tensor, dict[str, Tensor]]
reveal_type(pb.map(number, v))  # Any
reveal_type(pb.while_loop(lambda s: s < 3, double, 1.0))  # Tensor
reveal_type(pb.cond(True, double, double, x))  # Tensor
reveal_type(pb.cond(True, double, number, x))  # Any
reveal_type(pb.cond(True, lambda: 1.0, lambda: 2.0))  # Any
reveal_type(pb.evaluate(x))  # numpy.ndarray[tuple[Any, ...], numpy.dtype[Any]]
reveal_type(pb.sum([x, y]))  # Tensor
reveal_type(pb.zeros(2, device=x.device))  # Tensor
pb.gradients(y, v)[0].foo()  # error
pb.gradients(y, v, unconnected_gradients="zeros")  # error
pb.grad(loss)(2.0)  # error
pb.grad(loss)(2.0, "text")  # error
pb.vmap(loss)(x)  # error
pb.nn.l1_loss(x, 0.0, reduction="average")  # error
pb.quantile(v, 0.5, method="higer")  # error
pb.nn.conv2d(x, x, padding="SANE")  # error
v.searchsorted(1.0, side="middle")  # error
x + None  # error
"""


# What pyright reveals in place of the type of mypy.
OTHER_IN_PYRIGHT = {
    "pb.grad(pb.sin)(1.0)": "Tensor",
    "pb.hessian(lambda x: x**4)(x)": "Tensor | Any",
}

# What pybind11 and this mypy cannot agree on.
ALLOWED = r"""
pullback\._core\.(BatchScope|Body|BodyTrace|ClosedGraph|NumberCheck|Pattern|Rule|Structure|Tape|Trace)
pullback\._core\.(Body|Pattern|Structure)\.__init__
pullback\._core\.(Tensor|Variable|Function)
pullback\._core\.(Tensor|Variable)\.(dot|searchsorted|take)
"""


def has_type(value: Any, expected: Any) -> bool:
    """Return whether a value has a type of the cases; `X | Any` stands for X or None."""
    if expected is Any:
        return True
    if isinstance(expected, UnionType):
        return value is None or has_type(value, get_args(expected)[0])
    origin, arguments = get_origin(expected), get_args(expected)
    if origin is None:
        return value is None if expected is None else isinstance(value, expected)
    if not isinstance(value, origin):
        return False
    if origin is list:
        return all(has_type(entry, arguments[0]) for entry in value)
    if origin is dict:
        return all(
            has_type(key, arguments[0]) and has_type(entry, arguments[1])
            for key, entry in value.items()
        )
    if origin is tuple:
        types = arguments[:1] * len(value) if arguments[1:] == (...,) else arguments
        return len(types) == len(value) and all(map(has_type, value, types))
    return True


def expected_types():
    """Return the comments of the cases by line."""
    lines = enumerate(CASES.splitlines(), 1)
    return {number: line.split("  # ")[1] for number, line in lines if "  # " in line}


@pytest.fixture
def checked(tmp_path):
    def check(*arguments):
        command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", *arguments]
        command += ["--no-error-summary", "--no-pretty", "--cache-dir", str(tmp_path / "cache")]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        return done.stdout + done.stderr

    return check


def test_cases_have_these_types_when_they_run():
    lines = [line for line in CASES.splitlines() if not line.endswith("# error")]
    revealed = [line.split("  # ")[1] for line in lines if line.startswith("reveal_type")]
    values = []
    exec("\n".join(lines), {"reveal_type": values.append})
    known = {"Tensor": pb.Tensor, "Variable": pb.Variable, "Any": Any, "numpy": np}
    pairs = zip(values, revealed, strict=True)
    wrong = [(v, text) for v, text in pairs if not has_type(v, eval(text, dict(known)))]
    assert not wrong


def test_stub_agrees_with_the_core(tmp_path):
    absent = "|".join(hints.ATTRIBUTES)
    allowed = f"{ALLOWED}pullback\\._core\\.(Tensor|Variable)\\.({absent})\n"
    (tmp_path / "allowed").write_text(allowed)
    command = [sys.executable, "-m", "mypy.stubtest", "--concise", "pullback._core"]
    command += ["--allowlist", str(tmp_path / "allowed"), "--ignore-unused-allowlist"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_stub_has_names_types_and_docstrings():
    functions = [n for n in ast.walk(ast.parse(STUB.read_text())) if isinstance(n, ast.FunctionDef)]
    unnamed, silent, loose = [], [], []
    for function in functions:
        signature = f"{ast.unparse(function.args)} {ast.unparse(function.returns)}"
        if re.search(r"\barg\d", signature):
            unnamed.append(function.name)
        if not function.name.startswith("__") and not ast.get_docstring(function):
            silent.append(function.name)
        if "Any" in signature:
            loose.append(function.name)
    assert len(functions) > 400
    assert not unnamed
    assert not silent
    assert len(loose) <= 30, sorted(loose)


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
    assert found == expected_types(), said
    # README's and the cases' modules are in the cache now.
    loose = ["--allow-untyped-defs", "--allow-untyped-calls", "--ignore-missing-imports"]
    examples = sorted((ROOT / "examples").glob("*.py"))
    assert checked(*loose, *map(str, examples)) == ""


def test_types_of_pyright(tmp_path):
    (tmp_path / "cases.py").write_text(CASES)
    messages = pyright(tmp_path, "cases.py")
    found = {}
    for message in messages:
        if message.severity == "error":
            found[message.line] = "error"
        elif revealed := re.fullmatch(r'Type of ".*" is "(.*)"', message.text):
            found.setdefault(message.line, revealed[1])
    expected = {n: text.replace("numpy.", "") for n, text in expected_types().items()}
    for n, line in enumerate(CASES.splitlines(), 1):
        for text, other in OTHER_IN_PYRIGHT.items():
            if line.startswith(f"reveal_type({text})"):
                expected[n] = other
    assert found == expected, messages
