"""Accumulated: steps by the mean of several gradients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import _core
from .._base.checks import integer
from .._core import Variable
from ._optimizer import New, Optimizer, Pair, kept
from ._slots import check_mapping


class Accumulated(Optimizer):
    """Update variables by the mean of several gradients.

    Every `every`-th call is a step of another optimizer by the mean of the gradients since its last
    step: as with a batch of `every` times the size, in the memory of one batch.

    Inside a `pb.function` one plan serves the calls with and without a step, so each call computes
    the update. A variable whose gradient is None in a call does not take part in that call; if it
    is the last one, the accumulated gradients of the variable remain for the next step. The sum is
    divided by `every` in all cases.

    Parameters
    ----------
    optimizer : Optimizer
        Optimizer that performs the steps. Learning rate, slots and number of steps are those of
        this optimizer.
    every : int
        Number of gradients for a step, at least 1.

    Raises
    ------
    TypeError
        If `optimizer` is not an Optimizer or is an Accumulated, or `every` is not an integer.
    ValueError
        If `every` is below 1.

    Examples
    --------
    >>> v = pb.Variable(0.0)
    >>> optimizer = pb.optimizers.Accumulated(pb.optimizers.GradientDescent(0.5), every=2)
    >>> for g in (1.0, 3.0, 100.0):
    ...     optimizer.apply_gradients([(g, v)])
    ...     print(float(v))
    0.0
    -1.0
    -1.0
    """

    _state = kept(accumulated=0.0)

    def __init__(self, optimizer: Optimizer, every: int) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(
                f"Accumulated: expected an Optimizer for optimizer, got {_core.shown(optimizer)}"
            )
        if isinstance(optimizer, Accumulated):
            raise TypeError(
                "Accumulated: expected an optimizer that is not an Accumulated for optimizer, got "
                f"{_core.shown(optimizer)}; use one with the product of both `every`"
            )
        self.every = integer(every, "Accumulated", "every")
        if self.every < 1:
            raise ValueError(f"Accumulated: expected an integer >= 1 for every, got {every}")
        self.optimizer = optimizer
        super().__init__(optimizer.learning_rate)

    @property
    def learning_rate(self) -> Any:
        return self.optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        self.optimizer.learning_rate = value

    @property
    def steps(self) -> int:
        return self.optimizer.steps

    def variables(self) -> list[Variable]:
        return super().variables() + self.optimizer.variables()

    def state_dict(self) -> dict[str, Any]:
        return super().state_dict() | self.optimizer.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        check_mapping(state, f"{self._name}.load_state_dict")
        own = {k: x for k, x in state.items() if k == "calls" or k.endswith("/accumulated")}
        self.optimizer.load_state_dict({k: x for k, x in state.items() if k not in own})
        self._slots.load(own, self._slot_sets(), {"calls": True})

    def _current_rate(self) -> Any:
        return self.optimizer._current_rate()

    def _step(self, pairs: list[Pair], rate: Any, new: New) -> None:
        calls = self._slots.get(None, "calls")
        new[calls] = calls + 1
        last = new[calls] % self.every == 0
        sums = {}
        for g, v in pairs:
            total = self._slot(v, "accumulated")
            sums[v] = total
            new[total] = new.get(total, total) + g
        stepped: New = {}
        with self.optimizer._slots.whole():
            means = [(new[x] / self.every, v) for v, x in sums.items()]
            self.optimizer._step(means, rate, stepped)
            new.update({x: _core.where(last, value, x) for x, value in stepped.items()})
        new.update({x: _core.where(last, 0, new[x]) for x in sums.values()})
