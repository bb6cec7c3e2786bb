"""`tf.summary`: accepted, so that programs run unchanged, and dropped, with one warning."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from ... import _core
from ._graph import mode
from ._graph.graph import GraphKeys, get_default_graph
from ._graph.opdef import define
from ._graph.strings import encoded
from .dtypes import string
from .names import public_names, taking

_warned = False


def _warn(level: int) -> None:
    global _warned
    if not _warned:
        text = "pullback writes no summaries: tf.summary is accepted and dropped"
        warnings.warn(text, stacklevel=level)
    _warned = True


define("Summary", execute=lambda run, op, inputs: [_core.constant(encoded(b""))], flows=False)


def _summary(name: str | None, kind: str, collections: Sequence[str] | None) -> Any:
    _warn(5)
    if mode.executing_eagerly():
        raise RuntimeError(f"summary: expected graph mode for {kind}, got eager mode")
    tag = re.sub(r"[^-/\w.]", "_", name or kind, flags=re.ASCII).lstrip("/")  # as TensorFlow's
    made = get_default_graph().record("Summary", (), {}, tag, (string, ())).outputs[0]
    for key in [GraphKeys.SUMMARIES] if collections is None else collections:
        made.graph.add_to_collection(key, made)
    return made


def _dropping(kind: str, arguments: str) -> Any:
    @taking(arguments, kind, "Drop the summary; its value in a run is an empty string.")
    def function(name: str | None, collections: Any = None, **_: Any) -> Any:
        return _summary(name, kind, collections)

    return function


scalar = _dropping("scalar", "name tensor collections=None family=None")
histogram = _dropping("histogram", "name values collections=None family=None")
image = _dropping("image", "name tensor max_outputs=3 collections=None family=None")
audio = _dropping("audio", "name tensor sample_rate max_outputs=3 collections=None family=None")
text = _dropping("text", "name tensor collections=None")
tensor_summary = _dropping(
    "tensor_summary", "name tensor summary_description=None collections=None summary_metadata=None "
    "family=None display_name=None",
)  # fmt: skip


@taking("inputs collections=None name=None")
def merge(name: str | None, collections: Any, **_: Any) -> Any:
    """Drop summaries; the value in a run is an empty string."""
    return _summary(name, "merge", collections or [])


def merge_all(key: str = GraphKeys.SUMMARIES, scope: str | None = None,
              name: str | None = None) -> Any:  # fmt: skip
    """Return one summary for all of the graph, or None if there is none."""
    return merge([], name=name) if get_default_graph().get_collection(key, scope) else None


class Summary:
    """Values that a program gives to a `FileWriter`: accepted and dropped.

    >>> from pullback.compat import tf1 as tf
    >>> summary = tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)])
    >>> summary.value.add(tag="reward", simple_value=2.0).tag, len(summary.value)
    ('reward', 2)
    """

    class Value(SimpleNamespace):
        """A tag and its value, as keywords."""

    class _Values(list[Any]):
        def add(self, **fields: Any) -> Any:
            self.append(Summary.Value(**fields))
            return self[-1]

    def __init__(self, value: Sequence[Any] = ()) -> None:
        self.value = self._Values(value)


class FileWriter:
    """Create the folder, since programs store their checkpoints there too, and write nothing."""

    def __init__(
        self, logdir: str, graph: Any = None, max_queue: int = 10, flush_secs: int = 120,
        graph_def: Any = None, filename_suffix: str | None = None, session: Any = None,
    ) -> None:  # fmt: skip
        _warn(3)
        self._folder = os.fspath(logdir)
        os.makedirs(self._folder, exist_ok=True)

    def get_logdir(self) -> str:
        """Return the folder."""
        return self._folder

    def add_summary(self, *_: Any, **__: Any) -> None:
        """Do nothing."""

    add_event = add_graph = add_run_metadata = flush = close = reopen = __exit__ = add_summary

    def __enter__(self) -> FileWriter:
        return self


__all__ = public_names(globals())
