# ruff: noqa: F403 (the names of a whole namespace)
"""`tf.contrib.slim`: the layers of `tf.contrib.layers` and the scopes of `tf.contrib.framework`."""

from . import framework, layers
from .framework import *
from .layers import *

__all__ = [*layers.__all__, *framework.__all__]
