"""The text of the results of solvers, which has the layout of SciPy's."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import root

import pullback as pb


def names(result):
    """Return the aligned names of a result, and its lines without a name."""
    heads = [line.partition(":") for line in repr(result).splitlines() if ":" in line]
    assert len({len(name) for name, *_ in heads}) == 1
    return [name.strip() for name, *_ in heads]


def test_results_print_one_attribute_per_line():
    start = np.arange(1.0, 31.0)
    ours = pb.optimize.root(lambda x: x**2 - 4.0, start)
    theirs = root(lambda x: x**2 - 4.0, start)
    assert names(ours) == ["message", "success", "status", "fun", "x", "nit"]
    assert names(ours)[:5] == names(theirs)[:5]
    assert str(ours) == repr(ours)
    assert " success: True\n  status: 0\n" in repr(ours)
    assert "       x: [2. 2. ... 2. 2.]\n" in repr(ours)
    square = pb.optimize.minimize(lambda x: pb.sum((x - 1.5) ** 2), np.zeros((5, 5)))
    row = "[1.5 1.5 ... 1.5 1.5]"
    indent = " " * 11
    assert f"x: [{row}\n{indent}{row}\n{indent}...\n{indent}{row}\n{indent}{row}]" in repr(square)


def test_results_of_ordinary_differential_equations():
    ours = pb.integrate.solve_ivp(lambda t, y: -y, (0, 1), np.ones(2))
    theirs = solve_ivp(lambda t, y: -y, (0, 1), np.ones(2))
    assert names(ours) == names(theirs)[: len(names(ours))]
    assert "      sol: None\n" in repr(ours)


def test_values_of_a_trace_are_not_read():
    seen = []

    def solution(x):
        result = pb.optimize.root(lambda z: z**2 - x, x)
        seen.append(repr(result))
        return result.x

    np.testing.assert_allclose(pb.function(solution)(np.array([4.0, 9.0])), [2.0, 3.0])
    assert "message: The reason is not known" in seen[0]
    assert "x: Tensor(<traced>, shape=(2,), dtype=float64)" in seen[0]
    leaves = pb.optimize.root(lambda d: {"a": d["a"] ** 2 - 4.0}, {"a": np.float64(1.0)})
    assert "x: {'a': Tensor(2., dtype=float64)}" in repr(leaves)
