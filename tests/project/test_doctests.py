"""The examples in the docstrings of the installed package, and in the pages, are true."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest
from support.check import Check

import pullback

ROOT = Path(__file__).parents[2]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = ["pullback"] + [
    info.name
    for info in pkgutil.walk_packages(pullback.__path__, "pullback.")
    if not info.name.endswith(("__main__", "._core"))
]


def package_of(name):
    return ".".join(name.split(".")[:2])


@pytest.mark.parametrize("package", sorted(set(map(package_of, MODULES))))
def test_docstrings(package):
    check = Check()
    for name in MODULES:
        if package_of(name) == package:
            runner, written = run_docstrings(name)
            check.that(runner.failures == 0, f"{name}: {runner.failures} failed, see the output")
            check.that(runner.tries == written, f"{name}: {runner.tries} of {written} were found")
    check.done()


def run_docstrings(name):
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
    # Examples that require another library are skipped.
    return runner, len(re.findall(r"^ *>>> (?!.*# doctest: \+SKIP$)", source, re.M))


@pytest.mark.parametrize("cls", [pullback.Tensor, pullback.Variable])
def test_docstrings_of_the_core(cls):
    """doctest finds none in a module written in C++."""
    check = Check()
    for name, thing in {cls.__name__: cls, **vars(cls)}.items():
        doc, scope = inspect.getdoc(thing) or "", {"pb": pullback}
        test = doctest.DocTestParser().get_doctest(doc, scope, name, None, 0)
        result = doctest.DocTestRunner(optionflags=OPTIONS).run(test)
        check.that(result.failed == 0, f"{name}: {result.failed} failed, see the output")
        check.that(result.attempted == doc.count(">>> "), f"{name}: {result.attempted} were found")
    check.done()


PAGES = ["README.md", *(f"docs/{p.name}" for p in sorted((ROOT / "docs").glob("*.md")))]


@pytest.mark.filterwarnings("ignore:.*leaves the graph:RuntimeWarning")  # debugging is on there
@pytest.mark.parametrize("page", PAGES)
def test_pages(page):
    path = ROOT / page
    result = doctest.testfile(str(path), False, optionflags=OPTIONS, encoding="utf-8")
    assert result.failed == 0
    assert (result.attempted > 0) == (">>> " in path.read_text())
    assert result.attempted or page != "README.md"
