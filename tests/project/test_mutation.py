"""The catalogue of `tools/mutants` matches the sources, so that the tool can build."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from mutation import catalogue
from mutation.report import as_text, difference

MUTANTS = catalogue.read()


def test_every_entry_matches_its_file() -> None:
    files: dict[str, list[catalogue.Mutant]] = defaultdict(list)
    for mutant in MUTANTS:
        files[mutant.file].append(mutant)
    numbers = catalogue.numbered(MUTANTS)
    for file, mutants in files.items():
        text = (catalogue.ROOT / file).read_text(encoding="utf-8")
        woven = catalogue.weave(text, mutants, numbers)
        if file.endswith(".py"):
            compile(woven, file, "exec")


def test_there_are_many_and_of_each_part() -> None:
    assert len(MUTANTS) >= 150
    parts = [mutant.part for mutant in MUTANTS]
    assert set(parts) == set(catalogue.PARTS)
    assert min(map(parts.count, catalogue.PARTS)) >= 8
    assert len(set(catalogue.numbered(MUTANTS).values())) == len(MUTANTS)


@pytest.mark.parametrize(
    ("mutant", "text", "expected"),
    [
        (("a.cpp", "x + «1»;", "2"), "x\n  + 1;", "x\n  + (::pullback::mutant(7) ? (2) : (1));"),
        (("a.cpp", "f();", ""), "f();", "{ if (::pullback::mutant(7)) {  } else { f(); } }"),
        (("a.py", "g(«1»)", "2"), "z = g(1)\n", "z = g(((2) if _mutant(7) else (1)))\n"),
        (("a.py", "t = 1", "t = 2"), "if a:\n  t = 1\n",
         "if a:\n  if _mutant(7):\n      t = 2\n  else:\n      t = 1\n"),
        (("a.py", "«x» < 1", "MUTANT or x"), "x < 1", "_mutant(7) or x < 1"),
    ],
)  # fmt: skip
def test_weaving(mutant: tuple[str, str, str], text: str, expected: str) -> None:
    file, context, mutated = mutant
    entry = catalogue.Mutant("m", "ops", file, context, mutated)
    assert catalogue.weave(text, [entry], {"m": 7}) == expected


def test_an_entry_that_does_not_match_says_what_to_do() -> None:
    entry = catalogue.Mutant("m", "ops", "a.py", "f(«1»)", "2")
    for text, times in (("f(2)", 0), ("f(1) + f(1)", 2)):
        with pytest.raises(catalogue.CatalogueError, match=f"occurs {times} times.*\n.*\n.*Edit"):
            entry.span(text)
    other = catalogue.Mutant("n", "ops", "a.py", "«f(1)»", "2")
    with pytest.raises(catalogue.CatalogueError, match=r"mutants n and m overlap in a\.py"):
        catalogue.weave("f(1)", [entry, other], {"m": 7, "n": 8})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[ops] a.py\n\nm\n  f(1)\n", "expected a context and"),
        ("m\n  f(1)\n  -> 2\n", "expected a context and"),
        ("[ops] a.py\n\n  f(1)\n", r"expected '\[part\] file' or a name"),
        ("[ops] a.py\n\nm\n  1\n  -> 2\n  reason: none\n", "a reason that begins with one of"),
        ("[ops] a.py\n\nm\n  1\n  -> 2\nm\n  1\n  -> 3\n", "the name occurs twice"),
    ],
)
def test_malformed_entries(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "some.txt").write_text(text)
    with pytest.raises(catalogue.CatalogueError, match=message):
        catalogue.read(tmp_path)


def test_reports_and_their_difference() -> None:
    def entry(status: str, **more: object) -> dict[str, object]:
        given = {"part": "ops", "file": "a.py", "reason": None, "tried": 3, "reaching": 4}
        return {**given, "status": status, "test": "test_a.py::test_a", **more}

    before = {
        "mutants": {"a": entry("killed"), "b": entry("killed"), "c": entry("survived")},
        "unusable": ["test_b.py::test_b"],
    }
    after = {
        "mutants": {"a": entry("killed"), "b": entry("survived"), "c": entry("killed")},
        "unusable": [],
    }
    assert difference(before, after).splitlines() == [
        "lost: 1", "  b: survived; killed by test_a.py::test_a",
        "gained: 1", "  c: survived; killed by test_a.py::test_a",
        "killed in both: 1",
    ]  # fmt: skip
    before["mutants"]["c"]["reason"] = "equivalent"  # type: ignore[index]
    text = as_text(before)
    assert "ops                 3        2        1        0" in text
    assert "  c (ops, a.py; 3 of 4 reaching tests)\n      equivalent" in text
    assert "1 tests failed without a mutant" in text
