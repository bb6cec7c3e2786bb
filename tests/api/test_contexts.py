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
