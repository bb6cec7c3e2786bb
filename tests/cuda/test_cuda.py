"""The CUDA backend on a fake driver, and without any driver."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def fake_driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("no C++ compiler on Linux for the fake driver")
    path = tmp_path_factory.mktemp("cuda") / "libfake_cuda.so"
    command = [compiler, "-std=c++20", "-O1", "-shared", "-fPIC", "-o", path]
    subprocess.run([*command, HERE / "fake_driver.cpp"], check=True)
    return path


def run(code: list[str | Path], **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    return subprocess.run([sys.executable, *code], env=environment, text=True, capture_output=True)


def test_on_the_fake_driver(fake_driver: Path) -> None:
    done = run(
        [
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-n",
            "0",
            HERE / "on_fake.py",
            HERE / "on_fake_dlpack.py",
            HERE / "on_fake_waits.py",
        ],
        PULLBACK_CUDA=f"driver={fake_driver},nvrtc=/nowhere",
        PULLBACK_FAKE_DRIVER=str(fake_driver),
        PYTHON_FOR_FAKE=sys.executable,
        FAKE_CUDA_DEVICES="2",
        FAKE_CUDA_MEMORY=str(1 << 27),
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


# Files that use most of what has a device: traces, bodies, histories, draws and conversions.
SUITE = (
    "api/autodiff/test_custom.py",
    "api/autodiff/test_function.py",
    "api/autodiff/test_function_gradients.py",
    "api/autodiff/test_function_history.py",
    "api/autodiff/test_tape.py",
    "api/autodiff/test_taylor.py",
    "api/autodiff/test_vmap.py",
    "api/optimizers/test_optimizers.py",
    "api/random/test_random.py",
    "control/test_batches.py",
    "control/test_branches.py",
    "control/test_loops_run.py",
    "control/test_random_loops.py",
    "control/test_rules_in_copies.py",
    "control/test_vmapped.py",
    "control/test_while.py",
)


def test_files_of_the_suite(fake_driver: Path) -> None:
    """The same tests with the device as the default."""
    done = run(
        ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0",
         *(HERE.parent / file for file in SUITE)],
        PULLBACK_CUDA=f"driver={fake_driver},nvrtc=/nowhere",
        PULLBACK_DEVICE="cuda",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ("off", "switched off"),
        ("driver=/nowhere/libcuda.so", "no NVIDIA driver"),
        ("driver=libm.so.6", "no function cuInit"),
    ],
)
def test_without_a_driver(setting: str, text: str) -> None:
    code = (
        "import pullback as pb\n"
        "assert not pb.cuda.is_available() and pb.cuda.device_count() == 0\n"
        "print(pb.cuda.reason())\n"
        "try: pb.ones(2, device='cuda')\n"
        "except RuntimeError as error: print(error)\n"
        "assert pb.ones(2).numpy().sum() == 2 and pb.ones(2).device == 'cpu'\n"
    )
    done = run(["-c", code], PULLBACK_CUDA=setting)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert text in lines[0] and lines[1] == "ones: CUDA is not available: " + lines[0]


def test_a_driver_without_a_gpu(fake_driver: Path) -> None:
    done = run(
        ["-c", "import pullback as pb; print(pb.cuda.reason())"],
        PULLBACK_CUDA=f"driver={fake_driver},nvrtc=/nowhere",
        FAKE_CUDA_DEVICES="0",
        CUDA_VISIBLE_DEVICES="",
    )
    assert "sees no GPU (CUDA_VISIBLE_DEVICES=)" in done.stdout, done.stderr
