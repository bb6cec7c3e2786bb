"""Gradients by complex numbers: that of a real loss L by z = x + iy is dL/dx + i dL/dy. The oracle
is differences along x and along y, in long double."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.complex_cases import BY_NAME, FUNCTIONS, Function, away, draw
from support.each import each
from support.gradients import each_mode  # noqa: F401
from support.oracle import derivative

import pullback as pb

WIDE = np.clongdouble


def by_parts(loss: Callable[..., Any], *zs: Any) -> list[Any]:
    """dL/dx + i dL/dy by every entry of every argument."""
    out = []
    for k, z in enumerate(zs):
        found = np.zeros(z.shape, complex)
        for i in np.ndindex(z.shape):
            slopes = []
            for way in (1, 1j):
                step = np.zeros(z.shape, WIDE)
                step[i] = way

                def along(h: Any, k: int = k, step: Any = step) -> Any:
                    moved = [w.astype(WIDE) if w.dtype.kind == "c" else w for w in zs]
                    moved[k] = moved[k] + h * step
                    return np.asarray(loss(*moved))

                slopes.append(float(derivative(along)))
            found[i] = complex(*slopes)
        out.append(found)
    return out


def drawn(function: Function, dtype: str, shape: tuple[int, ...] = (4,), size: float = 1.5) -> Any:
    rng = np.random.default_rng(len(function.name))
    zs = [draw(rng, shape, dtype, size) for _ in range(function.arity)]
    return [away(z, function.poles).astype(dtype) for z in zs]


def weights(y: Any, seed: int = 5) -> Any:
    parts = np.random.default_rng(seed).uniform(0.5, 1.5, (2, *y.shape))
    return parts[0] + 1j * parts[1] if y.dtype.kind == "c" else parts[0]


def real_sum(y: Any, w: Any) -> Any:
    """A real loss with the cotangent w."""
    return np.sum(np.real(y) * np.real(w)) + np.sum(np.imag(y) * np.imag(w))


@each("name", [f.name for f in FUNCTIONS])
def test_gradients_are_those_of_differences(name: str) -> None:
    f = BY_NAME[name]
    zs = drawn(f, "complex128")
    xs = [pb.Variable(z) for z in zs]
    y = f(*xs)
    w = weights(y)
    got = pb.gradients(y, xs, pb.constant(w.astype(y.dtype)))
    expected = by_parts(lambda *vs: real_sum(f.of_numpy(*vs), w), *zs)
    for g, e in zip(got, expected, strict=True):
        assert g.dtype == "complex128"
        np.testing.assert_allclose(g.numpy(), e, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("name", [f.name for f in FUNCTIONS])
def test_second_derivatives_are_those_of_differences(name: str) -> None:
    f = BY_NAME[name]
    zs = drawn(f, "complex128", (3,))

    def slopes(*values: Any) -> list[Any]:
        xs = [pb.Variable(z) for z in values]
        y = f(*xs)
        w = pb.constant(weights(y).astype(y.dtype))
        return [xs, pb.gradients(y, xs, w, unconnected_gradients="zero")]

    xs, gs = slopes(*zs)
    mix = [weights(g, 8) for g in gs]
    got = pb.gradients(gs, xs, [pb.constant(m) for m in mix], unconnected_gradients="zero")
    h = 1e-5
    for k, g in enumerate(got):
        for i in range(3):
            parts = []
            for way in (1, 1j):
                ends = []
                for side in (h, -h, 2 * h, -2 * h):
                    moved = [z.copy() for z in zs]
                    moved[k][i] += side * way
                    of = slopes(*moved)[1]
                    ends.append(sum(real_sum(s.numpy(), m) for s, m in zip(of, mix, strict=True)))
                parts.append((8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * h))
            expected = complex(*parts)
            assert abs(complex(g.numpy()[i]) - expected) <= 1e-7 * (1 + abs(expected)), (name, k, i)


@each("name", [f.name for f in FUNCTIONS])
def test_gradients_of_complex64_are_those_of_complex128(name: str) -> None:
    f = BY_NAME[name]
    found = []
    for dtype in ("complex64", "complex128"):
        xs = [pb.Variable(z) for z in drawn(f, dtype, (8,))]
        y = f(*xs)
        found.append(pb.gradients(y, xs, pb.constant(weights(y).astype(y.dtype))))
    for narrow, wide in zip(*found, strict=True):
        assert narrow.dtype == "complex64"
        np.testing.assert_allclose(narrow.numpy(), wide.numpy(), rtol=2e-5, atol=2e-6)


def test_the_examples_of_the_convention() -> None:
    z = pb.Variable(3 + 4j, dtype="complex128")
    assert abs(complex(pb.gradients(pb.abs(z), z)[0]) - (0.6 + 0.8j)) < 1e-15
    z = pb.Variable(2 + 1j, dtype="complex128")
    assert complex(pb.gradients(z * z, z, grad_ys=1)[0]) == 4 - 2j
    z = pb.Variable(1 + 2j, dtype="complex128")
    assert complex(pb.gradients(pb.real(z * z), z)[0]) == 2 - 4j
    assert complex(pb.gradients(pb.conj(z), z, 1 + 1j)[0]) == 1 - 1j
    assert complex(pb.gradients(z.imag, z)[0]) == 1j and complex(pb.gradients(z.real, z)[0]) == 1
    re, im = pb.Variable(2.0), pb.Variable([1.0, 3.0])
    y = pb.sum(pb.real(pb.complex(re, im) * (1 - 2j)))
    assert [g.tolist() for g in pb.gradients(y, [re, im])] == [2.0, [2.0, 2.0]]


def test_a_complex_y_needs_a_cotangent() -> None:
    z = pb.Variable(Z)
    with pytest.raises(
        TypeError, match=r"real tensor for ys\[0\], got complex64; use real\(y\).*grad_ys"
    ):
        pb.gradients(z * z, z)
    with pytest.raises(TypeError, match=r"ys\[1\]"):
        pb.gradients([pb.abs(z), z], z, [None, None])
    with pytest.raises(TypeError, match=r"complex.*cast it"):
        pb.gradients(z * z, z, pb.ones(3))
    with pytest.raises(TypeError, match="real or abs"):
        pb.grad(lambda z: pb.sum(z * z))(Z)
    with pytest.raises(TypeError, match="imaginary part"):
        pb.gradients(pb.abs(z), z, 1j)


Z = np.array([1 + 2j, -0.5 + 1j, 3 - 4j], "complex64")


def test_every_way_to_ask(mode: Callable[..., list[Any]]) -> None:
    def loss(z: Any, x: Any) -> Any:
        return pb.sum(pb.square(pb.abs(pb.exp(1j * z) * x + pb.conj(z))))

    z, x = draw(np.random.default_rng(1), (3,), "complex128", 1.0), np.array([0.5, -1.0, 2.0])

    def wide(z: Any, x: Any) -> Any:
        return np.sum(np.abs(np.exp(1j * z) * x + np.conj(z)) ** 2)

    dz, dx = mode(loss, z, x)
    expected = by_parts(wide, z, x.astype(complex))
    np.testing.assert_allclose(dz, expected[0], rtol=1e-11)
    np.testing.assert_allclose(dx, expected[1].real, rtol=1e-11)


def test_real_operands_get_real_gradients_and_broadcast() -> None:
    z, x = (
        pb.Variable(draw(np.random.default_rng(2), (2, 3), "complex64")),
        pb.Variable([1.0, 2, 3]),
    )
    for y in (z * x, x * z, z + x, x - z, z / x, x / z, z @ x, pb.where(x > 1, z, x),
              pb.astype(x, "complex64") * z, z ** x):  # fmt: skip
        dz, dx = pb.gradients(pb.sum(pb.real(y * (1 - 0.5j))), [z, x])
        assert (dz.dtype, dz.shape) == ("complex64", (2, 3))
        assert (dx.dtype, dx.shape) == ("float32", (3,))
    pb.testing.check_gradients(
        lambda z, x: [z * x, x / z, z - x, z @ x, pb.where(x > 1, z, x)],
        z.numpy().astype("complex128"), np.array([1.0, 2.0, 3.0]),
    )  # fmt: skip


LINEAR: dict[str, Callable[[Any], Any]] = {
    "slice": lambda z: z[::-1, 1:],
    "take": lambda z: pb.take(z, [2, 0, 2], axis=0),
    "mask": lambda z: z[np.array([True, False, True, True])],
    "concat": lambda z: pb.concat([z, 2j * z], axis=1),
    "set": lambda z: z.at[1].set(z[0] * 1j),
    "add": lambda z: z.at[[0, 0, 2]].add(z[:3]),
    "multiply": lambda z: z.at[1:].multiply(z[0]),
    "sum": lambda z: pb.sum(z, 0),
    "mean": lambda z: pb.mean(z, 1),
    "prod": lambda z: pb.prod(z, 1),
    "var": lambda z: pb.var(z, 0),
    "std": lambda z: pb.std(z),
    "cumsum": lambda z: pb.cumsum(z, 0),
    "cumprod": lambda z: pb.cumprod(z, 0),
    "matmul": lambda z: z @ pb.matrix_transpose(z * 1j),
    "matmul by real": lambda z: z @ z.imag.T,
    "vdot": lambda z: pb.vdot(z[0], z[1]),
    "vecdot": lambda z: pb.vecdot(z, z[::-1]),
    "einsum": lambda z: pb.einsum("ij,kj,kl->il", z, pb.conj(z), z),
    "where": lambda z: pb.where(z.real > 0, z * z, pb.conj(z)),
    "round": lambda z: z * pb.round(z),
    "norm": lambda z: pb.sqrt(pb.sum(pb.square(pb.abs(z)))),
    "pow": lambda z: z**4 + z**-2 + z**0.5 + 2.0**z,
    "checkpoint": lambda z: pb.checkpoint(lambda z: pb.sin(z) * z)(z),
}


@pytest.mark.usefixtures("along_directions")
@pytest.mark.parametrize("name", LINEAR)
def test_what_moves_and_adds_up_entries(name: str) -> None:
    z = draw(np.random.default_rng(7), (4, 3), "complex128", 1.2)
    pb.testing.check_gradients(LINEAR[name], z)


def test_structural_zeros() -> None:
    z = pb.Variable(np.array([0j, 1 + 1j]))
    y = pb.sum(pb.abs(pb.where(z != 0, pb.log(z), 0)))
    (g,) = pb.gradients(y, z)
    assert g.numpy()[0] == 0 and np.isfinite(g.numpy()).all()
    assert pb.gradients(pb.sum(pb.abs(z)), z)[0].numpy()[0] == 0
    w = pb.Variable([0j, 2 + 0j])
    assert pb.gradients(pb.sum(pb.real(w**2)), w)[0].tolist() == [0, 4]


def test_slopes_far_out_are_not_lost() -> None:
    for f, z, expected in [
        (pb.tanh, 30 + 0.5j, 4 * np.exp(-2 * (30 + 0.5j))),
        (pb.tan, 0.5 + 30j, 4 * np.exp(2j * (0.5 + 30j))),
        (pb.atan, 1e-9 + 1j, 1 / ((1 + 1j * (1e-9 + 1j)) * (1 - 1j * (1e-9 + 1j)))),
    ]:
        v = pb.Variable(z, dtype="complex128")
        got = complex(pb.gradients(f(v), v, 1)[0])
        assert abs(got - np.conj(expected)) < 1e-8 * abs(expected)


# --- functions, tapes, jacobians, rules


def test_a_traced_function_has_the_same_values_and_gradients() -> None:
    calls = []

    @pb.function
    def f(z: Any, c: Any) -> Any:
        calls.append(1)
        return pb.exp(z) * c + 2j, pb.abs(z) * 0.5

    for c in (1.5j, 2.5 - 1j):
        y, size = f(Z, c)
        np.testing.assert_allclose(y.numpy(), np.exp(Z) * np.complex64(c) + 2j, rtol=1e-6)
        assert size.dtype == "float32"
    assert len(calls) == 1
    z = pb.Variable(Z)
    y, _ = f(z, 1j)
    (g,) = pb.gradients(pb.sum(pb.real(y)), z)
    np.testing.assert_allclose(g.numpy(), np.conj(np.exp(Z) * 1j), rtol=1e-6)


def test_a_training_step_on_complex_numbers() -> None:
    v = pb.Variable(Z)
    target = pb.constant([1j, 2j, 3j])

    @pb.function
    def step() -> Any:
        loss = pb.sum(pb.square(pb.abs(v - target)))
        (g,) = pb.gradients(loss, v)
        v.assign_sub(0.25 * g)
        return loss

    losses = [float(step()) for _ in range(30)]
    assert losses[-1] < 1e-6 < losses[0]
    np.testing.assert_allclose(v.numpy(), [1j, 2j, 3j], atol=1e-3)
    v[0] = 5j
    v.assign_add(v)
    assert v.numpy()[0] == 10j


def test_a_tape_starts_with_ones() -> None:
    z = pb.constant(1 + 2j)
    with pb.GradientTape(persistent=True) as tape:
        tape.watch(z)
        y = z * z
    assert complex(tape.gradient(y, z)) == 2 - 4j
    assert complex(tape.gradient(y, z, output_gradients=1j)) == 1j * (2 - 4j)


def test_jacobians() -> None:
    z = pb.constant(draw(np.random.default_rng(4), (3,), "complex128"))
    with pb.GradientTape(persistent=True) as tape:
        tape.watch(z)
        sizes = pb.abs(z * pb.cumsum(z))
        y = pb.exp(z)
        norms = pb.cumprod(z)
    rows = tape.jacobian(sizes, z).numpy()
    for i in range(3):
        row = tape.gradient(sizes, z, output_gradients=pb.constant(np.eye(3)[i]))
        np.testing.assert_allclose(rows[i], row.numpy(), rtol=1e-13)
    np.testing.assert_allclose(tape.jacobian(y, z).numpy(), np.diag(np.exp(z.numpy()).conj()))
    assert tape.jacobian(norms, z).shape == (3, 3)


def test_rules_of_a_program() -> None:
    @pb.custom_gradient
    def turned(z: Any) -> Any:
        return z * 1j, lambda g: g * 1j

    z = pb.Variable(Z)
    assert pb.gradients(pb.sum(pb.real(turned(z))), z)[0].tolist() == [1j] * 3
    with pb.gradient_override_map({"conj": lambda op, g: 2 * g}):
        y = pb.conj(z)
    assert pb.gradients(pb.sum(pb.real(y)), z)[0].tolist() == [2] * 3
    assert (
        pb.gradients(pb.sum(pb.real(pb.stop_gradient(z) * z)), z)[0].tolist() == Z.conj().tolist()
    )
    assert pb.gradients(pb.sum(pb.real(pb.scale_gradient(z, 3.0))), z)[0].tolist() == [3] * 3
    assert "complex64" in str(pb.explain(pb.sum(pb.abs(z)), z))


def test_a_gradient_penalty() -> None:
    z = draw(np.random.default_rng(9), (3,), "complex128", 1.0)

    def penalty(z: Any) -> Any:
        (g,) = pb.gradients(pb.sum(pb.square(pb.abs(pb.sin(z)))), z)
        return pb.sum(pb.square(pb.abs(g)))

    v = pb.Variable(z)
    (got,) = pb.gradients(penalty(v), v)
    # L = sin z conj(sin z): its gradient is 2 sin(z) conj(cos z).
    (expected,) = by_parts(lambda z: np.sum(np.abs(2 * np.sin(z) * np.conj(np.cos(z))) ** 2), z)
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-10)


def test_a_python_number_keeps_its_digits_in_a_traced_function() -> None:
    x = np.array([1.0, 3.0])

    def f(x: Any, c: Any) -> Any:
        return x * (c * 2) + c.imag * x - c.conjugate() * x

    traced = pb.function(f)
    for c in (0.1j, 0.3 - 0.7j):
        np.testing.assert_allclose(traced(x, c).numpy(), f(x, c), rtol=1e-15)
    assert traced(x.astype("float32"), 0.1j).dtype == "complex64"


def test_functions_of_numpy_arrays() -> None:
    f = pb.numpy_function(lambda z: np.fft.fft(z), lambda z: z, lambda xs, gs: 3 * pb.conj(gs[0]))
    v = pb.Variable(Z.astype("complex128"))
    np.testing.assert_array_equal(f(v).numpy(), np.fft.fft(v.numpy()))
    np.testing.assert_array_equal(pb.function(f)(v).numpy(), np.fft.fft(v.numpy()))
    (g,) = pb.gradients(f(v), v, pb.constant(v.numpy()))
    assert g.tolist() == (3 * v.numpy().conj()).tolist()
    size = pb.numpy_function(np.abs, lambda z: z.real, vjp="fd")
    with pytest.raises(TypeError, match="supports real numbers only"):
        pb.gradients(pb.sum(size(v)), v)
