"""DLPack: shared memory, read-only flags, and producers that break the protocol."""

from __future__ import annotations

import ctypes
import gc
import weakref
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.dlpack import DlTensor, new_capsule
from support.each import each

import pullback as pb

pytestmark = pytest.mark.usefixtures("processor")


class Shared(np.ndarray):
    """An array whose end a test sees."""


def shared(values: Any) -> Any:
    return np.array(values).view(Shared)


def test_copies_and_shared_memory() -> None:
    a = shared(np.arange(6.0).reshape(2, 3))
    for copy in (None, True):  # NumPy could write to the memory
        x = pb.from_dlpack(a, copy=copy)
        assert not np.shares_memory(x.numpy(), a)
    x = pb.from_dlpack(a, copy=False)
    assert np.shares_memory(x.numpy(), a) and not x.numpy().flags.writeable
    assert x.dtype == "float64" and x.shape == (2, 3)
    y = pb.Variable(x)
    y.assign_add(x)  # no run writes to the memory
    z = x + 1.0
    z[0, 0] = 7.0
    x[0, 0] = 5.0
    assert pb.function(lambda x: x * 2.0 + x)(z).shape == (2, 3)
    np.testing.assert_array_equal(a, np.arange(6.0).reshape(2, 3))
    a.flags.writeable = False
    x = pb.from_dlpack(a)
    assert np.shares_memory(x.numpy(), a)
    assert np.shares_memory(pb.from_dlpack(pb.from_dlpack(a)).numpy(), a)
    assert pb.grad(lambda x: pb.sum(x * x))(x).tolist() == (2 * a).tolist()


def test_shared_memory_lives_as_long_as_the_tensor() -> None:
    a = shared(np.arange(1000.0))
    end = weakref.ref(a)
    x = pb.from_dlpack(a, copy=False)
    y = x * 2.0  # not evaluated yet
    view = np.asarray(x)
    del a, x
    gc.collect()
    assert end() is not None
    assert pb.sum(y).item() == 999000.0
    del y
    gc.collect()
    assert end() is not None and view[-1] == 999.0
    del view
    gc.collect()
    assert end() is None


@each("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", "complex64"])
def test_dtypes_of_shared_memory(dtype: str) -> None:
    for shape in ((), (3,), (0, 2), (2, 0)):
        a = np.ones(shape, dtype)
        x = pb.from_dlpack(a, copy=False)
        assert (x.dtype, x.shape) == (dtype, shape)
        np.testing.assert_array_equal(x.numpy(), a)
        b = np.from_dlpack(x)
        assert not b.flags.writeable and b.dtype == dtype and b.shape == shape


def test_memory_that_cannot_be_shared() -> None:
    a = np.arange(24.0).reshape(4, 6)
    for view in (a.T, a[:, ::2], a[::-1], np.broadcast_to(a[0, 0], (3,))):
        with pytest.raises(ValueError, match=r"^from_dlpack: cannot share memory .* row-major"):
            pb.from_dlpack(view, copy=False)
        np.testing.assert_array_equal(pb.from_dlpack(view).numpy(), view)
    part = a[1:3]  # with an offset, but in row-major order
    assert np.shares_memory(pb.from_dlpack(part, copy=False).numpy(), a)
    bytes_ = np.zeros(17, np.uint8)
    odd = bytes_[1:].view(np.float64)
    with pytest.raises(ValueError, match=r"^from_dlpack: cannot share memory that is not aligned"):
        pb.from_dlpack(odd, copy=False)


def test_asarray_shares_memory_without_a_copy() -> None:
    a = np.arange(12.0).reshape(3, 4)
    a.flags.writeable = False
    for value in (a, a[1:], memoryview(a), a.astype("complex64"), np.float32(2) + np.ones(2, "f")):
        x = pb.asarray(value, copy=False)
        assert np.shares_memory(x.numpy(), value) and x.tolist() == np.asarray(value).tolist()
    assert np.shares_memory(pb.asarray(a, "float64", copy=False).numpy(), a)
    assert (
        pb.grad(lambda x: pb.sum(x**3))(pb.asarray(a, copy=False)).tolist() == (3 * a**2).tolist()
    )
    assert not np.shares_memory(pb.asarray(a).numpy(), a)
    assert not np.shares_memory(pb.asarray(a, copy=True).numpy(), a)
    assert pb.asarray(np.zeros((0, 2)), copy=False).shape == (0, 2)
    for value in (a.T, a[:, ::2], a.astype(">f8")):
        with pytest.raises(ValueError, match=r"^asarray: cannot share memory .*; permit a copy"):
            pb.asarray(value, copy=False)
    for value in ([1.0], 3.0, np.float64(3), [a, a]):
        with pytest.raises(ValueError, match=r"^asarray: .* this value must be copied"):
            pb.asarray(value, copy=False)
    with pytest.raises(ValueError, match=r"^asarray: .* this value must be copied"):
        pb.asarray(a, "float32", copy=False)
    with pytest.raises(TypeError, match=r"^asarray: expected an array without a mask"):
        pb.asarray(np.ma.masked_array([1.0, 2.0], [True, False]), copy=False)


# --- capsules made by hand


class Producer:
    """Exports six float64 by a capsule of DLPack 0.8, with changed fields."""

    def __init__(self, **changes: Any) -> None:
        self.device = changes.pop("reported", (1, 0))
        self.numbers = (ctypes.c_double * 6)(*range(6))
        self.shape, strides = (ctypes.c_int64 * 2)(2, 3), changes.pop("strides", None)
        self.strides = (ctypes.c_int64 * 2)(*strides) if strides else None
        fields = {"code": 2, "bits": 64, "lanes": 1, "ndim": 2, "device": (1, 0)} | changes
        self.tensor = DlTensor(
            data=ctypes.addressof(self.numbers),
            device=(ctypes.c_int32 * 2)(*fields.pop("device")),
            shape=ctypes.cast(self.shape, ctypes.POINTER(ctypes.c_int64)),
            **fields,
        )
        if self.strides is not None:
            self.tensor.strides = ctypes.cast(self.strides, ctypes.POINTER(ctypes.c_int64))

    def __dlpack__(self, **options: Any) -> Any:
        if options:
            raise TypeError("no options in DLPack 0.8")
        return new_capsule(ctypes.addressof(self.tensor), b"dltensor", None)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


def test_offsets_and_strides_in_a_capsule() -> None:
    plain = Producer()
    for copy in (None, True):
        assert pb.from_dlpack(plain, copy=copy).tolist() == [[0, 1, 2], [3, 4, 5]]
    # Without flags, read-only memory is not known to be unchanging.
    x = pb.from_dlpack(plain)
    plain.numbers[0] = 9.0
    assert x.tolist()[0][0] == 0.0
    assert pb.from_dlpack(plain, copy=False).tolist() == [[9, 1, 2], [3, 4, 5]]
    turned = Producer(strides=(1, 2))
    assert pb.from_dlpack(turned).tolist() == [[0, 2, 4], [1, 3, 5]]
    with pytest.raises(ValueError, match="row-major"):
        pb.from_dlpack(turned, copy=False)
    moved = Producer(byte_offset=16)
    moved.shape[1] = 2
    for copy in (True, False):
        assert pb.from_dlpack(moved, copy=copy).tolist() == [[2, 3], [4, 5]]


class Wrong:
    def __init__(self, export: Callable[..., Any], device: Any = (1, 0)) -> None:
        self.export, self.device = export, device

    def __dlpack__(self, **options: Any) -> Any:
        return self.export()

    def __dlpack_device__(self) -> Any:
        if isinstance(self.device, Exception):
            raise self.device
        return self.device


def used_capsule() -> Any:
    producer = Producer()
    capsule = producer.__dlpack__()
    np.from_dlpack(Wrong(lambda: capsule))
    return capsule


def failing(error: Exception) -> Callable[[], Any]:
    def export() -> Any:
        raise error

    return export


WRONG: list[Callable[[], Any]] = [
    lambda: Producer(reported=(2, 0)),
    lambda: Producer(device=(2, 0)),
    lambda: Producer(code=7),
    lambda: Producer(bits=24),
    lambda: Producer(lanes=4),
    lambda: Producer(ndim=1000),
    lambda: Wrong(used_capsule),
    lambda: Wrong(lambda: None),
    lambda: Wrong(lambda: 3),
    lambda: Wrong(lambda: new_capsule(1, b"other", None)),
    lambda: Wrong(failing(BufferError("no export"))),
    lambda: Wrong(failing(TypeError("no options"))),
    lambda: Wrong(failing(ValueError("bad"))),
    lambda: Wrong(lambda: None, "cpu"),
    lambda: Wrong(lambda: None, RuntimeError("no device")),
    lambda: np.array(["text"]),
    lambda: np.array([None]),
    lambda: np.ones(2, ml_dtypes.bfloat16),
]


@each("producer", WRONG)
def test_wrong_producers(producer: Callable[[], Any]) -> None:
    for copy in (None, True, False):
        with pytest.raises(BufferError, match=r"^from_dlpack: "):
            pb.from_dlpack(producer(), copy=copy)


def test_an_error_of_the_producer_is_its_own() -> None:
    with pytest.raises(KeyError, match="mine"):
        pb.from_dlpack(Wrong(failing(KeyError("mine"))))


def test_traced_updates_do_not_write_to_shared_memory() -> None:
    for copy in (False, None):
        a = np.arange(4.0)
        a.flags.writeable = copy is False
        v = pb.Variable(pb.from_dlpack(a, copy=copy))
        step = pb.function(lambda v=v: v.assign_add(1.0))
        for _ in range(3):
            step()
        np.testing.assert_array_equal(a, np.arange(4.0))
        np.testing.assert_array_equal(v.numpy(), np.arange(4.0) + 3)
