"""Saving and restoring variables: `Saver`, and functions that find and read checkpoints.

A checkpoint is one NumPy archive, `<prefix>.npz`, with an array for each variable under its name.
The file `checkpoint` beside it lists the prefixes, in TensorFlow's format. Nothing is pickled.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .... import _core
from ...._base.hints import did_you_mean
from .._graph import mode
from .._graph.graph import get_default_graph
from .._variables.variables import Variable, global_variables
from ..dtypes import as_dtype
from ..errors import InvalidArgumentError, NotFoundError
from .stored_graph import Stored, rebuilt

__all__ = [
    "CheckpointState", "NewCheckpointReader", "Saver", "checkpoint_exists", "export_meta_graph",
    "get_checkpoint_state", "import_meta_graph", "latest_checkpoint", "list_variables",
    "load_checkpoint", "load_variable",
]  # fmt: skip


class Saver:
    """Save variables and restore them, into any session of a graph with variables of these names.

    `var_list` is a list of variables, or a dict from names to variables; by default all variables
    of the graph. The last `max_to_keep` checkpoints of this saver are kept (0 or None: all).

    >>> import tempfile
    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tempfile.TemporaryDirectory() as folder:
    ...     v = tf.Variable(2.0, name="v")
    ...     saver = tf.train.Saver()
    ...     with tf.Session() as session:
    ...         session.run(v.initializer)
    ...         path = saver.save(session, folder + "/model", global_step=7)
    ...     with tf.Session() as session:
    ...         saver.restore(session, path)
    ...         session.run(v), path.endswith("model-7"), tf.train.list_variables(path)
    (np.float32(2.0), True, [('v', [])])
    """

    def __init__(
        self, var_list: Any = None, reshape: bool = False, sharded: bool = False,
        max_to_keep: int | None = 5, keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None, restore_sequentially: bool = False, saver_def: Any = None,
        builder: Any = None, defer_build: bool = False, allow_empty: bool = False,
        write_version: Any = 2, pad_step_number: bool = False, save_relative_paths: bool = False,
        filename: str | None = None,
    ) -> None:  # fmt: skip
        if var_list is None and mode.executing_eagerly():
            raise RuntimeError(
                "Saver: expected var_list in eager mode, which has no graph, got None"
            )
        self._variables = _named(global_variables() if var_list is None else var_list)
        if not self._variables and not allow_empty:
            raise ValueError(
                "Saver: no variables to save: expected a graph with variables, or var_list"
            )
        if not isinstance(max_to_keep, (int, np.integer, type(None))):
            raise TypeError(f"Saver: expected an integer for max_to_keep, got {max_to_keep!r}")
        self._reshape, self._most = reshape, max_to_keep or 0
        self._padded = pad_step_number
        self._made: list[str] = []

    @property
    def last_checkpoints(self) -> list[str]:
        """The prefixes of the kept checkpoints of this saver."""
        return list(self._made)

    def set_last_checkpoints(self, last_checkpoints: Sequence[str]) -> None:
        """Set the checkpoints that belong to this saver, the oldest first."""
        if not isinstance(last_checkpoints, (list, tuple)):
            raise TypeError(f"set_last_checkpoints: expected a list, got {last_checkpoints!r:.60}")
        self._made = list(last_checkpoints)

    def recover_last_checkpoints(self, checkpoint_paths: Sequence[str]) -> None:
        """Set the existing ones among these as the checkpoints of this saver."""
        self.set_last_checkpoints([p for p in checkpoint_paths if checkpoint_exists(p)])

    def save(
        self, sess: Any, save_path: str, global_step: Any = None,
        latest_filename: str | None = None, meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True, write_state: bool = True,
        strip_default_attrs: bool = False, save_debug_info: bool = False,
    ) -> str:  # fmt: skip
        """Write the variables to `<save_path>[-global_step].npz`; return the path without `.npz`.

        In a graph, `<path>.meta` has the operations, for `import_meta_graph`.

        Raises
        ------
        FailedPreconditionError
            If a variable has no value.
        ValueError
            If the folder of the checkpoint's folder does not exist.
        """
        prefix = os.fspath(save_path)
        if not prefix:
            raise ValueError("Saver.save: expected a path for save_path, got ''")
        if global_step is not None:
            step = _number(sess, global_step)
            prefix += f"-{step:08d}" if self._padded else f"-{step}"
        folder = Path(prefix).parent
        if not folder.parent.is_dir() or (folder.exists() and not folder.is_dir()):
            raise ValueError(
                f"Saver.save: expected a folder, or a new one in a folder that exists, got "
                f"'{folder}' of '{save_path}'"
            )
        values = self._values(sess)
        folder.mkdir(exist_ok=True)  # as TensorFlow: the last folder of the path alone
        write_checkpoint(prefix, values)
        self._made = [p for p in self._made if p != prefix] + [prefix]
        if write_meta_graph and not mode.executing_eagerly():
            export_meta_graph(f"{prefix}.{meta_graph_suffix}", graph=sess.graph)
        while self._most and len(self._made) > self._most:
            oldest = self._made.pop(0)
            for suffix in ("npz", meta_graph_suffix):
                Path(f"{oldest}.{suffix}").unlink(missing_ok=True)
        if write_state:
            _write_state(folder / (latest_filename or "checkpoint"), self._made)
        return prefix

    def _values(self, sess: Any) -> dict[str, Any]:
        if mode.executing_eagerly():
            return {name: v.numpy() for name, v in self._variables.items()}
        values: dict[str, Any] = sess.run(self._variables)
        return values

    def restore(self, sess: Any, save_path: str) -> None:
        """Assign the values of a checkpoint; the variables need not be initialized.

        No variable is changed after an error.

        Raises
        ------
        ValueError
            If the checkpoint does not exist.
        NotFoundError
            If it lacks a variable.
        InvalidArgumentError
            If a shape or dtype differs.
        """
        if save_path is None:
            raise ValueError("Saver.restore: expected a path for save_path, got None")
        saved = read_checkpoint(os.fspath(save_path), "Saver.restore")
        values = {
            name: self._fitting(name, v, saved, save_path) for name, v in self._variables.items()
        }
        if mode.executing_eagerly():
            for name, v in self._variables.items():
                v.assign(values[name])
            return
        # One by one: variables may share their initial tensor.
        for name, v in self._variables.items():
            v.load(values[name], sess)

    def _fitting(self, name: str, v: Any, saved: Mapping[str, Any], path: str) -> Any:
        if name not in saved:
            raise NotFoundError(
                None,
                f"Saver.restore: Key {name} not found in checkpoint "
                f"'{path}'{did_you_mean(name, saved)}",
            )
        value = saved[name]
        dims = getattr(v.shape, "_dims", tuple(v.shape))
        if self._reshape and dims is not None and value.size == np.prod(dims):
            value = value.reshape(dims)
        fits = dims is None or value.shape == dims
        if not fits or as_dtype(value.dtype) != as_dtype(v.dtype):
            raise InvalidArgumentError(
                None,
                f"Saver.restore: expected {v.dtype.name} of shape {dims} for '{name}', got "
                f"{as_dtype(value.dtype).name} of shape {value.shape} in '{path}'",
            )
        return value


def _named(var_list: Any) -> dict[str, Any]:
    if isinstance(var_list, Mapping):
        pairs = list(var_list.items())
    else:
        many = var_list if isinstance(var_list, (list, tuple)) else [var_list]
        pairs = [(getattr(v, "name", "").partition(":")[0], v) for v in many]
    named: dict[str, Any] = {}
    for name, v in pairs:
        if not isinstance(v, (Variable, _core.Variable)):
            raise TypeError(f"Saver: expected variables, got {v!r:.60}")
        if not isinstance(name, str):
            raise TypeError(f"Saver: expected a str for a name in var_list, got {name!r}")
        if name in named:
            raise ValueError(f"Saver: at least two variables have the same name: {name}")
        named[name] = v
    return named


def _number(sess: Any, step: Any) -> int:
    if isinstance(step, (int, np.integer)):
        return int(step)
    return int(step.numpy() if hasattr(step, "numpy") else sess.run(step))


# --- graphs

_META = "pullback graph, version 1 (not TensorFlow's)"


def export_meta_graph(
    filename: str | None = None, meta_info_def: Any = None, graph_def: Any = None,
    saver_def: Any = None, collection_list: Any = None, as_text: bool = False,
    graph: Any = None, export_scope: str | None = None, clear_devices: bool = False,
    clear_extraneous_savers: bool = False, strip_default_attrs: bool = False,
    save_debug_info: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Return the operations of a graph as plain data; write them to `filename` if given.

    Operations with a Python function, such as py_func, are left out.
    """
    document = {"format": _META, "graph": Stored(graph or get_default_graph()).document}
    if filename is not None:
        Path(filename).write_text(json.dumps(document), encoding="utf-8")
    return document


def import_meta_graph(
    meta_graph_or_file: Any, clear_devices: bool = False, import_scope: str | None = None,
    **kwargs: Any,
) -> Saver | None:  # fmt: skip
    """Add the operations of a `.meta` file to the default graph.

    Returns a Saver of their variables, or None without any. OSError if the file does not exist.
    """
    data = meta_graph_or_file
    if not isinstance(data, Mapping):
        if not Path(data).is_file():
            raise OSError(f"import_meta_graph: File {data} does not exist")
        text = Path(data).read_bytes()
        data = json.loads(text) if text.startswith(b'{"format"') else {}
    if data.get("format") != _META:
        raise ValueError(
            f"import_meta_graph: expected a file that pullback has written for meta_graph_or_file, "
            f"got {meta_graph_or_file!s:.60}, which is not one; build the graph by the program"
        )
    variables = rebuilt(data["graph"], get_default_graph(), import_scope, "import_meta_graph")
    kept = {v.op.name: v for v in global_variables()}
    chosen = {name: v for name, v in variables.items() if v.op.name in kept}
    return Saver(chosen, **kwargs) if chosen else None


# --- files


def _without_objects(value: Any) -> Any:
    """Convert strings to bytes of one length, with an end mark since NumPy drops final zeros."""
    array = np.asarray(value, object if isinstance(value, bytes) else None)
    if array.dtype != object:
        return array
    return np.array([text + b"." for text in array.reshape(-1)], "S").reshape(array.shape)


def _with_objects(array: Any) -> Any:
    if array.dtype.kind != "S":
        return array
    made = np.empty(array.shape, object)
    made.reshape(-1)[:] = [text[:-1] for text in array.reshape(-1).tolist()]
    return made


def write_checkpoint(prefix: str, arrays: Mapping[str, Any]) -> None:
    """Write arrays atomically, with any names, which `np.savez` would restrict."""
    path = Path(f"{prefix}.npz")
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w") as archive:
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    np.lib.format.write_array(entry, _without_objects(array), allow_pickle=False)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_checkpoint(prefix: str, who: str) -> dict[str, np.ndarray[Any, Any]]:
    """Read the arrays of a checkpoint by name; ValueError if there is none."""
    if not checkpoint_exists(prefix):
        raise ValueError(f"{who}: the passed save_path is not a valid checkpoint: {prefix}")
    with np.load(f"{prefix}.npz", allow_pickle=False) as archive:
        return {name: _with_objects(archive[name]) for name in archive.files}


def _write_state(path: Path, made: Sequence[str]) -> None:
    local = [os.path.relpath(p, path.parent) for p in made]
    lines = [f'model_checkpoint_path: "{local[-1]}"']
    lines += [f'all_model_checkpoint_paths: "{p}"' for p in local]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@dataclass
class CheckpointState:
    """The checkpoints of a folder: the last one, and all."""

    model_checkpoint_path: str = ""
    all_model_checkpoint_paths: list[str] = field(default_factory=list)


def get_checkpoint_state(
    checkpoint_dir: str, latest_filename: str | None = None
) -> CheckpointState | None:
    """Read the file `checkpoint` of a folder; None if it does not exist."""
    path = Path(checkpoint_dir) / (latest_filename or "checkpoint")
    if not path.is_file():
        return None
    state = CheckpointState()
    for key, local in re.findall(r'^(\w+): "(.*)"$', path.read_text(encoding="utf-8"), re.M):
        full = os.path.join(checkpoint_dir, local)
        if key == "model_checkpoint_path":
            state.model_checkpoint_path = full
        else:
            state.all_model_checkpoint_paths.append(full)
    return state


def latest_checkpoint(checkpoint_dir: str, latest_filename: str | None = None) -> str | None:
    """Return the path of the last checkpoint of a folder, or None."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    found = state is not None and checkpoint_exists(state.model_checkpoint_path)
    return state.model_checkpoint_path if state is not None and found else None


def checkpoint_exists(checkpoint_prefix: str) -> bool:
    """Test whether a checkpoint has this path."""
    return Path(f"{checkpoint_prefix}.npz").is_file()


def _found(ckpt_dir_or_file: str, who: str) -> dict[str, np.ndarray[Any, Any]]:
    folder = Path(ckpt_dir_or_file).is_dir()
    prefix = latest_checkpoint(ckpt_dir_or_file) if folder else ckpt_dir_or_file
    if prefix is None:
        raise ValueError(f"{who}: expected a checkpoint, got '{ckpt_dir_or_file}', which has none")
    return read_checkpoint(prefix, who)


def list_variables(ckpt_dir_or_file: str) -> list[tuple[str, list[int]]]:
    """Return names and shapes of the arrays in a checkpoint, by name."""
    saved = _found(ckpt_dir_or_file, "list_variables")
    return [(name, list(saved[name].shape)) for name in sorted(saved)]


class NewCheckpointReader:
    """The arrays of a checkpoint."""

    def __init__(self, filepattern: str) -> None:
        self._arrays = _found(filepattern, "NewCheckpointReader")
        self.get_tensor, self.has_tensor = self._arrays.__getitem__, self._arrays.__contains__

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Return the shapes by name."""
        return {name: list(array.shape) for name, array in self._arrays.items()}


def load_checkpoint(ckpt_dir_or_file: str) -> NewCheckpointReader:
    """Read the arrays of a checkpoint."""
    return NewCheckpointReader(ckpt_dir_or_file)


def load_variable(ckpt_dir_or_file: str, name: str) -> np.ndarray[Any, Any]:
    """Return the value of a variable in a checkpoint."""
    saved = _found(ckpt_dir_or_file, "load_variable")
    key = name.partition(":")[0]
    if key not in saved:
        raise NotFoundError(
            None, f"load_variable: Key {key} not found in checkpoint{did_you_mean(key, saved)}"
        )
    return saved[key]
