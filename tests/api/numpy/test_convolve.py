"""convolve and correlate against NumPy, fft.fftconvolve against scipy.signal; gradients."""

import numpy as np
import pytest
import scipy.signal

import pullback as pb

MODES = ["full", "same", "valid"]


def draw(shape, dtype="d", seed=0):
    draws = np.random.default_rng(seed)
    x = 5 * draws.normal(size=shape)
    return (x + 1j * draws.normal(size=shape) if dtype == "D" else x).astype(dtype)


def close(got, want, rtol=1e-13):
    got = np.asarray(got)
    assert got.shape == want.shape
    assert np.max(np.abs(got - want)) <= rtol * np.max(np.abs(want))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_vectors(name, mode):
    for m in (1, 2, 3, 6, 7, 40, 90):
        for n in (1, 2, 3, 6, 7, 70, 91):
            for dtypes in ("dd", "DD", "dD"):
                a, v = draw(m, dtypes[0]), draw(n, dtypes[1], 1)
                close(getattr(pb, name)(a, v, mode), getattr(np, name)(a, v, mode))


@pytest.mark.parametrize("mode", MODES)
def test_integers_are_exact(mode):
    a = np.arange(200) ** 5
    got = np.asarray(pb.convolve(a, a[:90], mode))
    assert got.dtype == np.int64 and np.array_equal(got, np.convolve(a, a[:90], mode))
    b = np.array([True, False, True, True])
    got = np.asarray(pb.convolve(b, b[:2], mode))
    assert got.dtype == bool and np.array_equal(got, np.convolve(b, b[:2], mode))


@pytest.mark.parametrize("mode", MODES)
def test_any_axes(mode):
    a, b = draw((4, 5, 6)), draw((1, 3, 2), seed=1)
    close(pb.fft.fftconvolve(a, b, mode), scipy.signal.fftconvolve(a, b, mode))
    want = scipy.signal.fftconvolve(a, b, mode, axes=(1, 2))
    close(pb.fft.fftconvolve(a, b, mode, axes=(1, 2)), want)
    z = draw((4, 5, 6), "D")
    close(pb.fft.fftconvolve(z, b, mode), scipy.signal.fftconvolve(z, b, mode))
    # Along both axes in1 is the shorter one.
    close(pb.fft.fftconvolve(b[0], a[0], mode), scipy.signal.fftconvolve(b[0], a[0], mode))


@pytest.mark.usefixtures("along_directions")
@pytest.mark.parametrize("n", [4, 70])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_gradients(name, n):
    f = getattr(pb, name)
    a, v = (pb.constant(draw(k, "d", k) / 5) for k in (72, n))
    pb.testing.check_gradients(lambda a, v: pb.sum(f(a, v, "same") ** 3), a, v)
    a, v = (pb.constant(draw(k, "D", k) / 5) for k in (72, n))
    pb.testing.check_gradients(lambda a, v: pb.sum(pb.abs(f(a, v, "valid")) ** 4), a, v)


@pytest.mark.usefixtures("along_directions")
def test_gradients_along_axes():
    a, b = pb.constant(draw((4, 5)) / 5), pb.constant(draw((3, 2), seed=1) / 5)
    pb.testing.check_gradients(lambda a, b: pb.sum(pb.fft.fftconvolve(a, b, "same") ** 3), a, b)


def test_vmap_and_function():
    a, v = draw((3, 80)), draw(70)
    want = np.stack([np.convolve(row, v) for row in a])
    close(pb.vmap(lambda row: pb.convolve(row, v))(a), want)
    close(pb.function(lambda v: pb.convolve(v, a[0]))(v), want[0])


def test_errors():
    x = np.ones(3)
    for call, text in (
        (lambda: pb.convolve(x, []), "convolve: expected at least one element in v"),
        (
            lambda: pb.convolve(np.ones((2, 2)), x),
            r"convolve: expected a vector for a, got shape \(2, 2\)",
        ),
        (lambda: pb.correlate(x, x, "all"), "correlate: mode must be one of 'full', 'same'"),
        (
            lambda: pb.fft.fftconvolve(x, np.ones((2, 2))),
            "fftconvolve: expected one rank for in1 and in2",
        ),
        (
            lambda: pb.fft.fftconvolve(x, x[:0]),
            "fftconvolve: expected at least one element in in1 and in2",
        ),
        (
            lambda: pb.fft.fftconvolve(np.ones((2, 3)), np.ones((3, 2)), "valid"),
            "fftconvolve: expected in1 or in2 to be the larger one",
        ),
        (
            lambda: pb.fft.fftconvolve(np.ones((2, 3)), np.ones((4, 2)), axes=1),
            "fftconvolve: expected sizes that broadcast for axis 0",
        ),
    ):
        with pytest.raises(ValueError, match=text):
            call()
