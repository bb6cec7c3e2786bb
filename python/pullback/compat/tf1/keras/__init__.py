"""`tf.keras`: the part that gradient programs use."""

from ..names import absent
from . import backend

__all__ = ["backend"]
__getattr__ = absent(__name__)
