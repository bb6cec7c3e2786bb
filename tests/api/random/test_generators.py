"""Generators: sequences of their own, the same numbers for any number of threads and wherever a
program draws them."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy import stats
from support.cases import same_bits

import pullback as pb
from pullback import _core

R = pb.random
A = np.array([0.2, 1.5, 40.0] * 4000)
DRAWS: dict[str, Callable[[Any], Any]] = {
    "normal": lambda g: g.normal(9000),
    "uniform": lambda g: g.uniform(9000, "float64", high=3.0),
    "integers": lambda g: g.integers(0, A.astype(int) + 5),
    "bernoulli": lambda g: g.bernoulli(0.3, 9000),
    "binomial": lambda g: g.binomial(A.astype(int), 0.4),
    "categorical": lambda g: g.categorical([[0.0, 1.0], [2.0, 1.0]], (300, 2)),
    "choice": lambda g: g.choice(100, 50, replace=False),
    "permutation": lambda g: g.permutation(100),
    "shuffle": lambda g: g.shuffle(A),
    "exponential": lambda g: g.exponential(9000),
    "gamma": lambda g: g.gamma(A),
    "beta": lambda g: g.beta(A, 2.0, dtype="float32"),
    "dirichlet": lambda g: g.dirichlet(A.reshape(-1, 3)),
    "poisson": lambda g: g.poisson(A),
    "laplace": lambda g: g.laplace(9000),
    "logistic": lambda g: g.logistic(9000),
    "gumbel": lambda g: g.gumbel(9000),
    "cauchy": lambda g: g.cauchy(9000),
    "student_t": lambda g: g.student_t(A),
    "truncated_normal": lambda g: g.truncated_normal(-1.0, 2.0, 9000),
    "multivariate_normal": lambda g: g.multivariate_normal([0.0, 1.0], np.eye(2), 300),
    "rademacher": lambda g: g.rademacher(9000),
    "lognormal": lambda g: g.lognormal(9000),
    "weibull": lambda g: g.weibull(A),
}


@pytest.fixture(autouse=True)
def seeded() -> Iterator[None]:
    threads = pb.num_threads()
    R.seed(0)
    yield
    R.seed(0)
    pb.set_num_threads(threads)


def test_every_function_is_a_method() -> None:
    names = set(R.__all__) - {"Generator", "seed"}
    assert names == set(DRAWS)
    assert all(callable(getattr(R.Generator, name)) for name in names)


@pytest.mark.parametrize("name", DRAWS)
def test_the_same_wherever_it_is_drawn(name: str) -> None:
    """From the module or a generator, on any number of threads, in a function, a scan, twice."""
    draw = DRAWS[name]
    R.seed(5)
    of_module = draw(R).numpy()
    for threads in (1, 2, 8):
        pb.set_num_threads(threads)
        assert same_bits(draw(R.Generator(5)).numpy(), of_module)
    generator = R.Generator(5)
    traced = pb.function(lambda: draw(generator))
    first, second = traced().numpy(), traced().numpy()
    assert same_bits(first, of_module) and not same_bits(first, second)
    again = R.Generator(5)
    draw(again)
    assert same_bits(draw(again).numpy(), second)

    def rows(g: Any) -> Any:
        return pb.scan(lambda s, x: (s, draw(g)), 0.0, np.zeros(3))[1].numpy()

    stacked = rows(R.Generator(6))
    assert same_bits(stacked, rows(R.Generator(6)))
    assert not same_bits(stacked[0], stacked[1])
    entries = pb.vmap(lambda x: draw(generator))(np.zeros(3)).numpy()
    assert not same_bits(entries[0], entries[1])
    assert not same_bits(pb.vmap(lambda x: draw(generator))(np.zeros(3)).numpy(), entries)


def test_draws_by_mapped_parameters() -> None:
    """Each entry of a vmap draws by its own parameters, and has its own gradient."""
    a = np.array([0.3, 2.0, 50.0])

    def f(c: Any) -> Any:
        return pb.mean(R.gamma(c, 20_000))

    y, slope = pb.vmap(pb.value_and_grad(f))(a)
    np.testing.assert_allclose(y.numpy(), a, rtol=0.05)
    np.testing.assert_allclose(slope.numpy(), 1, rtol=0.1)
    counts = pb.vmap(lambda m: R.poisson(m, 2000))(a).numpy()
    np.testing.assert_allclose(counts.mean(1), a, rtol=0.1)
    tries = pb.vmap(lambda n, p: R.binomial(n, p, 2000))(np.array([3, 90]), np.array([0.2, 0.5]))
    np.testing.assert_allclose(tries.numpy().mean(1), [0.6, 45], rtol=0.1)


def test_a_scan_differentiates_its_draws() -> None:
    generator = R.Generator(3)
    a = pb.Variable(np.full(200, 0.7))
    scale = pb.Variable(np.float64(2.0))
    total = pb.scan(lambda s, x: (s + generator.gamma(a, scale=scale), s), 0.0 * a, np.zeros(50))[0]
    by_a, by_scale = pb.gradients(pb.sum(total), [a, scale])
    assert abs(by_a.numpy().mean() / 100 - 1) < 0.1
    np.testing.assert_allclose(by_scale.numpy(), total.numpy().sum() / 2, rtol=1e-12)


def test_a_checkpoint_has_its_numbers_again() -> None:
    generator = R.Generator(2)
    a = pb.Variable(np.array([0.5, 3.0]))
    f = pb.checkpoint(lambda a: pb.sum(generator.gamma(a) ** 2 * generator.normal(2)))
    y = f(a)
    [g] = pb.gradients(y, [a])
    twin = R.Generator(2)
    x = twin.gamma(a)
    z = pb.sum(x**2 * twin.normal(2))
    np.testing.assert_allclose(float(y), float(z), rtol=1e-12)
    np.testing.assert_allclose(g.numpy(), pb.gradients(z, [a])[0].numpy(), rtol=1e-10)


def test_spawned_generators_have_nothing_in_common() -> None:
    parent = R.Generator(1)
    children = parent.spawn(3) + parent.spawn(2) + R.Generator(2).spawn(2)
    rows = np.stack([g.normal(4000, "float64").numpy() for g in [parent, *children]])
    apart = np.corrcoef(rows) - np.eye(len(rows))
    assert np.abs(apart).max() < 0.06
    assert stats.kstest(rows.ravel(), "norm").pvalue > 0.01
    again = R.Generator(1).spawn(5)
    for g, row in zip(again, rows[1:6], strict=True):
        assert same_bits(g.normal(4000, "float64").numpy(), row)
    assert R.Generator(1).spawn(0) == []
    assert repr(R.Generator(7)) == "Generator(seed=7)"


def test_draws_of_one_generator_leave_the_others_alone() -> None:
    expected = R.Generator(4).normal(5).numpy()
    generator = R.Generator(4)
    R.normal(3)
    R.Generator(4).normal(7)
    assert same_bits(generator.normal(5).numpy(), expected)
    R.seed(1)
    first = R.normal(3).numpy()
    R.seed(1)
    generator.normal(3)
    assert same_bits(R.normal(3).numpy(), first)


def test_a_generator_and_functions() -> None:
    @pb.function
    def made_inside() -> Any:
        return R.Generator(1).normal()

    with pytest.raises(RuntimeError, match="Generator: a traced function cannot set a seed"):
        made_inside()
    traced = pb.function(R.Generator(9).normal)
    gc.collect()
    R.Generator(10)
    numbers = [float(traced()) for _ in range(2)]
    twin = R.Generator(9)
    assert numbers == [float(twin.normal()) for _ in range(2)]
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied or pickled"):
            attempt(twin)


def test_new_draws_are_no_new_plans() -> None:
    a = pb.Variable(np.full(50, 0.5))
    for _ in range(2):
        float(pb.sum(R.gamma(a)))
    before = _core.status()["plan_misses"]
    assert len({float(pb.sum(R.gamma(a))) for _ in range(20)}) == 20
    assert _core.status()["plan_misses"] == before
