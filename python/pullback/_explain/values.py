"""Values and cotangents of the steps between y and x as arrays, and texts about arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np

from .._numpy.dtype_functions import finfo
from .ancestry import Ancestry, Step
from .query import Question
from .unconnected import cotangents_of

Values = dict[int, Any]
Key = TypeVar("Key")


class Numbers:
    """The values of the steps between y and x, and the cotangents that reach them."""

    def __init__(self, question: Question, ancestry: Ancestry) -> None:
        self.question = question
        self.ancestry = ancestry
        self.between = ancestry.descending()
        self.tensors = cotangents_of(question, self.between)
        self.cotangents: Values = self._computed(self.tensors)
        seen = {n for s in self.between for n in (s.number, *s.inputs)}
        known = {n: ancestry.steps[n].tensor for n in seen}
        self._contributions: dict[tuple[int, int], Any] = {}
        self.values: Values = self._computed({n: t for n, t in known.items() if t is not None})

    def value(self, step: Step) -> Any:
        return self.values.get(step.number)

    def cotangent(self, step: Step) -> Any:
        return self.cotangents.get(step.number)

    def contribution(self, step: Step, below: Step) -> Any:
        """Return the contribution of a step to the cotangent of an input, or None."""
        self.compute_contributions([(step, below)])
        return self._contributions[step.number, below.number]

    def compute_contributions(self, pairs: Iterable[tuple[Step, Step]]) -> None:
        """Compute the results of `contribution` for several pairs together."""
        new = {
            (step.number, below.number): self._contribution_tensor(step, below)
            for step, below in pairs
            if (step.number, below.number) not in self._contributions
        }
        self._contributions.update(dict.fromkeys(new) | self._computed(new))

    def _contribution_tensor(self, step: Step, below: Step) -> Any:
        if step.tensor is None or below.tensor is None or step.number not in self.tensors:
            return None
        inputs = [self.ancestry.steps[n].tensor for n in step.inputs if n != below.number]
        others = [t for t in inputs if t is not None and t is not below.tensor]
        [gradient] = self.question.gradients(
            [below.tensor], step.tensor, self.tensors[step.number], others
        )
        return gradient

    def operands(self, step: Step) -> list[Any]:
        """Return the values of all inputs of a step; None for released ones."""
        return [self.values.get(i) for i in step.inputs]

    def _computed(self, tensors: dict[Key, Any]) -> dict[Key, Any]:
        """Return the arrays of the tensors that can be evaluated."""
        known = {n: t for n, t in tensors.items() if t is not None}
        if not known:
            return {}
        try:
            arrays = self.question.arrays_of(list(known.values()))
        except Exception:
            arrays = [self._array_of(t) for t in known.values()]
        return {n: a for n, a in zip(known, arrays, strict=True) if a is not None}

    def _array_of(self, tensor: Any) -> Any:
        try:
            return self.question.arrays_of([tensor])[0]
        except Exception:  # an evaluation that fails, for example an integer division by zero
            return None


def is_tiny(gradient: Any, seed: Any) -> bool:
    """Return whether the sum of the gradient is below the rounding of the cotangent of y.

    The sum is compared, not the largest entry: the entries of the gradient of a mean over many
    elements are small.
    """
    return total_of(gradient) < total_of(seed) * float(finfo(gradient.dtype).eps)


def total_of(array: Any) -> float:
    """Return the sum of the absolute values."""
    return 0.0 if array is None else float(np.sum(np.abs(array), dtype=np.float64))


def is_finite(array: Any) -> bool:
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())


def has_any(array: Any) -> bool:
    return array is not None and bool(np.any(array != 0))


def is_alive(cotangent: Any) -> bool:
    """Return whether a cotangent is not zero; an empty one counts as alive."""
    return cotangent is not None and (cotangent.size == 0 or has_any(cotangent))


def has_some(array: Any) -> bool:
    return array is not None and array.size > 0


def share_of(mask: Any) -> float:
    return float(np.mean(mask)) if np.size(mask) else 0.0


def percent(share: float) -> str:
    return f"{share:.0%}" if share in (0, 1) or 0.01 <= share <= 0.99 else f"{share:.2%}"


def count_of(array: Any) -> str:
    return "" if array is None else str(array.size)


def range_of(array: Any) -> str:
    if array is None:
        return "a value that is gone"
    array = np.asarray(array)
    if array.size == 0:
        return "nothing"
    if array.size == 1:
        return f"{array.item():.4g}"
    return f"{array.min():.4g} to {array.max():.4g}"


def first_of(mask: Any) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(mask)[0])


def at_text(index: tuple[int, ...]) -> str:
    return f", the first at {list(index)}" if index else ""


def given_text(numbers: Numbers, step: Step, index: tuple[int, ...]) -> str:
    """Return the operands of an entry, if the operation is elementwise."""
    value = numbers.value(step)
    shown = []
    for operand in numbers.operands(step):
        if operand is None or operand.size == 0:
            return ""
        try:
            shown.append(f"{np.broadcast_to(operand, value.shape)[index]:.4g}")
        except ValueError:
            return ""
    return f", of {' and '.join(shown)}" if shown else ""
