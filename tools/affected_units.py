"""Print the translation units of a compile_commands.json that a change affects, as patterns for
run-clang-tidy: python3 tools/affected_units.py COMMIT compile_commands.json

A unit is affected if it, or a header that it includes directly or through others, differs from
COMMIT. If .clang-tidy differs, all are.
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


def changed_files(commit: str) -> set[Path]:
    command = ["git", "diff", "--name-only", "--diff-filter=d", commit]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return {ROOT / name for name in done.stdout.split("\n") if name}


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


def affected(commit: str) -> set[Path]:
    found, users = set[Path](), included_by()
    waiting = list(changed_files(commit))
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += users.get(path, ())
    return found


def main() -> None:
    commit, commands = sys.argv[1:]
    units = sorted(
        {Path(entry["file"]).resolve() for entry in json.loads(Path(commands).read_text())}
    )
    found = affected(commit)
    for unit in units:
        if unit in found or ROOT / ".clang-tidy" in found:
            print(f"^{re.escape(str(unit))}$")


if __name__ == "__main__":
    main()
