"""`tf.nn.rnn_cell`: cells of recurrent networks, with TensorFlow's variables and gate order.

A cell is a layer of an input and a state: `output, state = cell(input, state)`. `state_size` is a
number, a shape or a pytree of these; `output_size` is a number or a shape.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple

from ._graph.create import apply
from ._graph.shapes import TensorShape, as_dims
from ._graph.tensor import mapped
from ._layers.base_layer import Layer
from ._layers.rnn import _check_cell
from ._ops.array_ops import zeros
from ._ops.clip_ops import clip_by_value
from ._ops.indexing_ops import concat, split
from ._ops.math_ops import matmul, sigmoid, tanh
from ._ops.random_ops import dropout, ones_initializer, zeros_initializer
from ._variables.variable_scope import variable_scope
from .dtypes import float32
from .names import public_names

_ACTIVATIONS = {"linear": "Identity"} | {
    name.lower(): name
    for name in ("Elu", "Relu", "Relu6", "Selu", "Sigmoid", "Softplus", "Softsign", "Tanh")
}


class RNNCell(Layer):
    """Base class of cells.

    A subclass has `state_size` and `output_size`, and computes the output and the next state in
    `call(inputs, state)`.
    """

    arguments = "trainable=True name=None dtype=None"
    state_size: Any
    output_size: Any

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        return super().__call__(inputs, state, scope=scope)

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Return a state of zeros, of the structure of `state_size`."""
        return mapped(
            lambda n: zeros([batch_size, *(as_dims(n) or ())], dtype), self.state_size
        )  # fmt: skip


class _Units(RNNCell):
    """Base class of cells with `num_units` units and one kernel for input and output."""

    state_size: Any = property(attrgetter("num_units"))
    output_size: Any = property(attrgetter("num_units"))

    def _product(self, name: str, depth: int, units: int, initializer: Any = None,
                 bias: Any = zeros_initializer) -> Callable[..., Any]:  # fmt: skip
        kernel = self.add_weight(f"{name}kernel", [depth, units], initializer=initializer)
        offset = self.add_weight(f"{name}bias", [units], initializer=bias)
        return lambda *xs: matmul(concat(list(xs), 1), kernel) + offset

    def _depth(self, input_shape: Any) -> int:
        depth = TensorShape(input_shape).as_list()[-1]
        dtype = self.dtype or float32
        if depth is None or not dtype.is_floating:
            raise ValueError(
                f"{type(self).__name__}: expected floats whose last dimension is known, got "
                f"{dtype.name} of shape {input_shape}"
            )
        return depth

    def _activated(self, x: Any) -> Any:
        if not isinstance(self.activation, str):
            return (self.activation or tanh)(x)
        if self.activation not in _ACTIVATIONS:
            raise ValueError(
                f"{type(self).__name__}: activation must be one of {', '.join(_ACTIVATIONS)}; got "
                f"{self.activation!r}"
            )
        return apply(_ACTIVATIONS[self.activation], x)


class BasicRNNCell(_Units):
    """Compute output = state = activation([input, state] · kernel + bias)."""

    arguments = "num_units activation=None reuse=None name=None dtype=None"

    def build(self, input_shape: Any) -> None:
        depth = self._depth(input_shape) + self.num_units
        self._next = self._product("", depth, self.num_units)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        out = self._activated(self._next(inputs, state))
        return out, out


class GRUCell(_Units):
    """GRU (Cho et al., Learning phrase representations, 2014).

    The variables of the gates r, u are `gates/kernel` and `gates/bias`, those of the candidate are
    `candidate/kernel` and `candidate/bias`.
    """

    arguments = (
        "num_units activation=None reuse=None kernel_initializer=None bias_initializer=None "
        "name=None dtype=None"
    )

    def build(self, input_shape: Any) -> None:
        n, kernel, bias = self.num_units, self.kernel_initializer, self.bias_initializer
        depth = self._depth(input_shape) + n
        ones, zero = (bias, bias) if bias is not None else (ones_initializer, zeros_initializer)
        self._gates = self._product("gates/", depth, 2 * n, kernel, ones)
        self._candidate = self._product("candidate/", depth, n, kernel, zero)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        r, u = split(sigmoid(self._gates(inputs, state)), 2, 1)
        out = u * state + (1 - u) * self._activated(self._candidate(inputs, r * state))
        return out, out


class LSTMStateTuple(NamedTuple):
    """The state of an LSTM cell: `c`, and `h`, which is the output."""

    c: Any
    h: Any

    @property
    def dtype(self) -> Any:
        """The dtype of `c` and `h`."""
        return self.c.dtype


class LSTMCell(_Units):
    """LSTM (Hochreiter and Schmidhuber, Long short-term memory, 1997).

    The gates i, j, f, o are along the last axis of `kernel`. Peepholes and a projection of the
    output are optional.
    """

    arguments = (
        "num_units use_peepholes=False cell_clip=None initializer=None num_proj=None "
        "proj_clip=None num_unit_shards=None num_proj_shards=None forget_bias=1.0 "
        "state_is_tuple=True activation=None reuse=None name=None dtype=None"
    )
    use_peepholes = False
    cell_clip: Any = None
    initializer: Any = None
    num_proj: Any = None
    proj_clip: Any = None

    @property
    def state_size(self) -> Any:
        sizes = self.num_units, self.output_size
        return LSTMStateTuple(*sizes) if self.state_is_tuple else sum(sizes)

    output_size: Any = property(lambda self: self.num_proj or self.num_units)

    def build(self, input_shape: Any) -> None:
        n, initial = self.num_units, self.initializer
        depth = self._depth(input_shape) + self.output_size
        self._gates = self._product("", depth, 4 * n, initial)
        if self.use_peepholes:
            self._f, self._i, self._o = (
                self.add_weight(f"w_{gate}_diag", [n], initializer=initial) for gate in "fio"
            )
        if self.num_proj:
            shape = [n, self.num_proj]
            self._projection = self.add_weight("projection/kernel", shape, initializer=initial)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        sizes = [self.num_units, self.output_size]
        c, h = state if self.state_is_tuple else split(state, sizes, 1)
        i, j, f, o = split(self._gates(inputs, h), 4, 1)
        if self.use_peepholes:
            i, f = i + self._i * c, f + self._f * c
        c = sigmoid(f + self.forget_bias) * c + sigmoid(i) * self._activated(j)
        if self.cell_clip is not None:
            c = clip_by_value(c, -self.cell_clip, self.cell_clip)
        h = sigmoid(o + self._o * c if self.use_peepholes else o) * self._activated(c)
        if self.num_proj:
            h = matmul(h, self._projection)
            if self.proj_clip is not None:
                h = clip_by_value(h, -self.proj_clip, self.proj_clip)
        return h, LSTMStateTuple(c, h) if self.state_is_tuple else concat([c, h], 1)


class BasicLSTMCell(LSTMCell):
    """`LSTMCell` without peepholes, clipping and projection."""

    arguments = (
        "num_units forget_bias=1.0 state_is_tuple=True activation=None reuse=None name=None "
        "dtype=None"
    )


class MultiRNNCell(RNNCell):
    """Cells in sequence: the output of each is the input of the next."""

    def __init__(self, cells: Any, state_is_tuple: bool = True) -> None:
        super().__init__()
        if not isinstance(cells, (list, tuple)):
            raise TypeError(f"MultiRNNCell: expected a list or tuple for cells, got {cells!r}")
        if not cells:
            raise ValueError("MultiRNNCell: expected one cell or more for cells, got none")
        if not state_is_tuple and any(isinstance(c.state_size, tuple) for c in cells):
            raise ValueError(
                "MultiRNNCell: expected cells whose states are tensors for state_is_tuple=False, "
                f"got state sizes {[c.state_size for c in cells]}; leave state_is_tuple=True"
            )
        self._cells, self._is_tuple = list(cells), state_is_tuple

    @property
    def state_size(self) -> Any:
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._is_tuple else sum(sizes)

    output_size: Any = property(lambda self: self._cells[-1].output_size)

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        if not self._is_tuple:
            return super().zero_state(batch_size, dtype)
        return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)

    def _owned(self) -> list[Any]:
        owned = [v for cell in self._cells for v in getattr(cell, "variables", ())]
        return list(dict.fromkeys(owned))

    def call(self, inputs: Any, state: Any) -> Any:
        states = state
        if not self._is_tuple:
            states = split(state, [cell.state_size for cell in self._cells], 1)
        after = []
        for i, (cell, before) in enumerate(zip(self._cells, states, strict=True)):
            with variable_scope(f"cell_{i}"):
                inputs, new = cell(inputs, before)
            after.append(new)
        return inputs, tuple(after) if self._is_tuple else concat(after, 1)


class _Wrapper(RNNCell):
    """A wrapper of a cell, without variables and without a scope."""

    def __init__(self, cell: Any, *args: Any, **keywords: Any) -> None:
        super().__init__(cell, *args, **keywords)
        _check_cell(cell, type(self).__name__)
        self._wrapped = cell

    state_size: Any = property(attrgetter("_wrapped.state_size"))
    output_size: Any = property(attrgetter("_wrapped.output_size"))
    zero_state: Any = property(attrgetter("_wrapped.zero_state"))

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        return self._wrapped(inputs, state, scope=scope)


class DropoutWrapper(_Wrapper):
    """Apply dropout to input, state and output of a cell, with new draws in each step.

    The arguments are the shares that are kept. Of the state of an LSTM only h is dropped.
    """

    arguments = (
        "cell input_keep_prob=1.0 output_keep_prob=1.0 state_keep_prob=1.0 "
        "variational_recurrent=False input_size=None dtype=None seed=None "
        "dropout_state_filter_visitor=None"
    )

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        for key in ("input_keep_prob", "output_keep_prob", "state_keep_prob"):
            keep = getattr(self, key)
            if isinstance(keep, (int, float)) and not 0 <= keep <= 1:
                raise ValueError(f"DropoutWrapper: expected 0 to 1 for {key}, got {keep}")
        if self.variational_recurrent or self.dropout_state_filter_visitor:
            raise NotImplementedError(
                "DropoutWrapper: expected no variational_recurrent and no "
                "dropout_state_filter_visitor, which are not part of pullback; leave them out"
            )

    def _dropped(self, x: Any, keep: Any) -> Any:
        """Apply dropout to a tensor or a state."""
        if isinstance(x, LSTMStateTuple):
            return LSTMStateTuple(x.c, self._dropped(x.h, keep))
        if isinstance(x, (tuple, list)):
            parts = [self._dropped(part, keep) for part in x]
            return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
        return (
            x if isinstance(keep, (int, float)) and keep == 1 else dropout(x, keep, seed=self.seed)
        )

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        inputs = self._dropped(inputs, self.input_keep_prob)
        output, after = self._wrapped(inputs, state, scope=scope)
        output = self._dropped(output, self.output_keep_prob)
        return output, self._dropped(after, self.state_keep_prob)


class ResidualWrapper(_Wrapper):
    """Add the input of a cell to its output, or compute `residual_fn(input, output)`."""

    arguments = "cell residual_fn=None"

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        output, after = self._wrapped(inputs, state, scope=scope)
        if self.residual_fn is not None:
            return self.residual_fn(inputs, output), after
        return inputs + output, after


class DeviceWrapper(_Wrapper):
    """Return the cell's results; a device is accepted."""

    arguments = "cell device"


__all__ = public_names(globals())
