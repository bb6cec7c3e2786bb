"""The reference of the documentation site, written from the docstrings of the installed package.

Each public namespace is a folder with a page for each of its modules. `write_pages` is the start.
"""

import importlib
import inspect
import re
from collections import defaultdict
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from numpydoc.docscrape_sphinx import get_doc_object
from support.docstrings import MODULES, documented, text_of

from pullback._base import hints
from pullback.stats._absent import Family

PAGE_OF_CLASS = ("Tensor", "Variable")
# The sections of the main namespace, each with the folders of its modules.
GROUPS = {
    "Tensors": (),
    "Derivatives": ("_autodiff",),
    "Loops and branches": ("_control",),
    "Explanations of gradients": ("_explain",),
    "Arrays": ("_numpy", "fft"),
    "Networks": ("nn",),
    "Evaluation, settings and files": ("_base", "_files", "_runtime"),
}
FOLDERS = {folder: group for group, folders in GROUPS.items() for folder in folders}
# Titles of pages that differ from the names of the modules.
TITLES = {
    "aliases": "Further names",
    "array_api": "Array API",
    "forward": "Forward mode",
    "nan_reductions": "Reductions without NaN",
    "per_example": "Per-example gradients",
    "sparse": "Sparse derivatives",
    "support": "Properties of functions",
    "taylor": "Taylor series",
    "transforms": "Derivatives of functions",
    "trigonometric_aliases": "Further trigonometric names",
    "vjp": "Vector-Jacobian products",
    "vmap": "Batching",
    "without_nan": "Functions without NaN",
}
FOOTNOTE = re.compile(r"\[(\d+)\]_")
BARS = re.compile(r"(`[^`]*`)|\|")
OPTIONS = {"show_class_members": False, "show_inherited_class_members": False}


def write_pages(folder: Path) -> int:
    """Write the pages of all namespaces into a folder; return the number of documented objects."""
    names = names_of_objects()
    members = members_of_classes()
    for module in MODULES:
        pages: dict[Source, list[tuple[str, object]]] = defaultdict(list)
        for key in sorted(keys(module), key=str.lower):
            thing = getattr(importlib.import_module(module), key)
            if names[identity(thing)][0] == f"{module}.{key}":
                pages[source(module, key, thing)].append((key, thing))
        sources = sorted(pages)
        for page in sources:
            parts = [heading(page.title, "="), f".. py:currentmodule:: {module}\n", page.text]
            for key, thing in pages[page]:
                parts.append(heading(key, "-") if len(pages[page]) > 1 else "")
                parts.append(directive(names[identity(thing)], thing))
                for name, member in members.get(identity(thing), []):
                    parts.append(indent(directive([name], member)))
                if key in PAGE_OF_CLASS:
                    parts.append(indent(repeated(thing)))
            path = folder / module / f"{page.stem}.rst"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(parts), encoding="utf-8")
        (folder / module / "index.rst").write_text(index(module, sources, pages), encoding="utf-8")
    return len(names) + sum(map(len, members.values()))


def keys(module: str) -> list[str]:
    """Return the public names of a namespace, without modules and without private ones."""
    loaded = importlib.import_module(module)
    return [k for k in loaded.__all__ if k[0] != "_" and not inspect.ismodule(getattr(loaded, k))]


def identity(thing: object) -> int:
    return id(getattr(thing, "__func__", thing))  # of the generator behind pb.random


def names_of_objects() -> dict[int, list[str]]:
    """Return all public names of each object: the first is the one that the pages document."""
    found = defaultdict(list)
    for module in MODULES:
        for key in keys(module):
            found[identity(getattr(importlib.import_module(module), key))].append(f"{module}.{key}")
    return found


def members_of_classes() -> dict[int, list[tuple[str, object]]]:
    """Return the documented methods and properties of each public class."""
    found = defaultdict(list)
    every = documented()
    for name, member in every.items():
        owner, _, key = name.rpartition(".")
        hint = owner == "pullback.Tensor" and key in hints.ATTRIBUTES
        if owner not in MODULES and not hint:
            module, _, short = owner.rpartition(".")
            found[identity(getattr(importlib.import_module(module), short))].append((name, member))
    return found


class Source(NamedTuple):
    """The page of an object: its group in the main namespace, title, file and introduction."""

    group: int
    title: str
    stem: str
    text: str


CONSTANTS = Source(0, "Numbers, dtypes and exceptions", "constants", "Those of Python and NumPy.\n")
CLASSES = Source(0, "Tensor and Variable", "tensor", "")


def source(module: str, key: str, thing: object) -> Source:
    """Return the page of an object: that of the module that defines it."""
    if key in PAGE_OF_CLASS or is_constant(thing):
        return CLASSES if key in PAGE_OF_CLASS else CONSTANTS
    path = Path(file_of(module, thing))
    text = first_line(importlib.import_module(_dotted(path)).__doc__ or "")
    stem = path.parent.name if path.name == "__init__.py" else path.stem.strip("_")
    named = re.match(r"`(\w+)`: ", text)
    title = TITLES.get(stem, named[1] if named else stem.replace("_", " ").capitalize())
    return Source(
        list(GROUPS).index(FOLDERS.get(path.parent.name, "Arrays")), title, stem, f"{text}\n"
    )


def file_of(module: str, thing: object) -> str:
    """Return the file of a function, or of a method of a class or of the class of an instance."""
    made = inspect.unwrap(getattr(thing, "__func__", thing))
    if inspect.isfunction(made):
        return made.__code__.co_filename
    for base in (b for b in _class(made).__mro__ if b.__module__.startswith("pullback")):
        for member in vars(base).values():
            function = getattr(member, "fget", getattr(member, "__func__", member))
            function = inspect.unwrap(function) if callable(function) else function
            if getattr(function, "__qualname__", "").startswith(f"{base.__name__}."):
                path = getattr(getattr(function, "__code__", None), "co_filename", "")
                if "pullback" in Path(path).parts:
                    return path
    return importlib.import_module(module).__file__


def is_constant(thing: object) -> bool:
    """Test whether an object is a number, a dtype, a string or a class of NumPy."""
    if inspect.isroutine(thing) or inspect.isdatadescriptor(thing):
        return False
    return not _class(thing).__module__.startswith("pullback")


def _class(thing: object) -> type:
    return thing if isinstance(thing, type) else type(thing)


def _dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    start = len(parts) - 1 - parts[::-1].index("pullback")
    return ".".join(parts[start:]).removesuffix(".__init__")


def first_line(text: str) -> str:
    return " ".join(text.strip().split("\n\n")[0].split())


def signature(thing: object) -> str:
    """Return the parameters of a callable without their types, or nothing."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    bare = inspect.Parameter.empty
    plain = [p.replace(annotation=bare) for n, p in found.parameters.items() if n != "self"]
    return str(found.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def directive(names: list[str], thing: object) -> str:
    """Return the description of an object, and short ones of its other names."""
    kind, taken = "data", ""
    if isinstance(thing, type):
        kind, taken = "class", signature(thing)
        if issubclass(thing, Exception):
            kind, taken = "exception", ""
    elif isinstance(thing, property) or inspect.isgetsetdescriptor(thing):
        kind = "property"
    elif callable(thing) and not isinstance(thing, Family):
        kind = "function" if names[0].rpartition(".")[0] in MODULES else "method"
        taken = signature(thing)
    text = f"Equal to {value(thing)}." if is_constant(thing) else rendered(names[0], thing)
    parts = [described(kind, names[0], taken, text)]
    alias = f"Alias of :py:obj:`{names[0]}`."
    return "\n".join(parts + [described(kind, name, taken, alias) for name in names[1:]])


def described(kind: str, name: str, taken: str, text: str) -> str:
    module = max((m for m in MODULES if name.startswith(f"{m}.")), key=len)
    short = name.removeprefix(f"{module}.")
    return f".. py:{kind}:: {short}{taken}\n   :module: {module}\n\n{indent(text)}\n"


def value(thing: object) -> str:
    name = f"{thing.__module__}.{thing.__name__}" if isinstance(thing, type) else repr(thing)
    return f"``{name}``"


def rendered(name: str, thing: object) -> str:
    """Return the docstring of an object as numpydoc formats it, with footnotes of its own."""
    text = str(get_doc_object(thing, doc=text_of(thing), config=OPTIONS))
    # The parameters are not links to functions of the same name.
    taken = [n.lstrip("*") for n in re.findall(r"^    +\*\*(.+?)\*\* :", text, re.M)]
    own = "|".join(re.escape(n) for names in taken for n in names.split(", "))
    text = re.sub(rf"(?<![`:])`({own})`(?![`_])", r"``\1``", text) if own else text
    text = re.sub(r"(?<![`:])`pb\.([\w.]+)`", r":py:obj:`pb.\1 <pullback.\1>`", text)
    label = re.sub(r"\W", "-", name.removeprefix("pullback."))
    text = FOOTNOTE.sub(rf"[#{label}-\1]_", text)
    text = re.sub(r"\.\. \[(\d+)\] ", rf".. [#{label}-\1] ", text)
    text = re.sub(r"\.\. only:: latex\n\n(?: +.*\n)*", "", text)
    return "\n".join(line if ">>>" in line else escaped(line) for line in text.split("\n"))


def escaped(line: str) -> str:
    """Escape the bars of absolute values, which delimit substitutions."""
    return BARS.sub(lambda m: m[0] if m[1] else "\\|", line)


def repeated(cls: type) -> str:
    """Return links to the public functions that are methods too."""
    found = [k for k, v in vars(cls).items() if k[0] != "_" and hasattr(v, "__wrapped__")]
    links = ", ".join(f":py:func:`{k} <pullback.{k}>`" for k in sorted(found))
    return f"Functions that are methods too, with the tensor as first argument: {links}.\n"


def index(module: str, sources: list[Source], pages: dict) -> str:
    """Return the page of a namespace: its names with the first line of each docstring."""
    loaded = importlib.import_module(module)
    text = first_line(loaded.__doc__ or "")
    main = module == "pullback"
    parts = [heading("Main namespace" if main else module, "="), f".. py:module:: {module}\n"]
    parts.append("Functions of arrays and their derivatives, `pb`.\n" if main else f"{text}\n")
    for group, found in groupby(sources, key=lambda page: page.group if main else None):
        members = list(found)
        if group is not None:
            parts += ["", heading(list(GROUPS)[group], "-")]
        parts.append(".. toctree::\n   :hidden:\n")
        parts += [f"   {page.title} <{page.stem}>" for page in members]
        for page in members:
            parts += ["", heading(page.title, "~" if main else "-"), table(module, pages[page])]
    listed = {key for page in sources for key, _ in pages[page]}
    others = [(k, getattr(loaded, k)) for k in keys(module) if k not in listed]
    if others:
        parts += ["", heading("Functions of other namespaces", "-"), table(module, others)]
    return "\n".join(parts) + "\n"


def table(module: str, entries: list[tuple[str, object]]) -> str:
    """Return a table of objects: links and the first lines of their docstrings."""
    parts = [".. list-table::\n   :class: names\n   :widths: 30 70\n"]
    for key, thing in entries:
        text = value(thing) if is_constant(thing) else first_line(text_of(thing))
        text = escaped(FOOTNOTE.sub("", text).replace(" .", "."))
        parts.append(f"   * - :py:obj:`{key} <{module}.{key}>`\n     - {text}")
    return "\n".join(parts) + "\n"


def heading(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}\n"


def indent(text: str) -> str:
    return "\n".join(f"   {line}" if line.strip() else "" for line in text.split("\n"))
