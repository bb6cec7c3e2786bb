"""`supports`: a look-up in support.json, which tools/support_matrix writes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from .. import _core

__all__ = ["supports"]


def supports(op: str | Callable[..., Any], what: Any) -> bool:
    """Whether a function of pullback supports something: "gradient", "second" (the gradient of the
    gradient), "fused" (it shares a step with its elementwise neighbours), or a dtype or its name.

    `op` is the function or its name. What there is stands in `docs/support_matrix.md`. A function
    that is not listed there is a LookupError, another question a ValueError.

    >>> pb.supports("tanh", "second"), pb.supports(pb.less, "gradient")
    (True, False)
    """
    name = op if isinstance(op, str) else getattr(op, "__name__", repr(op))
    matrix = _matrix()
    if name not in matrix:
        raise LookupError(f"supports: expected a listed function, got {_core.shown(name)}")
    answers = matrix[name]
    if what in ("gradient", "second", "fused"):
        return bool(answers[what] != "no")
    if str(what) in _dtypes():
        return str(what) in answers["dtypes"]
    raise ValueError(
        "supports: expected 'gradient', 'second', 'fused' or the name of a dtype, "
        f"got {_core.shown(what)}"
    )


@cache
def _matrix() -> dict[str, Any]:
    # Imported here, because these two take a tenth of the time to import the package.
    import json
    from importlib import resources

    text = resources.files("pullback._runtime").joinpath("support.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


@cache
def _dtypes() -> set[str]:
    return {dtype for answers in _matrix().values() for dtype in answers["dtypes"]}
