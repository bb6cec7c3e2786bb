"""The policy that decides when the rule of a custom_gradient is compared with finite differences.

See `set_gradient_verification`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from .. import _core
from .._base.settings import verification
from .._core import Tensor, Variable
from .rules import place

if TYPE_CHECKING:
    from inspect import Signature

# True while a rule is verified: rules that it calls are not verified.
_verifying = ContextVar("verifying", default=False)


class Verification:
    """The kinds of arguments that one decorated function was verified for."""

    def __init__(self, f: Callable[..., Any], parameters: Signature | None, mode: str | None):
        self._f = f
        self._parameters = parameters
        self._mode = mode
        self._seen: set[Any] = set()

    def at_call(
        self,
        call: Callable[..., Any],
        arguments: Mapping[str, Any],
        leaves: list[Any],
        rule: Callable[..., Any],
    ) -> None:
        mode = self._mode or verification()
        if mode == "never" or self._parameters is None or _verifying.get():
            return
        kind = tuple(_kind_of(x) for x in leaves)
        # Tensors without values, as in the body of a loop, are verified at a later call.
        hollow = any(isinstance(x, Tensor) and _core.is_traced(x) for x in leaves)
        if hollow or _core.Trace.active() or (mode == "first_call" and kind in self._seen):
            return
        from inspect import BoundArguments

        from .gradient_check import verify_rule

        # Each call draws the same random numbers; the program continues as without verification.
        random = _core.exchange_random_state(0, 0)

        def again(*values: Any) -> Any:
            _core.exchange_random_state(*random)
            given = dict(zip(arguments, values, strict=True))
            bound = BoundArguments(self._parameters, given)  # type: ignore[arg-type]
            return call(*bound.args, **bound.kwargs)

        token = _verifying.set(True)
        try:
            verify_rule(again, arguments, f"custom_gradient: {place(self._f)}", rule)
        finally:
            _core.exchange_random_state(*random)
            _verifying.reset(token)
        self._seen.add(kind)


def _kind_of(x: Any) -> Any:
    """Return the dtype and shape of a tensor, or the type of another argument."""
    return (str(x.dtype), x.shape) if isinstance(x, (Tensor, Variable)) else type(x).__name__
