"""`tf.report`: which names of TensorFlow programs use, and which of them `compat.tf1` has.

Programs are parsed, never run. `_Reader` follows the names that imports and assignments bind to
modules of TensorFlow; `report` resolves each use in `compat.tf1`.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["Report", "report"]

# Modules that are imported as `tf`.
_ROOTS = ("pullback.compat.tf1", "tensorflow.compat.v1", "tensorflow")
_NO_ADVICE = "it is not part of pullback"


@dataclass(frozen=True)
class Report:
    """The names of TensorFlow in some programs.

    Attributes
    ----------
    here : mapping of str to list of str
        Each name that `compat.tf1` has, such as 'tf.nn.relu', with its places, 'file:line'.
    absent : mapping of str to list of str
        The same for names that it does not have.
    advice : mapping of str to str
        What to use in the place of each absent name.
    unread : mapping of str to str
        Files that are not programs of this Python, each with the error.
    """

    here: Mapping[str, list[str]]
    absent: Mapping[str, list[str]]
    advice: Mapping[str, str]
    unread: Mapping[str, str]

    def __str__(self) -> str:
        count = len(self.here) + len(self.absent)
        lines = [f"{count} names of TensorFlow, {len(self.here)} of them here"]
        for title, names in (("absent", self.absent), ("here", self.here)):
            lines += [f"\n{title}:"] * bool(names)
            for name, places in sorted(names.items()):
                lines.append(f"  {name}  {', '.join(places)}")
                if name in self.advice:
                    lines.append(f"      {self.advice[name]}")
        lines += ["\nnot read:"] * bool(self.unread)
        return "\n".join([*lines, *(f"  {file}: {text}" for file, text in self.unread.items())])


def report(path: str | Path) -> Report:
    """List the names of TensorFlow that programs use, and which of them are here.

    Imports of TensorFlow and of its modules are followed, and names that modules are assigned to,
    as in `slim = tf.contrib.slim`. Methods of objects are not followed, and nothing is run.

    Parameters
    ----------
    path : str or Path
        A program, or a folder whose .py files are all read.

    Returns
    -------
    Report
        Printed, it lists absent names with advice, then those that are here.

    Raises
    ------
    FileNotFoundError
        If `path` is neither a file nor a folder with .py files.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pullback.compat import tf1 as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     program = pathlib.Path(folder, "train.py")
    ...     _ = program.write_text("import tensorflow as tf\\nx = tf.zeros(2)\\ntf.strings.join(x)")
    ...     found = tf.report(program)
    >>> found.here, found.absent
    ({'tf.zeros': ['train.py:2']}, {'tf.strings.join': ['train.py:3']})
    """
    root = Path(path)
    files = sorted(root.rglob("*.py")) if root.is_dir() else [root] * root.is_file()
    if not files:
        raise FileNotFoundError(
            f"report: expected a program or a folder with .py files for path, got '{path}'"
        )
    here: dict[str, list[str]] = {}
    absent: dict[str, list[str]] = {}
    advice: dict[str, str] = {}
    unread: dict[str, str] = {}
    for file in files:
        label = str(file.relative_to(root)) if root.is_dir() else file.name
        try:
            tree = ast.parse(file.read_bytes())
        except (SyntaxError, ValueError) as error:
            unread[label] = f"{type(error).__name__}: {error}"
            continue
        for used, line in _Reader().uses_in(tree):
            name, text = _resolved(used)
            places = (here if text is None else absent).setdefault(f"tf.{name}", [])
            if f"{label}:{line}" not in places:
                places.append(f"{label}:{line}")
            if text is not None:
                advice[f"tf.{name}"] = text
    return Report(here, absent, advice, unread)


def _resolved(used: str) -> tuple[str, str | None]:
    from .. import tf1
    from .names import advice_of

    """Return the part of a path that is a name of TensorFlow, and the advice if it is absent."""

    thing: Any = tf1
    parts = used.split(".")
    for k, part in enumerate(parts):
        try:
            thing = getattr(thing, part)
        except AttributeError as error:
            try:
                thing = importlib.import_module(f"{thing.__name__}.{part}")
            except (ImportError, AttributeError):
                prefixes = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
                known = next((text for p in prefixes if (text := advice_of(p))), None)
                told = str(error).partition(f" {part}")[2].lstrip(":; ")
                return used, known or told or _NO_ADVICE
        if not isinstance(thing, (ModuleType, type)):  # a function, a dtype, the flags
            return ".".join(parts[: k + 1]), None
    return used, None


class _Reader(ast.NodeVisitor):
    """Resolves the names of a program to paths of TensorFlow; `paths` are without the root."""

    def __init__(self) -> None:
        self.paths: dict[str, str] = {}
        self.found: list[tuple[str, int]] = []

    def uses_in(self, tree: ast.AST) -> Iterator[tuple[str, int]]:
        self.visit(tree)
        return iter(sorted(self.found, key=lambda use: use[1]))

    def _use(self, path: str | None, node: Any) -> None:
        if path:
            self.found.append((path, node.lineno))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            path = _below_root(alias.name)
            if path is not None:
                self._use(path, node)
                if alias.asname:
                    self.paths[alias.asname] = path
                elif alias.name.startswith("tensorflow"):
                    self.paths["tensorflow"] = ""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            path = None if node.level else _below_root(f"{node.module}.{alias.name}")
            if path is not None:
                self._use(path.removesuffix(".*").removesuffix("*"), node)
                self.paths[alias.asname or alias.name] = path

    def visit_Assign(self, node: ast.Assign) -> None:
        path = self._path(node.value)
        self.generic_visit(node)
        for target in node.targets:
            if path is not None and isinstance(target, ast.Name):
                self.paths[target.id] = path

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = self._path(node)
        self._use(path, node)
        if path is None:
            self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._use(self.paths.get(node.id), node)

    def _path(self, node: ast.AST) -> str | None:
        """Return the path that a name with attributes stands for, if it is TensorFlow's."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.paths:
            return None
        path = ".".join([*filter(None, [self.paths[node.id]]), *parts])
        return _below_root(f"tensorflow.{path}") if path else ""


def _below_root(module: str) -> str | None:
    """Return the path of a module or name below the root; None if it is not TensorFlow's."""
    for root in _ROOTS:
        if f"{module}.".startswith(f"{root}."):
            return module[len(root) + 1 :]
    return None
