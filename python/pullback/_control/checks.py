"""`evaluated_check`: an error that depends on values, raised by the evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _core
from .._core import Tensor
from .branches import cond


def evaluated_check(good: Tensor, fail: Callable[..., Any], inputs: Sequence[Tensor]) -> Tensor:
    """Return True as a tensor; its evaluation calls `fail`, which raises an error, unless `good`.

    `fail` receives the arrays of `good` and of the inputs, in `vmap` those of a batch. A callback
    without a condition would cost ten microseconds in each evaluation.
    """

    def raised(good: Any, *arrays: Any) -> Any:
        if not good.all():
            fail(good, *arrays)
        return good

    given = [_core.stop_gradient(x) for x in (good, *inputs)]
    checked: Tensor = cond(
        given[0],
        lambda *xs: _core.identity(xs[0]),
        lambda *xs: _core.callback(raised, xs, "bool", (), True),
        *given,
    )
    return checked
