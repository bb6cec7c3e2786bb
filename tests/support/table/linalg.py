"""Linear algebra: what is an operation by itself. The rest is in tests/api/linalg."""

import numpy as np

import pullback as pb

from ..cases import FLOATS, Case, calls

# fmt: off


def dominant(x):
    """A matrix that is far from singular."""
    return x * 0.125 + np.eye(x.shape[-1], dtype=x.dtype)


def ours(x):
    return x * 0.125 + pb.eye(x.shape[-1], dtype=x.dtype)


def eliminated(a, b):
    """x with a x = b and the determinant of a, by Gauss' elimination in the dtype that they have;
    a needs no pivoting."""
    a, b = np.array(a), np.array(b)
    n = a.shape[-1]
    det = np.ones(a.shape[:-2], a.dtype)
    for k in range(n):
        det = det * a[..., k, k]
        for i in range(k + 1, n):
            f = (a[..., i, k] / a[..., k, k])[..., None]
            a[..., i, :] = a[..., i, :] - f * a[..., k, :]
            b[..., i, :] = b[..., i, :] - f * b[..., k, :]
    for k in reversed(range(n)):
        for j in range(k + 1, n):
            b[..., k, :] = b[..., k, :] - a[..., k, j, None] * b[..., j, :]
        b[..., k, :] = b[..., k, :] / a[..., k, k, None]
    return b, det


def solve(x, b):
    a = dominant(x)
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = np.broadcast_to(a, batch + a.shape[-2:])
    return eliminated(a, np.broadcast_to(b, batch + b.shape[-2:]))[0]


def det(x):
    return eliminated(dominant(x), np.zeros(x.shape, x.dtype))[1]


CASES: list[Case] = [
    *calls("solve", lambda x, b: pb.linalg.solve(ours(x), b), solve, ([(3, 3), (3, 2)],),
           ([(2, 2, 2), (2, 1)],), ([(2, 2), (3, 2, 2)],), ([(1, 1), (1, 1)],),
           ([(2, 0, 0), (2, 0, 3)],), dtypes=FLOATS, ulp=16.0, name="solve",
           size=lambda x, b: abs(solve(x, b)) + abs(b).max(initial=1) / 4),
    *calls("det", lambda x: pb.linalg.det(ours(x)), det, ((3, 3),), ((2, 2, 2),), ((1, 1),),
           ((0, 0),), ((0, 2, 2),), dtypes=FLOATS, ulp=8.0, name="det"),
    *calls("logabsdet", lambda x: pb.linalg.slogdet(ours(x))[1],
           lambda x: np.log(abs(det(x))), ((3, 3),), ((2, 2, 2),), ((1, 1),), ((0, 0),),
           dtypes=FLOATS, ulp=8.0, name="slogdet", size=lambda x: 1 + abs(np.log(abs(det(x))))),
]
