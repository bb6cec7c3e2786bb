"""Failures of each function of the driver at many places of a program: see test_kernels.py.

Each case runs in a child that is forked before this process uses the device. Steps succeed with the
right result, or raise; then tensors are as they were, and nothing is leaked.
"""

from __future__ import annotations

import gc
import os
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.on_fake import FAKE, calls, there

import pullback as pb

OUT_OF_MEMORY, ILLEGAL_ADDRESS = 2, 700
ROOT = Path(__file__).parents[2]
FUNCTIONS = re.findall(r'"(cu\w+)"', (ROOT / "cpp/backend/cuda/driver.def").read_text())
# Only texts of errors call these.
OF_ERRORS = {"cuGetErrorName", "cuGetErrorString"}
OF_MEMORY = ("cuMemAlloc_v2", "cuMemAllocHost_v2", "cuModuleLoadData")
PLACES = 3  # of each function

RNG = np.random.default_rng(3)
X, K = RNG.uniform(1, 2, (12, 6)), RNG.integers(-12, 12, 9)
IMAGES, W = RNG.uniform(1, 2, (2, 6, 6, 3)), RNG.uniform(1, 2, (2, 2, 3, 4))
DELTA = np.arange(150_000.0)  # larger than a part of a segment


class Foreign:
    """A tensor of another library."""

    def __init__(self, tensor: pb.Tensor) -> None:
        self.tensor = tensor

    def __dlpack__(self, **options: Any) -> Any:
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.tensor.__dlpack_device__()


def drawn(draw: Callable[[], Any]) -> Any:
    pb.random.seed(5)
    return draw()


# Of the tensors x, k, images and w.
STEPS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "gather": lambda x, k, i, w: pb.take(x, k * (1 - k * 0), 0),
    "scatter": lambda x, k, i, w: x.at[k].add(1.0) + x.at[k].max(x[:9] * 2),
    "gradient": lambda x, k, i, w: pb.grad(lambda x: pb.sum(pb.sin(x[k]) ** 2))(x),
    "along": lambda x, k, i, w: pb.take_along_axis(x, pb.argsort(x, 0), 0),
    "labels": lambda x, k, i, w: pb.grad(
        lambda x: pb.mean(pb.sparse_softmax_cross_entropy(x, pb.argmax(x, 1))))(x),
    "sort": lambda x, k, i, w: pb.sort(x, axis=0) + pb.searchsorted(pb.sort(x[:, 0]), x),
    "scan": lambda x, k, i, w: pb.cumulative_sum(x, axis=0) + pb.cumulative_max(x, axis=1),
    "uniform": lambda x, k, i, w: drawn(lambda: pb.random.uniform((100,), dtype="float64")),
    "integers": lambda x, k, i, w: drawn(lambda: pb.random.integers(0, 9, (100,))),
    "norm": lambda x, k, i, w: pb.linalg.norm(x, axis=0),
    "pool": lambda x, k, i, w: pb.grad(lambda i: pb.sum(pb.nn.max_pool(i, 2) ** 2))(i),
    "convolution": lambda x, k, i, w: pb.grad(
        lambda w: pb.sum(pb.nn.conv2d(i, w, stride=2) ** 2))(w),
    "host": lambda x, k, i, w: pb.linalg.solve(x[:6], x[6:, :2]),
    "loop": lambda x, k, i, w: pb.fori_loop(0, 3, lambda t, y: y + pb.take(x, t, 0), x[0]),
}  # fmt: skip


def expected() -> dict[str, Any]:
    tensors = [pb.constant(a) for a in (X, K, IMAGES, W)]
    return {name: f(*tensors).numpy() for name, f in STEPS.items()}


def program(plant: Callable[[], None]) -> None:
    """Raises if an invariant fails."""
    wanted = expected()
    here, lost = pb.constant([1.0, 2.0]), ""

    def attempt(f: Callable[[], Any]) -> Any:
        """None after a failure."""
        nonlocal lost
        try:
            out = f()
            assert not lost, "a result of a lost device"
            return out
        except MemoryError:
            assert not lost
        except (RuntimeError, BufferError) as error:
            text = re.sub(r"^\w+: ", "", str(error))
            assert not lost or lost in text, (lost, text)
            lost = lost or text
        return None

    plant()
    tensors = attempt(lambda: [there(a) for a in (X, K, IMAGES, W)])
    variable = attempt(lambda: pb.Variable(there(DELTA) * 1.0)) if tensors else None
    if variable is None:
        assert (here + 1).numpy().tolist() == [2, 3]
        return
    added = 0
    grow = pb.function(lambda t: variable.assign_add(pb.take(t, pb.argsort(t))))
    moved = attempt(lambda: there(DELTA))
    for _ in range(2):
        for name, f in STEPS.items():
            with pb.use_device("cuda"):
                out = attempt(lambda f=f: f(*tensors).numpy())
            if out is not None:
                np.testing.assert_allclose(out, wanted[name], 1e-12, err_msg=name)
        if moved is not None:
            added += attempt(lambda: [grow(moved), pb.cuda.synchronize()]) is not None
            attempt(lambda: pb.from_dlpack(Foreign(moved), copy=True).numpy())
        attempt(pb.cuda.trim)
    assert (here + 1).numpy().tolist() == [2, 3]
    FAKE.fake_reset()
    if lost:
        return
    for tensor, array in zip(tensors, (X, K, IMAGES, W), strict=True):
        np.testing.assert_array_equal(tensor.numpy(), array)
    np.testing.assert_array_equal(variable.numpy(), (1 + added) * DELTA)
    moved = out = tensor = None
    live = []
    for _ in range(2):  # a whole program in between
        gc.collect()
        pb.cuda.trim()
        live.append(pb.cuda.memory()["live"])
        with pb.use_device("cuda"):
            for name, f in STEPS.items():
                np.testing.assert_allclose(f(*tensors).numpy(), wanted[name], 1e-12)
    assert live[0] == live[1], f"leaked {live[0] - live[1]} bytes"


def in_child(run: Callable[[], None]) -> str:
    """What it prints, with its failure at the end."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            sys.stdout = os.fdopen(write, "w")
            run()
        except BaseException:
            traceback.print_exc(file=sys.stdout)
        sys.stdout.flush()
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as out:
        text = out.read()
    _, status = os.waitpid(pid, 0)
    return text if status == 0 else f"{text}\nended with {status}"


@pytest.fixture(scope="module")
def clean() -> dict[str, int]:
    """How often a program without failures calls each function."""
    text = in_child(lambda: [program(lambda: None), print({f: calls(f) for f in FUNCTIONS})])
    assert text.startswith("{"), text
    return dict(eval(text))


def places(count: int) -> list[int]:
    return sorted({1, *(1 + (count - 1) * i // (PLACES - 1) for i in range(PLACES))})


@pytest.mark.parametrize("function", [f for f in FUNCTIONS if f not in OF_ERRORS])
def test_failures_leave_tensors_as_they_were(clean: dict[str, int], function: str) -> None:
    kinds = [(ILLEGAL_ADDRESS, 1)]
    if function in OF_MEMORY:
        kinds = [(OUT_OF_MEMORY, 1), (OUT_OF_MEMORY, 2), *kinds]
    assert clean[function] > 0
    for code, times in kinds:
        for place in places(clean[function]):
            text = in_child(
                lambda p=place, c=code, t=times: program(
                    lambda: FAKE.fake_fail_often(function.encode(), p, c, t)
                )
            )
            assert not text, f"call {place}, code {code}, {times} times\n{text}"
