"""Threads that do everything at once with the same variables, functions and tapes, for a while:
`tools/soak --minutes 10`. Whatever numbers come out, each must be one that some order of the
calls could give; and the process goes on.

Shared are, among others, `w`, whose entries are equal to each other at any time, and `count`, to
which everybody adds.
"""

from __future__ import annotations

import argparse
import copy
import faulthandler
import gc
import pickle
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import pullback as pb

N = 50


class Shared:
    def __init__(self) -> None:
        self.w = pb.Variable(np.full(N, 0.5), name="w")
        self.count = pb.Variable(np.zeros(3), name="count")
        self.matrix = pb.Variable(np.eye(6) * 0.3, name="matrix")
        self.tape = pb.GradientTape(persistent=True)
        with self.tape:
            self.recorded = pb.sum(pb.sin(self.w) * self.w)
        self.kept = pb.sin(self.w)
        self.optimizer = pb.optimizers.Adam(1e-3)
        self.lock = threading.Lock()
        self.added = 0

        @pb.function
        def step(rate: Any) -> Any:
            loss = pb.mean(pb.square(pb.sin(self.w) - 0.2))
            self.w.assign_sub(rate * pb.gradients(loss, self.w)[0])
            return loss

        @pb.function
        def pure(x: Any) -> Any:
            return pb.tanh(x @ self.matrix), pb.sum(x)

        self.step, self.pure = step, pure


def uniform(x: Any) -> None:
    """All entries are equal: nobody saw half of an update."""
    values = np.asarray(x)
    assert values.shape == (N,) and np.all(values == values[0]), values


def assigns(s: Shared) -> None:
    s.w.assign(pb.clip(s.w * 1.0 + 0.001, -1, 1))
    uniform(s.w.numpy())


def calls_a_step(s: Shared) -> None:
    assert 0 <= float(s.step(0.01)) < 4


def takes_gradients(s: Shared) -> None:
    y = pb.sum(pb.sin(s.w) * s.w)
    (g,) = pb.gradients(y, [s.w])
    (h,) = pb.gradients(g, [s.w])
    uniform(g.numpy())
    uniform(h.numpy())


def adds(s: Shared) -> None:
    s.count.assign_add(np.ones(3))
    with s.lock:
        s.added += 1


def asks_the_tape(s: Shared) -> None:
    uniform(s.tape.gradient(s.recorded, s.w).numpy())


def has_a_tape(s: Shared) -> None:
    with pb.GradientTape() as outer:
        with pb.GradientTape() as inner:
            y = pb.sum(s.w * s.w * s.w)
        g = inner.gradient(y, s.w)
    uniform(outer.gradient(g, s.w).numpy())


def looks(s: Shared) -> None:
    uniform(s.kept.numpy())
    s.kept = pb.sin(s.w)
    repr(s.w), float(pb.max(s.w)), s.w[3:].numpy(), bool(s.w[0] > 0)


def calls_through(s: Shared) -> None:
    x = pb.Variable(np.ones((4, 6)))
    y, total = s.pure(x)
    g, m = pb.gradients([y, total], [x, s.matrix])
    assert g.numpy().shape == (4, 6) and m.numpy().shape == (6, 6) and float(total) == 24


def makes_functions(s: Shared) -> None:
    f = pb.function(lambda x: pb.sum(x * s.w))
    uniform(pb.grad(f)(np.ones(N)).numpy())
    s.step.cache_info(), s.pure.cache_info()
    if s.added % 20 == 0:
        s.pure.clear_cache()


def optimizes(s: Shared) -> None:
    _, g = pb.value_and_grad(lambda w: pb.mean(pb.square(w)))(s.w)
    with s.lock:  # an optimizer is one program's
        s.optimizer.apply_gradients([(g, s.w)])


def has_rules(s: Shared) -> None:
    @pb.custom_gradient
    def f(x: Any) -> Any:
        return pb.round(x), lambda g: 2 * g

    with pb.gradient_override_map({"sin": lambda op, g: g}):
        y = pb.sum(f(s.w) + pb.sin(s.w))
    assert np.all(pb.gradients(y, s.w)[0].numpy() == 3)


def draws(s: Shared) -> None:
    x = pb.random.normal((1000,)) + pb.random.uniform((1000,))
    assert np.isfinite(x.numpy()).all()


def copies(s: Shared) -> None:
    uniform(copy.copy(s.w).numpy())
    uniform(pickle.loads(pickle.dumps(s.w)).numpy())
    uniform(np.asarray(s.w))


def fails(s: Shared) -> None:
    for f in (lambda: s.w + np.ones(3), lambda: pb.take(s.w, [N + 5]).numpy(), lambda: s.w["x"]):
        try:
            f()
        except (ValueError, IndexError, TypeError):
            continue
        raise AssertionError("no error")


def sets(s: Shared) -> None:
    pb.set_num_threads((1, 2, 3, 8)[s.added % 4])
    gc.collect()
    s.w.assign(np.full(N, 0.5))


WORK: tuple[Callable[[Shared], None], ...] = (
    assigns,
    calls_a_step,
    takes_gradients,
    adds,
    asks_the_tape,
    has_a_tape,
    looks,
    calls_through,
    makes_functions,
    optimizes,
    has_rules,
    draws,
    copies,
    fails,
    sets,
)


def soak(seconds: float, threads: int = 8) -> int:
    """How many calls were made; raises what a thread raised."""
    shared = Shared()
    problems: list[BaseException] = []
    end = time.monotonic() + seconds
    calls = [0] * threads
    before = pb.num_threads()

    def run(k: int) -> None:
        random = np.random.default_rng(k)
        try:
            while time.monotonic() < end and not problems:
                WORK[int(random.integers(len(WORK)))](shared)
                calls[k] += 1
        except BaseException as error:
            problems.append(error)

    team = [threading.Thread(target=run, args=(k,), daemon=True) for k in range(threads)]
    for thread in team:
        thread.start()
    for thread in team:
        thread.join(seconds + 60)
    pb.set_num_threads(before)
    if problems:
        raise problems[0]
    assert not any(thread.is_alive() for thread in team), "a thread hangs"
    assert shared.count.numpy().tolist() == [shared.added] * 3, "an update was lost"
    return sum(calls)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--threads", type=int, default=8)
    options = parser.parse_args()
    faulthandler.enable()
    faulthandler.dump_traceback_later(60 * options.minutes + 30, exit=True)
    print(soak(60 * options.minutes, options.threads), "calls")
