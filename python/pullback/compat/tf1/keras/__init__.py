"""`tf.keras`: only what gradient programs take from it."""

from ..names import absent
from . import backend

__all__ = ["backend"]
__getattr__ = absent(__name__)
