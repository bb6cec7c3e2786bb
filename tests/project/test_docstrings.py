"""The language of the public docstrings. tools/docstrings checks their sections with numpydoc."""

import re

from support.check import Check
from support.docstrings import documented, text_of
from support.words import opening, phrases

RAISES = re.compile(r"^Raises\n-+\n((?:.+\n?)+)", re.M)
# "If …", or the time of the error before it: "At the call: if …".
CONDITION = re.compile(r"\s+(?:If|When|(?:At|In|During) [^:]*: if)\s")


def test_openings_and_phrases():
    check = Check()
    for name, thing in documented().items():
        text = text_of(thing)
        check.that(not opening(text), f"{name} begins {text[:40]!r}")
        for problem in phrases(text):
            check.that(False, f"{name}: {problem}")
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
    assert opening("Whether all hold.") and opening("Scaled down to a norm.")
    assert not opening("Return the sum.") and not opening("Pooling over axes.", module=True)
    for text in (
        "it is no number",
        "What is held",
        "nobody",
        "the axes behind",
        "whoever asks",
        "a nest of tensors",
        "as of the call",
    ):
        assert phrases(text), text
    for text in (
        "if there is no axis",
        "it is not a number",
        "is none of these",
        "Tapes nest.",
        "Alias of `x`.",
        "the axes of `what is`",
    ):
        assert not phrases(text), text
