"""Making operations: dtypes are checked, shapes are found by trial, outputs get their tensors.

`apply` is the one door. In graph mode it appends a record, and builds it once on stand-ins of its
inputs to learn the shape of its outputs: building computes nothing. If every input's shape is
known, an error of the trial is the program's own and raised at once, with the names of the inputs;
otherwise the possibilities that work are kept, and if none works the shape is unknown and the run
will tell. In eager mode the same rows are built on values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ... import _core
from . import eager, mode
from .convert import convert_to_tensor, dtype_of, graph_of, is_tensor, scope_of
from .dtypes import DType, as_dtype, float64
from .opdef import DOMAINS, OPS, OpDef, build_outputs
from .operation import Operation
from .operators import builders
from .shapes import Dims, shape_text
from .tensor import Tensor, Trials, stand_in, trials_of

__all__ = ["apply"]

Output = tuple[DType, Dims, Trials]


def apply(
    type: str, inputs: Sequence[Any], attrs: dict[str, Any] | None = None, name: str | None = None
) -> Any:
    """An operation on converted inputs; its output, or the list of them if there are several."""
    row = OPS[type]
    attrs = attrs or {}
    if mode.executing_eagerly():
        return eager.apply(row, list(inputs), attrs)
    check_dtypes(row, inputs, name)
    op = graph_of(inputs).create(row, inputs, attrs, name or type)
    op.flows = flows_of(row, len(op.inputs))
    add_outputs(op, infer(op))
    return op.outputs[0] if len(op.outputs) == 1 else list(op.outputs)


def flows_of(row: OpDef, count: int) -> tuple[int, ...] | None:
    """The inputs that a gradient reaches, without static ones."""
    if row.flows is not None or not row.static:
        return row.flows
    static = {i % count for i in row.static}
    return tuple(i for i in range(count) if i not in static)


def add_outputs(op: Operation, outputs: Iterable[Output]) -> None:
    """Completes an operation and adds it to its graph."""
    op.outputs = tuple(
        Tensor(op, i, dtype, dims, trials) for i, (dtype, dims, trials) in enumerate(outputs)
    )
    op.graph.append(op)


def output(dtype: DType, dims: Dims) -> Output:
    """An output of a given shape."""
    return dtype, dims, trials_of(dtype, dims)


# --- dtypes


def check_dtypes(row: OpDef, inputs: Sequence[Any], name: str | None) -> None:
    if not inputs:
        return
    first = as_dtype(inputs[0].dtype)
    allowed = DOMAINS.get(row.domain)
    if allowed is not None and first.name not in allowed:
        raise TypeError(
            f"{row.type}: expected {' or '.join(allowed)}, got {first.name} ({_named(inputs[:1])})"
        )
    if row.same:
        static = {i % len(inputs) for i in row.static}
        kinds = {as_dtype(x.dtype) for i, x in enumerate(inputs) if i not in static}
        if len(kinds) > 1:
            raise TypeError(
                f"{row.type}: expected tensors of one dtype, got {_named(inputs)}; use tf.cast"
            )


def _named(inputs: Sequence[Any]) -> str:
    texts = []
    for x in inputs:
        label = f"'{x.name}' " if isinstance(x, Tensor) else ""
        dims = x.dims if isinstance(x, Tensor) else x.shape
        texts.append(f"{label}{shape_text(dims)} {as_dtype(x.dtype).name}")
    return ", ".join(texts)


# --- shapes


def infer(op: Operation) -> list[Output]:
    """Dtype, shape and stand-ins of each output, by trial."""
    inputs = op.inputs
    # An integer tensor of known shape may still have another value in each trial: tf.shape(x).
    static = all(x.is_static and x.trials[0] is x.trials[1] is x.trials[2] for x in inputs)
    found: list[list[Any] | None] = []
    error: Exception | None = None
    for trial in range(1 if static else 3):
        try:
            found.append(_try(op, trial))
        except (ValueError, IndexError, RuntimeError) as failure:
            error = failure
            found.append(None)
        except TypeError as failure:
            raise _explained(op, failure) from None
    if static and error is not None and not _reads_unknown(op):
        raise _explained(op, error) from None
    good = [outs for outs in found if outs is not None]
    if not good:
        unknown: Trials = (None, None, None)
        return [(dtype, None, unknown) for dtype in op.definition.dtypes(op.attrs, inputs)]
    if static:
        return [_static_output(out) for out in good[0]]
    # One rank that works says nothing about others.
    rankless = len(good) == 1 and any(x.dims is None for x in inputs)
    outputs: list[Output] = []
    for i, out in enumerate(good[0]):
        dims = None if rankless else _common_dims([outs[i].shape for outs in good], out.shape)
        first, second, third = (None if outs is None else _detached(outs[i]) for outs in found)
        outputs.append((as_dtype(out.dtype), dims, (first, second, third)))
    return outputs


def _try(op: Operation, trial: int) -> list[Any]:
    stand_ins = [x.trials[trial] for x in op.inputs]
    if any(x is None for x in stand_ins):
        raise ValueError("an input's shape is unknown")
    return build_outputs(op.definition, op.attrs, stand_ins)


def _reads_unknown(op: Operation) -> bool:
    """Whether a static input (a shape, axes) has no value before a run."""
    values = [op.inputs[i].trials[0] for i in op.definition.static]
    return any(value is None or _core.is_tracked(value) for value in values)


def _common_dims(shapes: list[tuple[int, ...]], first: tuple[int, ...]) -> Dims:
    if any(len(shape) != len(first) for shape in shapes):
        return None
    if len(shapes) == 1:
        return (None,) * len(first)
    return tuple(d if all(shape[i] == d for shape in shapes) else None for i, d in enumerate(first))


def _detached(out: Any) -> Any:
    """A trial's output without its history; small integer constants keep their value."""
    if not _core.is_tracked(out) and out.dtype.kind == "i" and out.size <= 64:
        return _core.constant(out.numpy(), out.dtype)
    return stand_in(as_dtype(out.dtype), out.shape)


def _static_output(out: Any) -> Output:
    trial = _detached(out)
    return as_dtype(out.dtype), out.shape, (trial, trial, trial)


def _explained(op: Operation, error: Exception) -> Exception:
    """The same kind of error, with the operation and its inputs."""
    kind = ValueError if isinstance(error, (IndexError, RuntimeError)) else type(error)
    return kind(f"{op.type} '{op.name}': {error}; inputs: {_named(op.inputs) or 'none'}")


# --- the shapes of calls that operators and functions share


def unary(type: str, x: Any, name: str | None = None) -> Any:
    return apply(type, [convert_to_tensor(x)], None, name)


def binary(type: str, x: Any, y: Any, name: str | None = None) -> Any:
    """An operation on two inputs, of which one may be a number that takes the other's dtype."""
    with scope_of(name or type, x, y) as scope:
        x, y = convert_pair(x, y)
        return apply(type, [x, y], None, scope)


def convert_pair(x: Any, y: Any) -> tuple[Any, Any]:
    if is_tensor(x) or not is_tensor(y):
        x = convert_to_tensor(x, name="x")
        return x, convert_to_tensor(y, as_dtype(x.dtype), name="y")
    return convert_to_tensor(x, dtype_of(y), name="x"), convert_to_tensor(y)


def true_divide(x: Any, y: Any, name: str) -> Any:
    """x / y; integers are divided as float64, as in TensorFlow."""
    with scope_of(name, x, y) as scope:
        x, y = convert_pair(x, y)
        if as_dtype(x.dtype).is_integer and x.dtype == y.dtype:
            x, y = (cast(v, float64) for v in (x, y))
        return apply("RealDiv", [x, y], None, scope)


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """The values in another dtype; the tensor itself if it has that dtype already."""
    wish = as_dtype(dtype)
    x = convert_to_tensor(x)
    have = as_dtype(x.dtype)
    if have == wish:
        return x
    out = apply("Cast", [x], {"SrcT": have, "DstT": wish}, name or "Cast")
    if isinstance(out, Tensor) and (have.is_floating != wish.is_floating or wish.is_bool):
        out.op.flows = ()
    return out


def matrix_product(
    a: Any, b: Any, name: str | None = None, transpose_a: bool = False, transpose_b: bool = False
) -> Any:
    with scope_of(name or "MatMul", a, b) as scope:
        a, b = convert_pair(a, b)
        rank = len(a.trials[0].shape) if isinstance(a, Tensor) and a.dims else 2
        type = "BatchMatMulV2" if rank > 2 else "MatMul"
        return apply(type, [a, b], {"transpose_a": transpose_a, "transpose_b": transpose_b}, scope)


def strided_slice(x: Any, key: Any) -> Any:
    """x[key] with integers, slices, None and Ellipsis; or one integer tensor."""
    x = convert_to_tensor(x)
    if is_tensor(key):
        axis = convert_to_tensor(0)
        return apply("GatherV2", [x, convert_to_tensor(key), axis], None, "strided_slice")
    return apply("StridedSlice", [x], {"key": key}, "strided_slice")


builders.unary = unary
builders.binary = binary
builders.true_divide = true_divide
builders.matrix_product = matrix_product
builders.strided_slice = strided_slice
