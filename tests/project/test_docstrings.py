"""The language of the public docstrings. tools/docstrings checks their sections with numpydoc."""

import re

from support.check import Check
from support.docstrings import documented, text_of

# Summaries begin with a verb: no question word, no participle.
OPENING = re.compile(r"(What|Whether|Where|Of|Who|Whose|How|When|That|\w+ing|\w+ed)\b")
PHRASE = re.compile(
    r"(?<!here )\b(?:is|are) (?:no|none)\b(?! of)|\b[Ww]hat is\b|\b[Ww]ho(?:m|se)?ever\b"
    r"|\b(?:[Nn]o|[Ss]ome)body\b|(?<!nothing )\bbehind\b"
)
RAISES = re.compile(r"^Raises\n-+\n((?:.+\n?)+)", re.M)
# "If …", or the time of the error before it: "At the call: if …".
CONDITION = re.compile(r"\s+(?:If|When|(?:At|In|During) [^:]*: if)\s")


def test_openings_and_phrases():
    check = Check()
    for name, thing in documented().items():
        text = text_of(thing)
        check.that(not OPENING.match(text), f"{name} begins {text[:40]!r}")
        for hit in PHRASE.finditer(text):
            check.that(False, f"{name}: {text[max(hit.start() - 30, 0) : hit.end() + 20]!r}")
    check.done()


def test_errors_have_a_condition():
    check = Check()
    for name, thing in documented().items():
        for section in RAISES.findall(text_of(thing)):
            for entry in re.findall(r"^\S.*\n((?: .*\n?)+)", section, re.M):
                check.that(CONDITION.match(entry), f"{name}: {entry.strip()[:60]!r}")
    check.done()


def test_lines_fit_a_terminal():
    check = Check()
    for name, thing in documented().items():
        for line in text_of(thing).splitlines():
            check.that(len(line) <= 100, f"{name}: {line!r}")
    check.done()


def test_the_patterns():
    assert OPENING.match("Whether all hold.") and OPENING.match("Scaled down to a norm.")
    assert not OPENING.match("Return the sum.")
    for text in ("it is no number", "What is held", "nobody", "the axes behind", "whoever asks"):
        assert PHRASE.search(text), text
    for text in ("if there is no axis", "it is not a number", "is none of these"):
        assert not PHRASE.search(text), text
