"""x[index] and x.at[index] with any index NumPy takes, drawn at random: compared with NumPy's own
assignment and unbuffered `at`; their gradients, whose exact values follow from the same calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.each import examples
from support.reference import UFUNCS, put

import pullback as pb

UPDATES = ["set", *UFUNCS]

# --- a space of indices


@st.composite
def slices(draw: Any, length: int) -> slice:
    bound = st.none() | st.integers(-length - 1, length + 1)
    return slice(draw(bound), draw(bound), draw(st.sampled_from([None, 1, 2, -1, -2])))


@st.composite
def indexed(draw: Any) -> tuple[Any, Any]:
    """An array of small integers as floats, and an index into it."""
    lengths = st.lists(st.integers(1, 4) | st.integers(0, 5), max_size=4)
    shape = tuple(draw(lengths))
    block = tuple(draw(st.lists(st.integers(0, 3), max_size=2)))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    key: list[Any] = []
    kinds = ["integer", "slice", "new", "rest", "array", "array", "mask", "truth", "end"]
    axis = 0
    while axis <= len(shape) and len(key) < 7:
        kind = draw(st.sampled_from(kinds))
        if kind == "end":
            break
        if kind == "new":
            key.append(None)
        elif kind == "truth":
            key.append(draw(st.booleans()))
        elif kind == "rest" and not any(entry is Ellipsis for entry in key):
            key.append(Ellipsis)
            axis += draw(st.integers(0, len(shape) - axis))
        elif axis == len(shape):
            break
        elif kind == "slice":
            key.append(draw(slices(shape[axis])))
            axis += 1
        elif kind == "mask":
            end = draw(st.integers(axis + 1, min(axis + 2, len(shape))))
            key.append(rng.random(shape[axis:end]) < 0.6)
            axis = end
        elif shape[axis] and kind == "integer":
            outside = draw(st.integers(0, 15)) == 0
            key.append(draw(st.integers(-shape[axis] - outside, shape[axis] - 1 + outside)))
            axis += 1
        elif shape[axis] and kind == "array":
            some = draw(st.sampled_from([block, block, block[-1:], (1,) * len(block), ()]))
            dtype = draw(st.sampled_from(["int64", "int32", "int8"]))
            key.append(rng.integers(-shape[axis], shape[axis], some).astype(dtype))
            axis += 1
    x = rng.integers(-9, 10, shape).astype(np.float64)
    return x, key[0] if len(key) == 1 and draw(st.booleans()) else tuple(key)


def as_tensors(key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple(map(as_tensors, key))
    return pb.constant(key) if isinstance(key, np.ndarray) else key


def variants(key: Any) -> Iterator[Any]:
    """The same index with NumPy arrays, with tensors, and with lists."""
    yield key
    yield as_tensors(key)
    # An empty list forgets how many axes there were.
    if isinstance(key, np.ndarray) and key.ndim and (key.size or key.ndim == 1):
        yield key.tolist()


def numpy_takes(x: Any, key: Any) -> bool:
    try:
        return x[key].ndim <= 8 and not sees_no_mask(x, key)
    except IndexError:
        with pytest.raises(IndexError):
            pb.constant(x)[key]
        return False


def sees_no_mask(x: Any, key: Any) -> bool:
    """NumPy lets an empty mask pass for an axis of another length, always so if x is empty, and
    looks at no index beside one that takes nothing."""
    entries = key if isinstance(key, tuple) else (key,)
    masks = [entry for entry in entries if isinstance(entry, np.ndarray) and entry.dtype == bool]
    if any(mask.size == 0 for mask in masks):
        return True
    full = np.ones([max(n, 1) for n in x.shape])
    try:
        full[key]
    except IndexError:
        return x.size == 0
    try:
        full[tuple(map(taking_something, entries))]
    except IndexError:
        return True
    # Of an empty axis, every index beside one that takes nothing passes.
    return x.size == 0 and any(taking_something(entry) is not entry for entry in entries)


def taking_something(entry: Any) -> Any:
    if isinstance(entry, np.ndarray) and entry.size == 0:
        return np.zeros((1,) * entry.ndim, np.int64)
    return True if entry is False else entry


@settings(max_examples=examples(100), deadline=None)
@given(indexed())
def test_any_index_reads_as_in_numpy(pair: tuple[Any, Any]) -> None:
    x, key = pair
    if not numpy_takes(x, key):
        return
    want = x[key]
    c = np.arange(1.0, want.size + 1).reshape(want.shape)
    slope = np.zeros_like(x)
    np.add.at(slope, key, c)
    for same in variants(key):
        v = pb.Variable(x)
        y = v[same]
        assert y.shape == want.shape and np.array_equal(y.numpy(), want)
        assert np.array_equal(v.at[same].get().numpy(), want)
        (g,) = pb.gradients(y, [v], grad_ys=c)
        assert np.array_equal(g.numpy(), slope)


@settings(max_examples=examples(100), deadline=None)
@given(indexed(), st.sampled_from(UPDATES), st.booleans(), st.integers(0, 2**32 - 1))
def test_any_index_updates_as_in_numpy(
    pair: tuple[Any, Any], update: str, narrow: bool, seed: int
) -> None:
    x, key = pair
    if not numpy_takes(x, key):
        return
    shape = x[key].shape
    if narrow:  # a value that is broadcast
        shape = tuple(1 if n != 0 and k % 2 else n for k, n in enumerate(shape))[-2:]
    value = np.random.default_rng(seed).integers(-9, 10, shape).astype(np.float64)
    want = put(x, value, key, update)
    for same in variants(key):
        got = getattr(pb.constant(x).at[same], update)(value)
        assert got.dtype == x.dtype and np.array_equal(got.numpy(), want)


@settings(max_examples=examples(60), deadline=None)
@given(indexed(), st.integers(0, 2**32 - 1))
def test_gradients_of_set_and_add(pair: tuple[Any, Any], seed: int) -> None:
    """The one that was set last has the gradient, the others and what was there have none."""
    x, key = pair
    if not numpy_takes(x, key):
        return
    shape = x[key].shape
    c = np.random.default_rng(seed).integers(-9, 10, x.shape).astype(np.float64)
    number = np.arange(int(np.prod(shape))).reshape(shape)
    owner = put(np.full(x.shape, -1), number, key, "set")
    of_value = np.where(owner[key] == number, c[key], 0.0)
    for same in variants(key):
        v, value = pb.Variable(x), pb.Variable(np.zeros(shape))
        set_, added = v.at[same].set(value), v.at[same].add(value)
        gx, gv = pb.gradients(set_, [v, value], grad_ys=c)
        assert np.array_equal(gx.numpy(), np.where(owner < 0, c, 0.0))
        assert np.array_equal(gv.numpy(), of_value)
        gx, gv = pb.gradients(added, [v, value], grad_ys=c)
        assert np.array_equal(gx.numpy(), c)
        assert np.array_equal(gv.numpy(), c[key])


@settings(max_examples=examples(60), deadline=None)
@given(indexed(), st.sampled_from(["min", "max"]), st.integers(0, 2**32 - 1))
def test_gradients_of_min_and_max_are_shared(pair: tuple[Any, Any], update: str, seed: int) -> None:
    x, key = pair
    if not numpy_takes(x, key):
        return
    rng = np.random.default_rng(seed)
    x = np.sign(x)  # ties everywhere
    value = rng.integers(-1, 2, x[key].shape).astype(np.float64)
    c = rng.integers(-9, 10, x.shape).astype(np.float64)
    y = put(x, value, key, update)
    count = put((x == y).astype(np.float64), (value == y[key]).astype(np.float64), key, "add")
    for same in variants(key):
        v, w = pb.Variable(x), pb.Variable(value)
        gx, gv = pb.gradients(getattr(v.at[same], update)(w), [v, w], grad_ys=c)
        np.testing.assert_allclose(gx.numpy(), np.where(x == y, c / count, 0), rtol=1e-15)
        want = np.where(value == y[key], (c / count)[key], 0)
        np.testing.assert_allclose(gv.numpy(), want, rtol=1e-15)
