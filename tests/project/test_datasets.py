"""The MNIST loader: the sample in the package, and files that are missing or damaged."""

import gzip
import os
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from pullback.datasets import load_mnist
from pullback.datasets._mnist import FILES, SAMPLE, SAMPLE_FILES, read_idx


def idx(values, shape=None):
    shape = values.shape if shape is None else shape
    header = bytes([0, 0, 8, len(shape)]) + b"".join(n.to_bytes(4, "big") for n in shape)
    return gzip.compress(header + values.astype(np.uint8).tobytes())


@pytest.fixture
def folder(tmp_path):
    """Three training and two test images of 2x2 pixels."""
    for images, labels, n in ((*FILES[0:2], 3), (*FILES[2:4], 2)):
        (tmp_path / images).write_bytes(idx(np.arange(4 * n).reshape(n, 2, 2) * 20))
        (tmp_path / labels).write_bytes(idx(np.arange(n)))
    return tmp_path


def test_sample():
    digits = load_mnist()
    assert digits.train_images.shape == (6000, 784)
    assert digits.test_images.shape == (1000, 784)
    assert digits.train_images.dtype == np.float32
    assert digits.train_labels.dtype == np.int64
    assert (digits.train_images.min(), digits.train_images.max()) == (0, 1)
    assert np.bincount(digits.train_labels).tolist() == [600] * 10
    assert np.bincount(digits.test_labels).tolist() == [100] * 10
    assert digits.train_labels[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]


def test_sample_is_small_and_states_its_licence():
    data = files("pullback.datasets")
    assert sum(entry.stat().st_size for entry in SAMPLE.iterdir()) < 0.55e6
    assert "Attribution-ShareAlike 3.0" in data.joinpath("README.md").read_text(encoding="utf-8")


def test_sample_is_the_rounded_start_of_the_full_set():
    full = os.environ.get("PULLBACK_MNIST")
    if not full:
        pytest.skip("PULLBACK_MNIST is not set")
    for name, small in zip(FILES[::2], SAMPLE_FILES[::2], strict=True):
        original, sample = read_idx(Path(full) / name), read_idx(SAMPLE / small)
        assert set(np.unique(sample)) == set(range(0, 256, 17))
        # The first images of the set are in the sample, as no digit is complete by then.
        difference = original[:500].astype(int) - sample[:500]
        assert np.abs(difference).max() == 8


def test_folder(folder):
    digits = load_mnist(folder)
    np.testing.assert_allclose(digits.train_images[1] * 255, [80, 100, 120, 140], rtol=1e-6)
    assert digits.test_labels.tolist() == [0, 1]


def test_one_hot(folder):
    labels = load_mnist(folder, one_hot=True).train_labels
    assert labels.dtype == np.float32
    np.testing.assert_array_equal(labels, np.eye(10)[:3])


def test_missing_file_names_all_four(folder):
    (folder / FILES[1]).unlink()
    with pytest.raises(FileNotFoundError) as caught:
        load_mnist(folder)
    assert all(name in str(caught.value) for name in FILES)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not gzip at all",
        idx(np.zeros((3, 2, 2)))[:-5],
        gzip.compress(b"\x00\x00"),
        gzip.compress(b"\x00\x00\x0d\x01" + bytes(8)),
        gzip.compress(b"\x00\x00\x08\x03" + bytes(5)),
        idx(np.zeros(11), shape=(3, 2, 2)),
        idx(np.zeros(12), shape=(2**31, 2**31, 4)),
        idx(np.zeros(12)),
    ],
    ids=["empty", "text", "cut", "short", "float", "header", "bytes", "huge", "rank"],
)
def test_damaged_images(folder, data):
    (folder / FILES[0]).write_bytes(data)
    with pytest.raises(ValueError, match=FILES[0]):
        load_mnist(folder)


@pytest.mark.parametrize("labels", [np.zeros(4), np.array([1, 2, 10])], ids=["count", "range"])
def test_damaged_labels(folder, labels):
    (folder / FILES[1]).write_bytes(idx(labels))
    with pytest.raises(ValueError, match=FILES[1]):
        load_mnist(folder)


def test_read_idx_keeps_shape(tmp_path):
    path = tmp_path / "x.gz"
    path.write_bytes(idx(np.arange(24).reshape(2, 3, 4)))
    np.testing.assert_array_equal(read_idx(path), np.arange(24).reshape(2, 3, 4))
