"""The #include lines of cpp/: dependencies point one way only, and no folder depends on itself by
way of another one; and what else the source text promises."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from support.each import each

CPP = Path(__file__).parents[2] / "cpp"

# What a folder may include, besides itself.
BELOW = {
    "base": set(),
    "runtime": {"base"},
    "graph": {"base", "runtime"},
    "ops": {"base", "runtime", "graph"},
    "transform": {"base", "runtime", "graph", "ops"},
    "grad": {"base", "runtime", "graph", "ops", "transform"},
    "plan": {"base", "runtime", "graph", "ops"},
    "eval": {"base", "runtime", "graph", "ops", "plan"},
    "trace": {"base", "runtime", "graph", "ops", "plan", "eval"},
    "explain": {"base", "runtime", "graph", "ops", "transform", "grad", "eval"},
    "backend": {"base", "runtime", "graph", "ops", "plan"},
}
BELOW["bind"] = set(BELOW)
# The folders inside of those.
INNER = {
    "ops": {"linalg"},
    "grad": {"zeros", "control", "sparse"},
    "plan": {"passes", "verify"},
    "backend": {
        "null", "one_step", "common", "cuda", "cpu", "cpu/common", "cpu/convolution", "cpu/data",
        "cpu/fourier", "cpu/kernels", "cpu/linalg", "cpu/products", "cpu/small", "cpu/special",
        "cpu/special/incomplete", "cpu/tiles",
    },
    "bind": {"common", "arrays", "operations", "grad", "explain", "types"},
}  # fmt: skip
# A backend sees plans only: never nodes, never the builders.
BACKEND_SEES = {"base", "runtime", "plan", "backend"}
BACKEND_EXCEPTIONS = {"graph/op.h", "graph/elementwise.def", "graph/other.def"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
SOURCES = sorted(p for p in CPP.rglob("*") if p.suffix in {".h", ".cpp", ".def"})


def own_includes(path: Path) -> list[str]:
    return [name for kind, name in INCLUDE.findall(path.read_text()) if kind == '"']


def folder_of(name: str) -> str:
    return name.rpartition("/")[0]


def test_the_folders_are_the_known_ones() -> None:
    found = {folder_of(str(p.relative_to(CPP))) for p in SOURCES}
    inner = {f"{outer}/{name}" for outer, names in INNER.items() for name in names}
    assert found | {"backend"} == set(BELOW) | inner
    assert len(SOURCES) > 80


def test_no_folder_depends_on_itself() -> None:
    """A folder counts without those inside of it: they are folders of their own."""
    uses: dict[str, dict[str, str]] = {}
    for path in SOURCES:
        own = str(path.relative_to(CPP))
        for name in own_includes(path):
            if folder_of(name) != folder_of(own):
                uses.setdefault(folder_of(own), {}).setdefault(
                    folder_of(name), f"{own} includes {name}"
                )
    done: set[str] = set()
    open_: list[str] = []

    def visit(folder: str) -> None:
        if folder in open_:
            cycle = [*open_[open_.index(folder) :], folder]
            pytest.fail("; ".join(uses[a][b] for a, b in itertools.pairwise(cycle)))
        if folder in done:
            return
        open_.append(folder)
        for other in uses.get(folder, {}):
            visit(other)
        open_.pop()
        done.add(folder)

    for folder in uses:
        visit(folder)


@each("path", SOURCES, ids=lambda p: str(p.relative_to(CPP)))
def test_arrows_point_down(path: Path) -> None:
    folder = path.relative_to(CPP).parts[0]
    for name in own_includes(path):
        assert (CPP / name).is_file(), f"{name} is no file of cpp/"
        target = name.split("/")[0]
        if target == folder or target in BELOW[folder]:
            continue
        pytest.fail(f'#include "{name}" points back: {folder} may use {sorted(BELOW[folder])}')


def test_backends_see_plans_only() -> None:
    for path in (CPP / "backend").rglob("*"):
        if path.suffix not in {".h", ".cpp"}:
            continue
        for name in own_includes(path):
            if name not in BACKEND_EXCEPTIONS:
                assert name.split("/")[0] in BACKEND_SEES, f"{path.name} includes {name}"


def test_plans_have_no_nodes() -> None:
    """What a backend includes does not declare nodes, by way of other headers either."""
    seen: set[str] = set()

    def visit(name: str) -> None:
        if name not in seen and not name.endswith(".def"):
            seen.add(name)
            for inner in own_includes(CPP / name):
                visit(inner)

    for header in ("plan/backend.h", "plan/step_views.h", "plan/profile.h", "plan/one_step.h"):
        visit(header)
    assert "plan/plan.h" in seen and "graph/op.h" in seen
    assert not {"graph/node.h", "graph/operation.h", "graph/attr.h"} & seen


def test_only_bind_knows_python() -> None:
    for path in SOURCES:
        if path.relative_to(CPP).parts[0] == "bind":
            continue
        for _, name in INCLUDE.findall(path.read_text()):
            assert not name.startswith("pybind11"), f"{path} includes {name}"
            assert name not in {"Python.h", "structmember.h"}, f"{path} includes {name}"


def test_headers_are_guarded_and_free_of_cycles() -> None:
    headers = {str(p.relative_to(CPP)): p for p in SOURCES if p.suffix == ".h"}
    for name, path in headers.items():
        assert "#pragma once" in path.read_text(), name
    done: set[str] = set()
    open_: set[str] = set()

    def visit(name: str) -> None:
        if name in done or name not in headers:
            return
        assert name not in open_, f"{name} includes itself"
        open_.add(name)
        for other in own_includes(headers[name]):
            visit(other)
        open_.remove(name)
        done.add(name)

    for name in headers:
        visit(name)


def test_a_type_name_has_one_definition() -> None:
    """Two types of one name are undefined behaviour: the linker keeps one of their destructors."""
    definition = re.compile(
        r"^(?:struct|class)(?: alignas\(\d+\))? (\w+)(?: :.*)? \{", re.MULTILINE
    )
    where: dict[tuple[str, str], list[str]] = {}
    for path in SOURCES:
        text = path.read_text()
        if path.suffix == ".h" and "namespace {" not in text:
            space = re.findall(r"^namespace (\S+) \{", text, re.MULTILINE)[:1]
            for name in definition.findall(text):
                where.setdefault((*space, name), []).append(str(path.relative_to(CPP)))
    assert len(where) > 100
    assert {name: files for name, files in where.items() if len(files) > 1} == {}


def test_file_names_tell_files_apart() -> None:
    """Layers that meet the same operations, types or tapes name their files alike; no others do."""
    layers = ("base", "runtime", "graph", "grad", "plan", "eval", "trace", "explain", "transform")
    where: dict[str, set[str]] = {}
    for path in SOURCES:
        folder = path.relative_to(CPP).parts[0]
        if folder in layers:
            where.setdefault(path.stem, set()).add(folder_of(str(path.relative_to(CPP))))
    twice = {stem: folders for stem, folders in where.items() if len(folders) > 1}
    assert twice == {"control_flow": {"grad", "grad/control"}}  # a header below what implements it


def test_a_reference_to_a_node_has_one_name() -> None:
    written = {str(p.relative_to(CPP)) for p in SOURCES if "Ref<Node>" in p.read_text()}
    assert written == {"graph/node.h"}, "write NodeRef"


def test_files_stay_small_and_open_with_their_story() -> None:
    """Past 400 lines a file says at its head why."""
    for path in SOURCES:
        lines = path.read_text().splitlines()
        assert lines[0].startswith("// "), f"{path.name} does not say what it holds"
        head = "\n".join(lines[:12])
        assert len(lines) <= 400 or re.search(r"400 lines|one file because", head), (
            f"{path.name} has {len(lines)} lines and no reason at its head"
        )
