# ruff: noqa: F403 (the names of a whole namespace)
"""`tf.contrib.rnn`: the cells of `tf.nn.rnn_cell`, and unrolled networks."""

from .. import rnn_cell
from .._layers.rnn import static_bidirectional_rnn as static_bidirectional_rnn
from .._layers.rnn import static_rnn as static_rnn
from ..rnn_cell import *

__all__ = ["static_bidirectional_rnn", "static_rnn", *rnn_cell.__all__]
