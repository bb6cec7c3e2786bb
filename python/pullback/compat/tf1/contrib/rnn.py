# ruff: noqa: F403 (the names of a whole namespace)
"""`tf.contrib.rnn`: the cells of `tf.nn.rnn_cell`, and networks that are unrolled."""

from __future__ import annotations

from typing import Any

from .. import rnn_cell
from ..layers import Dense
from ..names import absent, public_names
from ..rnn import static_bidirectional_rnn as static_bidirectional_rnn
from ..rnn import static_rnn as static_rnn
from ..rnn_cell import *


class OutputProjectionWrapper(rnn_cell.RNNCell):
    """A cell whose output goes through a linear layer of `output_size` units."""

    def __init__(
        self, cell: Any, output_size: int, activation: Any = None, reuse: Any = None
    ) -> None:
        super().__init__(_reuse=reuse)
        self._cell, self.output_size = cell, output_size
        self._project, self.state_size = (activation or (lambda y: y)), cell.state_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        return self._cell.zero_state(batch_size, dtype)

    def build(self, input_shape: Any) -> None:
        self._linear = Dense(self.output_size, _scope=self._scope, _reuse=self._reuse)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        output, state = self._cell(inputs, state)
        return self._project(self._linear(output)), state


__all__ = public_names(
    globals(), "static_bidirectional_rnn", "static_rnn", *rnn_cell.__all__
)  # fmt: skip
__getattr__ = absent(__name__)
