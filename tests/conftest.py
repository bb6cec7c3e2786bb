"""Fixtures of all tests, and the parameters that the case table (support/table) gives to tests.

A test that takes `case` runs for every row, `differentiable` for rows with a gradient.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from support.each import examples
from support.process import live
from support.table import CASES, Case

import pullback as pb

# The same examples in every run, and no database in the checkout: a change does not fail for a bug
# that another run would find. The nightly run draws new ones: `--hypothesis-profile=fresh`.
hypothesis.settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
hypothesis.settings.register_profile("fresh", derandomize=False, deadline=None)
hypothesis.settings.load_profile("fixed")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    sets = {
        "case": CASES,
        "differentiable": [case for case in CASES if case.wrt],
    }
    for name, cases in sets.items():
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, cases, ids=str)


def pytest_collection_finish() -> None:
    """Exclude the objects of the collection from garbage collections. Many tests collect garbage
    before they count nodes, which took half of the suite's time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def cases() -> list[Case]:
    return CASES


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """Nodes and buffers return to where they were."""
    before = live()
    yield
    assert live() == before


@pytest.fixture
def processor() -> Iterator[None]:
    """The processor is the default device, for tests of its memory where PULLBACK_DEVICE names
    another one."""
    with pb.use_device("cpu"):
        yield


@pytest.fixture
def along_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let check_gradients compare along three random directions for each argument, not by each of
    up to 64 entries, at a fifth of the time. The nightly run, which sets PULLBACK_EXAMPLES, checks
    each entry."""
    if examples(1) > 1:
        return
    monkeypatch.setattr("pullback._autodiff.gradient_comparison.SMALL", 6)
    monkeypatch.setattr("pullback._autodiff.gradient_comparison.DIRECTIONS", 3)


@pytest.fixture(scope="session")
def full_mnist() -> Path:
    """The folder of the full MNIST set. Whoever names one wants these tests: a file that is missing
    there fails them."""
    folder = os.environ.get("PULLBACK_MNIST")
    if not folder:
        pytest.skip("PULLBACK_MNIST does not name the folder of the full MNIST set")
    return Path(folder)
