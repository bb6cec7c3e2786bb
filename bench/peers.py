"""Where the libraries live: a virtual environment each, under a folder that git does not see."""

from __future__ import annotations

import subprocess
import sys
import venv
from importlib.util import find_spec
from pathlib import Path

# What pip installs for a peer. On Linux, PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu
# spares a gigabyte of CUDA libraries.
PEERS = {
    "torch": ["numpy", "torch==2.13.0"],
    "jax": ["numpy", "jax==0.10.2"],
    "tensorflow": ["numpy", "tensorflow-cpu==2.21.0"],
    "autograd": ["numpy", "scipy", "autograd==1.9.1"],
}


def _python(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def install(cache: Path, names: list[str]) -> None:
    prepare(cache)
    for name in names:
        print(f"installing {' '.join(PEERS[name])} into {cache / name}", flush=True)
        venv.create(cache / name, with_pip=True)
        command = [_python(cache / name), "-m", "pip", "install", "--quiet", *PEERS[name]]
        subprocess.run(command, check=True)


def prepare(cache: Path) -> None:
    cache.mkdir(parents=True, exist_ok=True)
    (cache / ".gitignore").write_text("*\n")


def interpreter(cache: Path, library: str) -> str | None:
    """The Python that has a library: its environment, else this one; None where it is nowhere."""
    if library not in PEERS:
        return sys.executable
    python = _python(cache / library)
    if python.exists():
        return str(python.absolute())
    return sys.executable if find_spec(library) else None


def built(cache: Path, name: str) -> Path | None:
    """A program or library of bench/native: from --native, else from a build of one's own."""
    for folder in (cache / "native", *sorted(Path(__file__).parents[1].glob("build*"))):
        for path in sorted((folder / "bench/native").glob(f"{name}*")):
            if path.is_file() and path.suffix in {"", ".exe", ".so", ".dll"}:
                return path
    return None
