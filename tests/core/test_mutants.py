"""The fuzzer finds bugs: each of those in fuzz/mutants.py makes one of the first programs fail
that call the function."""

from __future__ import annotations

import re
from functools import cache

import pytest
from fuzz import check, generate, modes
from fuzz.mutants import MUTANTS, NEEDS, in_place
from fuzz.program import Program
from support.each import mostly_slow

import pullback as pb

PROGRAMS = 120  # that call the function, at most
SEEDS = 6000


@cache
def made(seed: int) -> Program:
    return generate.Generator(seed).make()


KEPT = ("add: forgets 1", "take: take_counts_duplicates_once")


@pytest.mark.parametrize("mutant", mostly_slow(MUTANTS, *KEPT))
def test_it_is_found(mutant: str) -> None:
    name, wrong = MUTANTS[mutant]
    needs = NEEDS.get(mutant.partition(": ")[2], "")
    calls = re.compile(rf"\b{'' if name.startswith('helpers') else 'pb.'}{name}\(")
    tried = 0
    for seed in range(SEEDS):
        program = made(seed)
        # Errors of rounding and infinities hide small bugs.
        called = any(needs in x.text and calls.search(x.text) for x in program.lines)
        if not called or program.special or program.large:
            continue
        tried += 1
        with in_place(name, wrong):
            try:
                check.check(program, ["lazy"])
            except check.Failure as failure:
                assert failure.__cause__ is None, failure  # a number is wrong, nothing else
                return
        assert tried < PROGRAMS, f"{tried} programs called it"
    pytest.fail(f"only {tried} programs called it")


def test_they_are_many_and_gone() -> None:
    assert len(MUTANTS) >= 50
    assert modes.pb is pb
