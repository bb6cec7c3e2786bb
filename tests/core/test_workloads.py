"""The workloads of bench/: the numbers are right, and the same bits on any number of threads, again
and again, and in every style; nearly the same on every instruction set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from support import workloads
from support.levels import results_on_each_level
from support.workloads import NAMES, TRAINED, WORKLOADS

import pullback as pb
from bench import by_numpy

ROOT = Path(__file__).parents[2]
GRADIENTS = tuple(WORKLOADS)
PRODUCTS = ("softreg", "mlp", "gmm", "softreg-train", "mlp-train")


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    before = pb.num_threads()
    yield
    pb.set_num_threads(before)


def bits(arrays: list[np.ndarray]) -> list[tuple[str, tuple[int, ...], bytes]]:
    return [(str(x.dtype), x.shape, x.tobytes()) for x in arrays]


def ulps(got: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference, in units of the last place of the largest entry: smaller entries of a
    gradient are what is left of sums of larger terms."""
    scale = np.max(np.abs(expected)).astype(got.dtype)
    assert got.shape == expected.shape and np.isfinite(scale) and scale > 0
    difference = np.max(np.abs(got.astype(expected.dtype) - expected))
    return float(difference / np.spacing(scale))


# By hand, in the next wider type, so that the order in which NumPy's BLAS adds does not show. What
# exceeds 8 units has its reason: chain's slope is a product of 150 factors, each rounded; gmm's
# gradients are sums over 1000 points.
WIDER = {"float32": np.float64, "float64": np.longdouble}
ERRORS = {"chain": 150.0, "gmm": 24.0}
if np.finfo(np.longdouble).eps == np.finfo(np.float64).eps:  # then there is no wider type
    ERRORS["llsq-16392"] = 64.0


@pytest.mark.parametrize("name", GRADIENTS)
def test_values_and_gradients_by_hand(name: str) -> None:
    def wider(x: np.ndarray) -> np.ndarray:
        return x.astype(WIDER[x.dtype.name]) if x.dtype.kind == "f" else x

    data = workloads.data_of(name)
    by_hand = getattr(by_numpy, WORKLOADS[name].formula)
    value, gradients = by_hand(
        [wider(p) for p in data.parameters], *(wider(x) for x in data.inputs), **data.static
    )
    found = workloads.Function(name)()
    assert found[0].dtype == data.parameters[0].dtype and found[0].shape == ()
    assert ulps(found[0], np.asarray(value)) <= 2
    for got, expected in zip(found[1:], gradients, strict=True):
        assert ulps(got, expected) <= ERRORS.get(name, 8.0)


@pytest.mark.parametrize("name", GRADIENTS)
def test_same_bits_on_any_number_of_threads_and_in_every_style(name: str) -> None:
    function = workloads.Function(name)
    pb.set_num_threads(1)
    expected = bits(function())
    for threads in (1, 2, 3, 8):
        pb.set_num_threads(threads)
        assert bits(function()) == expected, threads
        assert bits(function()) == expected, threads
    assert bits(workloads.lazy(name)) == expected


@pytest.mark.parametrize("name", TRAINED)
def test_same_bits_of_training_steps(name: str) -> None:
    pb.set_num_threads(1)
    expected = bits(workloads.train(name, in_function=True))
    for threads in (2, 3, 8):
        pb.set_num_threads(threads)
        assert bits(workloads.train(name, in_function=True)) == expected, threads
    assert bits(workloads.train(name, in_function=False)) == expected


@pytest.fixture(scope="module")
def levels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, np.ndarray]]:
    """What each instruction set makes of all workloads."""
    folder = tmp_path_factory.mktemp("levels")
    return results_on_each_level(str(Path(workloads.__file__)), folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("level", ["baseline", "avx2"])
def test_instruction_sets_agree(
    levels: dict[str, dict[str, np.ndarray]], level: str, name: str
) -> None:
    """Kernels agree within 2 units on each element (test_accuracy.py), and sums are made of the
    same parts on every level; products are not, since the widths of their kernels and the BLAS
    differ, so what comes out of sums of up to 784 products has an allowance of its own."""
    got, expected = levels[level], levels["avx512"]
    names = [key for key in expected if key.split()[0] == name]
    assert names
    for key in names:
        value = expected[key].ndim == 0
        assert ulps(got[key], expected[key]) <= (8 if name in PRODUCTS and not value else 2), key
