"""Sizes that no memory holds: every public function refuses them, or stays lazy until asked.

Arrays of one repeated number take no memory, so shapes of 2**31 and more cost nothing to make. The
walk calls every public function with them in many ways; a wrapped size would show as a result whose
shape is wrong or as a crash. What stays lazily valid and is too large for any memory must raise
MemoryError when it is looked at.
"""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

HALF = 1 << 31
HUGE = 1 << 57
LARGEST = 1 << 61  # bytes, at 8 for each element
REFUSED = (ValueError, MemoryError, OverflowError)
LONG = 1 << 50  # too long for any memory, so that nothing here is ever computed
# Settings, functions of functions, and those that would go through LONG rows in Python.
OTHER = {
    *(
        "set_num_threads",
        "set_default_dtype",
        "register_gradient",
        "profile",
        "seed",
        "num_threads",
    ),
    *(
        "custom_gradient",
        "function",
        "grad",
        "value_and_grad",
        "gradient_override_map",
        "gradients",
    ),
    *("concat", "stack", "split", "evaluate", "clip_by_global_norm", "global_norm"),
    *("choose", "lexsort", "piecewise", "select"),
    *("append", "array_split", "concatenate", "dsplit", "hsplit", "vsplit"),
    *("column_stack", "dstack", "hstack", "unstack", "vstack"),
}


def test_what_crashed() -> None:
    for call in (
        lambda: pb.zeros((HALF, 1)) + pb.ones((1, HALF)),
        lambda: pb.outer(pb.zeros(HALF), pb.zeros(HALF)),
        lambda: pb.where(pb.zeros((HALF, 1), "bool"), pb.ones((1, HALF)), 0.0),
        lambda: pb.reshape(pb.zeros((0,)), (0, HALF, HALF)),
        lambda: pb.concat([pb.zeros(HUGE)] * 32),
        lambda: pb.stack([pb.zeros(HUGE)] * 32),
        lambda: pb.one_hot(pb.zeros((2,) * 8, "int64"), HUGE),
        lambda: pb.zeros((HALF, HALF, 0)),
        lambda: pb.zeros((0, HALF, 1)) + pb.ones((HALF, 1, HALF)),
        lambda: pb.zeros((HALF, 0)) @ pb.zeros((0, HALF)),
        lambda: pb.zeros((HALF, 1)) @ pb.zeros((1, HALF)),
        lambda: pb.eye(HALF, HALF),
        lambda: pb.arange(1 << 62),
        lambda: (
            pb.take(pb.zeros((HALF, 2)), np.zeros((1, 0), np.int64), axis=1) @ pb.zeros((0, HALF))
        ),
        lambda: pb.broadcast_to(pb.zeros((0, 1)), (0, 1 << 62)),
        lambda: pb.split(pb.zeros(4), [(1 << 63) - 1]),
        lambda: pb.random.uniform((HALF, HALF)),
        lambda: pb.constant(np.empty((0, 1 << 60), bool)),
    ):
        with pytest.raises(REFUSED):
            call()


def test_the_sum_of_sizes_does_not_wrap() -> None:
    """32 × 2**59 is 0 in 64 bits."""
    with pytest.raises(ValueError, match=r"^concat: "):
        pb.concat([pb.zeros((1 << 57, 0))] * (1 << 8), axis=0)


def test_named_by_the_operation() -> None:
    a, b = pb.zeros((HALF, 1)), pb.ones((1, HALF))
    with pytest.raises(ValueError, match=r"^add: .*64 bits.* shape"):
        a + b
    with pytest.raises(ValueError, match=r"^matmul: .*64 bits.* shape"):
        a @ b
    with pytest.raises(ValueError, match=r"^reshape: .*64 bits.* shape"):
        pb.reshape(pb.zeros((0,)), (0, HALF, HALF))


def test_memory_that_cannot_be_had() -> None:
    for result in (
        pb.zeros(HUGE) + 1.0,
        pb.zeros((HALF, 1)) + pb.ones((1, 1 << 20)),
        pb.concat([pb.zeros(HUGE), pb.ones(HUGE)]),
        pb.random.uniform((HUGE,)),
        pb.arange(HUGE),
        pb.transpose(pb.zeros((HALF, 1 << 20))),
        pb.exp(pb.arange(HUGE, dtype="float32")).at[0].set(1.0),
    ):
        with pytest.raises(MemoryError):
            result.numpy()
    # Temporaries: 40 of 2**60 bytes at once are more than 64 bits can count.
    x = pb.arange(HUGE)
    parts = [pb.transpose(pb.reshape(x + k, (HALF, -1))) for k in range(40)]
    with pytest.raises(MemoryError):
        pb.evaluate(pb.concat([p[:1, :1] for p in parts]))
    assert np.array_equal((pb.zeros(HUGE) + 1.0)[:2].shape, (2,))
    assert float(pb.zeros(HUGE)[5]) == 0.0


def tensors() -> Iterator[Any]:
    yield pb.zeros((LONG, 1))
    yield pb.ones((1, LONG))
    yield pb.zeros((1, LONG), "int64")
    yield pb.ones((LONG, 1), "bool")
    yield pb.zeros((HUGE,))
    yield pb.zeros((0, LONG, 1))
    yield pb.ones((LONG, 1, 1 << 6))
    yield pb.ones((1 << 7, 1, LONG))


def arguments() -> Iterator[tuple[Any, ...]]:
    huge = list(tensors())
    shapes: list[Any] = [(LONG, LONG), (0, LONG, LONG), (LONG, 0, 1), HUGE, (1 << 62, 2)]
    for x in huge:
        yield (x,)
        yield (0, x)
        yield ([x] * 32,)
        yield ([x] * 32, -1)
    for x in shapes:
        yield (x,)
        yield (x, 2.0)
        yield (2.0, x)
    yield ((HUGE, HUGE),)
    for x, y in itertools.product(huge, huge):
        yield (x, y)
    for x, shape in itertools.product(huge, shapes):
        yield (x, shape)
    for x, number in itertools.product(huge, (-1, 0, 1, LONG, HUGE)):
        yield (x, number)
    for x in huge[:4]:
        yield (x, *huge[:2])
        yield (x, 0, 1)
        yield (x, 0.5, huge[1])
        yield (pb.zeros((2,) * 8, "int64"), HUGE)
        yield (x, pb.zeros((LONG, 3), "int64"), 0)
        yield (x, pb.zeros((LONG, 3), "int64"), 1)
    for text in ("ij,kl->ijkl", "ij,kl->ik", "ij,jk", "ij,kj->ikj"):
        yield (text, huge[0], huge[1])
        yield (text, huge[1], huge[0])


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for space in (pb, pb.nn, pb.linalg, pb.fft, pb.random, pb.special):
        for name in sorted(getattr(space, "__all__", dir(space))):
            function = getattr(space, name)
            other = name.startswith("_") or name in OTHER or isinstance(function, type)
            if callable(function) and not other:
                yield f"{space.__name__}.{name}", function


def check(result: Any) -> None:
    for tensor in result if isinstance(result, (tuple, list)) else [result]:
        if not isinstance(tensor, pb.Tensor):
            continue
        sizes = [max(n, 1) for n in tensor.shape]
        assert min(tensor.shape, default=0) >= 0 and len(sizes) <= 16
        assert math.prod(sizes) * 8 <= LARGEST
        assert tensor.size == math.prod(tensor.shape)
        if tensor.size * tensor.dtype.itemsize > 1 << 47:
            with pytest.raises((MemoryError, IndexError)):
                tensor.numpy()


@pytest.mark.parametrize("step", [11, pytest.param(1, marks=pytest.mark.slow)])
@each("name, function", list(functions()), ids=[name for name, _ in functions()])
def test_every_public_function(name: str, function: Callable[..., Any], step: int) -> None:
    """With every 11th of the arguments, other ones for each function, or with all."""
    for args in itertools.islice(arguments(), zlib.crc32(name.encode()) % step, None, step):
        try:
            result = function(*args)
        except (*REFUSED, TypeError, IndexError, LookupError, NotImplementedError, AttributeError):
            continue
        check(result)


METHODS = (
    lambda x: x[None, ..., None],
    lambda x: x[..., ::-1],
    lambda x: x[:0],
    lambda x: x[..., np.zeros((LONG // 4096, 0), np.int64)],
    lambda x: x.at[..., 0].set(1.0),
    lambda x: x.at[np.array([0])].add(pb.ones((1, HALF))),
    lambda x: x.T,
    lambda x: x @ x.T,
    lambda x: x.T @ x,
    lambda x: x**2 + x.T,
)


@each("k", range(len(METHODS)))
def test_operators_and_indices(k: int) -> None:
    for x in tensors():
        try:
            result = METHODS[k](x)
        except (*REFUSED, TypeError, IndexError):
            continue
        check(result)


def test_gradients_are_as_lazy() -> None:
    x = pb.Variable(np.float32(1.0))
    for build in (
        lambda: pb.sum(pb.broadcast_to(x, (HUGE,))),
        lambda: pb.sum(pb.broadcast_to(x, (HALF, 1)) @ pb.ones((1, 1 << 20))),
        lambda: pb.max(pb.stack([pb.broadcast_to(x, (1 << 40,))] * 4)),
        lambda: pb.sum(pb.broadcast_to(x, (HUGE,))[::2]),
    ):
        (slope,) = pb.gradients(build(), [x])
        assert slope.shape == ()
