"""The page and the data of what is supported say what the case table does, but for what a plan
looks like, which may be another on another machine."""

import pytest
from support import matrix
from support.each import each

import pullback as pb
from pullback._runtime.support import _matrix

EXAMPLES = matrix.examples()


def test_every_function_of_the_table_is_listed():
    missing = EXAMPLES.keys() - _matrix().keys()
    assert not missing, "run tools/support_matrix and commit what it writes"
    matrix_of_table = {name: _matrix()[name] for name in EXAMPLES}
    assert _matrix() == matrix.with_second_names(matrix_of_table)
    page = matrix.PAGE.read_text()
    assert page == matrix.page(_matrix())


@each("name", EXAMPLES)
def test_it_answers_as_listed(name):
    found, listed = matrix.answers(EXAMPLES[name]), _matrix()[name]
    assert {**found, "fused": None} == {**listed, "fused": None}


def test_supports():
    assert pb.supports("tanh", "gradient") and pb.supports(pb.tanh, "second")
    assert pb.supports("add", "second") and not pb.supports("less", "gradient")
    assert pb.supports("exp", "fused") and not pb.supports("matmul", "fused")
    assert pb.supports("relu", "int32") and not pb.supports("relu", "bool")
    with pytest.raises(
        LookupError,
        match=r"supports: expected a function of docs/support_matrix.md for op, got 'sine'",
    ):
        pb.supports("sine", "gradient")
    with pytest.raises(ValueError, match=r"supports: expected 'gradient', .*'speed'"):
        pb.supports("tanh", "speed")
