"""Print the translation units of a compile_commands.json that a change affects, as patterns for
run-clang-tidy: python3 tools/affected_units.py COMMIT compile_commands.json [MOST]

A unit is affected if it, or a header that it includes directly or through others, differs from
COMMIT or is new. A file that was moved, or of which only the paths in `#include` lines differ, is
as it was. If a file that configures the build or clang-tidy differs, all are. With MOST, so
many at most: first those that differ themselves. stderr reports how many are left out, to a run of
every file (tools/nightly).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("cpp", "tests/cpp", "bench/native")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
CONFIGURATION = re.compile(r"(^|/)(\.clang-tidy|CMakeLists\.txt|[^/]*\.cmake)$")


def git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout


def changed_files(commit: str) -> set[Path]:
    found = {ROOT / name for name in git("ls-files", "--others", "--exclude-standard").splitlines()}
    for line in git("diff", "--name-status", "-M", "--diff-filter=d", commit).splitlines():
        _, *names = line.split("\t")  # one name, or where a file was moved, its old and new name
        path = ROOT / names[-1]
        if not is_as_it_was(commit, names[0], path):
            found.add(path)
    return found


def is_as_it_was(commit: str, before: str, path: Path) -> bool:
    """Whether nothing but the paths of included files differs."""
    if path.suffix not in {".h", ".cpp", ".def"}:
        return False
    try:
        old = git("show", f"{commit}:{before}")
    except subprocess.CalledProcessError:  # a new file
        return False
    return INCLUDE.sub("", old).split() == INCLUDE.sub("", path.read_text(encoding="utf-8")).split()


def included_by() -> dict[Path, set[Path]]:
    """The files that include each file directly. A path is relative to cpp/ or to the file."""
    found: dict[Path, set[Path]] = {}
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix not in {".h", ".cpp", ".def"}:
                continue
            for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
                for base in (ROOT / "cpp", path.parent):
                    if (base / name).is_file():
                        found.setdefault((base / name).resolve(), set()).add(path)
    return found


def users_of(files: set[Path]) -> set[Path]:
    """The files, and those that include one of them directly or through others."""
    found, includers = set[Path](), included_by()
    waiting = list(files)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += includers.get(path, ())
    return found


def main() -> None:
    commit, commands, *rest = sys.argv[1:]
    entries = json.loads(Path(commands).read_text(encoding="utf-8"))
    units = sorted({entry["file"] for entry in entries})
    changed = changed_files(commit)
    affected = users_of(changed)
    if not any(CONFIGURATION.search(path.relative_to(ROOT).as_posix()) for path in changed):
        units = [unit for unit in units if Path(unit).resolve() in affected]
    units.sort(key=lambda unit: Path(unit).resolve() not in changed)
    most = int(rest[0]) if any(rest) else len(units)
    print(
        f"clang-tidy: {len(units)} units differ from {commit} or include a file that does; "
        f"{max(0, len(units) - most)} of them are left to a run without --changed",
        file=sys.stderr,
    )
    for unit in units[:most]:
        print(f"^{re.escape(unit)}$")


if __name__ == "__main__":
    main()
