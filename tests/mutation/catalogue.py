"""Read the mutants from `mutants/*.txt` and weave them into source text.

A mutant is one small bug: in one file, a piece of text is exchanged for another. Woven sources
contain both texts and choose at run time, so that one build serves all mutants (see `build.py`).

Format of the files::

    [part] path/of/a/source/file

    name_of_the_mutant
      context «original» context
      -> mutated
      reason: why no test can detect it (optional)

The context must occur exactly once in the source file. White space in it matches any white space.
Without the marks « » all of it is replaced. A reason begins with one of `REASONS` and a colon. How
a choice is written depends on the original:

- an expression becomes a conditional expression;
- a statement (C++: it ends with `;`) becomes an `if` with two branches. An empty mutated text drops
  the statement;
- a mutated text that contains the word MUTANT replaces the original as it is, with MUTANT standing
  for the condition.
"""

from __future__ import annotations

import ast
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).with_name("mutants")
PARTS = (
    "autodiff", "batch", "bindings", "compat", "derivatives", "explain", "fusion", "grad",
    "kernels", "linalg", "loops", "masks", "memory", "ops", "optimizers", "plan", "python",
)  # fmt: skip
REASONS = (
    "equivalent", "not visible", "not reached", "no program found", "only memory", "only speed",
)  # fmt: skip
NUMBERS = 1 << 13  # mutants are numbered below this


class CatalogueError(ValueError):
    """An entry of the catalogue that is malformed or does not match the sources."""


@dataclass(frozen=True)
class Mutant:
    """One bug. `context` has the marks « » around the text that `mutated` replaces."""

    name: str
    part: str
    file: str
    context: str
    mutated: str
    reason: str | None = None

    def span(self, text: str) -> tuple[int, int]:
        """Return the place of the original in the text of its file.

        Raises
        ------
        CatalogueError
            If the context does not occur exactly once. The message says how to mend the entry.
        """
        context = self.context if "«" in self.context else f"«{self.context}»"
        pattern = "".join(
            r"\s+" if piece.isspace() else {"«": "(", "»": ")"}.get(piece, re.escape(piece))
            for piece in re.findall(r"\s+|[«»]|[^\s«»]+", context.strip())
        )
        found = list(re.finditer(pattern, text))
        if len(found) != 1:
            raise CatalogueError(
                f"mutant {self.name}: its context occurs {len(found)} times in {self.file}, "
                f"expected once:\n    {self.context}\nThe source has changed. Edit the entry in "
                f"{FOLDER.relative_to(ROOT)}: copy the new text around the same bug (a few words "
                "that occur once), or, if that code is gone, exchange the entry for a bug of the "
                f"same kind in the part '{self.part}'"
            )
        return found[0].span(1)

    def woven(self, original: str, number: int, indent: str) -> str:
        """Return source text that has both the original and the mutated text."""
        python = self.file.endswith(".py")
        chosen = f"_mutant({number})" if python else f"::pullback::mutant({number})"
        if "MUTANT" in self.mutated:
            return self.mutated.replace("MUTANT", chosen)
        if not python:
            if original.rstrip().endswith(";"):
                return f"{{ if ({chosen}) {{ {self.mutated} }} else {{ {original} }} }}"
            for text in (original, self.mutated):
                if not _may_be_cpp_expression(text):
                    raise CatalogueError(
                        f"mutant {self.name}: expected an expression, or an original that is a "
                        f"statement with its semicolon, got {text!r}"
                    )
            return f"({chosen} ? ({self.mutated}) : ({original}))"
        if _is_expression(original):
            return f"(({self.mutated}) if {chosen} else ({original}))"
        inner = indent + "    "
        return f"if {chosen}:\n{inner}{self.mutated}\n{indent}else:\n{inner}{original}"


def _may_be_cpp_expression(text: str) -> bool:
    statement = re.match(r"\s*(if|else|for|while|return|continue|break|const|auto)\b|\s*$", text)
    balanced = all(text.count(a) == text.count(b) for a, b in ("()", "[]", "{}"))
    return balanced and not statement


def _is_expression(text: str) -> bool:
    try:
        ast.parse(f"({text})", mode="eval")
    except SyntaxError:
        return False
    return True


def read(folder: Path = FOLDER) -> list[Mutant]:
    """Return all mutants, in the order of the files.

    Raises
    ------
    CatalogueError
        If an entry is malformed or a name occurs twice.
    """
    out: list[Mutant] = []
    for path in sorted(folder.glob("*.txt")):
        out += _parsed(path.name, path.read_text(encoding="utf-8").splitlines())
    names: set[str] = set()
    for mutant in out:
        if mutant.name in names:
            raise CatalogueError(f"mutant {mutant.name}: the name occurs twice")
        names.add(mutant.name)
    return out


def _parsed(source: str, lines: list[str]) -> Iterable[Mutant]:
    part = file = ""
    at = 0
    while at < len(lines):
        line, at = lines[at], at + 1
        if not line.strip():
            continue
        if head := re.fullmatch(r"\[(\w+)\] (\S+)", line):
            part, file = head.groups()
            continue
        if not re.fullmatch(r"\w+", line):
            raise CatalogueError(f"{source}:{at}: expected '[part] file' or a name, got {line!r}")
        name, context, mutated, reason = line, [], None, None
        while at < len(lines) and lines[at].startswith("  "):
            text, at = lines[at].strip(), at + 1
            if text.startswith("->"):
                mutated = text[2:].strip()
            elif text.startswith("reason:"):
                reason = text[7:].strip()
            elif mutated is None:
                context.append(text)
            elif reason is not None:
                reason += " " + text
            else:
                mutated += " " + text
        if mutated is None or not context or not file:
            raise CatalogueError(f"{source}: mutant {name}: expected a context and '-> mutated'")
        if reason is not None and not reason.startswith(tuple(f"{r}: " for r in REASONS)):
            raise CatalogueError(
                f"{source}: mutant {name}: expected a reason that begins with one of "
                f"{', '.join(REASONS)} and a colon, got {reason!r}"
            )
        yield Mutant(name, part, file, " ".join(context), mutated, reason)


def numbered(mutants: Iterable[Mutant]) -> dict[str, int]:
    """Return a number for each name, nearly always the same one whatever else the catalogue has."""
    taken: set[int] = set()
    out: dict[str, int] = {}
    for name in sorted(mutant.name for mutant in mutants):
        number = zlib.crc32(name.encode()) % NUMBERS
        while number in taken:
            number = (number + 1) % NUMBERS
        taken.add(number)
        out[name] = number
    return out


def weave(text: str, mutants: Iterable[Mutant], numbers: Mapping[str, int]) -> str:
    """Return the text of a file with all its mutants woven in.

    Raises
    ------
    CatalogueError
        If a context does not occur exactly once, or two originals overlap.
    """
    out, end, before = "", 0, ""
    places = [(mutant.span(text), mutant) for mutant in mutants]
    for (first, last), mutant in sorted(places, key=lambda place: place[0]):
        if first < end:
            raise CatalogueError(f"mutants {before} and {mutant.name} overlap in {mutant.file}")
        line = text[text.rfind("\n", 0, first) + 1 : first]
        indent = line if line.isspace() else ""
        out += text[end:first] + mutant.woven(text[first:last], numbers[mutant.name], indent)
        end, before = last, mutant.name
    return out + text[end:]
