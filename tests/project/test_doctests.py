"""The examples in the docstrings of the installed package, and in the pages, are true."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import pullback

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = ["pullback"] + [
    info.name
    for info in pkgutil.walk_packages(pullback.__path__, "pullback.")
    if not info.name.endswith(("__main__", "._core"))
]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, extraglobs={"pb": pullback}, optionflags=OPTIONS)
    assert result.failed == 0


@pytest.mark.parametrize("page", ["README.md", "docs/architecture.md", "docs/add_an_op.md"])
def test_pages(page):
    path = Path(__file__).parents[2] / page
    result = doctest.testfile(str(path), False, optionflags=OPTIONS, encoding="utf-8")
    assert result.failed == 0
