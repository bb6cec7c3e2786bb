"""The rows of bench/everyday.py: pullback's values against NumPy's, its gradients against
differences of NumPy's values in float64, and that every style and conversion runs."""

from dataclasses import replace

import numpy as np
import pytest
from support.each import each

import pullback as pb
from bench import by_pullback, everyday, everyday_formulas, overhead

NAMES = [name for name in everyday.GRADIENTS if not name.startswith("matrices-")] + ["matrices-3"]


def rows_added(parameters, rows, table):
    out = table.copy()
    np.add.at(out, rows, parameters[0])
    return np.sum(out**2)


def physics(parameters, points):
    """Value, slopes and second slope carried forward through the layers."""
    u = points
    t, x, xx = (np.broadcast_to(v, u.shape) for v in ([1.0, 0.0], [0.0, 1.0], [0.0, 0.0]))
    for i in range(0, len(parameters), 2):
        if i:
            y = np.tanh(u)
            slope = 1 - y * y
            t, x, xx = slope * t, slope * x, slope * xx - 2 * y * slope * x * x
            u = y
        u = u @ parameters[i] + parameters[i + 1]
        t, x, xx = (v @ parameters[i] for v in (t, x, xx))
    return np.mean((t + u * x - 0.01 * xx) ** 2)


def value_in_numpy(work, parameters, inputs):
    own = {"rows_added": rows_added, "physics": physics}.get(work.formula)
    if own:
        return own(parameters, *inputs)
    return getattr(everyday_formulas, work.formula)(np, parameters, *inputs)


def in_float64(work):
    data = work.data(True)

    def wide(x):
        return x.astype(np.float64) if x.dtype == np.float32 else x

    data.parameters, data.inputs = [
        [wide(x) for x in part] for part in (data.parameters, data.inputs)
    ]
    return data


@each("style", ["lazy", "function"])
@each("name", NAMES)
def test_value_and_gradient(name, style):
    work = everyday.GRADIENTS[name]
    data = in_float64(work)
    value, gradients = getattr(by_pullback, style)(
        replace(work, data=lambda small: data), True
    ).run()
    assert float(value) == pytest.approx(
        value_in_numpy(work, data.parameters, data.inputs), rel=1e-12
    )
    random = np.random.default_rng(1)
    directions = [random.normal(size=p.shape) for p in data.parameters]

    def moved(step):
        parameters = [p + step * d for p, d in zip(data.parameters, directions, strict=True)]
        return value_in_numpy(work, parameters, data.inputs)

    slope = sum(np.sum(g.numpy() * d) for g, d in zip(gradients, directions, strict=True))
    h = 1e-5
    assert float(slope) == pytest.approx((moved(h) - moved(-h)) / (2 * h), rel=1e-5)


@pytest.mark.parametrize("style", ["tape", "tape_in_function", "embedding_session"])
def test_embedding_step(style):
    data = everyday.embedding(True)
    case = getattr(by_pullback, style)(everyday.EMBEDDING, True)
    (table,), (rows, wanted) = data.parameters, data.inputs
    loss = case.run()
    g = np.zeros_like(table, dtype=np.float64)
    np.add.at(g, rows, 2 * (table[rows].astype(np.float64) - wanted))
    found = case.check(loss)
    assert found == pytest.approx(
        [np.sum((table[rows] - wanted) ** 2), np.linalg.norm(g)], rel=1e-3
    )


def test_quantized_step():
    """One step of momentum moves by rate times the gradient that passes straight through."""
    case = by_pullback.tape_in_function(everyday.QUANTIZED, True)
    data = everyday.QUANTIZED.data(True)
    x, _, labels = data.inputs

    def rounded(w):
        step = np.abs(w).max() / 7
        return np.clip(np.round(w / step), -7, 7) * step

    first, second = (rounded(w) for w in data.parameters[::2])
    z = x @ first + data.parameters[1]
    scores = np.maximum(z, 0) @ second + data.parameters[3]
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    g = (shares - labels) / len(x)
    back = (g @ second.T) * (z > 0)
    slopes = [x.T @ back, back.sum(axis=0), np.maximum(z, 0).T @ g, g.sum(axis=0)]
    loss, *norms = case.check(case.run())
    assert loss == pytest.approx(-np.mean(np.log(shares[labels > 0])), rel=1e-5)
    np.testing.assert_allclose(norms, [np.linalg.norm(g) for g in slopes], rtol=1e-2)


@pytest.mark.parametrize("name", everyday.ARGMAX)
def test_argmax(name):
    make = everyday.ROWS[name].make
    checks = []
    for library in [("pullback", "function"), ("numpy", "")]:
        case = make[library](True)
        checks.append(case.check(case.run()))
    assert checks[0] == checks[1]


@pytest.mark.parametrize("name", overhead.MADE_OF)
def test_conversions(name):
    values = overhead.MADE_OF[name][1]
    case = overhead.conversion("pullback", values, True)
    made = eval(case.run, dict(case.names))
    assert isinstance(made, pb.Tensor)
    np.testing.assert_array_equal(made.numpy(), np.asarray(values(), np.float32))


def test_session():
    case = overhead.session_run("pullback", True)
    assert case.check(case.run()) == [9.0]
