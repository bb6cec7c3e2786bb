"""Options of the command line, and how a program begins."""

from __future__ import annotations

import sys

import pytest

import pullback.compat.tf1 as tf
from pullback.compat.tf1 import flags as module


@pytest.fixture
def flags(monkeypatch):
    """A table of its own, for what a program defines."""
    table = module._Flags()
    monkeypatch.setattr(module, "FLAGS", table)
    tf.flags.DEFINE_integer("batch_size", 32, "how many", flag_values=table)
    tf.flags.DEFINE_float("rate", 0.1, "how far", flag_values=table)
    tf.flags.DEFINE_string("folder", None, "where", flag_values=table)
    tf.flags.DEFINE_boolean("verbose", False, "whether", flag_values=table)
    tf.flags.DEFINE_list("sizes", ["8"], "which", flag_values=table)
    tf.flags.DEFINE_enum("kind", "a", ["a", "b"], "one of", flag_values=table)
    return table


def test_flags_are_read_when_they_are_looked_at(flags, monkeypatch):
    line = ["prog", "--batch_size=8", "--rate", "0.5", "--verbose", "--other", "--sizes=1, 2"]
    monkeypatch.setattr(sys, "argv", line)
    assert (flags.batch_size, flags.rate, flags.folder, flags.verbose) == (8, 0.5, None, True)
    assert flags.sizes == ["1", "2"] and flags.kind == "a"
    flags.rate = 0.25
    assert flags.rate == 0.25 and "rate" in flags and "none" not in flags
    assert flags.flag_values_dict()["batch_size"] == 8
    for look in (lambda: flags.batchsize, lambda: setattr(flags, "batchsize", 3)):
        with pytest.raises(AttributeError, match="did you mean 'batch_size'"):
            look()
    tf.flags.DEFINE_integer("late", 3, "", flag_values=flags)
    assert flags.late == 3


def test_truths_and_what_does_not_fit(flags, capsys):
    assert flags(["p", "--verbose=true", "--noverbose", "x"]) == ["p", "x"] and not flags.verbose
    flags(["p", "--verbose=1"])
    assert flags.verbose
    for wrong in ("--verbose=maybe", "--batch_size=many", "--kind=c", "--unknown"):
        with pytest.raises(SystemExit):
            flags(["p", wrong])
    assert "unknown" in capsys.readouterr().err


def test_run_reads_flags_and_exits_with_what_main_returns(flags):
    seen = []

    def main(argv):
        seen.append((argv, flags.batch_size))
        return 3

    with pytest.raises(SystemExit) as caught:
        tf.app.run(main, ["prog", "--batch_size=4", "rest"])
    assert caught.value.code == 3 and seen == [(["prog", "rest"], 4)]
    assert tf.app.flags is tf.flags


def test_names_of_later_modules():
    assert tf.linalg.norm is tf.norm and tf.linalg.diag is tf.matrix_diag
    assert tf.debugging.assert_equal is tf.assert_equal
