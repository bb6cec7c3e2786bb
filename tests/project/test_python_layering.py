"""The import statements of python/pullback: folders depend on each other in one direction only.

`BELOW` lists what each folder may import. Imports inside of functions count, and so do those for
annotations alone. Files are free of import cycles too, apart from imports for annotations.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from support.each import each

PACKAGE = Path(__file__).parents[2] / "python" / "pullback"

# What a folder, or a module beside the folders, may import besides itself and `_core`.
BELOW = {
    "_typing": set(),
    "_base": {"_typing"},
    "_runtime": {"_base", "_typing", "_autodiff", "_explain"},
    "cuda": set(),
    "datasets": set(),
    "_numpy": {"_base", "_typing"},
    "_autodiff": {"_base", "_typing", "_numpy"},
    "_control": {"_base", "_typing", "_autodiff"},
    "_explain": {"_base", "_numpy", "_autodiff"},
    "_files": {"optimizers", "random"},
    "fft": {"_base", "_typing", "_numpy"},
    "special": {"_base", "_typing", "_numpy", "_autodiff"},
    "random": {"_base", "_typing", "_numpy"},
    "initializers": {"_base", "_typing", "_numpy", "random"},
    "nn": {"_base", "_typing", "_numpy", "_control", "initializers"},
    "implicit": {"_base", "_autodiff", "_control", "linalg"},
    "interop": {"_autodiff", "_numpy", "tree"},
    "linalg": {"_base", "_typing", "_numpy", "_autodiff", "_control"},
    "stats": {"_base", "_numpy", "_autodiff", "_control", "linalg"},
    "integrate": {"_base", "_numpy", "_autodiff", "_control", "implicit", "linalg"},
    "interpolate": {"_base", "_typing", "_numpy", "_autodiff", "linalg"},
    "optimize": {"_base", "_typing", "_numpy", "_autodiff", "_control", "implicit", "linalg"},
    "optimizers": {"_base", "_numpy", "_explain"},
    "testing": {"_autodiff"},
    "tree": {"_base"},
}
# Above all of these: the module `pullback`, which imports them by name, and its two guests.
ABOVE = {"__init__", "__main__", "_cli", "compat"}
# Functions that return the public namespace or list its names import `pullback` when they run.
NAMESPACE = {
    "_autodiff/rules.py",
    "_numpy/array_api.py",
    "_numpy/array_function.py",
    "_numpy/array_ufunc.py",
}

SOURCES = sorted(PACKAGE.rglob("*.py"))


def module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in SOURCES}


def folder_of(module: str) -> str:
    """The folder, or the module beside the folders; `__init__` stands for `pullback` itself."""
    return (module.split(".")[1:] or ["__init__"])[0]


def imports_of(path: Path, annotations: bool = True) -> Iterator[str]:
    """Yield the modules of the package that a file imports, anywhere in it.

    Parameters
    ----------
    path : Path
        File of the package.
    annotations : bool, default True
        Also yield what is imported under `if TYPE_CHECKING`.
    """
    package = module_of(path).split(".")
    if path.name != "__init__.py":
        package.pop()
    nodes = [ast.parse(path.read_text(encoding="utf-8"))]
    for node in nodes:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            nodes += [*node.body * annotations, *node.orelse]
            continue
        nodes += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.split(".")[0] == "pullback")
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *filter(None, [node.module])])
            if module.split(".")[0] == "pullback":
                for alias in node.names:
                    name = f"{module}.{alias.name}"
                    yield name if name in MODULES or name == "pullback._core" else module


def test_the_folders_are_the_known_ones() -> None:
    assert {folder_of(module) for module in MODULES} == {*BELOW, *ABOVE}
    TopologicalSorter(BELOW).prepare()  # raises CycleError
    assert len(SOURCES) > 150


@each("path", SOURCES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    folder, name = folder_of(module_of(path)), path.relative_to(PACKAGE).as_posix()
    if folder in ABOVE:
        return
    for module in imports_of(path):
        target = folder_of(module)
        if target == "__init__" and name in NAMESPACE:
            continue
        if target not in {"_core", folder, *BELOW[folder]}:
            pytest.fail(f"{name} imports {module}; {folder} may use {sorted(BELOW[folder])}")


def test_no_file_is_imported_by_what_it_imports() -> None:
    """The files of compat.tf1 are not checked: its graph, operations and tensors are one knot."""
    files = {m: p for m, p in MODULES.items() if folder_of(m) in BELOW}
    graph = {
        module: {used for used in imports_of(path, annotations=False) if used in files} - {module}
        for module, path in files.items()
    }
    TopologicalSorter(graph).prepare()


def test_compat_is_imported_by_commands_only() -> None:
    for module, path in MODULES.items():
        if folder_of(module) not in {"compat", "_cli", "__main__"}:
            assert not any(folder_of(used) == "compat" for used in imports_of(path)), path
