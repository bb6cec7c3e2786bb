"""The examples in the docstrings of the installed package, and in the pages, are true."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import pullback

ROOT = Path(__file__).parents[2]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = ["pullback"] + [
    info.name
    for info in pkgutil.walk_packages(pullback.__path__, "pullback.")
    if not info.name.endswith(("__main__", "._core"))
]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    """All that are written in the module: doctest's own search goes by `__module__`, which says
    where a name is public, and finds no methods then."""
    module = importlib.import_module(name)
    source = Path(module.__file__).read_text(encoding="utf-8")
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and ">>> " in node.value:
            text, scope = inspect.cleandoc(node.value), vars(module) | {"pb": pullback}
            test = doctest.DocTestParser().get_doctest(text, scope, name, None, node.lineno)
            runner.run(test)
    assert runner.failures == 0
    assert runner.tries == len(re.findall(r"^ *>>> ", source, re.M))


@pytest.mark.parametrize("cls", [pullback.Tensor, pullback.Variable])
def test_docstrings_of_the_core(cls):
    """doctest finds none in a module written in C++."""
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(cls), {}, cls.__name__, None, 0)
    result = doctest.DocTestRunner(optionflags=OPTIONS).run(test)
    assert result.failed == 0
    assert result.attempted >= (cls is pullback.Variable)


PAGES = ["README.md", *(f"docs/{p.name}" for p in sorted((ROOT / "docs").glob("*.md")))]


@pytest.mark.parametrize("page", PAGES)
def test_pages(page):
    path = ROOT / page
    result = doctest.testfile(str(path), False, optionflags=OPTIONS, encoding="utf-8")
    assert result.failed == 0
    assert (result.attempted > 0) == (">>> " in path.read_text())
    assert result.attempted or page != "README.md"
