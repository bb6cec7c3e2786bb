"""Random numbers: the generator itself against Philox 4x32-10 (its published answers, and a plain
implementation here), the distributions, and what a seed and a draw promise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy import stats
from support.cases import same_bits

import pullback as pb
from pullback import _core


@pytest.fixture(autouse=True)
def seeded() -> Iterator[None]:
    pb.random.seed(0)
    yield
    pb.random.seed(0)


def philox(index: int, seed: int, count: int) -> list[int]:
    """Four words of block `index` of draw `count` (Salmon et al., SC 2011)."""
    mask = 2**32 - 1
    x = [index & mask, index >> 32, count & mask, count >> 32]
    key = [seed & mask, seed >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [(b >> 32) ^ x[1] ^ key[0], b & mask, (a >> 32) ^ x[3] ^ key[1], a & mask]
        key = [(key[0] + 0x9E3779B9) & mask, (key[1] + 0xBB67AE85) & mask]
    return x


def test_the_reference_gives_the_published_answers() -> None:
    ones = 2**64 - 1
    assert philox(0, 0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert philox(ones, ones, ones) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


@pytest.mark.parametrize("seed", [0, 1, 2**63 + 12345, 2**64 - 1])
def test_uniform_is_philox(seed: int) -> None:
    pb.random.seed(seed)
    for count in range(3):
        words = [w for index in range(3) for w in philox(index, seed, count)]
        got = pb.random.uniform(10, dtype="float32").numpy()
        assert got.tolist() == [(w >> 8) / 2**24 for w in words[:10]]
    longs = [a | b << 32 for index in range(3) for a, b in _pairs(philox(index, seed, 3))]
    got = pb.random.uniform(5, dtype="float64").numpy()
    assert got.tolist() == [(w >> 11) / 2**53 for w in longs[:5]]


def _pairs(words: list[int]) -> list[tuple[int, int]]:
    return [(words[0], words[1]), (words[2], words[3])]


def test_a_seed_starts_the_sequence_again() -> None:
    def draw() -> list[Any]:
        results = [
            pb.random.normal((3, 4)),
            pb.random.uniform(5),
            pb.random.permutation(20),
            pb.random.shuffle(np.arange(12.0).reshape(6, 2)),
            pb.random.normal(7, dtype="float64"),
        ]
        return [x.numpy() for x in results]

    pb.random.seed(7)
    first, second = draw(), draw()
    pb.random.seed(7)
    again = draw()
    assert all(same_bits(a, b) for a, b in zip(first, again, strict=True))
    assert not any(same_bits(a, b) for a, b in zip(first, second, strict=True))
    pb.random.seed(8)
    assert not any(same_bits(a, b) for a, b in zip(first, draw(), strict=True))


def test_numbers_are_drawn_when_the_function_is_called() -> None:
    """Not when they are computed: order and number of looks change nothing."""
    a, b = pb.random.uniform(4), pb.random.uniform(4)
    late = b.numpy(), a.numpy()
    pb.random.seed(0)
    early = pb.random.uniform(4).numpy(), pb.random.uniform(4).numpy()
    assert same_bits(late[0], early[1]) and same_bits(late[1], early[0])


@pytest.mark.parametrize("style", ["replayed", "tracked", "under a tape"])
def test_a_seed_holds_for_functions_that_were_traced_before(style: str) -> None:
    w = pb.Variable(np.ones(4))

    @pb.function
    def f() -> Any:
        noise = pb.random.normal(4, dtype="float64") + pb.random.uniform(4, dtype="float64")
        return noise * (1.0 if style == "replayed" else w)

    def draw(seed: int) -> list[Any]:
        pb.random.seed(seed)
        if style == "under a tape":
            with pb.GradientTape() as tape:
                y = f()
            return [*y.numpy(), *tape.gradient(y, w).numpy()]
        y = f()
        slope = [] if style == "replayed" else pb.gradients(y, [w])[0].numpy()
        return [*y.numpy(), *slope]

    def eagerly(seed: int) -> list[Any]:
        pb.random.seed(seed)
        normal, uniform = (
            pb.random.normal(4, dtype="float64"),
            pb.random.uniform(4, dtype="float64"),
        )
        return list((normal + uniform).numpy())

    draw(5)
    for seed in (1, 2, 1, 2**64 - 1):
        got = draw(seed)
        assert got[:4] == eagerly(seed)
        assert got[4:] in ([], got[:4]), "the gradient is of the numbers that were drawn"


def test_tracing_draws_nothing() -> None:
    """A function gives what the same lines give outside, traced now or before."""

    def f(x: pb.Tensor) -> pb.Tensor:
        return x + pb.random.uniform(3) + pb.random.normal(3)

    def two(f: Callable[[pb.Tensor], pb.Tensor]) -> list[np.ndarray]:
        pb.random.seed(1)
        return [f(pb.zeros((n, 3))).numpy() for n in (2, 1, 2)]

    expected = two(f)
    traced = pb.function(f)
    for _ in range(2):
        for a, b in zip(two(traced), expected, strict=True):
            np.testing.assert_array_equal(a, b)
    pb.random.seed(1)
    pb.function(f).plan(pb.zeros((2, 3)))
    np.testing.assert_array_equal(traced(pb.zeros((2, 3))).numpy(), expected[0])


def test_no_seed_while_a_function_is_traced() -> None:
    @pb.function
    def seeded() -> pb.Tensor:
        pb.random.seed(5)
        return pb.random.uniform()

    with pytest.raises(RuntimeError, match="seed: a traced function cannot set a seed"):
        seeded()


def test_a_drawn_tensor_keeps_its_numbers() -> None:
    """Also where it is recomputed for a gradient after its value was dropped."""
    x = pb.Variable(np.ones(1000))
    noise = pb.random.normal(1000, dtype="float64")
    kept = noise * x
    loss = pb.sum(kept * kept)
    (g,) = pb.gradients(loss, [x])
    float(loss)
    z = noise.numpy()
    assert np.array_equal(kept.numpy(), z) and np.array_equal(g.numpy(), 2 * z * z)


def test_a_longer_draw_begins_with_the_shorter_one() -> None:
    for draw in (pb.random.uniform, pb.random.normal):
        for dtype in ("float32", "float64"):
            results = []
            for n in (1, 5, 1023, 1024, 1025, 70_001):
                pb.random.seed(3)
                results.append(draw(n, dtype=dtype).numpy())
            for x in results[:-1]:
                assert same_bits(x, results[-1][: len(x)])


def test_shapes_and_dtypes() -> None:
    for draw in (pb.random.uniform, pb.random.normal):
        assert draw().shape == () and draw(()).dtype == "float32"
        assert draw((2, 0, 3)).numpy().shape == (2, 0, 3)
        assert draw((2, 3), dtype="float64").dtype == "float64"
        with pytest.raises(TypeError, match="expected a floating dtype, got int32"):
            draw(3, dtype="int32")
        with pytest.raises(ValueError, match="axis sizes >= 0 for shape"):
            draw((2, -1))
    for n in (0, 1):
        assert pb.random.permutation(n).numpy().tolist() == list(range(n))
    for bad in (-1, 2**64, 1.5, None, "x"):
        with pytest.raises(ValueError, match="seed"):
            pb.random.seed(bad)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="shuffle: expected an array of rank 1 or more for x"):
        pb.random.shuffle(1.0)


# --- distributions (fixed seeds: these cannot fail by bad luck, only by a change)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_uniform_is_uniform(dtype: str) -> None:
    x = pb.random.uniform(400_000, dtype=dtype).numpy()
    assert x.min() >= 0 and x.max() < 1
    assert stats.kstest(x, "uniform").pvalue > 0.01
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 0.005


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_is_normal(dtype: str) -> None:
    x = pb.random.normal(400_000, dtype=dtype).numpy()
    assert np.isfinite(x).all()
    assert stats.kstest(x, "norm").pvalue > 0.01
    assert abs(x.mean()) < 0.005 and abs(x.std() - 1) < 0.005
    assert abs(stats.skew(x)) < 0.02 and abs(stats.kurtosis(x)) < 0.04
    # Both halves of a Box-Muller pair, and tails that a coarse first uniform would cut off.
    assert abs(np.corrcoef(x[::2], x[1::2])[0, 1]) < 0.01
    assert 4.2 < np.abs(x).max() < 6.5


def test_permutation_is_fair() -> None:
    n, draws = 4, 24_000
    counts: dict[tuple[int, ...], int] = {}
    results = [pb.random.permutation(n) for _ in range(draws)]
    pb.evaluate(results)
    for p in results:
        key = tuple(p.numpy().tolist())
        assert sorted(key) == list(range(n))
        counts[key] = counts.get(key, 0) + 1
    assert len(counts) == 24
    assert stats.chisquare(list(counts.values())).pvalue > 0.01


def test_shuffle_moves_whole_entries_and_their_gradients_back() -> None:
    data = np.arange(30.0).reshape(10, 3)
    x = pb.Variable(data)
    y = pb.random.shuffle(x)
    order = y.numpy()[:, 0] / 3
    assert sorted(order.tolist()) == list(range(10)) and order.tolist() != list(range(10))
    assert np.array_equal(y.numpy(), data[order.astype(int)])
    weight = np.arange(30.0).reshape(10, 3) ** 2
    (g,) = pb.gradients(y, [x], grad_ys=weight)
    assert np.array_equal(g.numpy()[order.astype(int)], weight)


def test_draws_are_constants_to_gradients() -> None:
    x = pb.Variable(np.ones(5, np.float32))
    noise = pb.random.normal(5)
    (g,) = pb.gradients(pb.sum(noise * x), [x])
    assert np.array_equal(g.numpy(), noise.numpy())


def test_a_thousand_draws_are_one_plan() -> None:
    x = pb.Variable(np.ones(50, np.float32))

    def step() -> float:
        keep = pb.cast(pb.random.uniform(50) < 0.5, "float32")
        return float(pb.sum(x * keep))

    step()  # reads the variable after the draw,
    step()  # which the later steps have done before it
    before = _core.status()
    values = {step() for _ in range(1000)}
    after = _core.status()
    assert after["plan_misses"] == before["plan_misses"]
    assert after["plan_hits"] == before["plan_hits"] + 1000
    assert len(values) > 10
