"""`tf.contrib`: the most frequent parts."""

from . import distributions as distributions
from . import eager as eager
from . import framework as framework
from . import layers as layers
from . import rnn as rnn
from . import slim as slim

__all__ = ["distributions", "eager", "framework", "layers", "rnn", "slim"]
