"""The text of the project: it names nothing that somebody with a clone does not have."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("bench", "cpp", "docs", "examples", "python", "tests", "tools")
SUFFIXES = {".cpp", ".def", ".h", ".md", ".py", ".pyi", ".toml", ".txt", ""}
ELSEWHERE = re.compile(
    r"\b(SEMANTICS|NUMERICS|WORKLOADS|DESIGN)\b(?=[.,;: ]*[0-9§(]|\.md)|§|\.\./shared"
)


def test_no_document_of_others_is_cited():
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    texts = [p for p in files if p.is_file() and p.suffix in SUFFIXES and p != Path(__file__)]
    assert len(texts) > 250
    found = [
        f"{path.relative_to(ROOT)}: {hit[0]}"
        for path in texts
        if (hit := ELSEWHERE.search(path.read_text(encoding="utf-8")))
    ]
    assert not found
