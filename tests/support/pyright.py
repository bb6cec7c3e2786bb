"""Runs pyright, or basedpyright, whose package brings the program along, on files of a folder."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest


class Message(NamedTuple):
    file: str
    line: int  # from 1
    severity: str
    text: str


def pyright(folder: Path, *files: str, mode: str = "standard") -> list[Message]:
    """Return the messages on files of a folder; skip the test if no checker is installed."""
    names = [name for name in ("basedpyright", "pyright") if find_spec(name)]
    if not names:
        pytest.skip("needs basedpyright or pyright")
    (folder / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": mode}), "utf-8")
    command = [sys.executable, "-m", names[0], "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run([*command, *files], cwd=folder, capture_output=True, text=True)
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["summary"]["filesAnalyzed"] == len(files), done.stdout
    return [
        Message(
            Path(entry["file"]).name,
            entry["range"]["start"]["line"] + 1,
            entry["severity"],
            entry["message"],
        )
        for entry in report["generalDiagnostics"]
    ]
