"""Blocks belong to the context of the program: tasks of one event loop do not see each other's."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import Any

import numpy as np
import pytest

import pullback as pb


def slope() -> float:
    x = pb.Variable(2.0)
    return float(pb.gradients(pb.square(x), x)[0])


def times(k: float) -> Any:
    return lambda op, g: k * g


def test_overrides_of_tasks() -> None:
    async def task(k: float, first: asyncio.Event, second: asyncio.Event) -> list[float]:
        seen = [slope()]
        with pb.gradient_override_map({"square": times(k)}):
            first.set()
            await second.wait()  # the other task is in its block, too
            seen.append(slope())
            await asyncio.sleep(0)
            seen.append(slope())
        await asyncio.sleep(0)
        return [*seen, slope()]

    async def main() -> list[list[float]]:
        a, b = asyncio.Event(), asyncio.Event()
        return await asyncio.gather(task(3, a, b), task(5, b, a))

    assert asyncio.run(main()) == [[4, 3, 3, 4], [4, 5, 5, 4]]
    assert slope() == 4


def test_a_task_that_is_made_inside_has_the_map_until_its_end() -> None:
    async def child(go: asyncio.Event) -> list[float]:
        seen = [slope()]
        await go.wait()
        return [*seen, slope()]

    async def main() -> list[float]:
        go = asyncio.Event()
        with pb.gradient_override_map({"square": times(7)}):
            made = asyncio.create_task(child(go))
            await asyncio.sleep(0)
        go.set()
        return await made

    assert asyncio.run(main()) == [7, 4]


def test_checks_of_tasks() -> None:
    async def checked(inside: asyncio.Event, over: asyncio.Event) -> str:
        with pb.check_numerics():
            inside.set()
            await over.wait()
            with pytest.raises(FloatingPointError):
                pb.log(pb.constant(-1.0))
        return "left"

    async def free(inside: asyncio.Event, over: asyncio.Event) -> bool:
        await inside.wait()
        found = bool(np.isnan(pb.log(pb.constant(-1.0)).numpy()))
        over.set()
        return found

    async def main() -> list[Any]:
        inside, over = asyncio.Event(), asyncio.Event()
        return await asyncio.gather(checked(inside, over), free(inside, over))

    assert asyncio.run(main()) == ["left", True]
    assert np.isnan(pb.log(pb.constant(-1.0)).numpy())


def test_contexts_and_threads() -> None:
    seen: list[float] = []
    with pb.gradient_override_map({"square": times(3)}):
        thread = threading.Thread(target=lambda: seen.append(slope()))
        thread.start()
        thread.join()
        copy = contextvars.copy_context()
        seen.append(copy.run(slope))
        seen.append(contextvars.Context().run(slope))
    seen.append(copy.run(slope))  # the block has ended in every copy
    inherits = seen[0]  # threads inherit the context from Python 3.14 on
    assert inherits in (4, 3) and seen[1:] == [3, 4, 4]


def test_generators_that_are_context_managers() -> None:
    """A generator runs in its caller's context, which contextlib.contextmanager relies on."""
    from contextlib import ExitStack, contextmanager

    @contextmanager
    def tripled() -> Any:
        with pb.gradient_override_map({"square": times(3)}):
            yield

    with ExitStack() as stack:
        stack.enter_context(tripled())
        assert slope() == 3
    assert slope() == 4


# --- tapes


def watching(x: Any) -> pb.GradientTape:
    """A tape in its block that watches x."""
    tape = pb.GradientTape()
    tape.__enter__()
    tape.watch(x)
    return tape


def test_tapes_of_tasks_record_what_their_own_task_makes() -> None:
    x, v = pb.constant(3.0), pb.Variable(2.0)

    async def task(first: asyncio.Event, second: asyncio.Event, other: Any) -> Any:
        with pb.GradientTape(persistent=True) as tape:
            tape.watch(x)
            first.set()
            await second.wait()  # the other task is in its block, too
            y = x * x * other
            await asyncio.sleep(0)
        return tape, y

    async def main() -> Any:
        a, b = asyncio.Event(), asyncio.Event()
        return await asyncio.gather(task(a, b, v), task(b, a, 5.0))

    (one, y), (two, z) = asyncio.run(main())
    assert [t.watched_variables() for t in (one, two)] == [(v,), ()]
    assert [t.gradient(r, x) is None for t in (one, two) for r in (y, z)] == [0, 1, 1, 0]
    assert not pb._core.Tape.any_recording()


def test_a_task_that_is_made_inside_of_a_tape_is_recorded_until_its_end() -> None:
    x = pb.Variable(3.0)

    async def child(k: float, go: asyncio.Event) -> Any:
        with pb.GradientTape() as inner:  # its own, beside that of the sibling
            y = k * x * x
            await asyncio.sleep(0)
        slope = inner.gradient(y, x)
        await go.wait()
        return slope, x * x

    async def main() -> None:
        go = asyncio.Event()
        with pb.GradientTape(persistent=True) as outer:
            tasks = [asyncio.create_task(child(k, go)) for k in (1.0, 2.0)]
            for _ in range(4):
                await asyncio.sleep(0)
        go.set()
        for k, (slope, late) in zip((1.0, 2.0), await asyncio.gather(*tasks), strict=True):
            assert float(slope) == 6 * k and float(outer.gradient(slope, x)) == 2 * k
            assert outer.gradient(late, x) is None

    asyncio.run(main())


def test_tapes_of_copied_contexts_and_threads() -> None:
    x = pb.Variable(3.0)
    made: list[Any] = []

    def make() -> None:
        made.append(x * x)

    with pb.GradientTape(persistent=True) as tape:
        copy = contextvars.copy_context()
        thread = threading.Thread(target=copy.run, args=(make,))  # as asyncio.to_thread does
        thread.start()
        thread.join()
        contextvars.Context().run(make)
        with tape.stop_recording():
            copy.run(make)
            pb.grad(lambda z: z * z)(1.0)  # enters a tape of its own
        copy.run(make)
        make()
    copy.run(make)
    answers = [tape.gradient(y, x) for y in made]
    assert [g is not None for g in answers] == [True, False, False, True, True, False]


def test_tapes_that_are_left_in_another_order_or_context() -> None:
    x = pb.Variable(3.0)
    for leave_first in (0, 1):
        tapes = [watching(x), watching(x)]
        tapes[leave_first].__exit__()
        y = x * x
        contextvars.Context().run(tapes[1 - leave_first].__exit__)
        late = x * x
        left, other = tapes[leave_first], tapes[1 - leave_first]
        assert left.gradient(y, x) is None
        assert float(other.gradient([y, late], x)) == 6.0
        assert not pb._core.Tape.any_recording()


def test_escapes_and_custom_rules_of_tasks() -> None:
    """What another task differentiates is no escape here."""

    async def free(inside: asyncio.Event, over: asyncio.Event, shared: list[Any]) -> float:
        await inside.wait()
        found = float(np.asarray(shared[0] * 2.0))
        over.set()
        return found

    async def differentiates(
        inside: asyncio.Event, over: asyncio.Event, shared: list[Any]
    ) -> float:
        tape = pb._core.Tape(False, "grad")  # grad() itself cannot wait
        x = pb.constant(3.0)
        tape.start()
        tape.watch(x)
        shared.append(x)
        inside.set()
        await over.wait()
        with pytest.raises(RuntimeError, match="depends on an argument of grad"):
            np.asarray(x * 2.0)
        tape.stop()
        return 0.0

    async def main() -> list[float]:
        inside, over = asyncio.Event(), asyncio.Event()
        shared: list[Any] = []
        return await asyncio.gather(
            differentiates(inside, over, shared), free(inside, over, shared)
        )

    assert asyncio.run(main()) == [0.0, 6.0]


def test_a_suspended_generator_leaves_its_block_in_the_context() -> None:
    """The documented limit: a generator has no context of its own."""

    def recording(x: Any) -> Any:
        with pb.GradientTape(persistent=True) as tape:
            tape.watch(x)
            yield tape

    x = pb.constant(3.0)
    generator = recording(x)
    tape = next(generator)
    y = x * x
    assert next(generator, None) is None
    assert float(tape.gradient(y, x)) == 6.0
    apart = contextvars.copy_context()  # the way out: run it in a context of its own
    generator = recording(x)
    tape = apart.run(next, generator)
    y = x * x
    apart.run(next, generator, None)
    assert tape.gradient(y, x) is None
