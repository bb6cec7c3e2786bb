"""DLPack of memory of the device, with the fake driver. test_cuda.py runs these tests."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import signal
from typing import Any

import numpy as np
import pytest
from support.dlpack import DlTensor, new_capsule

import pullback as pb

FAKE = ctypes.CDLL(os.environ["PULLBACK_FAKE_DRIVER"])
CUDA = 2  # kDLCUDA


class Other:
    """An array of another library: exports a tensor, and records the options."""

    def __init__(self, x: pb.Tensor, *refused: str) -> None:
        self.x, self.refused = x, refused
        self.options: dict[str, Any] = {}

    def __dlpack__(self, **options: Any) -> Any:
        for name in self.refused:
            if name in options:
                raise TypeError(name)
        self.options = options
        return self.x.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.x.__dlpack_device__()


def there(x: Any, device: str = "cuda") -> pb.Tensor:
    return pb.asarray(np.asarray(x), device=device)


def live() -> int:
    gc.collect()
    return pb.cuda.memory()["live"]


def test_a_tensor_is_exported_where_it_is() -> None:
    a = np.arange(6.0).reshape(2, 3)
    x = there(a) * 1.0
    x.numpy()
    assert x.__dlpack_device__() == (CUDA, 0) and pb.ones(2).__dlpack_device__() == (1, 0)
    before = live()
    other = Other(x)
    for copy, more in ((None, 0), (False, 0), (True, 512)):  # read-only memory is shared
        y = pb.from_dlpack(other, copy=copy)
        assert y.device == "cuda:0" and live() - before == more
        np.testing.assert_array_equal(y.numpy(), a)
        del y
        assert live() == before
    assert isinstance(other.options["stream"], int) and other.options["stream"] > 0
    y = pb.from_dlpack(other)
    del x, other
    np.testing.assert_array_equal((y + 1).numpy(), a + 1)
    with pb.use_device("cuda"):
        v = pb.Variable(y)
        v.assign_add(y)
        v.assign_add(y)
    np.testing.assert_array_equal(y.numpy(), a)
    np.testing.assert_array_equal(v.numpy(), 3 * a)
    del y, v
    assert live() < before


def test_memory_that_is_shared_stays_on_its_device() -> None:
    a = np.arange(6.0)
    refused = "^from_dlpack: expected True or None .*, got False; memory of {} is copied to {}"
    with pytest.raises(ValueError, match=refused.format("cpu", "cuda:0")):
        pb.from_dlpack(a, device="cuda", copy=False)
    with pb.use_device("cuda"):
        with pytest.raises(ValueError, match=refused.format("cpu", "cuda:0")):
            pb.from_dlpack(a, copy=False)
        x = pb.from_dlpack(a, device="cpu", copy=False)
        assert x.device == "cpu" and np.shares_memory(x.numpy(), a)
        y = pb.from_dlpack(a)
        assert y.device == "cuda:0" and pb.from_dlpack(y, device="cuda", copy=False) is not None
        for source in (y, Other(y, "max_version")):
            with pytest.raises(ValueError, match=refused.format("cuda:0", "cpu")):
                pb.from_dlpack(source, device="cpu", copy=False)


def test_consumers_before_the_flag_receive_a_copy() -> None:
    x = there(np.ones(1000))
    x.numpy()
    before = live()
    y = pb.from_dlpack(Other(x, "max_version"), copy=False)
    assert live() - before >= 8000
    with pytest.raises(BufferError, match=r"before DLPack 1\.0"):
        x.__dlpack__(copy=False)
    with pytest.raises(BufferError, match="copied to the processor"):
        x.__dlpack__(copy=False, max_version=(1, 0), dl_device=(1, 0))
    assert "dltensor_versioned" in repr(x.__dlpack__(copy=False, max_version=(1, 0)))
    np.testing.assert_array_equal(y.numpy(), np.ones(1000))
    capsule = x.__dlpack__()
    assert "dltensor_versioned" not in repr(capsule)
    del capsule, y  # a capsule that no consumer took
    assert live() == before
    with pytest.raises(BufferError, match=r"^from_dlpack: "):
        pb.from_dlpack(Used(x))


class Used(Other):
    """Exports a capsule that was used before."""

    def __dlpack__(self, **options: Any) -> Any:
        capsule = self.x.__dlpack__(**options)
        renamed = ctypes.pythonapi.PyCapsule_SetName
        renamed.argtypes = [ctypes.py_object, ctypes.c_char_p]
        renamed(capsule, b"used_dltensor_versioned")
        return capsule


def test_devices_of_the_result() -> None:
    x = there(np.ones(3), "cuda:1")
    assert x.__dlpack_device__() == (CUDA, 1)
    assert pb.from_dlpack(Other(x)).device == "cuda:1"
    assert pb.from_dlpack(Other(x), device="cpu").device == "cpu"
    with pb.use_device("cuda:0"):
        assert pb.from_dlpack(Other(x)).device == "cuda:1"
        assert pb.from_dlpack(np.ones(2)).device == "cuda:0"
    here = x.__dlpack__(max_version=(1, 0), dl_device=(1, 0))
    assert "dltensor" in repr(here)
    with pytest.raises((BufferError, RuntimeError)):
        np.from_dlpack(x)  # NumPy reads memory of the processor only
    with pytest.raises(BufferError):
        pb.ones(2).__dlpack__(dl_device=(CUDA, 0))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32",
                                   "bfloat16", "complex64"])  # fmt: skip
def test_dtypes(dtype: str) -> None:
    for shape in ((), (3,), (0, 2), (2, 3)):
        x = pb.ones(shape, dtype, device="cuda")
        y = pb.from_dlpack(Other(x))
        assert (y.dtype, y.shape, y.device) == (x.dtype, shape, "cuda:0")
        np.testing.assert_array_equal(y.numpy(), x.numpy())


# --- memory that another library allocates


class Producer:
    """Exports 0 … 5 as float64 in a block of the driver, with changed fields."""

    def __init__(self, **changes: Any) -> None:
        pb.cuda.synchronize()  # makes the context current
        self.address, self.ended = ctypes.c_uint64(), 0
        assert FAKE.cuMemAlloc_v2(ctypes.byref(self.address), ctypes.c_size_t(4096)) == 0
        self.values = np.arange(6.0)
        data = self.values.ctypes.data_as(ctypes.c_void_p)
        FAKE.cuMemcpyHtoDAsync_v2(self.address, data, ctypes.c_size_t(48), None)  # queued
        self.sizes = (ctypes.c_int64 * 2)(*changes.pop("shape", (2, 3)))
        self.steps = (ctypes.c_int64 * 2)(*changes.pop("strides", (3, 1)))
        signature = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
        self.deleter = signature(lambda _: self.end())
        fields: dict[str, Any] = {
            "data": self.address.value, "device": (CUDA, 0), "ndim": 2, "code": 2, "bits": 64,
            "lanes": 1, "shape": self.sizes, "strides": self.steps,
            "deleter": ctypes.cast(self.deleter, ctypes.c_void_p), **changes,
        }  # fmt: skip
        self.tensor = DlTensor(**fields)

    def end(self) -> None:
        self.ended += 1
        FAKE.cuMemFree_v2(self.address)

    def __dlpack__(self, *, stream: int) -> Any:
        return new_capsule(ctypes.addressof(self.tensor), b"dltensor", None)

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, 0


def test_memory_of_another_library() -> None:
    want = np.arange(6.0).reshape(2, 3)
    for copy in (None, True):
        x = pb.from_dlpack(producer := Producer(), copy=copy)
        assert producer.ended == 1 and x.device == "cuda:0"
        np.testing.assert_array_equal(x.numpy(), want)
    x = pb.from_dlpack(producer := Producer(), copy=False)
    y = x * 2.0
    del x
    gc.collect()
    assert producer.ended == 0
    np.testing.assert_array_equal(y.numpy(), 2 * want)
    del y
    gc.collect()
    assert producer.ended == 1
    part = Producer(shape=(1, 3), byte_offset=24)
    np.testing.assert_array_equal(pb.from_dlpack(part, copy=False).numpy(), want[1:])


def test_the_end_of_shared_memory_is_no_wait_that_a_signal_ends() -> None:
    x = pb.from_dlpack(producer := Producer(), copy=False)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    FAKE.fake_busy(ctypes.c_int64(100_000))  # for as many polls
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            del x
            gc.collect()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        FAKE.fake_busy(ctypes.c_int64(0))
    assert producer.ended == 1


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"strides": (1, 2)}, "row-major order"),
        ({"bits": 24}, "dtype"),
        ({"lanes": 2}, "dtype"),
        ({"device": (10, 0)}, "device type 10"),
        ({"device": (CUDA, 9)}, "cuda:9"),
    ],
)
def test_memory_that_cannot_be_imported(changes: dict[str, Any], text: str) -> None:
    producer = Producer(**changes)
    with pytest.raises(BufferError, match=rf"^from_dlpack: (?!from_dlpack).*{text}"):
        pb.from_dlpack(producer)
    assert producer.ended == 0  # the capsule still owns the memory
    producer.end()
