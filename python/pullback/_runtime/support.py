"""The properties of public functions, read from the file that `tools/support_matrix` writes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from .. import _core

__all__ = ["supports"]


def supports(op: str | Callable[..., Any], what: Any) -> bool:
    """Return whether a public function has a property or supports a dtype.

    All properties are listed in `docs/support_matrix.md`.

    Parameters
    ----------
    op : callable or str
        Public function or its name.
    what : str or dtype
        "gradient", "second" (the gradient of the gradient), "fused" (the function shares a step
        with its elementwise neighbours), or a dtype or its name.

    Returns
    -------
    bool
        Whether the function has the property.

    Raises
    ------
    LookupError
        If the function is not listed.
    ValueError
        If `what` is none of these.

    Examples
    --------
    >>> pb.supports("tanh", "second"), pb.supports(pb.less, "gradient")
    (True, False)
    """
    name = op if isinstance(op, str) else getattr(op, "__name__", repr(op))
    matrix = _matrix()
    if name not in matrix:
        raise LookupError(
            "supports: expected a function of docs/support_matrix.md for op, got "
            f"{_core.shown(name)}"
        )
    answers = matrix[name]
    if what in ("gradient", "second", "fused"):
        return bool(answers[what] != "no")
    if str(what) in _dtypes():
        return str(what) in answers["dtypes"]
    raise ValueError(
        "supports: expected 'gradient', 'second', 'fused' or a dtype for what, "
        f"got {_core.shown(what)}"
    )


@cache
def _matrix() -> dict[str, Any]:
    # Imported here, because the two take a tenth of the import time of the package.
    import json
    from importlib import resources

    text = resources.files("pullback._runtime").joinpath("support.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


@cache
def _dtypes() -> set[str]:
    return {dtype for answers in _matrix().values() for dtype in answers["dtypes"]}
