"""A cheap test over many inputs, as one test that reports every input that fails; inputs that stay
in the default run, and how many examples do.

pytest spends one to two milliseconds on each test: more than most bodies that run for hundreds of
inputs. `each` takes the arguments of `pytest.mark.parametrize` and runs the body for all inputs:

    @each("bad", [None, "x", 1j])
    @pytest.mark.parametrize("function", FUNCTIONS)
    def test_refused(function, bad): ...

is one test for each function. Function-scoped fixtures are set up once for all inputs of a test;
`around` returns a context manager that is entered for each of them.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import traceback
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

import pytest

SHOWN = 12  # failures that are printed with their text; of the others only the inputs are named


class FailedInputsError(AssertionError):
    """The failures of a test, as (input, text)."""

    def __init__(self, found: list[tuple[str, str]]) -> None:
        self.found = found
        names = ", ".join(name for name, _ in found)
        shown = [f"[{name}] {text}" for name, text in found[:SHOWN]]
        super().__init__("\n".join([f"failed inputs ({len(found)}): {names}", *shown]))


def each(
    names: str | Iterable[str],
    inputs: Iterable[Any],
    ids: Iterable[Any] | Callable[[Any], Any] | None = None,
    around: Callable[[], AbstractContextManager[Any]] = contextlib.nullcontext,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for each of `inputs`, all of them, then fail for those that failed.

    An input that skips is left out; a test whose inputs all skip is skipped."""
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = [_values(row, len(names)) for row in inputs]
    given = [None] * len(rows) if ids is None or callable(ids) else [*ids]
    assert rows, "no inputs"
    assert len(given) == len(rows)

    def label(k: int) -> str:
        own, values = rows[k]
        if own is not None or given[k] is not None:
            return str(given[k] if own is None else own)
        pairs = zip(names, values, strict=True)
        shown = ids if callable(ids) else lambda value: None
        return "-".join(str(shown(value) or _shown(value, f"{name}{k}")) for name, value in pairs)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def all_of_them(**fixtures: Any) -> None:
            __tracebackhide__ = True
            found: list[tuple[str, str]] = []
            skipped: list[str] = []
            for k, (_, row) in enumerate(rows):
                try:
                    with around():
                        test(**fixtures, **dict(zip(names, row, strict=True)))
                except FailedInputsError as failures:  # of an `each` below this one
                    found += [(f"{label(k)}-{name}", text) for name, text in failures.found]
                except pytest.skip.Exception as skip:
                    skipped.append(str(skip))
                except (Exception, pytest.fail.Exception) as error:
                    found.append((label(k), _text(error)))
            if found:
                raise FailedInputsError(found)
            if skipped and len(skipped) == len(rows):
                pytest.skip(skipped[0])

        signature = inspect.signature(test)
        kept = [p for p in signature.parameters.values() if p.name not in names]
        assert len(kept) == len(signature.parameters) - len(names), f"{test.__name__} takes {names}"
        all_of_them.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return all_of_them

    return decorate


def _values(row: Any, count: int) -> tuple[str | None, tuple[Any, ...]]:
    """The id that a row brings along, and its values."""
    name = None
    if hasattr(row, "marks"):  # a pytest.param
        assert not row.marks, "an input in a loop has no marks"
        name, row = row.id, row.values
    elif count == 1:
        row = (row,)
    assert len(row) == count
    return name, tuple(row)


def _shown(value: Any, otherwise: str) -> str:
    text = getattr(value, "__name__", None)
    if text is None:
        with contextlib.suppress(Exception):
            text = repr(value)
    return text if text and len(text) <= 60 and " at 0x" not in text else otherwise


def _text(error: BaseException) -> str:
    """The place in the test's file, or the last one, and what was raised."""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    places = " < ".join(f"{f.filename.rpartition('/')[2]}:{f.lineno}" for f in reversed(frames))
    return f"{places}: {type(error).__name__}: {str(error)[:1500]}"


def examples(count: int) -> int:
    """So many examples of hypothesis, times PULLBACK_EXAMPLES: the nightly run takes more."""
    return int(count * float(os.environ.get("PULLBACK_EXAMPLES", "1")))


def mostly_slow(inputs: Iterable[Any], *kept: Any) -> list[Any]:
    """The inputs for `pytest.mark.parametrize`, those that are not `kept` marked as slow: one of
    each kind stays in the default run."""
    inputs = list(inputs)
    assert set(kept) <= set(inputs)

    def values(x: Any) -> tuple[Any, ...]:
        return x if isinstance(x, tuple) else (x,)

    return [x if x in kept else pytest.param(*values(x), marks=pytest.mark.slow) for x in inputs]
