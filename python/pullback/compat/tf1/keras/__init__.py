"""`tf.keras`: the part that gradient programs use."""

from . import backend

__all__ = ["backend"]
