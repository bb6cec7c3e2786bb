"""The language of docstrings, of messages, of C++ comments and of the pages, read from the sources.

test_docstrings.py reads the docstrings of the public objects.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from support.check import Check
from support.words import opening, phrases

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / "python/pullback"
# Errors that are caught and raised again with the name of the public function.
UNNAMED = ("RowError", "NotStorableError")

# A character, adjacent string literals, or successive lines of comments of C++.
TOKEN = re.compile(
    r'\'(?:[^\'\\\n]|\\.)\'|((?:"(?:[^"\\\n]|\\.)*"\s*)+)|(//[^\n]*(?:\n[ \t]*//[^\n]*)*)'
)
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
# "function: …", "function (file:line): …", "option must be one of …"; x is a value.
NAMED = re.compile(r"[\w.-]+( \(x\))?(: | must )|x\b")
SHORTEST = 3  # words of a text that is not a name


def _trees() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(PYTHON.rglob("*.py")):
        yield path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))


def python_texts() -> Iterator[tuple[str, str, str]]:
    """Yield the place, the kind and the text of docstrings and of other strings."""
    for path, tree in _trees():
        docstrings = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[0] if node.body else None
                if isinstance(first, ast.Expr):
                    docstrings[id(first.value)] = type(node).__name__
        for line, key, text in _strings(tree):
            yield f"{path}:{line}", docstrings.get(key, "message"), text


def _strings(node: ast.AST) -> Iterator[tuple[int, int, str]]:
    if isinstance(node, ast.JoinedStr):
        parts = [v.value if isinstance(v, ast.Constant) else "x" for v in node.values]
        yield node.lineno, id(node), "".join(map(str, parts))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, id(node), node.value
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.JoinedStr) and isinstance(child, ast.Constant)):
            yield from _strings(child)


def cpp_texts() -> Iterator[tuple[str, str, str]]:
    """Yield the place, the kind and the text of strings and comments of C++."""
    for path in sorted((ROOT / "cpp").rglob("*")):
        if path.suffix in (".cpp", ".h", ".def"):
            source = path.read_text(encoding="utf-8")
            for token in TOKEN.finditer(source):
                place = f"{path.relative_to(ROOT)}:{source.count(chr(10), 0, token.start()) + 1}"
                if token[1]:
                    yield place, "message", "".join(LITERAL.findall(token[1]))
                elif token[2]:
                    yield place, "comment", " ".join(token[2].replace("//", " ").split())


def pages() -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each paragraph of a page, without code blocks."""
    top = (ROOT / "README.md", ROOT / "CONTRIBUTING.md")
    for path in (*top, *sorted((ROOT / "docs").rglob("*.md"))):
        text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
        for paragraph in re.split(r"\n\s*\n", text):
            yield str(path.relative_to(ROOT)), " ".join(paragraph.split())


def test_pages() -> None:
    check = Check()
    found = list(pages())
    assert len(found) > 500
    for place, text in found:
        for problem in phrases(text):
            check.that(False, f"{place}: {problem}")
    check.done()


def test_docstrings() -> None:
    check = Check()
    found = [entry for entry in python_texts() if entry[1] != "message"]
    assert len(found) > 1000
    for place, kind, text in found:
        begins = opening(text, kind == "Module")
        check.that(not begins, f"{place}: begins {text[:50]!r}")
        for problem in phrases(text):
            check.that(False, f"{place}: {problem}")
    check.done()


def test_messages() -> None:
    check = Check()
    texts = [entry for entry in (*python_texts(), *cpp_texts()) if entry[1] == "message"]
    found = [(place, text) for place, _, text in texts if len(text.split()) >= SHORTEST]
    assert len(found) > 1000
    for place, text in found:
        for problem in phrases(text):
            check.that(False, f"{place}: {problem}")
    check.done()


def test_comments() -> None:
    check = Check()
    found = [(place, text) for place, kind, text in cpp_texts() if kind == "comment"]
    assert len(found) > 3000
    for place, text in found:
        for problem in phrases(text):
            check.that(False, f"{place}: {problem}")
    check.done()


def test_errors_begin_with_a_name() -> None:
    check = Check()
    for path, tree in _trees():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
                continue
            kind = ast.unparse(node.exc.func).rpartition(".")[2]
            checked = kind[0].isupper() and kind not in UNNAMED  # a function makes its own text
            for argument in node.exc.args if checked else []:
                for line, key, text in _strings(argument):
                    begins = key != id(argument) or NAMED.match(text)
                    check.that(begins, f"{path}:{line}: {text!r} does not begin with a name")
    check.done()
