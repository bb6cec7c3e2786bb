"""Recurrent networks in one or both directions: `dynamic_rnn`, one loop of the graph, and
`static_rnn`, which is unrolled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...._base.pytree import flatten_with_none as flatten
from .._control.scan import _along
from .._graph.create import cast, convert_to_tensor
from .._graph.shapes import TensorShape
from .._graph.tensor import mapped
from .._ops.array_ops import range as times
from .._ops.array_ops import shape as shape_of
from .._ops.array_ops import transpose, zeros_like
from .._ops.indexing_ops import concat, where
from .._ops.math_ops import less
from .._variables.variable_scope import variable_scope
from ..dtypes import int32
from ..names import public_names


def _check_cell(cell: Any, who: str) -> None:
    if not (callable(cell) and hasattr(cell, "output_size") and hasattr(cell, "zero_state")):
        raise TypeError(f"{who}: expected an RNNCell for cell, got {cell!r:.80}")


def _prepared(
    who: str, cell: Any, lengths: Any, state: Any, x: Any, dtype: Any, batch: int
) -> tuple[Any, Callable[..., Any]]:
    """Return the first state and the step (state, input, time) -> (state, output).

    `batch` is the batch axis of x. Entries that have ended keep their state and return zeros.
    """
    _check_cell(cell, who)
    if state is None:
        if dtype is None:
            raise ValueError(f"{who}: expected initial_state or dtype, got neither; give one")
        known = TensorShape(x.shape).as_list()[batch]
        state = cell.zero_state(shape_of(x)[batch] if known is None else known, dtype)
    ends = None if lengths is None else cast(convert_to_tensor(lengths), int32)
    if ends is not None and TensorShape(ends.shape).ndims not in (None, 1):
        raise ValueError(f"{who}: expected a vector for sequence_length, got shape {ends.shape}")

    def step(before: Any, x: Any, time: Any) -> Any:
        output, after = cell(x, before)
        if ends is None:
            return after, output
        alive = less(time, ends)

        def chosen(new: Any, old: Any) -> Any:
            return where(alive, new, old) if TensorShape(new.shape).ndims else new

        return mapped(chosen, after, before), mapped(lambda y: chosen(y, zeros_like(y)), output)

    return state, step


def _swapped(x: Any) -> Any:
    """Exchange the first two axes of a tensor."""
    x = convert_to_tensor(x)
    axes = TensorShape(x.shape).ndims
    if axes is None or axes < 2:
        raise ValueError(f"dynamic_rnn: expected inputs of rank 2 or more, got {x!r}")
    return transpose(x, [1, 0, *list(range(axes))[2:]])


def _looped(
    who: str, cell: Any, inputs: Any, lengths: Any, state: Any, dtype: Any, time_major: bool,
    scope: Any, reverse: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    with variable_scope(scope):
        along = mapped(convert_to_tensor if time_major else _swapped, inputs)
        first = flatten(along)[0][0]
        start, step = _prepared(who, cell, lengths, state, first, dtype, 1)
        last, outputs = _along(
            who, lambda present, entry: step(present, *entry), (along, times(shape_of(first)[0])),
            start, True, reverse, "while", False,
        )  # fmt: skip
        return outputs if time_major else mapped(_swapped, outputs), last


def _unrolled(
    who: str, cell: Any, inputs: Any, lengths: Any, state: Any, dtype: Any, scope: Any,
    reverse: bool = False,
) -> tuple[list[Any], Any]:  # fmt: skip
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"{who}: expected a list for inputs, got {inputs!r:.80}; use tf.unstack")
    if not inputs:
        raise ValueError(f"{who}: expected one step or more for inputs, got none")
    with variable_scope(scope) as opened:
        given = [mapped(convert_to_tensor, x) for x in inputs]
        state, step = _prepared(who, cell, lengths, state, flatten(given[0])[0][0], dtype, 0)
        outputs, places = [None] * len(given), range(len(given))
        for count, time in enumerate(reversed(places) if reverse else places):
            if count == 1:
                opened.reuse_variables()
            state, outputs[time] = step(state, given[time], time)
        return outputs, state


def _both(scope: Any, cells: Any, states: Any, run: Callable[..., Any]) -> Any:
    """Run one cell from the first step on and one from the last step back."""
    with variable_scope(scope or "bidirectional_rnn"):
        return [run(cells[0], states[0], "fw", False), run(cells[1], states[1], "bw", True)]


def dynamic_rnn(
    cell: Any, inputs: Any, sequence_length: Any = None, initial_state: Any = None,
    dtype: Any = None, parallel_iterations: int | None = None, swap_memory: bool = False,
    time_major: bool = False, scope: Any = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Run a cell along time; return the outputs of all steps and the last state.

    Parameters
    ----------
    cell : RNNCell
        The cell, which is called once in a graph: the loop is one operation.
    inputs : tensor or pytree of tensors
        Shape (batch, time, ...), with `time_major` (time, batch, ...), as the outputs.
    sequence_length : tensor, optional
        Number of steps of each entry of the batch. Later outputs are 0 and the state stays.
    initial_state : pytree of tensors, optional
        Structure of `cell.state_size`. Default: zeros of `dtype`.

    Examples
    --------
    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default():
    ...     cell = tf.nn.rnn_cell.BasicLSTMCell(8)
    ...     outputs, state = tf.nn.dynamic_rnn(cell, tf.ones([4, 5, 3]), dtype=tf.float32)
    ...     outputs.shape.as_list(), state.h.shape.as_list(), cell.variables[0].name
    ([4, 5, 8], [4, 8], 'rnn/basic_lstm_cell/kernel:0')
    """
    return _looped("dynamic_rnn", cell, inputs, sequence_length, initial_state, dtype, time_major,
                   scope or "rnn")  # fmt: skip


def static_rnn(
    cell: Any, inputs: Any, initial_state: Any = None, dtype: Any = None,
    sequence_length: Any = None, scope: Any = None,
) -> tuple[list[Any], Any]:  # fmt: skip
    """Run a cell along a list with the input of each step, of shape (batch, ...).

    As `dynamic_rnn`, but the outputs are a list and the graph has the operations of each step.
    """
    return _unrolled("static_rnn", cell, inputs, sequence_length, initial_state, dtype,
                     scope or "rnn")  # fmt: skip


def bidirectional_dynamic_rnn(
    cell_fw: Any, cell_bw: Any, inputs: Any, sequence_length: Any = None,
    initial_state_fw: Any = None, initial_state_bw: Any = None, dtype: Any = None,
    parallel_iterations: int | None = None, swap_memory: bool = False, time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Run `dynamic_rnn` of one cell forwards and of another one from the end of each entry.

    Returns two outputs and two states.
    """
    (ahead, state_fw), (back, state_bw) = _both(
        scope, (cell_fw, cell_bw), (initial_state_fw, initial_state_bw),
        lambda cell, state, name, reverse: _looped(
            "bidirectional_dynamic_rnn", cell, inputs, sequence_length, state, dtype, time_major,
            name, reverse,
        ),
    )  # fmt: skip
    return (ahead, back), (state_fw, state_bw)


def static_bidirectional_rnn(
    cell_fw: Any, cell_bw: Any, inputs: Any, initial_state_fw: Any = None,
    initial_state_bw: Any = None, dtype: Any = None, sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any, Any]:  # fmt: skip
    """Run `static_rnn` of one cell forwards and of another one backwards.

    Returns a list of the concatenated outputs of each step, and two states.
    """
    (ahead, state_fw), (back, state_bw) = _both(
        scope, (cell_fw, cell_bw), (initial_state_fw, initial_state_bw),
        lambda cell, state, name, reverse: _unrolled(
            "static_bidirectional_rnn", cell, inputs, sequence_length, state, dtype, name, reverse
        ),
    )  # fmt: skip
    joined = [mapped(lambda *ys: concat(list(ys), 1), *ys) for ys in zip(ahead, back, strict=True)]
    return joined, state_fw, state_bw


__all__ = public_names(globals())
