"""Batches: an operation over rows, alone, in a jacobian, or in a vmapped derivative, computes for
each row what it computes for that row alone."""

from __future__ import annotations

import zlib
from itertools import combinations
from typing import Any

import numpy as np

import pullback as pb
from pullback import _core

from ..cases import Case, same_numbers
from ..check import Check
from ..checks import small_shapes
from .calls import Calls

ROWS = 3


def batched(case: Case, rows: dict[int, Any], fixed: list[Any]) -> Any:
    """The operation with rows in the place of some arguments."""
    trace = _core.Trace()
    placeholders = {k: trace.argument(str(r.dtype), r.shape[1:], False) for k, r in rows.items()}
    y = case.run(*(placeholders.get(k, pb.constant(x)) for k, x in enumerate(fixed)))
    given = [pb.constant(r) for r in rows.values()]
    if case.op == "sum_duplicates":  # of optimizers alone
        return _core.batched_or_each([y], list(placeholders.values()), given, ROWS)[0]
    return _core.batched([y], list(placeholders.values()), given, ROWS, 0)[0]


def values_of_batches(case: Case, check: Check) -> None:
    """Every subset of the arguments in rows. It holds for operations without a gradient too."""
    dtype = "f" if "f" in case.dtypes else case.dtypes[0]
    count = len(case.domains)
    for shapes in case.shapes:
        draws = [case.arrays(shapes, dtype, str(row)) for row in range(ROWS)]
        for size in range(1, count + 1):
            for chosen in combinations(range(count), size):
                rows = {k: np.stack([np.asarray(draw[k]) for draw in draws]) for k in chosen}
                single = []
                for draw in draws:
                    own = [draw[k] if k in rows else draws[0][k] for k in range(count)]
                    single.append(case.run(*map(pb.constant, own)))
                got = batched(case, rows, draws[0])
                expected = np.stack([y.numpy() for y in single])
                same = same_numbers(got.numpy(), expected, 1e-6)
                if not same or got.dtype != single[0].dtype:
                    check.that(False, f"rows {chosen} of {shapes}: {got}, alone {expected}")


def jacobians_are_rows_of_gradients(calls: Calls, check: Check) -> None:
    case = calls.case
    for shapes in case.shapes:
        arrays = case.arrays(shapes, "d")
        xs = [pb.Variable(x) if k in case.wrt else x for k, x in enumerate(arrays)]
        with pb.GradientTape(persistent=True) as tape:
            y = case.run(*xs)
        wrt = [xs[k] for k in case.wrt]
        found = tape.jacobian(y, wrt, unconnected_gradients="zero")
        count = int(np.prod(y.shape))
        rows = np.eye(count).reshape(count, *y.shape)
        alone = [tape.gradient(y, wrt, row, unconnected_gradients="zero") for row in rows]
        for k, (x, jacobian) in enumerate(zip(wrt, found, strict=True)):
            expected = [own[k].numpy() for own in alone]
            check.that(jacobian.shape == (*y.shape, *x.shape), f"{shapes}: {jacobian.shape}")
            got = jacobian.numpy().reshape(count, *x.shape)
            expected = np.reshape(expected, got.shape)
            if not same_numbers(got, expected, 1e-12):
                check.that(False, f"argument {k} of {shapes}: {got}, rows {expected}")


def derivatives(case: Case, c: Any, directions: list[Any]) -> Any:
    """f(*args) -> the value, its gradient along c, and the gradient of that along directions."""

    def f(*given: Any) -> list[Any]:
        args = [x if isinstance(x, pb.Tensor) else pb.constant(x) for x in given]

        def run(*moving: Any) -> Any:
            full = list(args)
            for k, x in zip(case.wrt, moving, strict=True):
                full[k] = x
            return case.run(*full)

        def slopes(*moving: Any) -> list[Any]:
            return list(pb.vjp(run, *moving)[1](c))

        wrt = [args[k] for k in case.wrt]
        first, second = pb.jvp(slopes, wrt, [directions[k] for k in case.wrt])
        return [run(*wrt), *first, *second]

    return f


def vmap_is_a_loop(calls: Calls, check: Check) -> None:
    """Of the value, the gradient and a second derivative: bit for bit unless a sum has another
    order."""
    case = calls.case
    for shapes in small_shapes(case, 40):
        draws = [case.arrays(shapes, "d", str(row)) for row in range(ROWS)]
        moved = [k for k, domain in enumerate(case.domains) if domain.dtype is None]
        args = [
            np.stack([draw[k] for draw in draws]) if k in moved else draws[0][k]
            for k in range(len(case.domains))
        ]
        rng = np.random.default_rng(zlib.crc32(f"{case.id} {shapes}".encode()))
        c = rng.normal(size=case.run(*map(pb.constant, draws[0])).shape)
        f = derivatives(case, c, [rng.normal(size=x.shape) for x in draws[0]])
        axes = tuple(0 if k in moved else None for k in range(len(args)))
        found = pb.vmap(f, in_axes=axes)(*args)
        loop = [
            f(*(x[row] if k in moved else x for k, x in enumerate(args))) for row in range(ROWS)
        ]
        for row, one in enumerate(loop):
            assert len(one) == len(found)
            for k, (got, want) in enumerate(zip(found, one, strict=True)):
                a, b = got.numpy()[row], want.numpy()
                same = np.array_equal(a, b, equal_nan=True)
                if not same and not case.elementwise:
                    scale = np.max(np.abs(b), initial=1e-300)
                    same = np.allclose(a, b, rtol=1e-12, atol=1e-12 * scale, equal_nan=True)
                if not same:
                    check.that(False, f"{k} of {shapes}, row {row}: {a}, alone {b}")


PROPERTIES = (jacobians_are_rows_of_gradients, vmap_is_a_loop)
