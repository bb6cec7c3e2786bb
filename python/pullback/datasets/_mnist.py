"""The MNIST digits from IDX files: the full set from a folder (gzip), or the sample shipped here
(bzip2, which is a fifth smaller).

The IDX format: two zero bytes, the element type (8 is uint8), the number of axes, each axis' length
as a big-endian uint32, then the elements in row-major order.
"""

from __future__ import annotations

import bz2
import gzip
import struct
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)
SAMPLE = Path(__file__).with_name("mnist_sample")
SAMPLE_FILES = tuple(name.replace(".gz", ".bz2") for name in FILES)
CLASSES = 10


class Mnist(NamedTuple):
    """Store the MNIST digits as four NumPy arrays.

    Attributes
    ----------
    train_images, test_images : numpy.ndarray
        Images of shape (n, 784) and dtype float32, in [0, 1].
    train_labels, test_labels : numpy.ndarray
        Digits of shape (n,) and dtype int64, or one-hot rows of shape (n, 10) and dtype float32.

    Examples
    --------
    >>> digits = load_mnist()
    >>> digits.train_images.shape, digits.train_images.dtype
    ((6000, 784), dtype('float32'))
    """

    train_images: NDArray[np.float32]
    train_labels: NDArray[Any]
    test_images: NDArray[np.float32]
    test_labels: NDArray[Any]


def load_mnist(directory: str | Path | None = None, *, one_hot: bool = False) -> Mnist:
    """Load the MNIST digits from a folder, or the sample of the package.

    The sample has 6000 training and 1000 test images of the real data set, rounded to 16 levels of
    grey.

    Parameters
    ----------
    directory : str or pathlib.Path, optional
        Folder with the four IDX gzip files. Default: the sample of the package.
    one_hot : bool, optional
        Return labels as rows of zeros with a one at the digit. Default: False.

    Returns
    -------
    Mnist
        Named tuple `(train_images, train_labels, test_images, test_labels)`.

    Raises
    ------
    FileNotFoundError
        If a file is missing.
    ValueError
        If a file is damaged.

    Examples
    --------
    >>> digits = load_mnist()
    >>> digits.train_images.shape, digits.test_labels.shape
    ((6000, 784), (1000,))
    """
    folder = SAMPLE if directory is None else Path(directory)
    files = SAMPLE_FILES if folder == SAMPLE else FILES
    missing = [name for name in files if not (folder / name).is_file()]
    if missing:
        raise FileNotFoundError(
            f"load_mnist: expected the four files {', '.join(files)} in '{folder}', "
            f"{', '.join(missing)} not found"
        )
    train, test = _read_pair(folder, files[0:2]), _read_pair(folder, files[2:4])
    if one_hot:
        rows = np.eye(CLASSES, dtype=np.float32)
        return Mnist(train[0], rows[train[1]], test[0], rows[test[1]])
    return Mnist(*train, *test)


def read_idx(path: str | Path) -> NDArray[np.uint8]:
    """Read a compressed IDX file of unsigned bytes in its own shape, or raise a ValueError."""
    path = Path(path)
    kind, decompress = (
        ("bzip2", bz2.decompress) if path.suffix == ".bz2" else ("gzip", gzip.decompress)
    )
    try:
        data = decompress(path.read_bytes())
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise ValueError(
            f"load_mnist: expected a complete {kind} file, got {path} ({error})"
        ) from None
    if len(data) < 4 or data[:3] != b"\x00\x00\x08":
        raise ValueError(
            f"load_mnist: expected an IDX file of unsigned bytes, got {path}, which starts "
            f"{data[:4]!r}"
        )
    header = 4 + 4 * data[3]
    if len(data) < header:
        raise ValueError(
            f"load_mnist: expected an IDX header of {header} bytes in {path}, got {len(data)}"
        )
    shape = struct.unpack(f">{data[3]}I", data[4:header])
    values = np.frombuffer(data, np.uint8, offset=header)
    if values.size != int(np.prod(shape, dtype=object)):
        raise ValueError(
            f"load_mnist: expected bytes of shape {shape} in {path}, got {values.size} bytes"
        )
    return values.reshape(shape)


def _read_pair(
    folder: Path, names: tuple[str, ...]
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    images, labels = (read_idx(folder / name) for name in names)
    if images.ndim != 3:
        raise ValueError(
            f"load_mnist: expected shape (n, rows, columns) in {folder / names[0]}, got "
            f"{images.shape}"
        )
    if labels.shape != images.shape[:1]:
        raise ValueError(
            f"load_mnist: expected {len(images)} labels in {folder / names[1]}, got {labels.shape}"
        )
    if labels.size and labels.max() >= CLASSES:
        raise ValueError(
            f"load_mnist: expected labels from 0 to 9 in {folder / names[1]}, got {labels.max()}"
        )
    pixels = images.reshape(len(images), -1).astype(np.float32) / np.float32(255)
    return pixels, labels.astype(np.int64)
