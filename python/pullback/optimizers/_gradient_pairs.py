"""Pairs of gradient and variable: computed from a loss, checked before a step, or all None."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._base import last_query
from .._base.pytree import flatten
from .._core import Tensor, Variable


def gradients_of_loss(
    loss: Callable[[], Any], var_list: Any, optimizer: Any, who: str
) -> tuple[list[tuple[Tensor | None, Variable]], Tensor]:
    """Return pairs of gradient and variable, and the value of the loss.

    `explain(optimizer)` explains these gradients, if debugging is on.
    """
    if not callable(loss):
        raise TypeError(
            f"{who}: expected a function without arguments for loss, got {_core.shown(loss)}; "
            "for a tensor use gradients() and apply_gradients()"
        )
    tape = _core.Tape(True)
    tape.start()
    try:
        value = loss()
        if isinstance(value, Variable):
            value = value.read()  # recorded by the tape
    finally:
        tape.stop()
    if not isinstance(value, Tensor):
        raise TypeError(f"{who}: expected a Tensor from loss(), got {_core.shown(value)}")
    if value.dtype.kind != "f":
        raise ValueError(f"{who}: expected a floating loss, got {value.dtype}; cast it")
    variables = tape.watched_variables() if var_list is None else flatten(var_list)[0]
    if not variables:
        raise ValueError(
            f"{who}: expected at least one variable for var_list, or a loss that reads a "
            "trainable variable, got none"
        )
    for i, v in enumerate(variables):
        if not isinstance(v, Variable):
            raise TypeError(f"{who}: expected a Variable for var_list[{i}], got {_core.shown(v)}")
    if last_query.noted:  # before the gradients, which may raise an error
        last_query.note((optimizer,), [value], variables)
    found = _core.gradients([value], variables)
    if last_query.noted:
        last_query.note((optimizer,), [value], variables, answers=found)
    return list(zip(found, variables, strict=True)), value


def checked_pair(pair: Any, i: int, who: str) -> tuple[Tensor | None, Variable]:
    """Return a pair with the gradient as a tensor of the dtype and shape of its variable."""
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise TypeError(f"{who}: expected pairs (gradient, variable), got {_core.shown(pair)}")
    g, v = pair
    if not isinstance(v, Variable):
        raise TypeError(f"{who}: expected a Variable in pair {i}, got {_core.shown(v)}")
    if g is None:
        return None, v
    if v.dtype.kind != "f":
        raise TypeError(f"{who}: expected floating variables, got '{v.name}' of dtype {v.dtype}")
    if not isinstance(g, (Tensor, Variable)):
        g = _core.constant(g, v.dtype, f"{who}: the gradient of '{v.name}'")
    if g.dtype != v.dtype:
        raise TypeError(
            f"{who}: expected {v.dtype} for the gradient of '{v.name}', got {g.dtype}; cast it"
        )
    if g.shape != v.shape:
        raise ValueError(
            f"{who}: expected shape {v.shape} for the gradient of '{v.name}', got {g.shape}"
        )
    return (g.read() if isinstance(g, Variable) else g), v


def check_fits(value: Any, variable: Variable, who: str) -> None:
    """Check a new value before any assignment, so that no step fails half done."""
    if not isinstance(value, (Tensor, Variable)):
        value = _core.constant(value, variable.dtype, who)
    if (value.dtype, value.shape) != (variable.dtype, variable.shape):
        raise TypeError(
            f"{who}: expected {variable.dtype} of shape {variable.shape} from the update rule for "
            f"'{variable.name}', got {value.dtype} of shape {value.shape}"
        )


def reason_of_none(v: Variable) -> str:
    """Return why a gradient is None, without the loss that it is the gradient of."""
    if v.dtype.kind != "f":
        return f"it is {v.dtype}, and only floats have gradients"
    return (
        "its gradient is None: no differentiable path leads from it to the loss, or the operations "
        "between them were made while the tape did not record; explain(loss, variable) reports "
        "the reason"
    )


def no_gradients_message(who: str, reasons: list[tuple[Variable, str]]) -> str:
    """Return the message for the case that all gradients are None."""
    lines = [f"{who}: No gradients provided for any variable:"]
    lines += [f"  '{v.name}' of shape {v.shape}: {why}" for v, why in reasons]
    return "\n".join(lines)
