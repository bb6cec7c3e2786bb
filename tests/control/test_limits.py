"""What loops and branches are given at the edges: numbers at and beyond the ends of int64, nests
without a tensor, entries of a batch that choose differently."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb


def same(*state: Any) -> Any:
    return state[-1]


@pytest.mark.parametrize(
    "call, says",
    [
        (
            lambda: pb.scan(lambda s, _: (s, None), 0, length=2**63 + 1),
            "scan: expected an int64 for length, got 9223",
        ),
        (
            lambda: pb.fori_loop(0, 2**63, same, 0),
            "fori_loop: expected an int64 for upper, got 9223",
        ),
        (
            lambda: pb.fori_loop(2**70, pb.constant(3), same, 0),
            "fori_loop: expected an int64 for lower, got 1180",
        ),
        (
            lambda: pb.fori_loop(-(2**63), 2**63 - 1, same, 0),
            "fori_loop: expected an int64 for upper - lower, got 1844",
        ),
        (
            lambda: pb.while_loop(lambda s: s < 3, lambda s: s + 1, 0, memory_limit=2**70),
            "while_loop: expected an int64 for memory_limit, got 1180",
        ),
    ],
)
def test_numbers_beyond_int64(call: Callable[[], Any], says: str) -> None:
    with pytest.raises(OverflowError, match=says):
        call()


@pytest.mark.parametrize("index", [2**63, 2**64 - 1, 2**63 - 1, 7, np.uint64(2**63)])
def test_a_large_index_takes_the_last_branch(index: Any) -> None:
    functions = [lambda: 0, lambda: 1, lambda: 2]
    assert int(pb.switch(index, functions)) == 2
    assert int(pb.switch(np.uint64(index), functions)) == 2
    assert int(pb.function(lambda i: pb.switch(i, functions))(np.uint64(index))) == 2
    assert int(pb.switch(pb.constant(1, "uint64"), functions)) == 1


def test_map_of_no_tensors_is_told_no_length() -> None:
    with pytest.raises(ValueError, match=r"^map: expected at least one tensor for xs, got none$"):
        pb.map(lambda x: x, [])
    with pytest.raises(
        ValueError, match="scan: expected at least one tensor for xs, got none; pass"
    ):
        pb.scan(lambda s, x: (s, x), 0, [])


def test_an_associative_function_keeps_dtypes() -> None:
    with pytest.raises(TypeError, match=r"expected dtype float32 from f for xs.'a'., got float64"):
        pb.associative_scan(lambda a, _: {"a": pb.cast(a["a"], "float64")}, {"a": pb.ones(4)})
    sums = pb.associative_scan(pb.add, pb.constant([1, 2, 3], "int8"))
    assert sums.dtype == np.int8 and sums.numpy().tolist() == [1, 3, 6]


def test_all_choices_are_computed_where_entries_choose_differently() -> None:
    x = pb.constant([1.0, 2.0, 3.0])

    def entry(i: Any) -> Any:
        return pb.cond(i < 3, lambda i: pb.take(x, i), lambda i: pb.constant(0.0), i)

    assert float(entry(pb.constant(5))) == 0.0
    with pytest.raises(IndexError, match="take"):
        pb.vmap(entry)(np.array([0, 5])).numpy()
