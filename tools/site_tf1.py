"""The reference of `compat.tf1` for the documentation site: the names of TensorFlow that it has."""

import inspect
import re
from pathlib import Path
from types import ModuleType

from site_reference import escaped, first_line, heading, indent, signature

import pullback.compat.tf1 as tf

# Functions and objects as defaults.
ADDRESS = re.compile(r"<(?:function )?(?:[\w.]+\.)?(\w+)(?: object)? at \w+>")
NAMESPACE = "pullback.compat.tf1"
INTRODUCTION = """Names and arguments of TensorFlow 1.15, for programs with the line
``import pullback.compat.tf1 as tf``.
:doc:`Migrating from TensorFlow <../../migrating_from_tensorflow>` lists the differences.
A name that is missing raises an error with its replacement.
"""


def write_pages(names: Path, folder: Path) -> int:
    """Write a page for each namespace; return the number of names.

    `names` lists names of TensorFlow with their arguments.
    """
    lines = names.read_text(encoding="utf-8").splitlines()
    found = [m for line in lines if (m := re.fullmatch(r"tf\.([\w.]+)(\(.*\))?", line))]
    listed = {m[1]: m[2] or "" for m in found}
    spaces = {"": (tf, [name for name in listed if "." not in name and has(tf, name)])}
    spaces |= namespaces(tf, "")
    parts = [heading(NAMESPACE, "="), f".. py:module:: {NAMESPACE}\n", INTRODUCTION]
    parts.append(".. toctree::\n   :maxdepth: 1\n")
    folder.mkdir()
    for space, (module, keys) in sorted(spaces.items()):
        title = f"tf.{space}" if space else "tf"
        parts.append(f"   {title} <{title}>")
        page = [heading(title, "="), f".. py:currentmodule:: {NAMESPACE}\n"]
        for key in sorted(keys, key=str.lower):
            name, thing = f"{space}.{key}".lstrip("."), getattr(module, key)
            taken = listed[name] if name in listed else callable(thing) and signature(thing)
            page.append(described(name, taken or "", thing))
        (folder / f"{title}.rst").write_text("\n".join(page), encoding="utf-8")
    (folder / "index.rst").write_text("\n".join(parts) + "\n", encoding="utf-8")
    return sum(len(keys) for _, keys in spaces.values())


def has(module: ModuleType, name: str) -> bool:
    return name in vars(module) and not inspect.ismodule(vars(module)[name])


def namespaces(module: ModuleType, space: str) -> dict[str, tuple[ModuleType, list[str]]]:
    """Return the namespaces below a module with their public names."""
    found = {}
    for key, value in vars(module).items():
        name = f"{space}.{key}".lstrip(".")
        if inspect.ismodule(value) and value.__name__ == f"{NAMESPACE}.{name}" and key[0] != "_":
            public = [n for n in vars(value).get("__all__", ()) if n[0] != "_" and has(value, n)]
            if public and "__getattr__" in vars(value):  # others are internal
                found[name] = value, public
            found |= namespaces(value, name)
    return found


def described(name: str, taken: str, thing: object) -> str:
    """Return a name with its arguments and the summary of its docstring."""
    kind = "class" if isinstance(thing, type) else "function" if callable(thing) else "data"
    documented = getattr(thing, "func", thing)  # of a functools.partial
    text = escaped(first_line(inspect.getdoc(documented) or ""))
    if not callable(thing):
        text = ADDRESS.sub(r"\1", f"``{thing!r}``")
    taken = ADDRESS.sub(r"\1", taken)
    return f".. py:{kind}:: {name}{taken}\n\n{indent(text)}\n"
