"""What a program of this folder answers, as JSON: TensorFlow runs it to record, pullback to replay.

    python answers.py (tensorflow | pullback) (graph | eager)

prints the answers to all programs, in a process of its own: TensorFlow can be in one mode only.
"""

from __future__ import annotations

import ast
import importlib
import json
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent


def programs(mode: str) -> Iterator[tuple[str, str]]:
    """(heading, program) for each program of graph*.txt or eager*.txt."""
    heading, blocks = "", False
    files = [file.read_text().rstrip() for file in sorted(FOLDER.glob(f"{mode}*.txt"))]
    for part in "\n\n".join(files).split("\n\n"):
        lines = part.strip().split("\n")
        if lines[0].startswith("# "):
            continue
        if lines[0].startswith("## "):
            heading = lines.pop(0)[3:]
            blocks = heading.endswith(" (blocks)")
            heading = heading.removesuffix(" (blocks)")
        for program in ["\n".join(lines)] if blocks else lines:
            yield heading, program


class NoAnswerError(Exception):
    """The program ends in something that cannot be written down."""


class Machine:
    """One program in a graph and a session of its own, or eagerly."""

    def __init__(self, tensorflow: Any, eager: bool) -> None:
        self.tf = tensorflow
        self.eager = eager
        self._session: Any = None

    def answer(self, program: str) -> Any:
        """The last expression's value, or the classes of the error."""
        try:
            if self.eager:
                return {"answer": self._evaluate(program)}
            with self.tf.Graph().as_default():
                return {"answer": self._evaluate(program)}
        except NoAnswerError:
            raise
        except Exception as error:
            return {"error": [c.__name__ for c in type(error).__mro__ if c is not object]}

    def run(self, fetches: Any, feed: Any = None) -> Any:
        if self._session is None:
            self._session = self.tf.Session()
            self._session.run(self.tf.global_variables_initializer())
        return self._session.run(fetches, feed)

    def hole(self, shape: Any, dtype: Any = None, name: str | None = None) -> Any:
        return self.tf.placeholder(dtype or self.tf.float32, shape, name=name)

    def _evaluate(self, program: str) -> Any:
        names: dict[str, Any] = {"tf": self.tf, "np": np, "run": self.run, "hole": self.hole}
        tree = ast.parse(program)
        last = tree.body.pop()
        if not isinstance(last, ast.Expr):
            tree.body.append(last)
            last = ast.Expr(ast.Constant("done"))
        exec(compile(tree, "<program>", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "<program>", "eval"), names)
        return self._show(value, names.get("feed"))

    def _show(self, value: Any, feed: Any) -> Any:
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, bytes):
            return str(value)
        if hasattr(value, "_fields"):
            return self._show(value._asdict(), feed)
        if isinstance(value, (list, tuple)) and not isinstance(value, self.tf.TensorShape):
            return [self._show(v, feed) for v in value]
        if isinstance(value, dict):
            return {str(k): self._show(v, feed) for k, v in value.items()}
        if isinstance(value, (float, np.floating, np.integer, np.bool_, np.ndarray)):
            return _number(np.asarray(value))
        if isinstance(value, self.tf.IndexedSlices):
            return {"rows of": str(value.dtype), **self._show(self._rows(value, feed), feed)}
        if isinstance(value, (self.tf.Tensor, self.tf.Variable)) or hasattr(value, "assign"):
            computed = value.numpy() if self.eager else self.run(value, feed)
            shape = "" if self.eager else f" {value.shape}"
            return {"is": f"{np.asarray(computed).dtype.name}{shape}", **_number(computed)}
        if isinstance(value, (self.tf.TensorShape, self.tf.DType)):
            return str(value)
        if isinstance(value, self.tf.Operation):
            return value.type
        raise NoAnswerError(f"a {type(value).__name__} is no answer")

    def _rows(self, value: Any, feed: Any) -> Any:
        parts = {"values": value.values, "indices": value.indices, "of": value.dense_shape}
        known = {name: part for name, part in parts.items() if part is not None}
        if self.eager:
            return {name: part.numpy() for name, part in known.items()}
        return self.run(known, feed)


def _number(value: Any) -> Any:
    array = np.asarray(value)
    return {"value": [repr(v) for v in array.reshape(-1).tolist()], "shape": list(array.shape)}


def main(library: str, mode: str) -> dict[str, Any]:
    os.environ |= {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_USE_LEGACY_KERAS": "1"}  # tf.layers needs it
    warnings.simplefilter("ignore")
    name = {"tensorflow": "tensorflow.compat.v1", "pullback": "pullback.compat.tf1"}[library]
    tensorflow = importlib.import_module(name)
    logging.getLogger("tensorflow").setLevel(logging.CRITICAL)
    if mode == "eager":
        tensorflow.enable_eager_execution()
    else:
        tensorflow.disable_v2_behavior()
    return {
        "tensorflow": getattr(tensorflow, "__version__", library),
        "programs": {
            program: {"about": heading, **Machine(tensorflow, mode == "eager").answer(program)}
            for heading, program in programs(mode)
        },
    }


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
