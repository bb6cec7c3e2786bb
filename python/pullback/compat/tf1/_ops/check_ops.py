"""Assertions about values, and printing in a run."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .... import _core
from .._graph import mode
from .._graph.create import convert_to_tensor, is_tensor, known_dims, scope_of, together
from .._graph.graph import get_default_graph
from .._graph.opdef import define
from .._graph.operation import Operation
from .._graph.strings import decoded
from .._graph.tensor import SymbolicTensor as Tensor
from ..dtypes import as_dtype, string
from ..dtypes import bool as tf_bool
from ..errors import InvalidArgumentError
from ..names import public_names, taking
from . import math_ops
from .array_ops import identity
from .grouping import no_op

_EDGE = 3  # elements shown at both ends of an axis


def print(*inputs: Any, **options: Any) -> Any:
    """Print values: at once in eager mode, else whenever the returned operation runs.

    Options: `output_stream` (sys.stderr), `sep`, `end`, `name`.
    """
    name, stream = options.pop("name", None), options.pop("output_stream", None)
    settings = (stream, options.pop("sep", " "), options.pop("end", "\n"))
    if options:
        raise ValueError(
            f"print: expected output_stream, sep, end or name, got {', '.join(sorted(options))}"
        )
    if mode.executing_eagerly():
        _write(inputs, settings)
        return None
    # Tensors are inputs of the operation; other values are formatted now.
    tensors = [convert_to_tensor(x) for x in inputs if is_tensor(x)]
    graph = tensors[0].graph if tensors else get_default_graph()
    template = tuple(Ellipsis if is_tensor(x) else x for x in inputs)
    attrs = {"template": template, "settings": settings}
    return graph.record("PrintV2", tensors, attrs, name)


def _execute_print(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    def effect(*values: Any) -> None:
        left = (
            decoded(v.numpy()) if x.dtype == string else v
            for x, v in zip(op.inputs, values, strict=True)
        )
        template = op.attrs["template"]
        _write([next(left) if x is Ellipsis else x for x in template], op.attrs["settings"])

    run.effects.append((effect, list(inputs)))
    return []


define("PrintV2", execute=_execute_print, flows=False)


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
    """Format with the fewest of 6, 9 or 17 digits that restore the number."""
    if isinstance(value, bytes):
        return _text(value)
    if isinstance(value, (np.bool_, bool)):
        return str(int(value))
    if isinstance(value, np.integer):
        return str(value)
    short, exact = (".6g", ".9g") if value.dtype == np.float32 else (".15g", ".17g")
    text = format(float(value), short)
    return text if type(value)(text) == value else format(float(value), exact)


def Assert(condition: Any, data: Sequence[Any], summarize: Any = None, name: str | None = None,
           ) -> Any:  # fmt: skip
    """Create an operation that raises InvalidArgumentError with the data if the condition is false.

    In a graph it raises when it runs: pass it to `control_dependencies`.
    """
    with scope_of(name or "Assert", condition, *data) as scope:
        test = convert_to_tensor(condition, tf_bool)
        strings = [None if not isinstance(d, str) else d for d in data]
        values = [convert_to_tensor(d) for d in data if not isinstance(d, str)]
        if mode.executing_eagerly():
            _check(None, test, values, strings)
            return None
        return get_default_graph().record("Assert", [test, *values], {"texts": strings}, scope)


def _check(op: Any, condition: Any, values: Sequence[Any], strings: Sequence[str | None]) -> None:
    if bool(np.all(condition.numpy())):
        return
    left = iter(values)
    shown = [t if t is not None else str(next(left).numpy().tolist()) for t in strings]
    text = " ".join(f"[{s:.200}]" for s in shown)
    raise InvalidArgumentError(op, f"Assert: assertion failed: {text}")


def _execute_assert(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    _check(op, inputs[0], inputs[1:], op.attrs["texts"])
    return []


define("Assert", execute=_execute_assert, flows=False, host=True, public="Assert")


_REST = "data=None summarize=None message=None name=None"


def _asserting(public: str, holds: Callable[..., Any], text: str, right: str = "y") -> Any:
    """Define the assertion that a comparison with y, or with 0, holds in every element."""

    @taking(f"x {'y ' if right == 'y' else ''}{_REST}", public,
            f"Assert x {text} {right} in every element.")  # fmt: skip
    def function(x: Any, data: Any, summarize: Any, message: Any, name: Any, y: Any = 0) -> Any:
        a, b = together(x, y)
        words = [f"Condition x {text} {right} did not hold element-wise:", "x =", a]
        shown = words + (["y =", b] if right == "y" else []) if data is None else data
        constant = [t.known for t in (a, b) if isinstance(t, Tensor) and t.op.type == "Const"]
        if len([v for v in constant if v is not None]) == 2 and not np.all(
            getattr(np, holds.__name__)(*constant)
        ):
            values = f"x = {constant[0]}, y = {constant[1]}"
            raise InvalidArgumentError(None, f"{message or public}: {words[0]} {values}")
        test = math_ops.reduce_all(holds(a, b))
        return Assert(test, [message or "", *shown], summarize, name or public)

    return function


assert_equal = _asserting("assert_equal", math_ops.equal, "==")
assert_none_equal = _asserting("assert_none_equal", math_ops.not_equal, "!=")
assert_less = _asserting("assert_less", math_ops.less, "<")
assert_less_equal = _asserting("assert_less_equal", math_ops.less_equal, "<=")
assert_greater = _asserting("assert_greater", math_ops.greater, ">")
assert_greater_equal = _asserting("assert_greater_equal", math_ops.greater_equal, ">=")
assert_positive = _asserting("assert_positive", math_ops.greater, ">", "0")
assert_negative = _asserting("assert_negative", math_ops.less, "<", "0")
assert_non_negative = _asserting("assert_non_negative", math_ops.greater_equal, ">=", "0")
assert_non_positive = _asserting("assert_non_positive", math_ops.less_equal, "<=", "0")


def _of_rank(public: str, fits: Callable[[int, Any], bool], text: str) -> Any:
    @taking(f"x rank {_REST}", public, f"Raise ValueError unless x has a rank {text} `rank`.")
    def function(x: Any, rank: Any, message: Any, name: Any, **_: Any) -> Any:
        dims = known_dims(convert_to_tensor(x))
        if dims is None:
            raise NotImplementedError(f"{public}: expected a known rank, got {x!r}")
        if not fits(len(dims), rank):
            raise ValueError(
                f"{message or public}: expected a rank {text} {rank}, got {x!r} of rank {len(dims)}"
            )
        return _nothing(name or public)

    return function


def _nothing(name: str) -> Any:
    """Return the operation of an assertion that was checked before the run."""
    return None if mode.executing_eagerly() else no_op(name)


assert_rank = _of_rank("assert_rank", lambda have, rank: have == rank, "equal to")
assert_rank_at_least = _of_rank("assert_rank_at_least", lambda have, rank: have >= rank,
                                "of at least")  # fmt: skip


def assert_scalar(tensor: Any, name: str | None = None, message: str | None = None) -> Any:
    """Return the tensor; ValueError if it is not a scalar."""
    x = convert_to_tensor(tensor)
    if known_dims(x) not in ((), None):
        raise ValueError(f"{message or 'assert_scalar'}: expected a scalar, got {x!r}")
    return x


def assert_type(tensor: Any, tf_type: Any, message: str | None = None,
                name: str | None = None) -> Any:  # fmt: skip
    """Raise TypeError if a tensor has another dtype."""
    x, wish = convert_to_tensor(tensor), as_dtype(tf_type)
    if x.dtype != wish:
        raise TypeError(f"{message or 'assert_type'}: expected {wish.name}, got {x!r}")
    return _nothing(name or "assert_type")


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> Any:
    """Raise TypeError if the dtype of a tensor is not an integer."""
    x = convert_to_tensor(x)
    if not as_dtype(x.dtype).is_integer:
        raise TypeError(f"{message or 'assert_integer'}: expected integers, got {x!r}")
    return _nothing(name or "assert_integer")


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Any:
    """Return the tensor; InvalidArgumentError with the message if an element is not finite."""
    with scope_of(name or "CheckNumerics", tensor) as scope:
        x = convert_to_tensor(tensor)
        what = "Tensor had NaN or infinite values"
        gate = Assert(math_ops.reduce_all(math_ops.is_finite(x)), [f"{message} : {what}"])
        if gate is None:
            return x
        with get_default_graph().control_dependencies([gate]):
            return identity(x, scope)


def verify_tensor_all_finite(t: Any = None, msg: str | None = None, name: str | None = None,
                             x: Any = None, message: str | None = None) -> Any:  # fmt: skip
    """Alias of `check_numerics`."""
    return check_numerics(t if x is None else x, msg or message or "", name)


def Print(input_: Any, data: Sequence[Any], message: str | None = None,
          first_n: int | None = None, summarize: int | None = None,
          name: str | None = None) -> Any:  # fmt: skip
    """Return the tensor; print the data on stderr in each run, or in the first n runs."""
    count = 0

    class Stream:
        @staticmethod
        def write(text: str) -> None:
            nonlocal count
            if first_n is None or first_n < 0 or count < first_n:
                sys.stderr.write(text)
            count += text.endswith("\n")

    shown = [part for value in data for part in ("[", value, "]")]
    gate = print(message or "", *shown, sep="", output_stream=Stream)
    if gate is None:
        return identity(input_, name)
    after = get_default_graph().control_dependencies([gate])
    with scope_of(name or "Print", input_) as scope, after:
        return identity(convert_to_tensor(input_), scope)


__all__ = [name for name in public_names(globals()) if name != "print"]
