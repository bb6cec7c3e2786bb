"""`tf.keras`: only what gradient programs take from it."""

from . import backend

__all__ = ["backend"]
