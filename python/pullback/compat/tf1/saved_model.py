"""`tf.saved_model`: a graph with the values of its variables in a folder.

The format is pullback's own: `saved_model.json` has the graph with tags and signatures
(stored_graph.py), `variables/variables.npz` is a checkpoint of the variables. Models of TensorFlow
cannot be read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ._graph.operation import operation_of
from ._graph.shapes import TensorShape
from ._graph.tensor import SymbolicTensor
from ._training.saver import read_checkpoint, write_checkpoint
from ._training.stored_graph import Stored, rebuilt
from ._variables.variables import global_variables

__all__ = [
    "DEFAULT_SERVING_SIGNATURE_DEF_KEY", "PREDICT_METHOD_NAME", "SERVING", "TRAINING",
    "Builder", "build_signature_def", "build_tensor_info", "builder", "contains_saved_model",
    "load", "loader", "maybe_saved_model_directory", "predict_signature_def",
    "signature_constants", "signature_def_utils", "simple_save", "tag_constants", "utils",
]  # fmt: skip

_FORMAT = "pullback saved model, version 1 (not TensorFlow's)"
_FILE, _VARIABLES = "saved_model.json", "variables/variables"
SERVING, TRAINING = "serve", "train"
DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"
PREDICT_METHOD_NAME = "tensorflow/serving/predict"


@dataclass
class TensorInfo:
    """A tensor of a signature: its name in the graph, dtype and shape."""

    name: str
    dtype: Any
    tensor_shape: TensorShape


@dataclass
class SignatureDef:
    """Inputs and outputs by the names of the caller."""

    inputs: dict[str, TensorInfo] = field(default_factory=dict)
    outputs: dict[str, TensorInfo] = field(default_factory=dict)
    method_name: str = ""


@dataclass
class MetaGraphDef:
    """The result of `load`: the tags and signatures of a graph."""

    tags: list[str]
    signature_def: dict[str, SignatureDef]


def build_tensor_info(tensor: Any) -> TensorInfo:
    """Return name, dtype and shape of a tensor for a signature."""
    x = getattr(tensor, "_graph_element", tensor)
    if not isinstance(x, SymbolicTensor):
        raise TypeError(
            f"build_tensor_info: expected a tensor of a graph for tensor, got {tensor!r:.60}"
        )
    return TensorInfo(x.name, x.dtype, x.shape)


def build_signature_def(
    inputs: Mapping[str, TensorInfo] | None = None, outputs: Mapping[str, TensorInfo] | None = None,
    method_name: str | None = None,
) -> SignatureDef:  # fmt: skip
    """Create a signature of tensors described by `build_tensor_info`."""
    return SignatureDef(dict(inputs or {}), dict(outputs or {}), method_name or "")


def predict_signature_def(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> SignatureDef:
    """Create the signature of a prediction, from tensors by name."""
    for what, tensors in (("inputs", inputs), ("outputs", outputs)):
        if not tensors:
            raise ValueError(f"predict_signature_def: expected tensors for {what}, got {tensors!r}")
    ins, outs = ({k: build_tensor_info(x) for k, x in t.items()} for t in (inputs, outputs))
    return SignatureDef(ins, outs, PREDICT_METHOD_NAME)


class Builder:
    """Write a model into a new folder.

    >>> import tempfile
    >>> from pullback.compat import tf1 as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with tf.Graph().as_default(), tf.Session() as session:
    ...         x = tf.placeholder(tf.float32, [None], name="x")
    ...         y = tf.multiply(x, tf.Variable(3.0), name="y")
    ...         session.run(tf.global_variables_initializer())
    ...         tf.saved_model.simple_save(session, folder + "/model", {"x": x}, {"y": y})
    ...     with tf.Session(graph=tf.Graph()) as session:
    ...         model = tf.saved_model.loader.load(session, ["serve"], folder + "/model")
    ...         session.run("y:0", {"x:0": [1.0, 2.0]})
    array([3., 6.], dtype=float32)
    """

    def __init__(self, export_dir: Any, who: str = "SavedModelBuilder") -> None:
        self._who = who
        self._folder = Path(os.fspath(export_dir))
        if self._folder.exists() and (not self._folder.is_dir() or any(self._folder.iterdir())):
            raise AssertionError(
                f"{who}: expected a new or empty folder for export_dir, got "
                f"'{export_dir}', which has files; delete it or give another one"
            )
        self._document: dict[str, Any] = {}

    def add_meta_graph_and_variables(
        self, sess: Any, tags: Sequence[str],
        signature_def_map: Mapping[str, SignatureDef] | None = None, assets_collection: Any = None,
        legacy_init_op: Any = None, clear_devices: bool = False, main_op: Any = None,
        strip_default_attrs: bool = False, saver: Any = None,
    ) -> None:  # fmt: skip
        """Add the graph of a session, and write the values of its variables.

        ValueError if a signature or `main_op` depends on an operation that cannot be stored.
        """
        if self._document:
            raise AssertionError(f"{self._who}: expected one graph for a model, got a second one")
        graph, path = sess.graph, self._folder / _VARIABLES
        with graph.as_default():
            values = sess.run({v.op.name: v for v in global_variables()})
        stored = Stored(graph)

        def checked(name: str, what: str) -> str:
            reason = stored.missing.get(graph.get_operation_by_name(name.partition(":")[0]))
            if reason is not None:
                raise ValueError(
                    f"{self._who}: expected operations that can be stored for {what}, got "
                    f"'{name}', which depends on one that cannot: {reason}; take a tensor that "
                    "does not depend on it, or save the variables alone by tf.train.Saver"
                )
            return name

        def names(infos: Mapping[str, TensorInfo], what: str) -> dict[str, str]:
            return {k: checked(x.name, f"{what} '{k}' of a signature") for k, x in infos.items()}

        signatures = {
            key: [names(s.inputs, "input"), names(s.outputs, "output"), s.method_name]
            for key, s in (signature_def_map or {}).items()
        }
        first = legacy_init_op if main_op is None else main_op
        main = None if first is None else checked(operation_of(first, self._who).name, "main_op")
        self._document = {
            "format": _FORMAT, "tags": [tags] if isinstance(tags, str) else list(tags),
            "signatures": signatures, "main_op": main, "graph": stored.document,
        }  # fmt: skip
        path.parent.mkdir(parents=True)
        write_checkpoint(str(path), values)

    def save(self, as_text: bool = False) -> bytes:
        """Write the graph; return the path of the file."""
        path = self._folder / _FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self._document), encoding="utf-8")
        return os.fsencode(path)


def simple_save(
    session: Any, export_dir: Any, inputs: Mapping[str, Any], outputs: Mapping[str, Any],
    legacy_init_op: Any = None,
) -> None:  # fmt: skip
    """Write graph and variables of a session with one signature.

    `loader.load` with the tag `SERVING` reads it.
    """
    made = Builder(export_dir, "simple_save")
    signature = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: predict_signature_def(inputs, outputs)}
    made.add_meta_graph_and_variables(
        session, [SERVING], signature, main_op=legacy_init_op, clear_devices=True
    )
    made.save()


def load(
    sess: Any, tags: Sequence[str], export_dir: Any, import_scope: str | None = None,
    **saver_kwargs: Any,
) -> MetaGraphDef:  # fmt: skip
    """Add a graph of a model to that of a session, and assign its variables.

    Operations that could not be stored, such as a py_func, are missing.

    Raises
    ------
    OSError
        If there is no model.
    RuntimeError
        If none of its graphs has these tags.
    ValueError
        If TensorFlow wrote the model.
    """
    folder = Path(os.fspath(export_dir))
    if not contains_saved_model(export_dir):
        if any((folder / name).exists() for name in ("saved_model.pb", "saved_model.pbtxt")):
            raise ValueError(
                f"loader.load: expected a model that pullback has saved for export_dir, got "
                f"'{export_dir}', a SavedModel of TensorFlow, whose format is not read; build its "
                "graph by the program and load the variables' values by `Variable.load`"
            )
        raise OSError(f"loader.load: SavedModel file does not exist at: {folder / _FILE}")
    document = json.loads((folder / _FILE).read_text(encoding="utf-8"))
    if document.get("format") != _FORMAT:
        raise ValueError(
            f"loader.load: expected '{_FORMAT}' in {folder / _FILE}, got "
            f"{document.get('format')!r}; save the model with this version"
        )
    wanted = {tags} if isinstance(tags, str) else set(tags)
    if set(document["tags"]) != wanted:
        raise RuntimeError(
            f"loader.load: MetaGraphDef associated with tags {sorted(wanted)} could not be found "
            f"in '{export_dir}', which has {document['tags']}; give these"
        )
    variables = rebuilt(document["graph"], sess.graph, import_scope, "loader.load")
    saved = read_checkpoint(str(folder / _VARIABLES), "loader.load")
    for name, v in variables.items():
        if name in saved:
            v.load(saved[name], sess)
    scope = f"{import_scope}/" if import_scope else ""
    if document["main_op"] is not None:
        sess.run(scope + document["main_op"])

    def infos(names: Mapping[str, str]) -> dict[str, TensorInfo]:
        return {
            k: build_tensor_info(sess.graph.get_tensor_by_name(scope + n)) for k, n in names.items()
        }

    signatures = {
        key: SignatureDef(infos(inputs), infos(outputs), method)
        for key, (inputs, outputs, method) in document["signatures"].items()
    }
    return MetaGraphDef(document["tags"], signatures)


def contains_saved_model(export_dir: Any) -> bool:
    """Test whether a folder has a model that pullback has saved."""
    return (Path(os.fspath(export_dir)) / _FILE).is_file()


maybe_saved_model_directory = contains_saved_model
builder = SimpleNamespace(SavedModelBuilder=Builder)
loader = SimpleNamespace(load=load, maybe_saved_model_directory=contains_saved_model)
utils = SimpleNamespace(build_tensor_info=build_tensor_info)
signature_def_utils = SimpleNamespace(
    build_signature_def=build_signature_def, predict_signature_def=predict_signature_def
)
signature_constants = SimpleNamespace(
    DEFAULT_SERVING_SIGNATURE_DEF_KEY=DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    PREDICT_METHOD_NAME=PREDICT_METHOD_NAME, PREDICT_INPUTS="inputs", PREDICT_OUTPUTS="outputs",
)  # fmt: skip
tag_constants = SimpleNamespace(SERVING=SERVING, TRAINING=TRAINING)
