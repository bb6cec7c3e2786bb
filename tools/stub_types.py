"""Gives a generated stub the types that the generator cannot see.

Tensor, Variable and Function are written against the C API, whose operators and attributes carry no
types: the classes are written from what they have, and a name that is not known here is an error.
Members of both Tensor and Variable are in a base class, with the summaries of their docstrings.
Elsewhere, `list`, `dict` and a default of None are completed, and a dtype or the operand of a
function that returns tensors is typed by its name.
Usage: python tools/stub_types.py path/to/_core.pyi
"""

import inspect
import re
import sys
from pathlib import Path

import pullback
from pullback import _core, _typing
from pullback._base.hints import ATTRIBUTES as ABSENT

ARRAY = "pullback._typing.TensorLike"

UNARY = ["abs", "invert", "neg", "pos"]
BINARY = [
    "add", "and", "floordiv", "lshift", "matmul", "mod", "mul", "or", "rshift", "sub", "truediv",
    "xor",
]  # fmt: skip
COMPARISON = ["ge", "gt", "le", "lt"]
METHODS = {
    **{f"__{n}__": "(self) -> Tensor" for n in UNARY},
    **{f"__{r}{n}__": f"(self, other: {ARRAY}, /) -> Tensor" for n in BINARY for r in ("", "r")},
    **{f"__{n}__": f"(self, other: {ARRAY}, /) -> Tensor" for n in COMPARISON},
    **{f"__{n}__": "(self, other: object, /) -> Tensor" for n in ("eq", "ne")},
    **{f"__{n}__": f"(self, other: {ARRAY}, /) -> Tensor" for n in ("pow", "rpow")},
    **{
        f"__{n}__": f"(self, other: {ARRAY}, /) -> tuple[Tensor, Tensor]"
        for n in ("divmod", "rdivmod")
    },
    "__setitem__": f"(self, key: typing.Any, value: {ARRAY}, /) -> None",
    "__bool__": "(self) -> bool",
    "__float__": "(self) -> float",
    "__getitem__": "(self, key: typing.Any, /) -> Tensor",
    "__hash__": "(self) -> int",
    "__index__": "(self) -> int",
    "__int__": "(self) -> int",
    "__contains__": "(self, value: object, /) -> bool",
    "__iter__": "(self) -> collections.abc.Iterator[Tensor]",
    "__len__": "(self) -> int",
    "__init__": f"(self, initial: {ARRAY}, trainable: bool = True, name: str | None = None, "
    "dtype: pullback._typing.DType = None) -> None",
    "__call__": "(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any",
    "__get__": "(self, instance: object, owner: typing.Any = None, /) -> typing.Any",
}
ATTRIBUTES = {
    "T": "Tensor",
    "at": "pullback._numpy.indexing.At",
    "device": "pullback._typing.Device",
    "dtype": "numpy.dtype[typing.Any]",
    "imag": "Tensor",
    "itemsize": "int",
    "mT": "Tensor",
    "name": "str",
    "nbytes": "int",
    "ndim": "int",
    "real": "Tensor",
    "shape": "tuple[int, ...]",
    "size": "int",
    "trainable": "bool",
}
SKIPPED = {
    "__dict__",
    "__dir__",
    "__array_ufunc__",
    "__delitem__",
    "__doc__",
    "__module__",
    "__new__",
    "__reduce__",
    "__repr__",
    "__vectorcalloffset__",
    "__weaklistoffset__",
}
# Operands by name, of functions that return tensors; the other arguments have types in C++.
OPERANDS = re.compile(
    r"\b(a|b|x|value|values|parts): ((?:collections\.abc\.Sequence\[)?)typing\.Any\b"
)

ALIASES = [name for name in vars(_typing) if name in _typing.__annotations__]


def method_stub(function: object) -> str:
    """What follows the name of a public function as a method: its axis may be given by position."""
    _, *rest = inspect.signature(function).parameters.values()
    positional = [p for p in rest if p.kind is not p.KEYWORD_ONLY or p.name == "axis"]
    keyword = [p for p in rest if p not in positional]
    shown = ["self", *map(str, (p.replace(kind=p.POSITIONAL_OR_KEYWORD) for p in positional))]
    shown += ["*", *map(str, keyword)] if keyword else []
    answer = inspect.signature(function).return_annotation
    text = re.sub(r": '([^']*)'", r": \1", f"({', '.join(shown)}) -> {answer}")
    text = re.sub(rf"\b({'|'.join(ALIASES)})\b", r"pullback._typing.\1", text)
    text = re.sub(r"\b(SupportsIndex|Any|Literal)\b", r"typing.\1", text)
    text = re.sub(r"\bSequence\b", "collections.abc.Sequence", text)
    return text.replace("npt.", "numpy.typing.")


def summary_of(value: object) -> str:
    """The first line of a docstring, after the signature that some begin with."""
    doc = inspect.getdoc(value) or ""
    return re.sub(r"\A\w+\(.*\n\n", "", doc).split("\n", 1)[0]


def members_of(cls: type) -> dict[str, str]:
    """The members of a class as they are in a stub.

    Methods that have a docstring of the form `name(...) -> type` use it.
    """
    members = {}
    for name, value in sorted(vars(cls).items()):
        signature = re.match(rf"{name}(\(.*\) -> .*)", getattr(value, "__doc__", None) or "")
        head = f"    def {name}"
        if name in ATTRIBUTES:
            head = f"    @property\n    def {name}(self) -> {ATTRIBUTES[name]}:"
        elif value is getattr(pullback, name, None):
            head += f"{method_stub(value)}:"
        elif signature:
            head += f"{signature[1]}:".replace("value: typing.Any", f"value: {ARRAY}")
        elif name in METHODS:
            head += f"{METHODS[name]}:"
        elif name in SKIPPED or name in ABSENT:
            continue
        else:
            raise SystemExit(f"{__file__}: no type is known for {cls.__name__}.{name}")
        if name.startswith("__"):
            ignore = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
            members[name] = f"{head} ...{ignore}\n"
        else:
            summary = re.sub("`x`", "`self`", summary_of(value))
            members[name] = f'{head}\n        """{summary}"""\n'
    return members


def class_stub(name: str, members: dict[str, str], base: str = "") -> str:
    return f"class {name}{base}:\n" + ("".join(members.values()) or "    ...\n") + "\n"


def typed(function: re.Match[str]) -> str:
    """A function of the stub with types in place of `typing.Any` where names tell them."""
    text = function[0]
    if re.search(r"-> .*\bTensor\b", text):
        text = OPERANDS.sub(rf"\1: \2{ARRAY}", text)
    return re.sub(r"\bdtype: typing\.Any\b", "dtype: pullback._typing.DType", text)


def main(path: Path) -> None:
    text = path.read_text()
    tensor, variable = members_of(_core.Tensor), members_of(_core.Variable)
    shared = {name: stub for name, stub in tensor.items() if variable.get(name) == stub}
    own = [{n: stub for n, stub in of.items() if n not in shared} for of in (tensor, variable)]
    base = "_ArrayMembers"
    stubs = {
        "Tensor": class_stub(base, shared) + class_stub("Tensor", own[0], f"({base})"),
        "Variable": class_stub("Variable", own[1], f"({base})"),
        "Function": class_stub("Function", members_of(_core.Function)),
    }
    for name, stub in stubs.items():
        pattern = rf"^class {name}:\n(?:[ \t].*\n|\n)+"
        text, count = re.subn(pattern, lambda _, stub=stub: stub, text, flags=re.M)
        assert count == 1, f"{path} has {count} classes {name}"
    text = re.sub(r"((?:: |-> )list)(?=[,:) ])", r"\1[typing.Any]", text)
    text = re.sub(r"((?:: |-> )dict)(?=[,:) ])", r"\1[str, typing.Any]", text)
    text = re.sub(r"(: \w+) = None", r"\1 | None = None", text)
    text = text.replace("*args)", "*args: object)")
    # Whatever has __index__ is an integer there.
    text = re.sub(
        r"^def (?!num_threads).*?\) ->",
        lambda m: re.sub(r"\bint\b", "typing.SupportsIndex", m[0]),
        text,
        flags=re.M | re.S,
    )
    text = re.sub(r"^def .*?\) -> .*?:$", typed, text, flags=re.M | re.S)
    text = text.replace(
        "import numpy\n",
        "import numpy\n\nimport pullback._numpy.indexing\nimport pullback._typing\n",
        1,
    )
    path.write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
