"""tools/array_api_tests, with a suite of two tests in place of the public one."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SKIPS = ROOT / "tests" / "api" / "numpy" / "array_api_skips.txt"

CONFTEST = """
import pathlib, pytest

def pytest_addoption(parser):
    parser.addoption("--disable-extension", nargs="+")
    parser.addoption("--disable-deadline", action="store_true")
    parser.addoption("--skips-file")

def pytest_collection_modifyitems(config, items):
    lines = pathlib.Path(config.getoption("--skips-file")).read_text().splitlines()
    skipped = [line for line in lines if line and not line.startswith("#")]
    for item in items:
        if any(line in item.nodeid for line in skipped):
            item.add_marker(pytest.mark.skip(reason="listed"))
"""
SUITE = """
import importlib, os, pytest

def test_module():
    xp = importlib.import_module(os.environ["ARRAY_API_TESTS_MODULE"])
    assert xp.__array_api_version__ == os.environ["ARRAY_API_TESTS_VERSION"]

case = "floor_divide(isfinite(x1_i) and x1_i < 0 and x2_i is +infinity) -> -0"

@pytest.mark.parametrize("x", [case])
def test_binary(x):
    assert False
"""


def test_the_suite_runs_with_our_skips(tmp_path):
    (tmp_path / "array_api_tests").mkdir()
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "requirements.txt").write_text("")
    (tmp_path / "array_api_tests" / "test_few.py").write_text(SUITE)
    command = [ROOT / "tools" / "array_api_tests", tmp_path, "-q"]
    env = os.environ | {"PYTHON": sys.executable}
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "1 passed, 1 skipped" in ran.stdout


def test_every_skip_has_a_reason():
    _, *blocks = SKIPS.read_text().split("\n\n")
    lines = [line for block in blocks for line in block.splitlines()]
    assert len([line for line in lines if not line.startswith("#")]) < 94, "JAX skips 94"
    assert all(block.startswith("# ") for block in blocks)
