"""OPS: one row for every operation type; graphs, sessions and eager mode read the same row.

A row defines how an operation is computed, with TensorFlow's conventions if the core differs:

    function    (*inputs, **attributes) -> core tensor or list; any function of the main namespace
                is accepted. Or `execute`, if it needs the run: (run, operation, inputs) -> outputs
    static      inputs that are read while building (axes, shapes): the function gets Python values
    labels      names of the inputs, for tensors made from numbers or lists
    domain      allowed dtypes of the first input: any of DOMAINS; STRINGS lists inputs of strings
    same        all inputs that are not static share a dtype
    dtype       dtype of outputs that cannot be built before a run: None (as the first input),
                a DType, the name of an attribute, or the number of an input
    shape       (*inputs, **attributes) -> the known dimensions of the outputs, if the inputs have
                unknown dimensions; see inference.py
    value       a NumPy function that propagates known integers: tf.shape(x)[0] * 2
    flows       False: not differentiable, the gradient is None
    registered  False: requesting its gradient is a LookupError
    slopes      by input: (cotangent, inputs, output) -> gradient, if it is not the core's
    from_output (cotangent, output, **attributes) -> gradient, if TensorFlow's rule uses the
                output: for an output that is fed, and for an override that names this rule
    random      it draws random numbers
    host        its function is Python's and reads values: a run that needs it is not traced
    sampled     (session, its feeds, NumPy generator, **attributes) -> arrays that a session feeds
                to it before each run
    fresh       the function never returns an input itself
    public      the function that a program calls, for messages; default: the type in snake case

create.operation makes rows with a public function, `define` makes other rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from .... import _core
from ..dtypes import DType, string
from ..names import snake_case


@dataclass(frozen=True, eq=False)
class OpDef:
    """One row; the head of this file documents the fields."""

    type: str
    function: Callable[..., Any] | None = None
    execute: Callable[..., Any] | None = None
    static: tuple[int, ...] = ()
    labels: tuple[str, ...] = ("x", "y")
    domain: str = "any"
    same: bool = False
    dtype: DType | str | int | None = None
    shape: Callable[..., Any] | None = None
    value: Callable[..., Any] | None = None
    flows: bool = True
    registered: bool = True
    slopes: Mapping[int, Callable[[Any, list[Any], Any], Any]] = field(default_factory=dict)
    from_output: Callable[..., Any] | None = None
    fresh: bool = False
    random: bool = False
    host: bool = False
    sampled: Callable[..., Any] | None = None
    public: str = ""

    @property
    def draws(self) -> bool:
        return self.random or self.sampled is not None

    def which_static(self, inputs: Sequence[Any]) -> list[bool]:
        count = len(inputs)
        return [i in self.static or i - count in self.static for i in range(count)]

    def tensors(self, inputs: Sequence[Any]) -> list[Any]:
        """Return the inputs that are not static."""
        return [x for x, fixed in zip(inputs, self.which_static(inputs), strict=True) if not fixed]

    def with_tensors(self, inputs: Sequence[Any], tensors: Sequence[Any]) -> list[Any]:
        """Replace the inputs that are not static by other tensors."""
        left = iter(tensors)
        fixed = self.which_static(inputs)
        return [x if is_fixed else next(left) for x, is_fixed in zip(inputs, fixed, strict=True)]

    def check_strings(self, kind: str, inputs: Sequence[Any]) -> None:
        """Raise TypeError for a tensor of strings if the operations of a type take numbers."""
        allowed = STRINGS.get(kind, ())
        for i, (x, fixed) in enumerate(zip(inputs, self.which_static(inputs), strict=True)):
            if x.dtype is string and (fixed or (allowed is not None and i not in allowed)):
                who = caller_of(self, kind)
                raise TypeError(f"{who}: expected numbers for {self.label(i)}, got strings: {x!r}")

    def label(self, index: int) -> str:
        return self.labels[index] if index < len(self.labels) else f"values_{index}"


class RowError(ValueError, IndexError):
    """An error in a row or its shape function, to which `error_text` adds the public function."""


def caller_of(row: OpDef, type: str) -> str:
    """Return the public function that creates operations of a type."""
    return row.public or snake_case(_VERSION.sub("", type))


def error_text(
    row: OpDef, type: str, error: Exception, inputs: str, name: str | None = None
) -> str:
    """Return the message of an error in a row: the public function, the error, the operation."""
    who, text = caller_of(row, type), str(error)
    if row.host:
        text = text.removeprefix(f"{who}: ")
    elif not isinstance(error, RowError):
        text = _CORE_FUNCTION.sub("", text)
    operation = type if name is None else f"{type} '{name}'"
    given = f" with inputs {inputs}" if inputs else ""
    return f"{who}: {text}; operation {operation}{given}"


_VERSION = re.compile(r"V\d$")
_CORE_FUNCTION = re.compile(r"\A[a-z_][\w.]*: ")

OPS: dict[str, OpDef] = {}

# Other names of a type for gradient_override_map and RegisterGradient.
ALIASES = {
    "Add": "AddV2", "SelectV2": "Select", "Concat": "ConcatV2", "Gather": "GatherV2",
    "BatchMatMul": "BatchMatMulV2", "Variable": "VariableV2", "VarHandleOp": "VariableV2",
}  # fmt: skip

_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_FLOATS, _COMPLEX = ("float16", "float32", "float64"), ("complex64", "complex128")
DOMAINS = {
    "any": ("bool", *_INTEGERS, *_FLOATS, *_COMPLEX, "string"),
    "number": (*_INTEGERS, *_FLOATS, *_COMPLEX),
    "real": (*_INTEGERS, *_FLOATS),
    "inexact": (*_FLOATS, *_COMPLEX),
    "float": _FLOATS,
    "complex": _COMPLEX,
    "integer": _INTEGERS,
    "bool": ("bool",),
}
NAMES = {  # domains with many dtypes, for messages
    "number": "numbers",
    "real": "real numbers",
    "integer": "integers",
}
# By type, the positions of inputs that may be strings; None: all that are not static.
_ALL = """
    After Assert Assign BroadcastTo ConcatV2 DepthToSpace EnsureShape Equal ExpandDims
    GradientOutput Identity IdentityN If MakeIterator NotEqual Pack Pad PlaceholderWithDefault
    PreventGradient PrintV2 PyFunc PyFuncStateless RandomShuffle Rank ReadVariableOp Reshape
    ReverseV2 Roll Scan Shape Size SpaceToDepth Split SplitV Squeeze StopGradient StridedSlice
    SymbolicGradient TensorArrayConcat TensorArraySize TensorArrayStack TensorArrayWrite Tile
    Transpose UniqueWithCounts Unpack While ZerosLike
"""
STRINGS: dict[str, tuple[int, ...] | None] = {
    **dict.fromkeys(_ALL.split()), "Entry": (0,), "Fill": (1,), "GatherNd": (0,), "GatherV2": (0,),
    "OneHot": (2, 3), "ScatterNdUpdate": (1,), "ScatterUpdate": (1,), "Select": (1, 2),
    "Slice": (0,), "SliceFrom": (0,), "TensorArrayRead": (0,), "TensorScatterUpdate": (0, 2),
}  # fmt: skip


def define(type: str, function: Callable[..., Any] | None = None, **fields: Any) -> OpDef:
    """Add a row."""
    OPS[type] = row = OpDef(type, function, **fields)
    return row


def build(row: OpDef, inputs: list[Any], attrs: Mapping[str, Any]) -> list[Any]:
    """Compute the outputs of a row; static inputs are Python values, the others core tensors."""
    assert row.function is not None
    made = row.function(*inputs, **attrs)
    outs = list(made) if isinstance(made, (list, tuple)) else [made]
    tensors = row.tensors(inputs)
    if row.slopes:
        return [_core.custom(outs, tensors, _core.Rule(_own_slopes(row, attrs), row.type))[0]]
    if row.fresh:
        return outs
    # The core returns the input of a trivial reshape; an output must be another tensor.
    kinds = {(x.dtype, x.shape) for x in tensors}
    return [_core.identity(y) if (y.dtype, y.shape) in kinds else y for y in outs]


def pulled_back(function: Callable[..., Any], ins: list[Any], cotangents: list[Any]) -> list[Any]:
    """Return the gradient of a function by each tensor; one tensor may be passed twice."""
    xs = [_core.identity(x) for x in ins]
    watcher = _core.Tape(False)  # ancestors may be constants for other tapes
    watcher.start()
    try:
        for x in xs:
            watcher.watch(x)
        made = function(*xs)
    finally:
        watcher.stop()
    outs = list(made) if isinstance(made, (list, tuple)) else [made]
    answers: list[Any] = _core.gradients(outs, xs, cotangents, xs, integers=True)
    return answers


def pull_through(
    row: OpDef, attrs: Mapping[str, Any], args: list[Any], outs: list[Any], cotangents: list[Any],
    index: int | None = None,
) -> list[Any]:  # fmt: skip
    """Return the cotangents that the row's rule gives for each tensor among the arguments.

    With `index` only this output has a cotangent.
    """
    if row.from_output is not None:
        return [row.from_output(cotangents[0], outs[0], **attrs)]
    if row.execute is not None:
        return list(cotangents)  # the value is unchanged, and so is its gradient

    def again(*xs: Any) -> Any:
        made = build(row, row.with_tensors(args, xs), attrs)
        return made if index is None else made[index]

    return pulled_back(again, row.tensors(args), cotangents)


def _own_slopes(row: OpDef, attrs: Mapping[str, Any]) -> Callable[..., Any]:
    def rule(name: str, ins: list[Any], outs: list[Any], cotangents: list[Any]) -> list[Any]:
        assert row.function is not None
        g = cotangents[0]
        answers: list[Any] = [None] * len(ins)
        if len(row.slopes) < len(ins):
            answers = pulled_back(partial(row.function, **attrs), ins, [g])
        for i, slope in row.slopes.items():
            answers[i] = summed(slope(g, ins, outs[0]), ins[i])
        return answers

    return rule


def summed(gradient: Any, x: Any) -> Any:
    """Sum a gradient over the axes along which x was broadcast."""
    extra = len(gradient.shape) - len(x.shape)
    axes = [i for i, n in enumerate(gradient.shape) if i < extra or n != x.shape[i - extra]]
    if not axes:
        return gradient
    return _core.reshape(_core.sum(gradient, axes, True), x.shape)


def like(x: Any, number: float) -> Any:
    """Return a number in the dtype of x."""
    return _core.constant(number, x.dtype)
