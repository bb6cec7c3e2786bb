"""Ordinary gradients of the variables that a function with a user-defined rule reads."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import Variable
from .closed_graph import recorded_from


class VariableReads:
    """The variables that one call of a function reads beyond its arguments.

    Their gradients are those of the operations that the call recorded. When the body of a loop or
    branch is closed, its operations are connected to inputs of the body. So while a body is
    recorded, the call returns a copy of the operations, and each gradient is that of another copy,
    on the inputs that the rule receives.

    `first` is the number of the first operation, or None outside of bodies. `inputs` are the inputs
    of the rule after the arguments. `results` are the results to return, None for those of the
    call.
    """

    def __init__(
        self, variables: list[Variable], results: list[Any], first: int | None, tape: Any
    ) -> None:
        self.variables = variables
        self.inputs: list[Any] = variables
        self.results: list[Any] | None = None
        self._graph: Any = None
        if first is None:
            self._inside, self._tape = results, tape
        else:
            self._graph = _core.ClosedGraph(results, [], first)
            self.inputs = self._graph.others
            self.results = self._graph.copy(self.inputs)

    def gradients(self, cotangents: list[Any], inputs: list[Any]) -> list[Any]:
        """Return the gradients of the inputs; None for an input that does not read a variable."""
        if not self._graph:
            return _core.gradients(self._inside, self.variables, cotangents, tape=self._tape)
        ids = {_variable_of(v) for v in self.variables}
        # New tensors, because one input may have been computed from another.
        xs = [_core.identity(x) for x in inputs]
        reads = [k for k, x in enumerate(self.inputs) if _variable_of(x) in ids]
        with recorded_from(xs):  # the tape that watched the inputs may have ended
            results = self._graph.copy(xs)
        answers: list[Any] = [None] * len(inputs)
        found = _core.gradients(results, [xs[k] for k in reads], cotangents)
        for k, answer in zip(reads, found, strict=True):
            answers[k] = answer
        return answers


def _variable_of(x: Any) -> int:
    """Return the number of a variable, also of a tensor that reads it; 0 for another tensor."""
    number: int = _core.identity_of(x)[1]
    return number
