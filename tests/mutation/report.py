"""Reports of `tools/mutants`: as JSON, as text, and the difference of two."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

Report = dict[str, Any]


def as_text(report: Report) -> str:
    """Return the kills of each part and the list of survivors."""
    by_part: dict[str, list[tuple[str, Any]]] = defaultdict(list)
    for name, entry in report["mutants"].items():
        by_part[entry["part"]].append((name, entry))
    lines = ["part          mutants  killed  excused  survived"]
    total = [0, 0, 0, 0]
    for part, entries in sorted(by_part.items()):
        killed = sum(e["status"] == "killed" for _, e in entries)
        excused = sum(e["status"] != "killed" and bool(e.get("reason")) for _, e in entries)
        row = [len(entries), killed, excused, len(entries) - killed - excused]
        total = [a + b for a, b in zip(total, row, strict=True)]
        lines.append(_row(part, row))
    lines.append(_row("all", total))
    for title, excused in (("survived", False), ("survived, with a reason", True)):
        rest = [
            (name, entry)
            for name, entry in report["mutants"].items()
            if entry["status"] != "killed" and bool(entry.get("reason")) == excused
        ]
        if rest:
            lines += ["", f"{title}:"]
        for name, entry in rest:
            tried = f"{entry['tried']} of {entry['reaching']} reaching tests"
            lines.append(f"  {name} ({entry['part']}, {entry['file']}; {tried})")
            if entry.get("reason"):
                lines.append(f"      {entry['reason']}")
    if report["unusable"]:
        lines += ["", f"{len(report['unusable'])} tests failed without a mutant and were left out:"]
        lines += [f"  {test}" for test in report["unusable"]]
    if report.get("left_out"):
        lines += ["", f"{len(report['left_out'])} tests were left out because they are long"]
    return "\n".join(lines)


def _row(name: str, numbers: list[int]) -> str:
    return f"{name:12}" + "".join(f"{n:>9}" for n in numbers)


def difference(before: Report, after: Report) -> str:
    """Return which kills the second report has lost or gained."""
    old, new = before["mutants"], after["mutants"]
    lines = []
    for title, first, second in (("lost", old, new), ("gained", new, old)):
        names = [
            name
            for name, entry in first.items()
            if entry["status"] == "killed" and second.get(name, {}).get("status") != "killed"
        ]
        lines.append(f"{title}: {len(names)}")
        for name in names:
            state = second.get(name, {}).get("status", "not in the other report")
            lines.append(f"  {name}: {state}; killed by {first[name]['test']}")
    both = sum(e["status"] == "killed" == new.get(n, {}).get("status") for n, e in old.items())
    lines.append(f"killed in both: {both}")
    return "\n".join(lines)
