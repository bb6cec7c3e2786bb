"""vmap of every operation, its gradients and second derivatives, beside a loop over the entries:
bit for bit where nothing is summed in another order."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from support.cases import Case, Check
from support.checks import small_shapes

import pullback as pb

ROWS = 3


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


def test_values_and_derivatives(differentiable: Case) -> None:
    case, check = differentiable, Check()
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
        for row in range(ROWS):
            one = f(*(arg[row] if k in moved else arg for k, arg in enumerate(args)))
            assert len(one) == len(found)
            for k, (got, want) in enumerate(zip(found, one, strict=True)):
                a, b = got.numpy()[row], want.numpy()
                same = np.array_equal(a, b, equal_nan=True)
                if not same and not case.elementwise:
                    scale = np.max(np.abs(b), initial=1e-300)
                    same = np.allclose(a, b, rtol=1e-12, atol=1e-12 * scale, equal_nan=True)
                if not same:
                    check.that(False, f"{k} of {shapes}, row {row}: {a}, alone {b}")
    check.done()
