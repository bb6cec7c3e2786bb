"""The table of docs/ecosystem.md: each row has an outcome, and the tests that it names exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
OUTCOMES = ("works", "in part", "error", "checked")


def test_rows_name_tests_that_exist() -> None:
    text = (ROOT / "docs/ecosystem.md").read_text("utf-8")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    assert rows[0] == ["part", "outcome", "tests"] and len(rows) > 60
    for part, outcome, tests in rows[1:]:
        assert outcome.startswith(OUTCOMES), part
        source = ""
        names = re.findall(r"`([^`]+)`", tests)
        assert names and names[0].endswith(".py"), part
        for name in names:
            if name.endswith(".py"):
                source = (ROOT / name).read_text("utf-8")
                assert "\ndef test_" in source, (part, name)
            else:
                assert f"\ndef {name}(" in source, (part, name)
    parts = [row[0] for row in rows]
    assert len(set(parts)) == len(parts)
