"""`str` of tensors: a number without axes prints as in NumPy, so progress bars show it."""

import io

import numpy as np
import pytest

import pullback as pb


def test_numbers():
    for value in (np.float32(0.123456), np.float64(1e-300), np.int64(-3), np.bool_(True), 1.5 - 2j,
                  np.float32("nan"), np.float64("-inf")):  # fmt: skip
        for x in (pb.constant(value), pb.Variable(value)):
            assert str(x) == f"{x}" == str(x.numpy()[()])
            assert repr(x).startswith(("Tensor(", "Variable("))
    assert f"{pb.constant(0.5) + 1:.3f}" == "1.500"


def test_arrays_and_traced_tensors_as_repr():
    for x in (pb.ones(1), pb.ones((2, 2)), pb.Variable([1.0])):
        assert str(x) == repr(x)
    seen = []
    pb.function(lambda x: seen.append(str(x)) or x)(1.0)
    pb.vmap(lambda x: seen.append(str(x)) or x)(pb.ones(2))
    assert all("<traced>" in text for text in seen) and len(seen) == 2


def test_a_tape_does_not_watch_what_is_printed():
    v = pb.Variable(2.0)
    with pb.GradientTape() as tape:
        assert str(v) == "2.0"
        assert tape.watched_variables() == ()
        y = v * v
        assert str(y) == "4.0"
    assert float(tape.gradient(y, v)) == 4.0


def test_tqdm():
    tqdm = pytest.importorskip("tqdm")
    out = io.StringIO()
    with tqdm.tqdm(range(1), file=out) as bar:
        bar.set_postfix(loss=pb.constant(0.125), rate=pb.Variable(0.5))
        bar.set_postfix(loss=pb.constant(0.1234567).item())
    assert "loss=0.125, rate=0.5]" in out.getvalue() and "loss=0.123]" in out.getvalue()
