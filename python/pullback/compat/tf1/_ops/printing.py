"""`tf.print`: values on stderr, in TensorFlow's notation."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import numpy as np

from .... import _core
from .._graph import mode
from .._graph.create import convert_to_tensor, is_tensor
from .._graph.graph import get_default_graph
from .._graph.opdef import define
from .._graph.operation import Operation
from .._graph.tensor import SymbolicTensor as Tensor
from .._graph.texts import decoded
from ..dtypes import string

__all__ = ["print"]

_EDGE = 3  # elements shown at both ends of an axis


def print(*inputs: Any, **options: Any) -> Any:
    """Prints values: at once in eager mode, else whenever the returned operation runs.

    Options: `output_stream` (sys.stderr), `sep`, `end`, `name`.
    """
    name, stream = options.pop("name", None), options.pop("output_stream", None)
    settings = (stream, options.pop("sep", " "), options.pop("end", "\n"))
    if options:
        raise ValueError(f"tf.print: unknown option {', '.join(sorted(options))}")
    if mode.executing_eagerly():
        _write(inputs, settings)
        return None
    # Tensors are inputs of the operation; everything else is written as it is now.
    tensors = [convert_to_tensor(x) for x in inputs if is_tensor(x)]
    graph = tensors[0].graph if tensors else get_default_graph()
    template = tuple(Ellipsis if is_tensor(x) else x for x in inputs)
    attrs = {"template": template, "settings": settings}
    return graph.record("PrintV2", tensors, attrs, name)


def _execute(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    def effect(*values: Any) -> None:
        left = (
            decoded(v.numpy()) if x.dtype == string else v
            for x, v in zip(op.inputs, values, strict=True)
        )
        template = op.attrs["template"]
        _write([next(left) if x is Ellipsis else x for x in template], op.attrs["settings"])

    run.effects.append((effect, list(inputs)))
    return []


define("PrintV2", execute=_execute, flows=False)


def _write(values: Any, settings: tuple[Any, str, str]) -> None:
    stream, separator, end = settings
    text = separator.join(_text(value) for value in values)
    builtins.print(text, end=end, file=sys.stderr if stream is None else stream)


def _text(value: Any) -> str:
    if isinstance(value, (_core.Tensor, _core.Variable)):
        value = value.numpy()
    if isinstance(value, Tensor):
        return repr(value)
    if isinstance(value, bytes):
        return f'"{value.decode(errors="replace")}"'
    if isinstance(value, (list, tuple)):
        left, right = ("[", "]") if isinstance(value, list) else ("(", ")")
        return left + ", ".join(_text(entry) for entry in value) + right
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(k)}: {_text(v)}" for k, v in value.items()) + "}"
    if not isinstance(value, (np.ndarray, np.generic)):
        return str(value)
    array = np.asarray(value)
    if array.ndim == 0:
        return _number(array[()])
    return np.array2string(
        array, separator=" ", threshold=2 * _EDGE, edgeitems=_EDGE, max_line_width=10**6,
        formatter={"all": _number},
    )  # fmt: skip


def _number(value: Any) -> str:
    """The fewest of 6, 9 or 17 digits that give the same number back."""
    if isinstance(value, bytes):
        return _text(value)
    if isinstance(value, (np.bool_, bool)):
        return str(int(value))
    if isinstance(value, np.integer):
        return str(value)
    short, exact = (".6g", ".9g") if value.dtype == np.float32 else (".15g", ".17g")
    text = format(float(value), short)
    return text if type(value)(text) == value else format(float(value), exact)
