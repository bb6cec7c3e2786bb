"""No two headers define a type of one name: two would be one to the linker, and in a debug build
one's destructor would run for the other."""

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEFINED = re.compile(r"^(?:struct|class|union|enum class) (\w+)(?!\w|::)[^;(]*\{", re.M)
NAMESPACE = re.compile(r"^(?:inline )?namespace ([\w:]+) \{", re.M)


def test_types_of_headers_have_names_of_their_own():
    where = defaultdict(set)
    for path in (ROOT / "cpp").rglob("*.h"):
        text = path.read_text()
        outer = "::".join(NAMESPACE.findall(text))
        for match in DEFINED.finditer(text):
            where[outer, match[1]].add(path.relative_to(ROOT).as_posix())
    assert len(where) > 150
    twice = {name: sorted(files) for name, files in where.items() if len(files) > 1}
    assert not twice, twice
