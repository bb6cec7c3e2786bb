"""What the Array API standard asks of a namespace and of arrays, beside its functions."""

import numpy as np
import pytest

import pullback as pb


def test_the_namespace_of_a_tensor():
    x = pb.constant([1.0])
    assert x.__array_namespace__() is pb
    assert pb.Variable([1.0]).__array_namespace__(api_version="2025.12") is pb
    with pytest.raises(ValueError, match=r"__array_namespace__: .*'1999\.1'"):
        x.__array_namespace__(api_version="1999.1")


@pytest.mark.usefixtures("processor")
def test_info():
    info = pb.__array_namespace_info__()
    assert info.default_device() == "cpu" and info.devices()[0] == "cpu"
    assert info.capabilities()["max dimensions"] == 16
    assert info.default_dtypes()["real floating"] == pb.get_default_dtype()
    dtypes = info.dtypes()
    assert dtypes["float64"] == np.float64 and dtypes["bool"] == np.bool_


@pytest.mark.usefixtures("processor")
def test_device():
    x = pb.constant([1.0])
    assert x.device == "cpu" and x.to_device("cpu") is x
    v = pb.Variable([1.0])
    assert isinstance(v.to_device("cpu"), pb.Tensor)
    for call in (
        lambda: x.to_device("gpu"),
        lambda: pb.zeros(2, device="gpu"),
        lambda: pb.ones(2, device="gpu"),
        lambda: pb.full(2, 1, device="gpu"),
        lambda: pb.empty(2, device="gpu"),
        lambda: pb.arange(2, device="gpu"),
        lambda: pb.eye(2, device="gpu"),
        lambda: pb.linspace(0, 1, device="gpu"),
        lambda: pb.asarray(2, device="gpu"),
        lambda: pb.zeros_like(x, device="gpu"),
        lambda: pb.ones_like(x, device="gpu"),
        lambda: pb.full_like(x, 2, device="gpu"),
        lambda: pb.empty_like(x, device="gpu"),
        lambda: pb.from_dlpack(x, device="gpu"),
    ):
        with pytest.raises(ValueError, match=r'^\w+: expected "cpu", "cuda" .*, got "gpu"'):
            call()
    with pytest.raises(TypeError, match=r"zeros: expected 'cpu', .* for device, got 2"):
        pb.zeros(2, device=2)
    assert pb.zeros(2, device="cpu").shape == (2,)


@pytest.mark.usefixtures("processor")
def test_dlpack_both_ways():
    x = pb.constant(np.arange(6.0).reshape(2, 3))
    there = np.from_dlpack(x)
    assert np.array_equal(there, x.numpy()) and there.flags.writeable is False
    assert x.__dlpack_device__() == (1, 0)
    source = np.arange(4, dtype=np.int32)[::-1]
    back = pb.from_dlpack(source)
    source[:] = 0
    assert back.numpy().tolist() == [3, 2, 1, 0]
    assert pb.from_dlpack(x).numpy().tolist() == x.numpy().tolist()
    with pytest.raises(TypeError, match="from_dlpack: expected an array with __dlpack__"):
        pb.from_dlpack([1.0])
    with pytest.raises(ValueError, match=r"from_dlpack: .* row-major order; permit a copy"):
        pb.from_dlpack(source, copy=False)


def test_dlpack_for_consumers_that_know_no_read_only_memory():
    capsule = pb.constant([1.0, 2.0]).__dlpack__()
    assert "dltensor" in repr(capsule)


@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32"])
def test_dlpack_options(dtype):
    for x in (pb.ones(3, dtype=dtype), pb.ones((0, 2), dtype=dtype), pb.ones((), dtype=dtype)):
        for version in (None, (0, 8), (1, 0), (2, 0)):
            for copy in (None, False, True):
                options = {"max_version": version, "copy": copy, "dl_device": (1, 0)}
                if copy is False and (version or (0,)) < (1, 0):  # the memory is not read-only
                    with pytest.raises(BufferError, match=r"before DLPack 1\.0 receives a copy"):
                        x.__dlpack__(**options)
                    continue
                assert x.__dlpack__(**options) is not None
        for copy in (None, False, True):
            y = pb.from_dlpack(x, copy=copy)
            assert y.dtype == dtype and y.numpy().tolist() == x.numpy().tolist()
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 0))


def test_asarray_copies():
    x = pb.constant([1.0])
    assert pb.asarray(x) is x and pb.asarray(x, copy=False) is x
    assert pb.asarray(x, copy=True) is not x
    with pytest.raises(ValueError, match=r"asarray: .* for copy, got False"):
        pb.asarray([1.0], copy=False)


def test_constants():
    assert (pb.e, pb.pi, pb.inf, pb.newaxis) == (np.e, np.pi, np.inf, None)
    assert np.isnan(pb.nan)
    assert pb.constant([1.0])[pb.newaxis].shape == (1, 1)
