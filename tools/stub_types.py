"""Gives a generated stub the types that the generator cannot see.

Tensor and Variable are written against the C API, whose operators and attributes carry no types:
both classes are written from what they have, and a name that is not known here is an error.
Elsewhere, `list`, `dict` and a default of None are completed.
Usage: python tools/stub_types.py path/to/_core.pyi
"""

import inspect
import re
import sys
from pathlib import Path

from pullback import _core
from pullback._base.hints import ATTRIBUTES as ABSENT

UNARY = ["abs", "invert", "neg", "pos"]
BINARY = [
    "add", "and", "floordiv", "lshift", "matmul", "mod", "mul", "or", "rshift", "sub", "truediv",
    "xor",
]  # fmt: skip
COMPARISON = ["eq", "ge", "gt", "le", "lt", "ne"]
METHODS = {
    **{f"__{n}__": "(self) -> Tensor" for n in UNARY},
    **{f"__{r}{n}__": "(self, other: typing.Any, /) -> Tensor" for n in BINARY for r in ("", "r")},
    **{f"__{n}__": "(self, other: typing.Any, /) -> Tensor" for n in COMPARISON},
    **{f"__{n}__": "(self, other: typing.Any, /) -> Tensor" for n in ("pow", "rpow")},
    **{
        f"__{n}__": "(self, other: typing.Any, /) -> tuple[Tensor, Tensor]"
        for n in ("divmod", "rdivmod")
    },
    "__setitem__": "(self, key: typing.Any, value: typing.Any, /) -> None",
    "__bool__": "(self) -> bool",
    "__float__": "(self) -> float",
    "__getitem__": "(self, key: typing.Any, /) -> Tensor",
    "__hash__": "(self) -> int",
    "__index__": "(self) -> int",
    "__int__": "(self) -> int",
    "__contains__": "(self, value: typing.Any, /) -> bool",
    "__iter__": "(self) -> collections.abc.Iterator[Tensor]",
    "__len__": "(self) -> int",
    "__init__": "(self, initial: typing.Any, trainable: bool = True, name: str | None = None, "
    "dtype: typing.Any = None) -> None",
}
ATTRIBUTES = {
    "T": "Tensor",
    "at": "pullback._numpy.indexing.At",
    "device": "str",
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
    "__dir__",
    "__array_ufunc__",
    "__delitem__",
    "__doc__",
    "__module__",
    "__new__",
    "__repr__",
    "__weaklistoffset__",
}


def method_stub(function: object) -> str:
    """What follows the name of a public function as a method: its axis may be given by position."""
    _, *rest = inspect.signature(function).parameters.values()
    positional = [p for p in rest if p.kind is not p.KEYWORD_ONLY or p.name == "axis"]
    keyword = [p for p in rest if p not in positional]
    shown = ["self", *map(str, (p.replace(kind=p.POSITIONAL_OR_KEYWORD) for p in positional))]
    shown += ["*", *map(str, keyword)] if keyword else []
    answer = inspect.signature(function).return_annotation
    text = re.sub(r": '([^']*)'", r": \1", f"({', '.join(shown)}) -> {answer}")
    text = re.sub(r"\b(TensorLike|Shape|Axis|DType)\b", r"pullback._typing.\1", text)
    text = re.sub(r"\b(SupportsIndex|Any)\b", r"typing.\1", text)
    text = re.sub(r"\bSequence\b", "collections.abc.Sequence", text)
    return text.replace("npt.", "numpy.typing.")


def class_stub(cls: type) -> str:
    """The class as a stub. Methods that have a docstring of the form `name(...) -> type` use it."""
    lines = []
    for name, value in sorted(vars(cls).items()):
        wrapped = getattr(value, "__wrapped__", None)
        signature = re.match(rf"{name}(\(.*\) -> .*)", getattr(value, "__doc__", None) or "")
        if name in ATTRIBUTES:
            lines += ["    @property", f"    def {name}(self) -> {ATTRIBUTES[name]}: ..."]
        elif wrapped:
            lines.append(f"    def {name}{method_stub(wrapped)}: ...")
        elif signature:
            lines.append(f"    def {name}{signature[1]}: ...")
        elif name in METHODS:
            ignore = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
            lines.append(f"    def {name}{METHODS[name]}: ...{ignore}")
        elif name not in SKIPPED | ABSENT.keys():
            raise SystemExit(f"{__file__}: no type is known for {cls.__name__}.{name}")
    return f"class {cls.__name__}:\n" + "\n".join(lines) + "\n"


def main(path: Path) -> None:
    text = path.read_text()
    for cls in (_core.Tensor, _core.Variable):
        text, count = re.subn(
            rf"^class {cls.__name__}:\n(?:[ \t].*\n|\n)+", class_stub(cls), text, flags=re.M
        )
        assert count == 1, f"{path} has {count} classes {cls.__name__}"
    text = re.sub(r"((?:: |-> )list)(?=[,:) ])", r"\1[typing.Any]", text)
    text = re.sub(r"((?:: |-> )dict)(?=[,:) ])", r"\1[str, typing.Any]", text)
    text = re.sub(r"(: \w+) = None", r"\1 | None = None", text)
    # Whatever has __index__ is an integer there.
    text = re.sub(
        r"^def (?!num_threads).*?\) ->",
        lambda m: re.sub(r"\bint\b", "typing.SupportsIndex", m[0]),
        text,
        flags=re.M | re.S,
    )
    text = text.replace(
        "import numpy\n",
        "import numpy\n\nimport pullback._numpy.indexing\nimport pullback._typing\n",
        1,
    )
    path.write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
