"""Gives a generated stub the types that the generator cannot see.

Tensor, Variable and Function are written against the C API, whose operators and attributes carry no
types: the classes are written from what they have, and a name that is not known here is an error.
Members of both Tensor and Variable are in a base class, with the summaries of their docstrings.
Elsewhere the types are those of the signatures in C++. An elementwise function has the summary and
the names of the operands of the public function, if there is one.
Usage: python tools/stub_types.py path/to/_core.pyi
"""

import inspect
import re
import sys
import textwrap
from pathlib import Path

import pullback
from pullback import _core, _typing, nn, special
from pullback._base.hints import ATTRIBUTES as ABSENT

ARRAY = "pullback._typing.TensorLike"
INDEX = "pullback._typing.Index"

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
    **{
        f"__{n}__": f"(self, other: {ARRAY}, mod: None = None, /) -> Tensor"
        for n in ("pow", "rpow")
    },
    **{
        f"__{n}__": f"(self, other: {ARRAY}, /) -> tuple[Tensor, Tensor]"
        for n in ("divmod", "rdivmod")
    },
    "__setitem__": f"(self, key: {INDEX}, value: {ARRAY}, /) -> None",
    "__bool__": "(self) -> bool",
    "__float__": "(self) -> float",
    "__getitem__": f"(self, key: {INDEX}, /) -> Tensor",
    "__hash__": "(self) -> int",
    "__index__": "(self) -> int",
    "__int__": "(self) -> int",
    "__contains__": "(self, value: object, /) -> bool",
    "__iter__": "(self) -> collections.abc.Iterator[Tensor]",
    "__len__": "(self) -> int",
    "__init__": f"(self, initial: {ARRAY}, trainable: bool = True, name: str | None = None, "
    "dtype: pullback._typing.DType = None) -> None",
    "__call__": "(self, *args: object, **kwargs: object) -> typing.Any",
    "__get__": "(self, instance: object, owner: type | None = None, /) -> typing.Any",
}
ATTRIBUTES = {
    "T": "Tensor",
    "at": "pullback._numpy.indexing.At",
    "device": "pullback._typing.Device",
    "dtype": "numpy.dtype[typing.Any]",
    "flat": "pullback._numpy.flat.Flat",
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
    "__str__",
    "__vectorcalloffset__",
    "__weaklistoffset__",
}
# Elementwise operations that have no public function and are not named after one.
OPERATIONS = {
    "beta_density": "Compute the density of the beta distribution, a derivative of `betainc`.",
    "cosine_of": "Compute a / hypot(a, b).",
    "difference": "Compute a - b, and 0 where they are equal, infinities too.",
    "gamma_density": "Compute the density of the gamma distribution, a derivative of `gammainc`.",
    "gamma_nth": "Compute the a-th derivative of the gamma function at b.",
    "gate": "Compute b where a > 0, and 0 elsewhere.",
    "log_gamma_path": "Compute the derivative of b by a for a constant gammainc(a, exp(b)).",
    "log_gammainc": "Compute the logarithm of `gammainc`.",
    "log_gammaincc": "Compute the logarithm of `gammaincc`.",
    "log_ndtr_rest": "Compute a + log_ndtr_slope(a).",
    "log_ratio": "Compute log(a / b).",
    "max_share": "Compute the share of a gradient of `maximum` that a receives.",
    "min_share": "Compute the share of a gradient of `minimum` that a receives.",
    "multiply_no_nan": "Compute a * b, and 0 where b is 0.",
    "over_square": "Compute b / (a * a + b * b).",
    "polygamma_gap": "Compute polygamma(a, b) - polygamma(a, b + c).",
    "rgamma_nth": "Compute the a-th derivative of the reciprocal gamma function at b.",
    "same": "Test whether a and b are equal; NaN equals NaN.",
    "student_density": "Compute the density of Student's t distribution.",
    "wrap_index": "Count positions a of an axis of size b from its start.",
}

# Where a public function of an elementwise operation is, the first that has it.
SPACES = [pullback, special, nn]

ALIASES = [name for name in vars(_typing) if name in _typing.__annotations__]


def method_stub(function: object) -> str:
    """What follows the name of a public function as a method: its axis may be given by position."""
    _, *rest = inspect.signature(function).parameters.values()
    unnamed = [p for p in rest if p.kind is p.POSITIONAL_ONLY]
    named = [p for p in rest if p.kind is p.POSITIONAL_OR_KEYWORD or p.name == "axis"]
    keyword = [p for p in rest if p not in [*unnamed, *named]]
    shown = ["self", *map(str, unnamed), "/"] if unnamed else ["self"]
    shown += [str(p.replace(kind=p.POSITIONAL_OR_KEYWORD)) for p in named]
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
        elif function := getattr(value, "__wrapped__", None):
            head += f"{method_stub(function)}:"
        elif signature:
            head += f"{signature[1]}:"
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


def elementwise_stub(match: re.Match[str]) -> str:
    """An elementwise function with the summary and the names of the public function."""
    name, count = match[1], match[2].count(ARRAY)
    public = next((f for space in SPACES if (f := vars(space).get(name))), None)
    operands = [*(inspect.signature(public).parameters if public else "abc")][:count]
    derivative = re.match(r"(\w+?)_(?:d([a-z]+)|slope|derivative)$", name)
    if public:
        summary = summary_of(public)
    elif derivative:
        by = f" by {', '.join(derivative[2])}" if derivative[2] else ""
        summary = f"Compute a derivative of `{derivative[1]}`{by}."
    elif name in OPERATIONS:
        summary = OPERATIONS[name]
    else:
        raise SystemExit(f"{__file__}: OPERATIONS has no docstring for {name}")
    arguments = ", ".join(f"{operand}: {ARRAY}" for operand in operands)
    return f'def {name}({arguments}) -> Tensor:\n    """\n    {summary}\n    """\n'


def with_slash(match: re.Match[str]) -> str:
    """The head of a function with a marker at the end of its arguments, which is not generated."""
    name, arguments = match.groups()
    last = (getattr(_core, name).__doc__ or "").split("\n")[0].endswith(", /) -> Tensor")
    return f"def {name}({arguments}, /) ->" if last else match[0]


def wrapped(match: re.Match[str]) -> str:
    """A docstring of one paragraph, on one line if it fits."""
    margin, paragraph = match.groups()
    return textwrap.fill(
        f'{margin}"""{paragraph}"""', 100, subsequent_indent=margin, break_on_hyphens=False
    )


def main(path: Path) -> None:
    text = path.read_text()
    tensor, variable = members_of(_core.Tensor), members_of(_core.Variable)
    shared = {name: stub for name, stub in tensor.items() if variable.get(name) == stub}
    own = [{n: stub for n, stub in of.items() if n not in shared} for of in (tensor, variable)]
    base = "_ArrayMembers"
    classes = class_stub(base, shared) + class_stub("Tensor", own[0], f"({base})")
    classes += class_stub("Variable", own[1], f"({base})")
    classes += "@typing.final\n" + class_stub("Function", members_of(_core.Function))
    # The generator goes by `__module__`: it imports the public classes.
    text = re.sub(r"^from pullback import .*\n", "", text, flags=re.M)
    text = re.sub(r"^class Function:\n(?:[ \t].*\n|\n)+", "", text, flags=re.M)
    text = re.sub(r"^class ", lambda _: f"{classes}class ", text, count=1, flags=re.M)
    elementwise = r"^def (\w+)\((.*)\) -> Tensor:\n    \.\.\.\n"
    text = re.sub(elementwise, elementwise_stub, text, flags=re.M)
    text = re.sub(r"^def (\w+)\((.*)\) ->", with_slash, text, flags=re.M)
    text = re.sub(r"(: \w+) = None", r"\1 | None = None", text)
    text = text.replace("*args)", "*args: object)")
    text = text.replace("builtins.object", "object")
    text = re.sub(r"^__all__.*?\]\n", "", text, flags=re.M | re.S)
    text = re.sub(r'^( +)"""\n +(.*)\n +"""$', wrapped, text, flags=re.M)
    text = re.sub(r"^(__version__: str) = .*$", r"\1", text, flags=re.M)  # of pyproject.toml alone
    imports = "import types\nimport numpy\nimport pullback._numpy.indexing\n"
    text = text.replace("import numpy\n", imports, 1)
    path.write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
