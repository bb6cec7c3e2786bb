# ruff: noqa: F403 (the names of a whole namespace)
"""`tf.contrib.distributions`: the classes of `tf.distributions`."""

from .. import distributions
from ..distributions import *

__all__ = distributions.__all__
