"""Our declarations of the driver and of NVRTC agree with NVIDIA's headers, where these are found:
in the wheels nvidia-cuda-runtime and nvidia-cuda-nvrtc, or in CUDA_HOME."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CPP = Path(__file__).parents[2] / "cpp"
CONSTANTS = {
    "kOutOfMemory": "CUDA_ERROR_OUT_OF_MEMORY",
    "kStubLibrary": "CUDA_ERROR_STUB_LIBRARY",
    "kNoDevice": "CUDA_ERROR_NO_DEVICE",
    "kSystemMismatch": "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
    "kNoForwardCompatibility": "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
    "kNotReady": "CUDA_ERROR_NOT_READY",
    "kNonBlocking": "CU_STREAM_NON_BLOCKING",
    "kNoTiming": "CU_EVENT_DISABLE_TIMING",
    "kMajor": "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR",
    "kMinor": "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR",
    "kMultiprocessors": "CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT",
}
# Parameters agree if a caller passes them alike: pointers to types of one size, or numbers of one
# size. Handles are pointers to types that are declared only.
PROGRAM = """
#include <cuda.h>
#include <type_traits>
#include "backend/cuda/driver.h"
namespace {
template <class T> concept Sized = requires { sizeof(T); };
template <class A, class B>
constexpr bool alike() {
  if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
    using To = std::remove_pointer_t<A>;
    using Of = std::remove_pointer_t<B>;
    if constexpr (std::is_const_v<To> != std::is_const_v<Of>) return false;
    if constexpr (std::is_pointer_v<To> || std::is_pointer_v<Of>) return alike<To, Of>();
    if constexpr (Sized<To> && Sized<Of>) return sizeof(To) == sizeof(Of);
    return std::is_void_v<To> == std::is_void_v<Of> && Sized<To> == Sized<Of>;
  } else {
    return std::is_pointer_v<A> == std::is_pointer_v<B> && sizeof(A) == sizeof(B);
  }
}
template <class A, class B> constexpr bool kSame = false;
template <class R, class... A, class S, class... B>
constexpr bool kSame<R (*)(A...), S (*)(B...)> = [] {
  if constexpr (sizeof...(A) != sizeof...(B)) return false;
  else return alike<R, S>() && (alike<A, B>() && ...);
}();
using namespace pullback::cuda;
"""


def headers() -> Path | None:
    places = [Path(os.environ["CUDA_HOME"])] if "CUDA_HOME" in os.environ else []
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        places += [Path(folder) / "cu13", Path(folder) / "cuda_runtime"]
    return next((p / "include" for p in places if (p / "include/cuda.h").exists()), None)


def functions(file: str, macro: str) -> list[tuple[str, str]]:
    """The member and the symbol of each row."""
    text = (CPP / "backend/cuda" / file).read_text()
    return re.findall(rf'^{macro}\((\w+), "(\w+)"', text, re.M)


def agreement(struct: str, rows: list[tuple[str, str]]) -> list[str]:
    return [
        f'static_assert(kSame<decltype({struct}::{member}), decltype(&::{symbol})>, "{symbol}");'
        for member, symbol in rows
    ]


def compiled(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    include = headers()
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    if include is None or compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("no cuda.h (pip install nvidia-cuda-runtime) or no C++ compiler")
    source = folder / "check.cpp"
    source.write_text(text)
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{CPP}", f"-I{include}", source]
    return subprocess.run(command, text=True, capture_output=True)


def test_functions_and_constants_of_the_driver(tmp_path: Path) -> None:
    rows = functions("driver.def", "DRIVER")
    assert len(rows) > 20
    lines = agreement("Driver", rows)
    lines += [
        f'static_assert(static_cast<int>({ours}) == static_cast<int>({theirs}), "{ours}");'
        for ours, theirs in CONSTANTS.items()
    ]
    done = compiled(PROGRAM + "\n".join(lines) + "\n}\n", tmp_path)
    assert done.returncode == 0, done.stderr[-4000:]
    wrong = 'static_assert(kSame<decltype(Driver::memory_info), decltype(&::cuInit)>, "wrong");'
    done = compiled(PROGRAM + wrong + "}\n", tmp_path)
    assert done.returncode != 0 and "wrong" in done.stderr
    header = (CPP / "backend/cuda/driver.h").read_text()
    numbers = set(re.findall(r"^constexpr \S.* (k\w+) =", header, re.M))
    assert numbers == {*CONSTANTS, "kOldestDriver"}


def test_functions_of_nvrtc(tmp_path: Path) -> None:
    include = headers()
    if include is not None and not (include / "nvrtc.h").exists():
        pytest.skip("no nvrtc.h (pip install nvidia-cuda-nvrtc)")
    text = PROGRAM.replace("#include <cuda.h>", "#include <nvrtc.h>")
    text = text.replace("backend/cuda/driver.h", "backend/cuda/nvrtc.h")
    rows = functions("nvrtc.def", "NVRTC")
    assert len(rows) > 5
    done = compiled(text + "\n".join(agreement("Nvrtc", rows)) + "\n}\n", tmp_path)
    assert done.returncode == 0, done.stderr[-4000:]
