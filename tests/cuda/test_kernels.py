"""Texts of kernels: executed on the host, where they have the bits of the CPU backend, and compiled
by NVRTC where that is installed (pip install nvidia-cuda-nvrtc). No test runs on a GPU."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# Processes by name, each of which takes less than the time limit of a test.
PARTS = {
    "loops": ("on_fake_loops.py", "test"),
    "faults": ("on_fake_faults.py", "failures"),
    "windows": ("on_fake_windows.py", "pools or windows or convolutions"),
    "rows": ("on_fake_kernels.py", "rows"),
    "casts": ("on_fake_kernels.py", "casts or storage"),
    "groups": ("on_fake_kernels.py", "not rows and not casts and not storage"),
    "index": ("on_fake_data.py", "gathers or labels or scatters or random or permutations"),
    "positions": ("on_fake_positions.py", "test"),
    "order": ("on_fake_data.py", "extremes or sorts or searches or scans"),
}
Execute = Callable[[str, str], tuple[Path, str]]
Fakes = tuple[Path, dict[str, str]]
ARCHITECTURES = (80, 90, 100, 120)
# Those of cpp/backend/cuda/nvrtc.cpp.
OPTIONS = ("--std=c++20", "-fmad=false", "--device-as-default-execution-space",
           "-diag-suppress=68,161,177,1097")  # fmt: skip


def run(code: list[str | Path], **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    return subprocess.run([sys.executable, *code], env=environment, text=True, capture_output=True)


@pytest.fixture(scope="session")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> Fakes:
    """The folder of the compiled fakes, and the variables of a process with them."""
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("no C++ compiler on Linux for the fakes")
    folder = tmp_path_factory.mktemp("kernels")
    for name in ("fake_driver", "fake_nvrtc"):
        command = [compiler, "-std=c++20", "-O1", "-shared", "-fPIC", HERE / f"{name}.cpp"]
        subprocess.run([*command, "-o", folder / f"{name}.so"], check=True)
    level = run(
        ["-c", "from pullback import _core; print(_core.build_info()['cpu_level'])"],
        PULLBACK_CPU_LEVEL="avx2",
    ).stdout.strip()
    variables = {
        "PULLBACK_CUDA": f"driver={folder}/fake_driver.so,nvrtc={folder}/fake_nvrtc.so,cache=off",
        "PULLBACK_CPU_LEVEL": "avx2",
        "PULLBACK_FAKE_DRIVER": f"{folder}/fake_driver.so",
        "FAKE_NVRTC_SHIM": str(HERE / "shim.cpp"),
        "FAKE_NVRTC_CACHE": str(folder / "texts"),
        "FAKE_NVRTC_FLAGS": "-DSHIM_WITHOUT_FMA" if level == "baseline" else "-mfma",
        "FAKE_CUDA_MEMORY": str(1 << 27),
        "CXX": compiler,
    }
    return folder, variables


@pytest.fixture(scope="session")
def execute(fakes: Fakes) -> Execute:
    """Runs a part of a file; returns the folder of its texts, and its failures."""
    folder, variables = fakes

    def part(file: str, names: str) -> tuple[Path, str]:
        code = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", "-k", names]
        done = run([*code, HERE / file], **variables)
        failures = "" if done.returncode == 0 else done.stdout[-4000:] + done.stderr[-2000:]
        return folder / "texts", failures

    return part


@pytest.mark.parametrize("part", PARTS)
def test_kernels_have_the_bits_of_the_processor(execute: Execute, part: str) -> None:
    _, failures = execute(*PARTS[part])
    assert not failures, failures


PROGRAM = """
import numpy as np, pullback as pb
x = pb.constant(np.arange(5.0)).to_device("cuda")
print((pb.exp(x) * 2).numpy(), pb.cuda.fallbacks())
"""


def test_a_later_process_compiles_nothing(fakes: Fakes, tmp_path: Path) -> None:
    _, variables = fakes
    count = 0

    def compiled(setting: str = "", **more: str) -> tuple[str, int]:
        """The output of a process, and how many texts it compiled."""
        nonlocal count
        count += 1
        texts = tmp_path / f"texts{count}"
        own = variables["PULLBACK_CUDA"].replace(",cache=off", setting)
        done = run(
            ["-c", PROGRAM],
            **{**variables, "PULLBACK_CUDA": own, "FAKE_NVRTC_CACHE": str(texts), **more},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout, len(list(texts.glob("*.cpp")))

    folder = tmp_path / "own"
    here = f",cache={folder}"
    output, texts = compiled(here)
    assert texts > 0 and "{}" in output
    kernels = sorted(folder.glob("*.kernel"))
    assert len(kernels) == texts and folder.stat().st_mode & 0o777 == 0o700
    assert compiled(here) == (output, 0)
    content = bytearray(kernels[0].read_bytes())
    content[-1] ^= 1
    kernels[0].write_bytes(content)
    assert compiled(here) == (output, 1)
    assert compiled(here) == (output, 0)
    # A folder in which others may write is not used.
    folder.chmod(0o777)
    assert compiled(here) == (output, texts)
    assert compiled(",cache=off") == (output, texts)
    # The default is below the user's folder of caches.
    assert compiled(XDG_CACHE_HOME=str(tmp_path / "caches")) == (output, texts)
    assert len(list((tmp_path / "caches/pullback/cuda").glob("*.kernel"))) == texts
    unwritable = tmp_path / "a file"
    unwritable.write_text("")
    assert compiled(f",cache={unwritable}/below") == (output, texts)


def find_nvrtc() -> Path | None:
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for name in ("cu13/lib/libnvrtc.so.13", "cuda_nvrtc/lib/libnvrtc.so.12"):
            if (Path(folder) / name).exists():
                return Path(folder) / name
    return None


class Nvrtc:
    def __init__(self, path: Path, headers: Path) -> None:
        self.library = ctypes.CDLL(str(path))
        files = [p for p in headers.rglob("*") if p.is_file()]
        self.count = len(files)
        self.names = (ctypes.c_char_p * self.count)(
            *(str(p.relative_to(headers)).encode() for p in files)
        )
        self.texts = (ctypes.c_char_p * self.count)(*(p.read_bytes() for p in files))

    def architectures(self) -> list[int]:
        count = ctypes.c_int()
        self.library.nvrtcGetNumSupportedArchs(ctypes.byref(count))
        found = (ctypes.c_int * count.value)()
        self.library.nvrtcGetSupportedArchs(found)
        return list(found)

    def errors(self, text: bytes, architecture: int) -> str:
        """What the compiler refuses, and a warning of memory that a kernel should not use."""
        library, program, size = self.library, ctypes.c_void_p(), ctypes.c_size_t()
        made = library.nvrtcCreateProgram(
            ctypes.byref(program), text, b"group.cu", self.count, self.texts, self.names
        )
        assert made == 0
        options = [f"--gpu-architecture=sm_{architecture}", *OPTIONS]
        failed = library.nvrtcCompileProgram(
            program, len(options), (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
        )
        library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        library.nvrtcGetProgramLog(program, log)
        library.nvrtcGetCUBINSize(program, ctypes.byref(size))
        library.nvrtcDestroyProgram(ctypes.byref(program))
        if not failed and size.value > 0:
            return ""
        return log.value.decode()[:2000] or "no code"


def test_nvrtc_compiles_each_text(execute: Execute) -> None:
    path = find_nvrtc()
    if path is None:
        pytest.skip("NVRTC is not installed (pip install nvidia-cuda-nvrtc)")
    execute(
        "on_fake_data.py",
        "gathers or labels or random or permutations or many or extremes or sorts or scans",
    )
    execute("on_fake_windows.py", "pools or convolutions")
    # With the texts of the tests before.
    folder, _ = execute("on_fake_kernels.py", "rows_have or sums or training")
    compiler = Nvrtc(path, folder / "include")
    known = [a for a in ARCHITECTURES if a in compiler.architectures()]
    assert 90 in known
    texts = sorted(folder.glob("*.cpp"))
    assert len(texts) > 20
    largest = max(texts, key=lambda p: p.stat().st_size)
    for i, text in enumerate(texts):  # each for one architecture, and the largest for all
        for architecture in known if text == largest else known[i % len(known) :][:1]:
            errors = compiler.errors(text.read_bytes(), architecture)
            assert not errors, f"{text.read_text()}\n{errors}"
    assert compiler.errors(largest.read_bytes() + b"\nundeclared x;", 90)
