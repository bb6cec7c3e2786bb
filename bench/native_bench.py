"""What is compiled: the C++ benches, a row for each program, which run without Python; and the
formulas by hand, which are a library of the other rows."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from .harness import ROOT, Report, Result, Setting, miss
from .peers import built

NAMES = [p.stem.removesuffix("_bench") for p in sorted((ROOT / "bench/native").glob("*_bench.cpp"))]


def build(cache: Path) -> None:
    if not shutil.which("cmake"):
        sys.exit("python -m bench --native: cmake is not on PATH (pip install cmake ninja)")
    folder = cache / "native"
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    options = ["-DPULLBACK_BUILD_PYTHON=OFF", "-DPULLBACK_BUILD_BENCH=ON"]
    subprocess.run(["cmake", *generator, "-S", ROOT, "-B", folder, *options], check=True)
    subprocess.run(["cmake", "--build", folder, "--parallel"], check=True)


def figure(entry: dict[str, Any]) -> tuple[str, float]:
    """What Google Benchmark says of a repetition: a rate, or the nanoseconds of an item."""
    if "bytes_per_second" in entry:
        return "GB/s", entry["bytes_per_second"] / 1e9
    if "flops" in entry:
        return "GFLOP/s", entry["flops"] / 1e9
    return "ns", 1e9 / entry["items_per_second"]


def run(report: Report, setting: Setting, name: str, blas: str) -> None:
    program = built(setting.cache, f"{name}_bench")
    if not program:
        miss(report, "native benches: not built (--native, which needs Google Benchmark)")
        return
    print(f"{name}: {program}", file=sys.stderr, flush=True)
    arguments = [
        "--benchmark_format=json",
        f"--benchmark_repetitions={setting.repetitions}",
        f"--benchmark_min_time={0 if setting.smoke else setting.seconds / 5}",
    ]
    done = subprocess.run(
        [program, *arguments, *(["--small"] if setting.smoke else [])],
        env={**os.environ, "PULLBACK_BLAS": blas},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if setting.smoke else None,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        report.failures.append(f"{name}: died with code {done.returncode}")
        return
    results: dict[str, Result] = {}
    for entry in json.loads(done.stdout)["benchmarks"]:
        if entry.get("error_occurred"):
            report.failures.append(f"{name}: {entry['name']}: {entry['error_message']}")
        elif entry["run_type"] == "iteration":
            unit, value = figure(entry)
            what = entry["run_name"].removesuffix("/real_time")
            results.setdefault(what, Result(name, "native", what, unit)).samples.append(value)
    report.results += results.values()
