"""A row by its name: what a process of a smoke run is asked for."""

from __future__ import annotations

from . import growth, native_bench
from .case import all_rows
from .harness import Report, Setting, run_row


def run(setting: Setting, blas: str, name: str) -> Report:
    report = Report()
    rows = all_rows()
    if name in rows:
        run_row(report, setting, name, rows[name])
    elif name == "growth":
        growth.run(report, setting)
    else:
        native_bench.run(report, setting, name, blas)
    return report
