"""support/each.py: no input that fails is lost."""

import contextlib

import pytest
from support.each import FailedInputsError, each, mostly_slow


def test_every_failure_is_reported():
    seen = []

    @each("x, y", [(1, 2), (3, 3), pytest.param(5, 6, id="third"), (7, 7)])
    def compare(x, y, room):
        seen.append(x)
        assert abs(x - y) < room

    with pytest.raises(FailedInputsError, match=r"failed inputs \(2\): 1-2, third") as caught:
        compare(room=1)
    assert [name for name, _ in caught.value.found] == ["1-2", "third"]
    assert str(caught.value).count("test_each.py:") == 2
    assert seen == [1, 3, 5, 7]
    compare(room=2)


def test_loops_in_loops():
    @each("x", [1, 2])
    @each("name", ["a", "b"], ids=str.upper)
    def refuse(x, name):
        if (x, name) == (2, "b"):
            pytest.fail("never")

    with pytest.raises(FailedInputsError, match=r"failed inputs \(1\): 2-B\n.*never"):
        refuse()


def test_inputs_that_skip():
    @each("x", [1, 2])
    def some(x):
        if x == 1:
            pytest.skip("not here")
        raise ValueError(x)

    with pytest.raises(FailedInputsError, match=r"failed inputs \(1\): 2"):
        some()

    @each("x", [1, 2])
    def none(x):
        pytest.skip("not here")

    with pytest.raises(pytest.skip.Exception, match="not here"):
        none()


def test_each_input_has_its_surroundings():
    entered = []

    @contextlib.contextmanager
    def around():
        entered.append(len(entered))
        yield

    @each("x", "abc", around=around)
    def test(x):
        assert "abc"[entered[-1]] == x

    test()
    assert entered == [0, 1, 2]


@each("fixtures", [1])
def test_fixtures_and_inputs(fixtures, tmp_path):
    assert tmp_path.is_dir() and fixtures == 1


def test_what_no_test_takes():
    with pytest.raises(AssertionError, match="takes"):
        each("y", [1])(lambda x: None)
    with pytest.raises(AssertionError, match="no marks"):
        each("x", [pytest.param(1, marks=pytest.mark.slow)])


def test_mostly_slow():
    kept, slow = mostly_slow(["a", "b"], "a")
    assert kept == "a" and slow.values == ("b",) and slow.marks[0].name == "slow"
    with pytest.raises(AssertionError):
        mostly_slow(["a"], "c")
