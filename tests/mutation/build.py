"""Build the library with all mutants woven in, into a package of its own.

`build` copies the sources, weaves the mutants into the copy and compiles it for the machine's best
instruction set at -O1. The sources of the checkout do not change. `PYTHONPATH` with the package in
front makes Python and the tests use it. A file whose text is the same as in the last build is not
written, so that a second build compiles what has changed.

Two functions are added to the library: `mutant(k)` in C++ (`mutant.h` below) and `_mutant(k)` in
Python (`pullback/_mutation.py`). They note in a table of bytes that mutant k was reached, and
return whether it is the chosen one. The table is shared by a process and its children: a file that
PULLBACK_MUTANTS_REACHED names. PULLBACK_MUTANT chooses a mutant when the library is loaded.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from .catalogue import NUMBERS, ROOT, Mutant, numbered, weave

HEADER = """#pragma once
extern "C" {
extern unsigned char* pullback_mutants_reached;
extern int pullback_mutant;
}
namespace pullback {
inline bool mutant(int number) {
  pullback_mutants_reached[number] = 1;
  return number == pullback_mutant;
}
}  // namespace pullback
"""

SOURCE = """// Which mutants were reached, and which one is chosen.
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {
constexpr int kNumbers = @NUMBERS@;
unsigned char own_table[kNumbers];
}  // namespace

extern "C" {
unsigned char* pullback_mutants_reached = own_table;
int pullback_mutant = -1;

__attribute__((visibility("default"))) void pullback_choose_mutant(int number) {
  pullback_mutant = number;
}

// Before other static objects are made, which may reach mutants.
__attribute__((constructor(101))) void pullback_open_mutants() {
  if (const char* number = std::getenv("PULLBACK_MUTANT")) pullback_mutant = std::atoi(number);
  const char* path = std::getenv("PULLBACK_MUTANTS_REACHED");
  const int file = path ? open(path, O_RDWR) : -1;
  if (file < 0) return;
  void* table = mmap(nullptr, kNumbers, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (table != MAP_FAILED) pullback_mutants_reached = static_cast<unsigned char*>(table);
  close(file);
}
}
"""

MODULE = '''"""Which mutants were reached, and which one is chosen: see tests/mutation/build.py."""

import builtins
import mmap
import os

_path = os.environ.get("PULLBACK_MUTANTS_REACHED")
try:
    with open(_path, "r+b") as _file:
        _table = mmap.mmap(_file.fileno(), @NUMBERS@)
except (OSError, TypeError):
    _table = bytearray(@NUMBERS@)
_chosen = int(os.environ.get("PULLBACK_MUTANT", "-1"))


def _mutant(number):
    _table[number] = 1
    return number == _chosen


def choose(number):
    global _chosen
    _chosen = number


builtins._mutant = _mutant
'''


def best_level() -> str:
    """Return the name of the best instruction set that the kernels know and this machine has."""
    flags: set[str] = set()
    cpuinfo = Path("/proc/cpuinfo")
    for line in cpuinfo.read_text().splitlines() if cpuinfo.exists() else ():
        if line.startswith("flags"):
            flags.update(line.split())
            break
    if flags >= {"avx512f", "avx512bw", "avx512dq", "avx512vl"}:
        return "avx512"
    return "avx2" if flags >= {"avx2", "fma", "f16c"} else "baseline"


def build(folder: Path, mutants: list[Mutant]) -> Path:
    """Build in `folder` and return the folder to put in front of PYTHONPATH.

    Raises
    ------
    CatalogueError
        If a mutant does not match the sources.
    subprocess.CalledProcessError
        If the copy does not compile.
    """
    source = folder / "source"
    numbers = numbered(mutants)
    by_file: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        by_file[mutant.file].append(mutant)
    level = os.environ.get("LEVEL") or best_level()
    wanted = _files()
    for name in wanted:
        content = (ROOT / name).read_bytes()
        if name in by_file:
            content = weave(content.decode(), by_file[name], numbers).encode()
        if Path(name).parent == Path("cpp/backend/cpu"):
            # Kernels of one level only: they stand in for the baseline, too.
            content = re.sub(rb"\bkernels_baseline\b", f"kernels_{level}".encode(), content)
        _write(source / name, content)
    init = source / "python/pullback/__init__.py"
    marker = "from typing import TYPE_CHECKING\n"
    first = "from . import _mutation  # isort: skip\n"
    _write(init, init.read_text().replace(marker, marker + first, 1).encode())
    table = {"@NUMBERS@": str(NUMBERS)}
    for name, text in (
        ("cpp/base/mutant.h", HEADER),
        ("cpp/base/mutant.cpp", SOURCE),
        ("python/pullback/_mutation.py", MODULE),
    ):
        for key, value in table.items():
            text = text.replace(key, value)
        _write(source / name, text.encode())
        wanted.add(name)
    for path in [p for p in source.rglob("*") if p.is_file()]:
        if str(path.relative_to(source)) not in wanted and "__pycache__" not in path.parts:
            path.unlink()
    return _compiled(folder, source, level)


def _files() -> set[str]:
    names = {"CMakeLists.txt"}
    for folder in ("cmake", "cpp", "python"):
        paths = (p for p in (ROOT / folder).rglob("*") if p.is_file())
        names |= {str(p.relative_to(ROOT)) for p in paths if "__pycache__" not in p.parts}
    return names


def _write(path: Path, content: bytes) -> None:
    if path.exists() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _compiled(folder: Path, source: Path, level: str) -> Path:
    made = folder / "cmake"
    pybind = [sys.executable, "-m", "pybind11", "--cmakedir"]
    header = source / "cpp/base/mutant.h"
    subprocess.run(
        [
            "cmake", "-G", "Ninja", "-S", str(source), "-B", str(made), "-DCMAKE_BUILD_TYPE=None",
            f"-DCMAKE_CXX_FLAGS=-O1 -w -include {header}", f"-DPULLBACK_CPU_LEVELS={level}",
            "-DSKBUILD_PROJECT_VERSION=0", f"-DPython_EXECUTABLE={sys.executable}",
            f"-Dpybind11_DIR={subprocess.check_output(pybind, text=True).strip()}",
        ],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    subprocess.run(["ninja", "-C", str(made), "--quiet"], check=True)
    package = folder / "package"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(source / "python/pullback", package / "pullback")
    for library in made.glob("cpp/_core*.so"):
        shutil.copy(library, package / "pullback")
    return package
