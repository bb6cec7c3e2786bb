"""Typical mistakes of users: each raises the right exception, and its message names the function,
the argument, the expected and the received value, and the remedy. The cases are in
`typical_mistakes*.txt`, as calls and fragments of messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from support.each import each
from support.mistakes import check, read

import pullback as pb

MISTAKES = [
    case
    for path in sorted(Path(__file__).parent.glob("typical_mistakes*.txt"))
    for case in read(path)
]


def names() -> dict[str, Any]:
    def f(x: Any) -> Any:
        return pb.sum(pb.square(x))

    x, w = pb.constant([1.0, 2.0, 3.0]), pb.Variable([1.0, 2.0, 3.0], name="w")
    with pb.GradientTape() as tape:
        y = f(w)
    known = {"pb": pb, "np": np, "x": x, "w": w, "m": pb.ones((2, 3)), "sq": pb.eye(2), "f": f}
    known |= {"loss": f(w), "tape": tape, "y": y, "a": np.ones(3)}
    return {**known, "enter": lambda manager: manager.__enter__()}


@each("call, kind, fragments", MISTAKES, ids=[call for call, _, _ in MISTAKES])
def test_mistake(call: str, kind: str, fragments: list[str]) -> None:
    check(call, kind, fragments, names())


def test_there_are_enough() -> None:
    assert len(MISTAKES) >= 150
    assert len({call for call, _, _ in MISTAKES}) == len(MISTAKES)
