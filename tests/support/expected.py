"""Stored results of the slow oracles: mpmath, and finite differences in long double.

The arguments of a case are constants (their seed is the CRC-32 of its id, its shapes and a salt),
so its expected values are too. `tools/expected` computes them once and writes `expected.npz`; tests
call `stored`, which computes a result only if the file lacks it. An entry's key is a digest of the
name and of the bytes of the arguments, so an entry for other arguments is never used. A change of a
reference function does not change the key: run `tools/expected` after it. The nightly run compares
every entry with a fresh oracle.

A number is stored as a float64 and a float32 that is added to it: at least 64 bits, which `write`
asserts.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from .oracle import PRECISE

Array = Any
Shape = tuple[int, ...]
FILE = Path(__file__).with_name("expected.npz")
VERSION = 1  # of this tool: increased when the meaning of an entry changes
# Every such entry is computed again in each run.
SAMPLED = 64
# A fresh result may differ by the rounding of another C library: that of a value, and that of a
# difference divided by its smallest step, or by the square of it (oracle.py).
SAME = {"value": 1e-17, "derivative": 1e-14, "second derivative": 1e-12}

# Results that were computed since `recording` was set, by key.
recording: dict[int, tuple[str, list[Array]]] | None = None


def stored(
    name: str, arguments: Sequence[Array], shapes: Sequence[Shape], compute: Callable[[], Any]
) -> list[Array]:
    """Return the arrays of these shapes that `compute` returns for these arguments, from the file
    if it has them.

    `name` distinguishes the results for the same arguments."""
    key = digest(name, arguments)
    begin = None if recording is not None else entries().get(key)
    old = None if begin is None else list(cut(begin, shapes))
    if old is not None and (key % SAMPLED or not PRECISE):
        return old
    found = [np.asarray(x, np.longdouble) for x in compute()]
    assert [x.shape for x in found] == list(shapes), name
    if recording is not None:
        recording[key] = (name, found)
    # A reference that has changed since the file was written shows in the entries of this sample.
    for new, stored_one in zip(found, old or found, strict=True):
        assert is_same(name, new, stored_one), f"{name} differs from the file: run tools/expected"
    return found


def digest(name: str, arguments: Sequence[Array]) -> int:
    hashed = hashlib.sha256(name.encode())
    for x in arguments:
        hashed.update(f"{x.dtype.str} {x.shape}".encode())
        hashed.update(np.ascontiguousarray(x).tobytes())
    return int.from_bytes(hashed.digest()[:8], "little")


@cache
def contents() -> dict[str, Array]:
    with np.load(FILE) as file:
        return dict(file)


@cache
def entries() -> dict[int, int]:
    """The position of the first number of every entry, by key."""
    if not FILE.is_file() or contents()["version"] != VERSION:
        return {}
    file = contents()
    return dict(zip(file["key"].tolist(), file["begin"].tolist(), strict=True))


def cut(begin: int, shapes: Sequence[Shape]) -> Iterator[Array]:
    head, tail = contents()["head"], contents()["tail"]
    for shape in shapes:
        end = begin + math.prod(shape)
        numbers = head[begin:end].astype(np.longdouble) + tail[begin:end]
        yield numbers.reshape(shape)
        begin = end


def is_same(name: str, new: Array, old: Array) -> bool:
    """Test whether a fresh result is the stored one, but for the rounding of its oracle."""
    order = next(order for order in reversed(SAME) if name.endswith(f" {order}"))
    with np.errstate(all="ignore"):
        largest = float(np.max(np.abs(new[np.isfinite(new)]), initial=0))
        bound = SAME[order] * (np.abs(new) if order == "value" else max(1.0, largest))
        same = (new == old) | (np.isnan(new) & np.isnan(old)) | (np.abs(new - old) <= bound)
    return bool(np.all(same))


def write(found: dict[int, tuple[str, list[Array]]]) -> None:
    numbers = [np.ravel(x) for _, xs in found.values() for x in xs]
    all_numbers = np.concatenate(numbers) if numbers else np.zeros(0, np.longdouble)
    head = all_numbers.astype(np.float64)
    with np.errstate(invalid="ignore"):
        tail = np.where(np.isfinite(head), all_numbers - head, 0).astype(np.float32)
        off = np.abs(head.astype(np.longdouble) + tail - all_numbers)
        fine = ~np.isfinite(all_numbers) | (off <= 2.0**-63 * np.abs(all_numbers))
    assert np.all(fine), f"too large or small to be stored: {all_numbers[~fine]}"
    sizes = [sum(x.size for x in xs) for _, xs in found.values()]
    np.savez_compressed(
        FILE,
        version=VERSION,
        seed="zlib.crc32 of case id, shapes and salt '' (Case.arrays)",
        mpmath=version("mpmath"),
        key=np.array(list(found), np.uint64),
        begin=np.concatenate([[0], np.cumsum(sizes)])[:-1].astype(np.int64),
        head=head,
        tail=tail,
    )


def compute_all() -> dict[int, tuple[str, list[Array]]]:
    """Compute every result that a test of the case table uses."""
    global recording
    from . import checks, values
    from .table import CASES

    recording = {}
    try:
        for case in CASES:
            values.expect_all(case)
            if case.wrt:
                checks.expect_all(case)
        return recording
    finally:
        recording = None


def differences(fresh: dict[int, tuple[str, list[Array]]]) -> list[str]:
    """How the file and fresh results differ."""
    have, problems = entries(), []
    for key, (name, xs) in fresh.items():
        if key not in have:
            problems.append(f"{name}: not stored")
            continue
        for x, old in zip(xs, cut(have[key], [x.shape for x in xs]), strict=True):
            if not is_same(name, x, old):
                problems.append(f"{name}: stored {old}, fresh {x}")
    problems += [f"{key:x}: stored, but no test uses it" for key in have.keys() - fresh.keys()]
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(prog="expected", description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare the file, write nothing")
    only_check = parser.parse_args().check
    if not PRECISE:
        parser.error("needs a long double of at least 80 bits")
    fresh = compute_all()
    problems = differences(fresh)
    print(*problems, sep="\n")
    print(f"{len(fresh)} results, {len(problems)} differ from the file")
    if only_check:
        return bool(problems)
    write(fresh)
    print(f"{FILE.name}: {FILE.stat().st_size / 1e6:.2f} MB")
    return 0


if __name__ == "__main__":
    from support import expected  # the module that the tests import, not a second copy of it

    sys.exit(expected.main())
