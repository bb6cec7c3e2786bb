"""Exceptions under TensorFlow's names; each is also the exception that a Python user expects."""

from __future__ import annotations

from typing import Any

from .names import public_names


class OpError(Exception):
    """An error in the run of a session. `op` is the operation, or None."""

    def __init__(self, op: Any, message: str) -> None:
        super().__init__(message)
        self.op = op
        self.message = message


class InvalidArgumentError(OpError, ValueError):
    """An operation has an invalid input: a missing feed, incompatible shapes."""


class FailedPreconditionError(OpError, RuntimeError):
    """The session lacks a state that an operation needs: a variable without a value."""


class NotFoundError(OpError, LookupError):
    """A name or a path does not exist."""


class MissingFileError(NotFoundError, FileNotFoundError):
    """A file or folder does not exist."""


class AlreadyExistsError(OpError, FileExistsError):
    """The file or folder to create exists."""


class OutOfRangeError(OpError, IndexError):
    """An iterator has no more elements."""


class OperatorNotAllowedInGraphError(TypeError):
    """A symbolic tensor, which has no value before a run, was used as a Python value."""


class WrongDtypeError(TypeError, ValueError):
    """A tensor has the wrong dtype; TensorFlow raises TypeError or ValueError."""


class RuleResultError(TypeError, AttributeError):
    """A gradient rule returned a value that is not a tensor.

    TensorFlow raises an AttributeError here, because a number has no `.name`; programs that catch
    that still work.
    """


__all__ = public_names(globals())
