"""The C++ benches of bench/native, one row for each program; without Python while they run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from .harness import ROOT, Report, Result, Setting

NAMES = [p.stem.removesuffix("_bench") for p in sorted((ROOT / "bench/native").glob("*_bench.cpp"))]


def build(cache: Path) -> None:
    if not shutil.which("cmake"):
        sys.exit("python -m bench --native: cmake is not on PATH (pip install cmake ninja)")
    folder = cache / "native"
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    options = ["-DPULLBACK_BUILD_PYTHON=OFF", "-DPULLBACK_BUILD_BENCH=ON"]
    subprocess.run(["cmake", *generator, "-S", ROOT, "-B", folder, *options], check=True)
    subprocess.run(["cmake", "--build", folder, "--parallel"], check=True)


def find(cache: Path, name: str) -> Path | None:
    suffix = ".exe" if sys.platform == "win32" else ""
    for folder in (cache / "native", *sorted(ROOT.glob("build*"))):
        program = folder / "bench/native" / f"{name}_bench{suffix}"
        if program.is_file():
            return program
    return None


def run(report: Report, setting: Setting, name: str, blas: str) -> None:
    program = find(setting.cache, name)
    if not program:
        report.missing.append(f"{name}: not built (--native)")
        return
    print(f"{name}: {program}", file=sys.stderr, flush=True)
    done = subprocess.run(
        [program, *(["--smoke"] if setting.smoke else [])],
        env={**os.environ, "PULLBACK_BLAS": blas},
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        report.failures.append(f"{name}: died with code {done.returncode}")
    for line in done.stdout.splitlines():
        row = json.loads(line)
        report.results.append(Result(name, "C++", row["name"], row["unit"], row["samples"]))
