"""The MNIST digits as TensorFlow 1's tutorials read them: train, validation and test sets.

The first 5000 training images are kept for validation.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ......datasets import load_mnist
from ...._graph.graph import get_default_graph


class DataSet:
    """Images (n, 784) of float32 in [0, 1] and labels, in batches.

    Every epoch has a new random order, unless `next_batch` gets shuffle=False.
    """

    def __init__(self, images: NDArray[Any], labels: NDArray[Any], seed: int | None = None) -> None:
        self.images = images
        self.labels = labels
        self.epochs_completed = 0
        self._random = np.random.default_rng(seed)
        self._order = np.arange(len(images))
        self._at = 0
        self._shuffled = False

    @property
    def num_examples(self) -> int:
        return len(self.images)

    def next_batch(
        self, batch_size: int, fake_data: bool = False, shuffle: bool = True
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the next images and labels; a new epoch starts after the last image."""
        if not 0 < batch_size <= self.num_examples:
            raise ValueError(
                f"next_batch: expected a size from 1 to {self.num_examples}, got {batch_size}"
            )
        if shuffle and not self._shuffled:
            self._random.shuffle(self._order)
            self._shuffled = True
        rows = self._order[self._at : self._at + batch_size]
        self._at += len(rows)
        if len(rows) < batch_size:
            rest = batch_size - len(rows)
            self.epochs_completed += 1
            first = rows.copy()
            if shuffle:
                self._random.shuffle(self._order)
            rows = np.concatenate([first, self._order[:rest]])
            self._at = rest
        return self.images[rows], self.labels[rows]


class Datasets(NamedTuple):
    """The three sets."""

    train: DataSet
    validation: DataSet
    test: DataSet


def read_data_sets(
    train_dir: str | Path, fake_data: bool = False, one_hot: bool = False, dtype: Any = np.float32,
    reshape: bool = True, validation_size: int = 5000, seed: int | None = None,
    source_url: str | None = None,
) -> Datasets:  # fmt: skip
    """Read the four IDX gzip files of a folder; nothing is downloaded.

    Without `seed` the seed of `set_random_seed` determines the order, if there is one. Labels are
    int64 digits, or with `one_hot` rows of ten float32.

    Raises
    ------
    FileNotFoundError
        If a file is missing.
    ValueError
        If `validation_size` is larger than the set.
    """
    if seed is None:
        seed = get_default_graph().seed
    digits = load_mnist(train_dir, one_hot=one_hot)
    shape = (-1, 784) if reshape else (-1, 28, 28, 1)
    images, test_images = (
        x.astype(np.dtype(dtype), copy=False).reshape(shape)
        for x in (digits.train_images, digits.test_images)
    )
    labels, test_labels = digits.train_labels, digits.test_labels
    if not 0 <= validation_size <= len(images):
        raise ValueError(
            f"read_data_sets: expected 0 <= validation_size <= {len(images)}, got {validation_size}"
        )
    train, validation = slice(validation_size, None), slice(validation_size)
    return Datasets(
        DataSet(images[train], labels[train], seed),
        DataSet(images[validation], labels[validation], seed),
        DataSet(test_images, test_labels, seed),
    )
