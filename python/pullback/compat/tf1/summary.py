"""`tf.summary`: accepted, so that programs run unchanged, and dropped, with one warning."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import _core
from . import mode
from .graph import GraphKeys, get_default_graph
from .names import absent
from .opdef import define
from .texts import text_tensor

__all__ = [
    "FileWriter", "FileWriterCache", "audio", "histogram", "image", "merge", "merge_all", "scalar",
    "tensor_summary", "text",
]  # fmt: skip

_warned = False


def _warn() -> None:
    global _warned
    if not _warned:
        warnings.warn(
            "pullback writes no summaries: tf.summary is accepted and dropped", stacklevel=4
        )
    _warned = True


define("Summary", execute=lambda run, op, inputs: [_core.constant(np.bool_(False))], flows=False)


def _summary(name: str | None, kind: str, collections: Sequence[str] | None) -> Any:
    _warn()
    if mode.executing_eagerly():
        raise RuntimeError(f"tf.summary.{kind} does not exist in eager mode")
    tag = re.sub(r"[^-/\w.]", "_", name or kind, flags=re.ASCII).lstrip("/")  # as TensorFlow's
    made = text_tensor("Summary", tag, lambda _: b"", ())
    for key in [GraphKeys.SUMMARIES] if collections is None else collections:
        made.graph.add_to_collection(key, made)
    return made


def scalar(name: str, tensor: Any, collections: Any = None, family: Any = None) -> Any:
    """Dropped; run, it is an empty text."""
    return _summary(name, "scalar", collections)


def histogram(name: str, values: Any, collections: Any = None, family: Any = None) -> Any:
    """Dropped; run, it is an empty text."""
    return _summary(name, "histogram", collections)


def image(name: str, tensor: Any, max_outputs: int = 3, collections: Any = None,
          family: Any = None) -> Any:  # fmt: skip
    """Dropped; run, it is an empty text."""
    return _summary(name, "image", collections)


def audio(name: str, tensor: Any, sample_rate: Any, max_outputs: int = 3, collections: Any = None,
          family: Any = None) -> Any:  # fmt: skip
    """Dropped; run, it is an empty text."""
    return _summary(name, "audio", collections)


def text(name: str, tensor: Any, collections: Any = None) -> Any:
    """Dropped; run, it is an empty text."""
    return _summary(name, "text", collections)


def tensor_summary(
    name: str, tensor: Any, summary_description: Any = None, collections: Any = None,
    summary_metadata: Any = None, family: Any = None, display_name: Any = None,
) -> Any:  # fmt: skip
    """Dropped; run, it is an empty text."""
    return _summary(name, "tensor_summary", collections)


def merge(inputs: Sequence[Any], collections: Any = None, name: str | None = None) -> Any:
    """Dropped; run, it is an empty text."""
    return _summary(name, "merge", collections or [])


def merge_all(key: str = GraphKeys.SUMMARIES, scope: str | None = None,
              name: str | None = None) -> Any:  # fmt: skip
    """One summary for all of the graph, or None if there is none."""
    return merge([], name=name) if get_default_graph().get_collection(key, scope) else None


class FileWriter:
    """Takes what it is given and writes nothing; no folder is made."""

    def __init__(
        self, logdir: str, graph: Any = None, max_queue: int = 10, flush_secs: int = 120,
        graph_def: Any = None, filename_suffix: str | None = None, session: Any = None,
    ) -> None:  # fmt: skip
        _warn()
        self._folder = os.fspath(logdir)

    def get_logdir(self) -> str:
        """The folder that it was made for."""
        return self._folder

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Does nothing."""

    def add_event(self, event: Any) -> None:
        """Does nothing."""

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        """Does nothing."""

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Does nothing."""

    def flush(self) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""

    def reopen(self) -> None:
        """Does nothing."""

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()


class FileWriterCache:
    """Writers by folder."""

    _writers: dict[str, FileWriter] = {}  # noqa: RUF012

    @classmethod
    def get(cls, logdir: str) -> FileWriter:
        """The writer of a folder."""
        return cls._writers.setdefault(logdir, FileWriter(logdir))

    @classmethod
    def clear(cls) -> None:
        """Forgets all writers."""
        cls._writers.clear()


__getattr__ = absent(__name__)
