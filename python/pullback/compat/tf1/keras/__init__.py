"""`tf.keras`: the part that gradient programs use."""

from . import backend as backend
from . import initializers as initializers
from . import regularizers as regularizers

__all__ = ["backend", "initializers", "regularizers"]
