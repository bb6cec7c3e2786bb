"""Functions whose slopes would be infinite where nothing moves: structural zeros of every kind."""

from __future__ import annotations

import numpy as np

import pullback as pb

X = [0.0, 4.0]
ROOTS = {
    "a branch that is not taken": lambda x: pb.where(x > 0, pb.log(x), 0.0),
    "zeros put before a root": lambda x: pb.sqrt(pb.where(x > 0, x, 0.0)),
    "joined to a constant": lambda x: pb.sqrt(pb.concat([x[1:], pb.zeros(2, dtype="float64")])),
    "padded": lambda x: pb.sqrt(pb.pad(x[1:], (1, 2))),
    "relu": lambda x: pb.sqrt(pb.nn.relu(x - 1)),
    "rows": lambda x: pb.sqrt(
        pb.sum(pb.where(np.array([[False], [True]]), pb.reshape(x, (2, 1)), 0.0), axis=1)
    ),
    "rows of a product": lambda x: pb.sqrt(
        pb.where(np.array([[False], [True]]), pb.reshape(x, (2, 1)), 0.0) @ np.ones((1, 3))
    ),
    "set in a window": lambda x: pb.sqrt(pb.zeros(3, dtype="float64").at[1].set(x[1])),
    "set over": lambda x: pb.log(x.at[0].set(1.0)),
    "placed": lambda x: pb.sqrt(pb.zeros(4, dtype="float64").at[np.array([2])].add(x[1:])),
    "transposed, sliced and taken": lambda x: pb.sqrt(
        pb.take(pb.where(x > 0, x, 0.0)[::-1], [1, 1, 0])
    ),
    "one mask after the other": lambda x: pb.sqrt(pb.where(x < 9, pb.where(x > 0, x, 0.0), 1.0)),
    "two branches": lambda x: pb.where(x > 0, pb.sqrt(x), pb.sqrt(1 - x)),
    "an extremum": lambda x: pb.max(pb.where(x > 0, pb.log(x), -1.0)),
}
