"""Exceptions under TensorFlow's names, each also an exception that a Python user would expect."""

from __future__ import annotations

from typing import Any

from .names import absent, public_names


class OpError(Exception):
    """Something went wrong while a session ran. `op` is the operation, or None."""

    def __init__(self, op: Any, message: str) -> None:
        super().__init__(message)
        self.op = op
        self.message = message


class InvalidArgumentError(OpError, ValueError):
    """A value that an operation cannot work on: a missing feed, shapes that do not fit."""


class FailedPreconditionError(OpError, RuntimeError):
    """The session is not in the state that an operation needs: a variable without a value."""


class NotFoundError(OpError, LookupError):
    """What a name or a path stands for does not exist."""


class MissingFileError(NotFoundError, FileNotFoundError):
    """A file or folder does not exist."""


class AlreadyExistsError(OpError, FileExistsError):
    """What is to be made exists."""


class OutOfRangeError(OpError, IndexError):
    """There is nothing left to read."""


class OperatorNotAllowedInGraphError(TypeError):
    """A symbolic tensor was used as a Python value: it has none before a session runs."""


class WrongDtypeError(TypeError, ValueError):
    """A tensor of one dtype where another is wanted; TensorFlow raises now this, now that."""


class RuleResultError(TypeError, AttributeError):
    """A gradient rule returned something that is not a tensor.

    TensorFlow raises an AttributeError here, because a number has no `.name`; programs that catch
    that still work.
    """


__all__ = public_names(globals())
__getattr__ = absent(__name__)
