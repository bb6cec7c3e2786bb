"""What is compared with torch and jax, where they are installed, can fail: shown with them, and
always with pullback itself in the place of a peer."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
from fuzz import generate, modes, mutants, peers
from fuzz.__main__ import failure_of
from fuzz.peers.both import Peer

import pullback as pb


class Itself(Peer):
    """pullback in the place of a peer."""

    def has(self, text: str) -> bool:
        return "helpers." not in text


def answer(run: Any, leaves: Any, floats: Any, weighed: Any, expected: Any) -> modes.Answer:
    xs = [pb.Variable(x) if k in floats else pb.constant(x) for k, x in enumerate(leaves)]
    values = run(*xs)
    own = [xs[k] for k in floats]
    ys, weights = [values[k] for k in weighed], [expected.cotangents[k] for k in weighed]
    first = modes._gradients(ys, own, weights)
    return modes.Answer(values, first, modes._gradients(first, own, expected.p)).arrays()


@pytest.fixture(params=["itself", *peers.PEERS])
def peer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name: str = request.param
    if name == "itself":
        functions = {n: getattr(pb, n) for n in pb.__all__}
        there = SimpleNamespace(PEER=Itself(name, functions), answer=answer)
        there.PEER.special, there.PEER.nn = pb.special, pb.nn
        monkeypatch.setitem(sys.modules, "fuzz.peers.by_itself", there)
        monkeypatch.setattr(peers, "PEERS", ("itself",))
        monkeypatch.setitem(peers.EVERY, "itself", 1)
    return name


MUTANTS = ("multiply: slope_off", "tanh: no_curvature", "softmax: value_off", "sum: no_slope")


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_difference_is_found(peer: str, mutant: str) -> None:
    function, wrong = mutants.MUTANTS[mutant]
    compared = 0
    for seed in range(400):
        program = generate.Generator(seed).make()
        if f"pb.{function}(" not in program.source() or compared == 12:
            continue
        try:
            with mutants.in_place(function, wrong):
                compared += peers.compare(program, peer) == "compared"
        except peers.Different:
            assert peers.compare(program, peer) == "compared"  # without the bug
            return
    pytest.fail(f"not in {compared} programs")


def test_a_failure_says_where(peer: str) -> None:
    function, wrong = mutants.MUTANTS["sin: sign_of_slope"]
    for seed in range(0, 4000, peers.EVERY[peer]):
        program = generate.Generator(seed).make()
        if len(program.lines) < 8 and "pb.sin(" in program.source():
            try:
                with mutants.in_place(function, wrong):
                    peers.compare(program, peer)
            except peers.Different:
                break
    assert failure_of(program) is None
    with mutants.in_place(function, wrong):
        found = failure_of(program)
    assert found is not None and "pb.sin(" in found
