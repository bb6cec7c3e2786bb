# ruff: noqa: F403 (the names of a whole namespace)
"""TensorFlow 1's names on pullback's engine.

A program written for TensorFlow 1 runs with its import line changed alone:

>>> import pullback.compat.tf1 as tf
>>> with tf.Graph().as_default():
...     x = tf.Variable(3.0)
...     slope = tf.gradients(x * x, x)
...     with tf.Session() as session:
...         session.run(tf.global_variables_initializer())
...         session.run(slope)
[np.float32(6.0)]

Where to find what: `opdef` says what a row of the operation table is; `create` makes operations of
rows and `inference` finds out what is known of them before a run; `graph` holds them, `backprop`
differentiates, `session` runs: a traced program of `instantiate`, with `host_run` where a Python
function wants values. Rows and functions: `math_ops`, `complex_ops`, `scalar_ops`, `linear_ops`,
`matrix_ops`, `array_ops`, `blocks`, `further_arrays`, `choice_ops`, `order_ops`, `scatter_ops`,
`operators`, `random_ops`, `nn` with `windows` and `cross_entropies`, `losses`, `metrics`,
`distributions`, `clip`, `check_ops`, `script_ops`; `control_flow`, `choices`, `along` and
`tensor_array`, whose loops `bodies`, `counted` and `loop_rows` run; `variables`, `variable_scope`
and `layers` of `base_layer`; `rnn`, `rnn_cell` and `contrib`; `train`,
`decay` and `moving_averages`; `saver` and `saved_model`, which write graphs by `stored_graph`;
`coordinator`; `data` with `datasets` and `iterators`; `custom`, `recompute`, `registry`, `slices`,
`jacobians` and `tape` about gradients; `mode` about eager execution, `traced` about `tf.function`.
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
from .along import *
from .array_ops import *
from .backprop import *
from .blocks import *
from .check_ops import *
from .choice_ops import *
from .choices import *
from .clip import *
from .complex_ops import *
from .control_flow import *
from .create import cast as cast
from .create import convert_to_tensor as convert_to_tensor
from .create import is_tensor as is_tensor
from .custom import *
from .defaults import get_default_session as get_default_session
from .dtypes import *
from .errors import OpError as OpError
from .further_arrays import *
from .graph import *
from .graph_questions import *
from .grouping import *
from .jacobians import *
from .linear_ops import *
from .math_ops import *
from .matrix_ops import *
from .mode import *
from .moving_averages import assign_moving_average as assign_moving_average
from .names import absent as _absent
from .operation import *
from .operators import *
from .order_ops import *
from .placeholders import *
from .printing import *
from .random_ops import *
from .recompute import *
from .registry import *
from .report import report as report
from .scalar_ops import *
from .scatter_ops import *
from .script_ops import *
from .session import *
from .shapes import *
from .slices import *
from .summary import Summary as Summary
from .switches import *
from .switches import __version__ as __version__
from .tape import *
from .tensor import *
from .tensor_array import *
from .traced import *
from .variable_scope import *
from .variable_scope import variable_scope as variable_scope  # the function, not the module
from .variables import *

__getattr__ = _absent(__name__)
