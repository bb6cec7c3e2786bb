"""OPS: one row for every operation type: how to build it, and what its gradient does.

A row says

    build     (attributes, *core tensors) -> core tensor or list; or execute, for what needs the run
    domain    what its first input may be; `same` says that all of them share a dtype
    static    inputs whose values are read while building (axes, shapes): never a run-time value
    flows     the inputs that a gradient reaches: None all, () none (NotDifferentiable)
    needs     linear operations only: for each input, the others whose values its gradient uses.
              Without it the gradient is taken from the very tensors of the forward operation
    passes    the gradient of every input is the one that arrives
    ring      integers have a gradient too
    names     what TensorFlow calls the operations that end each input's gradient
    from_output  (cotangent, output) -> gradient, where TensorFlow's rule uses the output: for an
              output that is fed, and for an override that names this rule for another operation
    formulas  by input: (cotangent, inputs, output) -> gradient, where TensorFlow's convention is
              not the core's

The gradients themselves are the core's: see gradient_record.py. The rows are in rows/.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ... import _core
from .dtypes import DType

__all__ = ["ALIASES", "OPS", "OpDef", "define"]

Attrs = Mapping[str, Any]
Flows = tuple[int, ...] | None


@dataclass(frozen=True, eq=False)
class OpDef:
    """One row; the head of this file explains the fields."""

    type: str
    build: Callable[..., Any] | None = None
    execute: Callable[..., Any] | None = None
    domain: str = "any"
    same: bool = False
    static: tuple[int, ...] = ()
    flows: Flows = None
    registered: bool = True  # False: asking for its gradient is a LookupError
    needs: Mapping[int, tuple[int, ...]] | None = None
    passes: bool = False
    ring: bool = False
    elementwise: bool = False
    names: tuple[str, ...] = ()
    from_output: Callable[[Any, Any], Any] | None = None
    formulas: Mapping[int, Callable[[Any, list[Any], Any], Any]] = field(default_factory=dict)
    # Dtypes of the outputs where no trial succeeds: (attributes, inputs) -> one each.
    dtypes: Callable[[Attrs, Any], tuple[DType, ...]] = field(
        default=lambda attrs, inputs: (inputs[0].dtype,)
    )

    def gradient_name(self, index: int) -> str:
        """The name of what computes the gradient of input `index`."""
        if self.names:
            return self.names[min(index, len(self.names) - 1)]
        return "mul"


OPS: dict[str, OpDef] = {}

# Other names under which gradient_override_map and RegisterGradient know a type.
ALIASES = {
    "Add": "AddV2",
    "Select": "SelectV2",
    "Concat": "ConcatV2",
    "Gather": "GatherV2",
    "BatchMatMul": "BatchMatMulV2",
    "Variable": "VariableV2",
    "VarHandleOp": "VariableV2",
}

DOMAINS = {
    "number": ("int32", "int64", "float32", "float64"),
    "float": ("float32", "float64"),
    "integer": ("int32", "int64"),
    "bool": ("bool",),
}


def define(type: str, build: Callable[..., Any] | None = None, **fields: Any) -> OpDef:
    """Adds a row."""
    row = OpDef(type, build, **fields)
    OPS[type] = row
    return row


def build_outputs(row: OpDef, attrs: Attrs, inputs: list[Any]) -> list[Any]:
    """The outputs of a row as a list of core tensors."""
    assert row.build is not None
    made = row.build(attrs, *inputs)
    return list(made) if isinstance(made, (list, tuple)) else [made]


def ints(x: Any) -> tuple[int, ...]:
    """The value of a static input: axes, a shape."""
    return tuple(int(i) for i in x.numpy().reshape(-1))


def like(x: Any, number: float) -> Any:
    """A number in the dtype of x."""
    return _core.constant(number, x.dtype)
