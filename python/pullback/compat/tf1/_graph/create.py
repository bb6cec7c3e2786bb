"""Creation of operations, and conversion of numbers, lists, arrays and variables to tensors.

`apply` creates every operation. In a graph it appends a record, and inference.py infers dtypes,
shapes and small values before a run. In eager mode it computes the same row on values. `operation`
defines a row together with its public function.

Python floats become float32 and ints int32; arrays keep their dtype. Beside a tensor every other
value takes the tensor's dtype. A cast that would lose information is a TypeError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from inspect import Parameter
from typing import Any

import numpy as np

from .... import _core
from ..dtypes import DType, as_dtype, int32, int64, string
from ..errors import InvalidArgumentError, WrongDtypeError
from ..names import bind, named, signature_of
from . import eager, mode, shape_functions
from .conversion import as_array, as_static
from .graph import Graph, get_default_graph
from .inference import FAILURES, described, infer, known_of
from .opdef import DOMAINS, NAMES, OPS, OpDef, caller_of, define, error_text
from .operation import Operation
from .shapes import TensorShape, as_dims, shape_text
from .tensor import EagerTensor, SymbolicTensor, as_eager, opaque
from .tensor import SymbolicTensor as Tensor


def is_tensor(x: Any) -> bool:
    """Test whether a value is a tensor or a variable of the current mode."""
    kinds = (SymbolicTensor, _core.Tensor, _core.Variable)
    return isinstance(x, kinds) or hasattr(x, "_as_tensor")


def dtype_of(*values: Any) -> DType | None:
    """Return the dtype of the first tensor or variable among the values, or None."""
    return next((as_dtype(v.dtype) for v in values if is_tensor(v)), None)


@contextmanager
def scope_of(name: str, *values: Any) -> Iterator[str]:
    """Open a name scope for one operation in the graph of its inputs; nothing in eager mode."""
    if mode.executing_eagerly():
        yield name
        return
    graph = graph_of(values)
    with graph.as_default(), graph.name_scope(name) as scope:
        yield scope


def known_dims(x: Any) -> Any:
    """Return the static dimensions of a tensor or of a convertible value; None: unknown rank."""
    if contains_tensor(x):
        x = convert_to_tensor(x)
        return as_dims(x.shape)
    return np.shape(x)


def check_rank(x: Any, rank: int, who: str) -> None:
    """Raise ValueError for a tensor whose rank is known and not `rank`."""
    dims = known_dims(x)
    if dims is not None and len(dims) != rank:
        raise ValueError(f"{who}: expected a tensor of rank {rank}, got {x!r:.80}")


def graph_of(values: Any) -> Graph:
    """Return the graph of the tensors among the values, or the default graph."""
    found = None
    for value in values:
        for entry in value if isinstance(value, (list, tuple)) else [value]:
            graph = getattr(entry, "graph", None)
            if isinstance(graph, Graph) and graph is not found:
                if found is not None:
                    raise ValueError(
                        f"Graph: {entry!r:.80} is not of the same graph as the other inputs; "
                        "build them inside one `with graph.as_default()`"
                    )
                found = graph
    return found or get_default_graph()


# --- values


def convert_to_tensor(
    value: Any, dtype: Any = None, name: str | None = None, preferred_dtype: Any = None,
    dtype_hint: Any = None,
) -> Any:  # fmt: skip
    """Convert a tensor, variable, number, list or array to a tensor.

    Raises TypeError if the value is not numeric or would have to change its dtype, ValueError for
    None and for ragged lists.
    """
    wish = None if dtype is None else as_dtype(dtype)
    hint = dtype_hint if preferred_dtype is None else preferred_dtype
    if wish is None and hint is not None and not is_tensor(value):
        try:
            return convert_to_tensor(value, hint, name)
        except TypeError:
            pass
    if mode.executing_eagerly():
        given = value
        if hasattr(value, "_as_tensor"):
            value = value._as_tensor()
        if isinstance(value, SymbolicTensor):
            raise RuntimeError(
                f"convert_to_tensor: expected a value in eager mode, got the tensor {given!r} of a "
                "graph; run it in a session"
            )
        if isinstance(value, _core.Variable):
            value = value.read()
    elif hasattr(value, "_as_tensor"):
        value = value._as_tensor()
    if isinstance(value, (SymbolicTensor, _core.Tensor)):
        if isinstance(value, _core.Tensor) and not mode.executing_eagerly():
            value = _lifted(value)
        if wish is not None and as_dtype(value.dtype) != wish:
            raise WrongDtypeError(
                f"convert_to_tensor: expected a tensor of dtype {wish.name}, got one of "
                f"{as_dtype(value.dtype).name}, {value!r:.80}; use tf.cast"
            )
        return as_eager(value)
    if isinstance(value, (list, tuple)) and contains_tensor(value):
        return _packed(value, wish, name)
    array, found = as_array(value, wish)
    return constant_of(array, found, name or "Const")


def argument_tensor(value: Any, who: str, argument: str, dtype: Any = None) -> Any:
    """Convert an argument to a tensor; errors name the function and the argument."""
    try:
        return convert_to_tensor(value, dtype)
    except (TypeError, ValueError) as error:
        raise error_in(error, who, argument) from None


def error_in(error: Exception, who: str, argument: str) -> Exception:
    """Return an error of a conversion with the function and the argument in its message."""
    if type(error) not in (TypeError, ValueError, WrongDtypeError):
        return error
    return type(error)(f"{who}: argument {argument}: {str(error).removeprefix(_CONVERSION)}")


_CONVERSION = "convert_to_tensor: "


def together(x: Any, y: Any, names: str = "x y") -> list[Any]:
    """Convert two values to tensors of one dtype: that of a tensor, or else of the first value.

    Raises TypeError if both have a dtype and these differ.
    """
    first, second = names.split()
    x = convert_to_tensor(x, dtype_of(x, y) if not is_tensor(x) else None, first)
    return [x, convert_to_tensor(y, None if is_tensor(y) else as_dtype(x.dtype), second)]


def _lifted(value: Any) -> Any:
    """Convert a value of the main namespace or of eager mode to a constant of the graph."""
    return constant_of(value.numpy(), as_dtype(value.dtype), "Const")


def contains_tensor(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(contains_tensor(entry) for entry in value)
    return is_tensor(value)


def _packed(values: Any, wish: DType | None, name: str | None) -> Any:
    wish = wish or _leaf_dtype(values)
    parts = [convert_to_tensor(entry, wish) for entry in values]
    return apply("Pack", *parts, name=name or "packed", axis=0)


def _leaf_dtype(value: Any) -> DType | None:
    if isinstance(value, (list, tuple)):
        return next((d for d in map(_leaf_dtype, value) if d is not None), None)
    return dtype_of(value)


def core_constant(array: np.ndarray[Any, Any]) -> Any:
    # A single number is an argument of the plan, not a part of its structure.
    return _core.constant(array.item() if array.ndim == 0 else array, array.dtype)


def constant_of(array: np.ndarray[Any, Any], dtype: DType, name: str) -> Any:
    core = core_constant(array)
    if dtype == string and mode.executing_eagerly():
        raise TypeError(f"constant: expected numbers in eager mode, got strings for '{name}'")
    if mode.executing_eagerly():
        return as_eager(core)
    attrs = {"value": core, "dtype": dtype}
    output = (dtype, array.shape, None, known_of(array, dtype))
    return get_default_graph().record("Const", (), attrs, name, output).outputs[0]


define("Const", execute=lambda run, op, inputs: [op.attrs["value"]], flows=False)


# --- operations


def apply(type: str, *values: Any, name: str | None = None, **attrs: Any) -> Any:
    """Create an operation on tensors and convertible values; return its output or their list."""
    row = OPS[type]
    fixed = row.which_static(values)
    wish = dtype_of(*row.tensors(values)) if row.same else None
    if mode.executing_eagerly():
        inputs = list[Any]()
        for v, f in zip(values, fixed, strict=True):
            try:
                v = as_static(v) if f else convert_to_tensor(v, None if is_tensor(v) else wish)
            except (TypeError, ValueError) as error:
                raise _in_argument(error, row, len(inputs)) from None
            wish = wish or (as_dtype(v.dtype) if row.same and not f else None)
            inputs.append(v)
        check_dtypes(row, inputs)
        try:
            return unpacked([as_eager(y) for y in eager.apply(row, inputs, attrs)])
        except FAILURES as failure:
            text = error_text(row, type, failure, _tensors(inputs))
            raise InvalidArgumentError(None, text) from None
    if all(isinstance(v, SymbolicTensor) for v in values):
        inputs, graph, full = list(values), graph_of(values), name or type
    else:
        with scope_of(name or type, *values) as full:
            inputs, graph = [], get_default_graph()
            for i, v in enumerate(values):
                try:
                    kind = None if is_tensor(v) else _static_dtype(v) if fixed[i] else wish
                    v = as_static(v) if fixed[i] and not contains_tensor(v) else v
                    inputs.append(convert_to_tensor(v, kind, row.label(i)))
                except (TypeError, ValueError) as error:
                    raise _in_argument(error, row, i) from None
                wish = wish or (inputs[-1].dtype if row.same and not fixed[i] else None)
    check_dtypes(row, inputs)
    op = graph.create(row, inputs, attrs, full)
    return unpacked(graph.complete(op, infer(op)).outputs)


def _in_argument(error: Exception, row: OpDef, index: int) -> Exception:
    return error_in(error, caller_of(row, row.type), row.label(index))


def unpacked(outputs: Sequence[Any]) -> Any:
    return outputs[0] if len(outputs) == 1 else list(outputs)


def _static_dtype(value: Any) -> DType | None:
    if contains_tensor(value):
        return None
    array = np.asarray(as_static(value))
    return int64 if array.size and np.abs(array).max() >= 2**31 else int32


def check_dtypes(row: OpDef, inputs: Sequence[Any]) -> None:
    kinds = [as_dtype(x.dtype).name for x in row.tensors(inputs)]
    allowed, who = DOMAINS[row.domain], caller_of(row, row.type)
    if kinds and kinds[0] not in allowed:
        wanted = NAMES.get(row.domain) or " or ".join(allowed)
        raise TypeError(f"{who}: expected {wanted}, got {kinds[0]} ({_tensors(inputs)})")
    if row.same and len(set(kinds)) > 1:
        raise TypeError(
            f"{who}: expected tensors of one dtype, got {_tensors(inputs)}; use tf.cast"
        )


def _tensors(inputs: Sequence[Any]) -> str:
    return described([x for x in inputs if isinstance(x, (SymbolicTensor, EagerTensor))])


# --- public functions


def operation(
    type: str, function: Callable[..., Any], arguments: str, doc: str, public: str | None = None,
    aliases: dict[str, str] | None = None, prepare: Callable[[dict[str, Any]], None] | None = None,
    default_name: str | None = None, **fields: Any,
) -> Callable[..., Any]:  # fmt: skip
    """Define a row and its public function, whose arguments are described by one string.

    In the string `x` is a tensor, `#axis` is read while the operation is built (an integer or a
    list of integers), and `flag=False` is an attribute, passed on unchanged. `name` comes last
    unless the string has it. `aliases` are other names of arguments; `prepare` may change the
    arguments of a call.
    """
    if " name=" not in arguments:
        arguments += " name=None"
    for alias in aliases or {}:
        arguments += "" if f" {alias}=" in arguments else f" {alias}=None"
    signature = signature_of(arguments)
    names = [n for n in signature.parameters if n not in (aliases or {})]
    marked = {e[1:].partition("=")[0] for e in arguments.split() if e[0] == "#"}
    parameters = signature.parameters
    inputs = [n for n in names if n in marked or parameters[n].default is Parameter.empty]
    attributes = [n for n in names if n not in (*inputs, "name")]
    static = tuple(i for i, n in enumerate(inputs) if n in marked)
    who = public or type.lower()
    define(type, function, static=static, public=who, **{"labels": tuple(inputs), **fields})

    def call(*args: Any, **keywords: Any) -> Any:
        given = bind(signature, who, args, keywords)
        for alias, target in (aliases or {}).items():
            value = given.pop(alias)
            if value is not None and given[target] is not None:
                raise ValueError(f"{who}: expected {target} or {alias}, got both")
            given[target] = given[target] if value is None else value
        if prepare is not None:
            prepare(given)
        attrs = {name: given[name] for name in attributes}
        values = [given[name] for name in inputs]
        return apply(type, *values, name=given["name"] or default_name, **attrs)

    call.type = type  # type: ignore[attr-defined]
    return named(call, who, doc, signature)


def row(type: str, arguments: str, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorate the function that computes a row: it becomes the public function.

    The name and docstring stay. With `fresh=True` the function never returns its own input.
    """
    options = {"fresh": True, **options}
    return lambda function: operation(
        type, function, arguments, function.__doc__ or "", function.__name__, **options
    )


def unary(
    names: str, function: Any, doc: str, domain: str = "inexact", arguments: str = "x",
    **fields: Any,
) -> Callable[..., Any]:  # fmt: skip
    """Define a row of one input, with an output of its shape and dtype, and the public function.

    The names are the type, or 'Type:public_name'.
    """
    type, _, public = names.partition(":")
    fields = {"shape": shape_functions.unchanged, "fresh": True, **fields}
    return operation(type, function, arguments, doc, public or None, domain=domain, **fields)


def binary(
    names: str, function: Any, doc: str, domain: str = "number", **fields: Any
) -> Callable[..., Any]:
    """Define a row of two inputs that broadcast, and its public function; names as in `unary`."""
    fields = {"shape": shape_functions.broadcast, "same": True, **fields}
    doc = f"{doc}, element by element; shapes broadcast."
    return unary(names, function, doc, domain, "x y", **fields)


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """Convert a tensor to another dtype; a tensor of that dtype is returned unchanged."""
    wish = as_dtype(dtype)
    x = convert_to_tensor(x)
    have = as_dtype(x.dtype)
    if wish == string != have:
        raise TypeError(f"cast: expected a dtype of numbers for dtype, got {wish!r}; use py_func")
    return x if have == wish else apply("Cast", x, name=name, SrcT=have, DstT=wish)


def in_dtype(value: Any, dtype: Any, name: str | None = None) -> Any:
    """Convert a number or a tensor to a dtype."""
    return cast(value, dtype) if is_tensor(value) else convert_to_tensor(value, dtype, name)


def _missing(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    x = op.outputs[0]
    raise InvalidArgumentError(
        op,
        f"You must feed a value for placeholder tensor '{op.name}' with dtype {x.dtype.name} and "
        f"shape {shape_text(x.dims)}: the fetches depend on it",
    )


define("Placeholder", execute=_missing, flows=False)
define("PlaceholderWithDefault", lambda x: _core.identity(x), fresh=True)


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """Create a tensor that is fed to `Session.run`; None is an unknown dimension or shape.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     rows = tf.placeholder(tf.float32, [None, 2])
    ...     session.run(tf.reduce_sum(rows, axis=1), {rows: [[1, 2], [3, 4]]})
    array([3., 7.], dtype=float32)
    """
    if mode.executing_eagerly():
        raise RuntimeError("placeholder: not possible in eager mode; use the value itself")
    attrs = {"dtype": as_dtype(dtype), "shape": TensorShape(shape)}
    output = (as_dtype(dtype), as_dims(shape))
    return get_default_graph().record("Placeholder", (), attrs, name, output).outputs[0]


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Any:
    """Create a tensor that may be fed and otherwise has the value of `input`."""
    x = convert_to_tensor(input)
    if mode.executing_eagerly():
        return x
    if not TensorShape(shape).is_compatible_with(x.dims):
        raise ValueError(
            f"placeholder_with_default: expected an input of shape {TensorShape(shape)}, got {x!r}"
        )
    dims = as_dims(shape)
    fits = dims is not None and None not in dims
    abstract = _core.identity(x.abstract) if fits else opaque([x.abstract], x.dtype, dims)
    output = (x.dtype, dims, abstract)
    return x.graph.record("PlaceholderWithDefault", [x], {}, name, output).outputs[0]
