"""The reference of `compat.tf1` for the documentation site: the names of TensorFlow that it has."""

import inspect
import re
from collections import defaultdict
from functools import reduce
from pathlib import Path

from site_reference import escaped, first_line, heading, indent

import pullback.compat.tf1 as tf

NAMESPACE = "pullback.compat.tf1"
INTRODUCTION = """Names and arguments of TensorFlow 1.15, for programs with the line
``import pullback.compat.tf1 as tf``.
:doc:`Migrating from TensorFlow <../../migrating_from_tensorflow>` lists the differences.
A name that is missing raises an error with its replacement.
"""


def write_pages(names: Path, folder: Path) -> int:
    """Write a page for each namespace of a list of names; return the number of names."""
    groups = defaultdict(list)
    for line in names.read_text(encoding="utf-8").splitlines():
        found = re.fullmatch(r"tf\.([\w.]+)(\(.*\))?", line)
        try:
            thing = found and reduce(getattr, found[1].split("."), tf)
        except AttributeError:  # with a message about the missing name
            continue
        if found and not inspect.ismodule(thing):
            space = found[1].rpartition(".")[0]
            groups[space].append(described(found[1], found[2] or "", thing))
    parts = [heading(NAMESPACE, "="), f".. py:module:: {NAMESPACE}\n", INTRODUCTION]
    parts.append(".. toctree::\n   :maxdepth: 1\n")
    folder.mkdir()
    for space, entries in sorted(groups.items()):
        title = f"tf.{space}" if space else "tf"
        parts.append(f"   {title} <{title}>")
        page = [heading(title, "="), f".. py:currentmodule:: {NAMESPACE}\n", *entries]
        (folder / f"{title}.rst").write_text("\n".join(page), encoding="utf-8")
    (folder / "index.rst").write_text("\n".join(parts) + "\n", encoding="utf-8")
    return sum(map(len, groups.values()))


def described(name: str, taken: str, thing: object) -> str:
    """Return a name with its arguments and the summary of its docstring."""
    kind = "class" if isinstance(thing, type) else "function" if callable(thing) else "data"
    text = escaped(first_line(inspect.getdoc(thing) or "")) if callable(thing) else f"``{thing!r}``"
    return f".. py:{kind}:: {name}{taken}\n\n{indent(text)}\n"
