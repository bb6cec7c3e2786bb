"""Tensors of texts, of which there are few: they can be fetched, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import _core
from .dtypes import DType
from .graph import get_default_graph
from .opdef import define
from .operation import Operation
from .tensor import SymbolicTensor as Tensor
from .tensor import argument

__all__ = ["text_tensor"]


class _Text(DType):
    """The dtype of texts."""

    __slots__ = ()
    name = "string"
    is_floating = is_integer = is_bool = is_complex = is_inexact = False


string = _Text("object")


def text_tensor(
    type: str, name: str, text: Callable[[Any], Any], dims: Any, **attrs: Any
) -> Tensor:
    """A tensor whose value is `text` of the array that the row's `execute` gives."""
    stand_in = argument("bool", ())
    attrs = {"text": text, **attrs}
    output = (string, dims, stand_in)
    return get_default_graph().record(type, (), attrs, name, output).outputs[0]


def _which(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    """Which variables have no value, as this operation finds them."""
    found = [not (run.slot_of(v).initialized or v in run.behind[op]) for v in op.attrs["variables"]]
    return [_core.constant(np.array(found, bool))]


define("ReportUninitializedVariables", execute=_which, flows=False, host=True)
define("IsVariableInitialized", execute=lambda run, op, inputs: [
    _core.logical_not(_which(run, op, inputs)[0][0])
], flows=False, host=True)  # fmt: skip


def report_uninitialized(variables: Sequence[Any], name: str) -> Tensor:
    """The names of those of these variables that have no value."""
    names = np.array([v.op.name.encode() for v in variables], dtype=object)
    return text_tensor(
        "ReportUninitializedVariables", name, lambda missing: names[missing], (None,),
        variables=list(variables),
    )  # fmt: skip
