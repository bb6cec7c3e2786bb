"""Operations of Python functions: py_func, numpy_function, py_function, raw_op; tf.function.

host_run.py describes runs that need one of these operations.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

import pullback

from .... import _core
from .._gradients.tape import GradientTape, core_tree
from .._graph import mode
from .._graph.conversion import on_values
from .._graph.create import apply, convert_to_tensor, is_tensor, scope_of
from .._graph.graph import _stack as stack
from .._graph.graph import get_default_graph
from .._graph.opdef import ALIASES, OPS, define
from .._graph.operation import Operation
from .._graph.registry import Rule
from .._graph.shapes import TensorShape, as_dims, shape_text
from .._graph.strings import decoded, encoded
from .._graph.tensor import as_core, as_eager, mapped
from ..dtypes import DType, as_dtype, string
from ..errors import OutOfRangeError
from ..names import public_names


def _dtypes(Tout: Any) -> list[DType]:
    many = list(Tout) if isinstance(Tout, (list, tuple)) else [] if Tout is None else [Tout]
    return [as_dtype(t) for t in many]


def _converted(results: Any, wanted: list[DType], who: str, caller: str) -> list[Any]:
    """Convert a function's results to arrays of the dtypes in Tout; Python numbers take them."""
    several = isinstance(results, (list, tuple))
    many = list(results) if several else [] if not wanted and results is None else [results]
    if len(many) != len(wanted):
        raise ValueError(
            f"{caller}: expected {len(wanted)} values from {who} for Tout, got {len(many)}"
        )
    arrays = []
    for i, (value, dtype) in enumerate(zip(many, wanted, strict=True)):
        if dtype == string:
            arrays.append(encoded(value))
            continue
        weak = isinstance(value, (bool, int, float, list, tuple))
        array = np.asarray(value, dtype.dtype if weak else None)
        if array.dtype != dtype.dtype:
            raise ValueError(
                f"{caller}: expected {dtype.name} for result {i} of {who}, got {array.dtype}"
            )
        arrays.append(array)
    return arrays


def _check_list(inp: Any, who: str) -> None:
    if is_tensor(inp) or not isinstance(inp, Iterable):
        raise TypeError(f"{who}: expected a list of tensors for inp, got {inp!r:.80}")


def _name_of(function: Any) -> str:
    return f"the function {getattr(function, '__name__', function)!s:.60}"


def _call(*arrays: Any, func: Any, Tin: Any, Tout: Any) -> list[Any]:
    args = (decoded(a) if t == string else a.copy() for a, t in zip(arrays, Tin, strict=True))
    try:
        return _converted(func(*args), Tout, _name_of(func), "py_func")
    except StopIteration as error:
        raise OutOfRangeError(None, f"StopIteration: {error}".rstrip(": ")) from error


for _type in ("PyFunc", "PyFuncStateless"):
    define(_type, on_values(_call), flows=False, host=True, fresh=True, public="py_func")


def py_func(
    func: Callable[..., Any], inp: Sequence[Any], Tout: Any, stateful: bool = True,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Wrap `func` of NumPy arrays as an operation.

    The result is a tensor of dtype `Tout`, or a list for a list. In a graph the result for an empty
    `Tout` is the operation. The gradient is None unless a gradient_override_map for `PyFunc` gives
    it a rule. The shape of the result is unknown: state it with `set_shape`.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     y = tf.py_func(lambda x: x[::-1], [tf.constant([1.0, 2.0])], tf.float32)
    ...     session.run(y)
    array([2., 1.], dtype=float32)
    """
    if not callable(func):
        raise ValueError(f"py_func: expected a function, got {func!r}")
    _check_list(inp, "py_func")
    type, wanted = "PyFunc" if stateful else "PyFuncStateless", _dtypes(Tout)
    with scope_of(name or type, *inp) as scope:
        inputs = [convert_to_tensor(x) for x in inp]
        attrs: dict[str, Any] = {
            "func": func,
            "Tin": [as_dtype(x.dtype) for x in inputs],
            "Tout": wanted,
        }
        if mode.executing_eagerly():
            return _shaped(apply(type, *inputs, **attrs), Tout)
        return _results(_recorded(type, inputs, attrs, scope), Tout)


def numpy_function(func: Callable[..., Any], inp: Sequence[Any], Tout: Any,
                   name: str | None = None) -> Any:  # fmt: skip
    """Alias of `py_func`."""
    return py_func(func, inp, Tout, name=name)


def _recorded(type: str, inputs: list[Any], attrs: dict[str, Any], name: str) -> Operation:
    outputs = ((dtype, None) for dtype in attrs["Tout"])
    op: Operation = get_default_graph().record(type, inputs, attrs, name, *outputs)
    return op


def _shaped(outs: Any, Tout: Any) -> Any:
    outs = list(outs) if isinstance(outs, (list, tuple)) else [outs]
    return outs if isinstance(Tout, (list, tuple)) or not outs else outs[0]


def _results(op: Operation, Tout: Any) -> Any:
    return _shaped(op.outputs, Tout) if op.outputs else op


# --- with tensors


def py_function(func: Callable[..., Any], inp: Sequence[Any], Tout: Any,
                name: str | None = None) -> Any:  # fmt: skip
    """Wrap `func` of eager tensors as an operation, which is differentiated with a tape.

    >>> from pullback.compat import tf1 as tf
    >>> def clipped(x):
    ...     return tf.where(x > 1.0, 0.5 * x, x * x) if x.numpy().size else x
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     x = tf.constant([0.5, 4.0])
    ...     y = tf.py_function(clipped, [x], tf.float32)
    ...     session.run([y, tf.gradients(y, x)[0]])
    [array([0.25, 2.  ], dtype=float32), array([1. , 0.5], dtype=float32)]
    """
    if not callable(func):
        raise ValueError(f"py_function: expected a function, got {func!r}")
    _check_list(inp, "py_function")
    wanted = _dtypes(Tout)
    if mode.executing_eagerly():
        results = _eager_results(func, [convert_to_tensor(x) for x in inp], wanted)
        return _shaped(results, Tout) if wanted else None
    with scope_of(name or "EagerPyFunc", *inp) as scope:
        inputs = [convert_to_tensor(x) for x in inp]
        return _results(_differentiable(func, inputs, wanted, scope, None), Tout)


def _eager_results(func: Any, xs: list[Any], wanted: list[DType]) -> list[Any]:
    results = func(*xs)
    many = list(results) if isinstance(results, (list, tuple)) else [results]
    if not wanted:
        return []
    if len(many) != len(wanted):
        raise ValueError(
            f"py_function: expected {len(wanted)} values from {_name_of(func)} for Tout, got "
            f"{len(many)}"
        )
    return [convert_to_tensor(y, dtype) for y, dtype in zip(many, wanted, strict=True)]


def _differentiable(
    func: Any, inputs: list[Any], wanted: list[DType], name: str, forward: Operation | None
) -> Operation:
    """Record the operation; it may compute the gradient of the operation `forward`."""
    attrs = {"func": func, "Tout": wanted, "forward": forward}
    op = _recorded("EagerPyFunc", inputs, attrs, name)
    if op.override is None:
        op.rule = Rule(_slope, "EagerPyFunc")
    return op


def _slope(op: Operation, *upstreams: Any) -> list[Any]:
    """Return the rule of such an operation: another one, so that higher orders exist."""
    floats = [i for i, x in enumerate(op.inputs) if x.dtype.is_inexact]
    back = _backward(op.attrs["func"], op.attrs["Tout"], len(op.inputs), floats)
    weights = [g for g, y in zip(upstreams, op.outputs, strict=True) if y.dtype.is_inexact]
    dtypes = [op.inputs[i].dtype for i in floats]
    made = _differentiable(back, [*op.inputs, *weights], dtypes, "EagerPyFuncGrad", op)
    answers: list[Any] = [None] * len(op.inputs)
    for i, out in zip(floats, made.outputs, strict=True):
        out.set_shape(op.inputs[i].shape)
        answers[i] = out
    return answers


def _backward(func: Any, wanted: list[DType], count: int, floats: list[int]) -> Any:
    def gradient_of_function(*args: Any) -> Any:
        ins = [*args[:count]]
        with GradientTape() as tape:
            tape.watch([ins[i] for i in floats])
            results = _eager_results(func, ins, wanted)
        return _pulled(tape, ins, results, args[count:], floats)

    return gradient_of_function


def _pulled(
    tape: Any, ins: list[Any], results: list[Any], weights: Sequence[Any], floats: list[int]
) -> list[Any]:
    targets = [y for y in results if as_dtype(y.dtype).is_inexact]
    sources = [ins[i] for i in floats]
    return list(tape.gradient(targets, sources, list(weights), "zero"))


def _execute(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    wanted, forward = op.attrs["Tout"], op.attrs["forward"]
    xs = [as_eager(_core.constant(x.numpy(), x.dtype)) for x in inputs]
    floats = [i for i, x in enumerate(xs) if as_dtype(x.dtype).is_inexact]
    with mode.eagerly():
        if forward in run.recorded:  # the function is called again only for higher orders
            tape, ins, results = run.recorded[forward]
            inner = [i for i in floats if i < len(ins)]
            results = _pulled(tape, ins, results, xs[len(ins) :], inner)
        else:
            with GradientTape(persistent=True) as tape:
                tape.watch([xs[i] for i in floats])
                results = _eager_results(op.attrs["func"], xs, wanted)
            run.recorded[op] = tape, xs, results
    return [_core.constant(y.numpy(), as_core(y).dtype) for y in results]


define("EagerPyFunc", execute=_execute, host=True, public="py_function")


# --- operations that a program defines


def raw_op(name: str, function: Callable[..., Any], shape: Any = None) -> Callable[..., Any]:
    """Create a new operation type that computes `function` of NumPy arrays, without a gradient.

    The result has the dtype of the first input. `shape` is the static shape of the result, or a
    function from the shapes of the inputs to it. Returns a function of tensors (and `name=`) that
    creates such operations. A gradient that reaches one of them is a LookupError, until
    `RegisterGradient(name)`, `NotDifferentiable(name)` or a gradient_override_map defines it.

    Raises
    ------
    ValueError
        If the name is one of pullback's own types.

    Examples
    --------
    >>> from pullback.compat import tf1 as tf
    >>> shrink = tf.raw_op("Shrink", lambda x: x[::2, ::2], shape=[2, 2])
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     image = tf.ones([4, 4])
    ...     session.run(tf.gradients(image + tf.stop_gradient(tf.reduce_sum(shrink(image))), image))
    [array([[1., 1., 1., 1.],
           [1., 1., 1., 1.],
           [1., 1., 1., 1.],
           [1., 1., 1., 1.]], dtype=float32)]
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"raw_op: expected a name such as 'AreaResize', got {name!r}")
    if not callable(function):
        raise TypeError(f"raw_op: expected a function, got {function!r}")
    own = ALIASES.get(name, name) in OPS and name not in _raw
    if own:
        raise ValueError(
            f"raw_op: expected a new name, got '{name}', a type of pullback; give another name"
        )
    _raw.add(name)

    def dims(*inputs: Any) -> Any:
        wish = shape(*(TensorShape(x.shape) for x in inputs)) if callable(shape) else shape
        return as_dims(wish)

    def compute(*arrays: Any) -> Any:
        made = function(*(a.copy() for a in arrays))
        out = _converted(made, [as_dtype(arrays[0].dtype)], _name_of(function), name)
        if not TensorShape(out[0].shape).is_compatible_with(dims(*arrays)):
            raise ValueError(
                f"{name}: expected a result of shape {shape_text(dims(*arrays))}, got "
                f"{out[0].shape}"
            )
        return out

    define(name, on_values(compute), registered=False, host=True, shape=dims, fresh=True,
           public=name)  # fmt: skip

    def make(*inputs: Any, name: str | None = None) -> Any:
        if not inputs:
            raise TypeError(f"{kind}: expected at least one tensor, got none")
        return apply(kind, *inputs, name=name)

    kind = name
    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"Create an operation of type {name}, defined by `raw_op`."
    return make


_raw: set[str] = set()


def function(
    func: Callable[..., Any] | None = None, input_signature: Sequence[Any] | None = None,
    autograph: bool = True, experimental_implements: Any = None,
    experimental_autograph_options: Any = None, experimental_relax_shapes: bool = False,
    experimental_compile: bool | None = None,
) -> Any:  # fmt: skip
    """Decorate a function that is traced once for each signature, then replayed.

    In eager mode this is `pullback.function`, in which `tf.gradients` works too. Overrides of the
    block around a call have no effect inside; overrides inside the function have. In a graph, a
    call adds the function's operations. Python's `if` and `while` are not rewritten: they run while
    the function is traced. With an `input_signature` the arguments must be tensors of these shapes
    and dtypes.
    """
    if func is None:
        return functools.partial(function, input_signature=input_signature)
    if not callable(func):
        raise TypeError(f"function: expected a function, got {func!r}")
    inner = func

    def body(*args: Any, **keywords: Any) -> Any:
        args, keywords = mapped(as_eager, (args, keywords))
        graph = get_default_graph()
        outside, graph._overrides = graph._overrides, []
        around, stack.in_function = stack.in_function, True
        try:
            return core_tree(inner(*args, **keywords))
        finally:
            graph._overrides, stack.in_function = outside, around

    traced = pullback.function(functools.wraps(inner)(body))

    @functools.wraps(inner)
    def call(*args: Any, **keywords: Any) -> Any:
        if input_signature is not None:
            args = _checked(args, input_signature)
        if not mode.executing_eagerly():
            return inner(*args, **keywords)
        args, keywords = mapped(as_core, (args, keywords))
        return mapped(as_eager, traced(*args, **keywords))

    call.python_function = inner  # type: ignore[attr-defined]
    return call


def _checked(args: tuple[Any, ...], wanted: Sequence[Any]) -> tuple[Any, ...]:
    if len(args) != len(wanted):
        raise ValueError(
            f"function: expected {len(wanted)} arguments as in input_signature, got {len(args)}"
        )
    made = []
    for i, (x, spec) in enumerate(zip(args, wanted, strict=True)):
        x = convert_to_tensor(x, None if is_tensor(x) else spec.dtype)
        fits = TensorShape(x.shape).is_compatible_with(spec.shape)
        if x.dtype != spec.dtype or not fits:
            raise ValueError(f"function: expected {spec!r} for argument {i}, got {x!r}")
        made.append(x)
    return tuple(made)


__all__ = public_names(globals())
