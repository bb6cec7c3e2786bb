"""`tf.data`: datasets of arrays, and iterators over them."""

from __future__ import annotations

from operator import attrgetter
from types import SimpleNamespace
from typing import Any

from .datasets import Dataset
from .iterators import Iterator

__all__ = [
    "AUTOTUNE", "Dataset", "Iterator", "experimental", "get_output_classes",
    "get_output_shapes", "get_output_types", "make_initializable_iterator",
    "make_one_shot_iterator",
]  # fmt: skip

AUTOTUNE = -1


def make_one_shot_iterator(dataset: Dataset) -> Iterator:
    """Alias of the method of `dataset`."""
    return dataset.make_one_shot_iterator()


def make_initializable_iterator(dataset: Dataset, shared_name: str | None = None) -> Iterator:
    """Alias of the method of `dataset`."""
    return dataset.make_initializable_iterator()


get_output_types = attrgetter("output_types")
get_output_shapes = attrgetter("output_shapes")
get_output_classes = attrgetter("output_classes")


def _shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: int | None = None) -> Any:
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def _map_and_batch(
    map_func: Any, batch_size: Any, num_parallel_batches: Any = None, drop_remainder: bool = False,
    num_parallel_calls: Any = None,
) -> Any:  # fmt: skip
    return lambda dataset: dataset.map(map_func).batch(batch_size, drop_remainder)


experimental = SimpleNamespace(
    AUTOTUNE=AUTOTUNE, shuffle_and_repeat=_shuffle_and_repeat, map_and_batch=_map_and_batch
)
