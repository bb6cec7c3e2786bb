"""`tf.contrib`: the most frequent parts."""

from ..names import absent
from . import eager as eager
from . import layers as layers
from . import rnn as rnn

__all__ = ["eager", "layers", "rnn"]
__getattr__ = absent(__name__)
