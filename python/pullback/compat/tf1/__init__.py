# ruff: noqa: F403 (the names of a whole namespace)
"""TensorFlow 1's names on pullback's engine.

A program written for TensorFlow 1 runs with only its import line changed:

>>> import pullback.compat.tf1 as tf
>>> with tf.Graph().as_default():
...     x = tf.Variable(3.0)
...     slope = tf.gradients(x * x, x)
...     with tf.Session() as session:
...         session.run(tf.global_variables_initializer())
...         session.run(slope)
[np.float32(6.0)]

A module without an underscore is a namespace of TensorFlow, such as `nn` and `train`. Others are
in folders, each of which imports only those above it:

`_graph`      graphs, operations, tensors, shapes and dtypes; `opdef` is the table of operation
              types, `create` creates operations from its rows, `inference` infers shapes and small
              values before a run, and `mode` switches to eager execution
`_ops`        operations and the functions that create them
`_run`        sessions: a traced program of `instantiate`, or `host_run` if a Python function reads
              values
`_variables`  variables and variable scopes
`_gradients`  `backprop` differentiates; custom rules, tapes, Jacobians
`_control`    loops and branches, whose functions are recorded as a `body`; Python functions
`_layers`     the base class of layers, recurrent networks
`_training`   optimizers, learning rates, moving averages; `saver`, and `stored_graph` for graphs
`_explain`    graphs as the histories that `pb.explain` reads
"""

from __future__ import annotations

from . import app as app
from . import contrib as contrib
from . import data as data
from . import debugging as debugging
from . import distributions as distributions
from . import errors as errors
from . import flags as flags
from . import gfile as gfile
from . import image as image
from . import initializers as initializers
from . import keras as keras
from . import layers as layers
from . import linalg as linalg
from . import logging as logging
from . import losses as losses
from . import math as math
from . import metrics as metrics
from . import nn as nn
from . import random as random
from . import raw_ops as raw_ops
from . import saved_model as saved_model
from . import summary as summary
from . import train as train
from ._control.recompute import *
from ._control.scan import *
from ._control.script_ops import *
from ._control.tensor_array import *
from ._control.while_loop import *
from ._explain.questions import *
from ._gradients.backprop import *
from ._gradients.custom_gradients import *
from ._gradients.tape import *
from ._graph.create import cast as cast
from ._graph.create import convert_to_tensor as convert_to_tensor
from ._graph.create import is_tensor as is_tensor
from ._graph.create import placeholder as placeholder
from ._graph.create import placeholder_with_default as placeholder_with_default
from ._graph.graph import *
from ._graph.mode import *
from ._graph.mode import __version__ as __version__
from ._graph.operation import *
from ._graph.operation import get_default_session as get_default_session
from ._graph.registry import *
from ._graph.shapes import *
from ._graph.tensor import *
from ._ops.array_ops import *
from ._ops.check_ops import *
from ._ops.check_ops import print as print
from ._ops.clip_ops import *
from ._ops.complex_ops import *
from ._ops.convolutions import depth_to_space as depth_to_space
from ._ops.convolutions import space_to_depth as space_to_depth
from ._ops.grouping import *
from ._ops.indexed_slices import *
from ._ops.indexing_ops import *
from ._ops.linear_ops import *
from ._ops.math_ops import *
from ._ops.matrix_ops import *
from ._ops.order_ops import *
from ._ops.random_ops import *
from ._ops.scatter_ops import *
from ._ops.slicing_ops import *
from ._ops.special_ops import *
from ._run.session import *
from ._training.moving_averages import assign_moving_average as assign_moving_average
from ._variables.variable_scope import *
from ._variables.variables import *
from .dtypes import *
from .errors import OpError as OpError
from .names import absent as _absent
from .names import explain_absent as _explain_absent
from .report import report as report
from .summary import Summary as Summary

_explain_absent(
    app, contrib, contrib.distributions, contrib.eager, contrib.framework, contrib.layers,
    contrib.rnn, contrib.slim, data, debugging, distributions, errors, flags, gfile, image,
    keras, keras.backend, layers, linalg, logging, losses, metrics, nn.rnn_cell, random,
    raw_ops, saved_model, summary, train,
)  # fmt: skip
__getattr__ = _absent(__name__)
