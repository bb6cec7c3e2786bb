"""pb.fft against numpy.fft, scipy.fft and sums in long double; its gradients."""

import functools
import hashlib
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.fft
from hypothesis import given, settings
from hypothesis import strategies as st
from support.process import run

import pullback as pb
from pullback import _core

ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
SEVERAL = ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"]
OF_REALS = {"rfft", "ihfft", "rfftn", "rfft2"}
NORMS = [None, "backward", "ortho", "forward"]
# The last ones are made of short transforms, the prime by a convolution.
LONG = [16384, 30030, 65537, 131072, 100000]


def data(shape, dtype="D", seed=0):
    draws = np.random.default_rng(seed)
    x = draws.normal(size=shape)
    return (x + 1j * draws.normal(size=shape) if dtype in "DF" else x).astype(dtype)


def close(got, want, factor=1.0):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape and got.dtype == want.dtype
    eps = np.finfo(want.dtype).eps
    scale = np.max(np.abs(want), initial=0)
    assert np.max(np.abs(got - want), initial=0) <= factor * 20 * eps * scale


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("norm", NORMS)
def test_one_axis(name, norm):
    for dtype in "dfDF":
        if name in OF_REALS and dtype in "DF":
            continue
        for n in (2, 3, 4, 5, 8, 12, 17, 97, 100):
            for shape, axis in (((n,), -1), ((3, n), 1), ((n, 3), 0), ((2, n, 19), -2)):
                x = data(shape, dtype)
                for points in (None, n + 3, n - 1, 1):
                    got = getattr(pb.fft, name)(x, points, axis, norm)
                    want = getattr(np.fft, name)(x, points, axis, norm)
                    close(got, want)


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("n", LONG)
def test_long_ones(name, n):
    for dtype in "dF":
        if name in OF_REALS and dtype == "F":
            continue
        x = data((2, n), dtype)
        # NumPy's of float32 are themselves no better.
        wide = getattr(np.fft, name)(x.astype(dtype.replace("F", "D")))
        want = wide.astype({"d": wide.dtype, "F": "f4" if wide.dtype == "f8" else "F"}[dtype])
        close(getattr(pb.fft, name)(x), want)


@pytest.mark.parametrize("dtype", "FD")
def test_errors_are_those_of_rounding(dtype):
    """In the root mean square: some units, for all kinds of factors."""
    eps = np.finfo(dtype).eps
    for n in [*range(1, 130), 243, 343, 360, 500, 1000, 1009, 1331, 1024, 2048, 4913, 10007, 2**14]:
        z = data((3, n), dtype, n)
        half = data((3, n // 2 + 1), dtype, n)
        prime = max(p for p in range(1, n + 1) if n % p == 0 and all(p % q for q in range(2, p)))
        for name, x in (("fft", z), ("ifft", z), ("rfft", z.real), ("irfft", half)):
            wide = x.astype("G" if x.dtype.kind == "c" else "g")
            want = getattr(np.fft, name)(wide, n)
            error = np.abs(getattr(pb.fft, name)(x, n).numpy() - want)
            size = np.sqrt(np.mean(np.abs(want) ** 2))
            units = np.sqrt(np.mean(error**2)) / size / eps
            assert units < (2.5 if prime > 113 else 0.1 * np.log2(n) + 0.7), (name, n, units)


@pytest.mark.parametrize(("n", "dtype"), [(262147, "F"), (2 * 262147, "D")])
def test_lengths_without_factors(n, dtype):
    """They are convolutions: a prime, twice one, and as real numbers."""
    z = data(n, "D")
    half = np.fft.rfft(z.real)
    real, complex_ = (z.real.astype(dtype.lower().replace("d", "f8")), z.astype(dtype))
    for name, x, wide, options in (
        ("fft", complex_, z, {"norm": "ortho"}),
        ("ifft", np.stack([complex_, 2 * complex_]), np.stack([z, 2 * z]), {}),
        ("rfft", real, z.real, {}),
        ("irfft", half.astype(dtype), half, {"n": n}),
    ):
        want = getattr(np.fft, name)(wide, **options)
        kind = dtype if want.dtype.kind == "c" else real.dtype
        close(getattr(pb.fft, name)(x, **options), want.astype(kind))


def test_gradient_of_a_length_without_factors():
    n = 262147
    v, w = np.fft.rfft(data(n, "d")), data(n, "d", 1)
    slope = pb.grad(lambda u: pb.sum(pb.fft.irfft(u, n) * w))(pb.constant(v)).numpy()
    # Linear in v, so the slope gives the value.
    want = float(np.sum(np.fft.irfft(v, n) * w))
    assert abs(np.sum((v * slope.conj()).real) - want) <= 1e-9 * abs(want)


# Products of 2, 3 and 5 are transformed in lanes, and all of the passes occur.
MANY = [*range(1, 33), 36, 45, 60, 64, 81, 90, 100, 125, 128, 243, 480, 512, 625, 1000, 1024, 2048]


@pytest.mark.parametrize("name", ["fft", "ifft"])
@pytest.mark.parametrize("dtype", "FD")
def test_many_at_once(name, dtype):
    for n in MANY:
        for count in (3, 12, 16, 29):  # lanes that are not all filled, and as many as there are
            x = data((count, n), dtype, n)
            wide = getattr(np.fft, name)(x.astype("G"))
            want = wide.astype(dtype)
            close(getattr(pb.fft, name)(x), want, 0.3)
            columns = getattr(pb.fft, name)(np.ascontiguousarray(x.T), axis=0)
            close(columns, np.ascontiguousarray(want.T), 0.3)


@pytest.mark.parametrize("name", SEVERAL)
def test_several_axes(name):
    for dtype in "dF":
        if name in OF_REALS and dtype == "F":
            continue
        x = data((3, 4, 5), dtype)
        for s, axes in ((None, (0, 2)), ((4, 3), (2, 0)), ((6, 5), (-2, -1)), (None, (1, 1))):
            for norm in ("backward", "ortho", "forward"):
                want = getattr(np.fft, name)(x, s, axes, norm)
                close(getattr(pb.fft, name)(x, s, axes, norm), want)
    close(pb.fft.fftn(data((3, 4))), np.fft.fftn(data((3, 4))))
    close(pb.fft.irfftn(data((3, 4))), np.fft.irfftn(data((3, 4))))


def test_against_long_double():
    n = 1 << 17  # made of short ones
    x = data(n)
    k = np.array([0, 1, 5, 777, n // 2, n - 1])
    pi = np.longdouble("3.14159265358979323846264338327950288")
    angle = -2 * pi * (k[:, None] * np.arange(n) % n) / n
    want = (np.cos(angle) + 1j * np.sin(angle)) @ x.astype(np.clongdouble)
    got = np.asarray(pb.fft.fft(x))[k]
    assert np.max(np.abs(got - want)) < 4e-16 * np.sqrt(np.sum(np.abs(x) ** 2)) * np.log2(n)
    real = np.asarray(pb.fft.rfft(x.real))[k[:-1]]
    want = (np.cos(angle) + 1j * np.sin(angle))[:-1] @ x.real.astype(np.longdouble)
    assert np.max(np.abs(real - want)) < 4e-16 * np.sqrt(np.sum(x.real**2)) * np.log2(n)


def test_dtypes():
    assert pb.fft.fft([1, 2, 3]).dtype == np.complex64
    assert pb.fft.rfft(pb.constant([1.0, 2.0], dtype="float16")).dtype == np.complex64
    assert pb.fft.irfft(np.ones(3, "complex128")).dtype == np.float64
    assert pb.fft.fftfreq(4, dtype="float64").dtype == np.float64


def test_no_rows():
    assert pb.fft.fft(np.ones((0, 4))).shape == (0, 4)
    assert pb.fft.rfft(np.ones((4, 0)), axis=0).shape == (3, 0)
    assert np.asarray(pb.fft.fft(np.ones((2, 0)), n=3)).tolist() == [[0] * 3] * 2


def test_nan_stays():
    assert np.isnan(np.asarray(pb.fft.rfft([1.0, np.nan, 2.0]))).all()


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_frequencies_and_shifts(n):
    for name in ("fftfreq", "rfftfreq"):
        close(getattr(pb.fft, name)(n, 0.3, dtype="float64"), getattr(np.fft, name)(n, 0.3))
    x = np.arange(3.0 * n).reshape(3, n)
    for name in ("fftshift", "ifftshift"):
        for axes in (None, 1, (0, 1), -1):
            close(getattr(pb.fft, name)(x, axes), getattr(np.fft, name)(x, axes))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 60), st.integers(1, 4), st.integers(0, 1), st.sampled_from(NORMS))
def test_round_trips(n, other, axis, norm):
    shape = (n, other) if axis == 0 else (other, n)
    z, x = data(shape), data(shape, "d")
    back = pb.fft.ifft(pb.fft.fft(z, axis=axis, norm=norm), axis=axis, norm=norm)
    np.testing.assert_allclose(back, z, atol=1e-13)
    back = pb.fft.irfft(pb.fft.rfft(x, axis=axis, norm=norm), n, axis=axis, norm=norm)
    np.testing.assert_allclose(back, x, atol=1e-13)
    back = pb.fft.hfft(pb.fft.ihfft(x, axis=axis, norm=norm), n, axis=axis, norm=norm)
    np.testing.assert_allclose(back, x, atol=1e-13)


def size(x):
    """A real number of all of x, in which no two entries count alike."""
    weights = pb.constant(np.linspace(0.5, 1.5, int(np.prod(x.shape))).reshape(x.shape))
    if x.dtype.kind == "c":
        return pb.sum(weights * (pb.real(x) ** 3 + pb.imag(x) * pb.real(x) - pb.imag(x) ** 2))
    return pb.sum(weights * x**3)


CHECKED = [
    *((name, {"axis": 0, "norm": "ortho"}) for name in ONE),
    *((name, {"n": n}) for name in ("rfft", "irfft") for n in (7, 4)),
    ("fft", {"n": 4}),
    ("irfftn", {"s": (3, 5)}),
    ("rfftn", {"s": (4, 6)}),
    ("fftshift", {}),
    ("dct", {}),
    ("dct", {"type": 4, "axis": 0}),
    ("idct", {"axis": 0}),
    ("dst", {"type": 1, "norm": "ortho"}),
]


@pytest.mark.usefixtures("along_directions")
@pytest.mark.parametrize(("name", "options"), CHECKED)
def test_gradients(name, options):
    f = functools.partial(getattr(pb.fft, name), **options)
    pb.testing.check_gradients(lambda x: size(f(x)), pb.constant(data((4, 5), "d")))
    if name in ONE and name not in OF_REALS:
        pb.testing.check_gradients(lambda z: size(f(z)), pb.constant(data((4, 5))))


@pytest.mark.parametrize("name", ["fft", "rfft", "irfft"])
def test_long_gradients_are_adjoint(name):
    # <y, A x> = <Aᴴ y, x>, where A is made of short transforms.
    n = 1 << 17
    x = data(n // 2 + 1 if name == "irfft" else n, "d" if name == "rfft" else "D")
    f = getattr(pb.fft, name)
    value = np.asarray(f(x))
    y = data(value.shape, value.dtype.char, seed=1)
    v = pb.Variable(x)
    (g,) = pb.gradients(f(v), v, pb.constant(y))
    left, right = np.vdot(y, value).real, np.vdot(np.asarray(g), x).real
    np.testing.assert_allclose(left, right, rtol=1e-11)
    _, tangent = pb.jvp(f, (pb.constant(x),), (pb.constant(x),))
    np.testing.assert_allclose(tangent, value, atol=1e-12 * np.abs(value).max())


def test_vmap_function_scan():
    x = data((3, 8), "d")
    want = np.fft.rfft(x)
    close(pb.vmap(pb.fft.rfft)(x), want)
    close(pb.vmap(pb.fft.rfft, in_axes=1)(x.T), want)
    close(pb.function(pb.fft.rfft)(x), want)
    _, rows = pb.scan(lambda c, row: (c, pb.fft.rfft(row)), 0.0, x)
    close(rows, want)


def test_any_number_of_threads():
    x, z = data((64, 512), "d"), data(1 << 17)
    made = []
    before = pb.num_threads()
    try:
        for threads in (1, 2, 3):
            pb.set_num_threads(threads)
            made.append([np.asarray(pb.fft.rfft2(x)), np.asarray(pb.fft.fft(z))])
            made[-1].append(np.asarray(pb.fft.rfft(z.real)))
    finally:
        pb.set_num_threads(before)
    for other in made[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(made[0], other, strict=True))


# Short ones, long ones with odd and even factors, and those of a convolution.
LENGTHS = [1, 2, 7, 16, 17, 31, 37, 60, 113, 127, 128, 343, 500, 1009, 1024, 2187, 4096]
LENGTHS += [16384, 17408, 65537, 131072, 177147]


def test_the_same_bits_alone_and_in_a_batch():
    """Of a row, of a few rows, of columns and of a middle axis."""
    for n in LENGTHS:
        rows = 19 if n < 5000 else 3
        for dtype in "FD":
            z = data((rows, n), dtype, n)
            x = z.real.copy()
            half = np.fft.rfft(x).astype(dtype)
            for name, a in (("fft", z), ("ifft", z), ("rfft", x), ("irfft", half)):
                f = functools.partial(getattr(pb.fft, name), n=n)
                want = f(a).numpy()
                for i in (0, rows - 1):
                    np.testing.assert_array_equal(f(a[i]), want[i])
                np.testing.assert_array_equal(f(a[1:3]), want[1:3])
                columns = np.ascontiguousarray(a.T)
                np.testing.assert_array_equal(f(columns, axis=0), want.T)
                np.testing.assert_array_equal(f(columns[:, :2], axis=0), want[:2].T)
                stack = np.stack([columns, -columns])
                np.testing.assert_array_equal(f(stack, axis=1)[0], want.T)


def digest():
    """Return a hash of transforms of all kinds."""
    out = hashlib.sha256()
    for n in LENGTHS:
        for dtype in "FD":
            # Numbers that no instruction set computes differently.
            k = np.arange((5 if n < 5000 else 1) * n).reshape(-1, n)
            z = ((k * 7919 % 1013 - 500) / 256 + 1j * (k * 104729 % 997 - 490) / 512).astype(dtype)
            for made in (
                pb.fft.fft(z),
                pb.fft.ifft(z.T, axis=0),
                pb.fft.rfft(z.real),
                pb.fft.irfft(z, n),
            ):
                out.update(made.numpy().tobytes())
    return out.hexdigest()


@pytest.mark.slow
def test_the_same_bits_on_every_instruction_set():
    levels = ["baseline", "avx2", "avx512"]
    for level in levels[: levels.index(_core.build_info()["cpu_level"])]:
        code = "from test_fft import digest; print(digest())"
        paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
        assert run(code, PULLBACK_CPU_LEVEL=level, PYTHONPATH=paths).strip() == digest()


def test_errors():
    x = np.ones((2, 3))
    for call, error, text in (
        (lambda: pb.fft.fft(x, 0), ValueError, "fft: expected an integer >= 1 for n, got 0"),
        (lambda: pb.fft.irfft(x, -1), ValueError, "irfft: expected an integer >= 1 for n, got -1"),
        (
            lambda: pb.fft.fft(np.ones((2, 0))),
            ValueError,
            r"fft: .* along axis 1, got shape \(2, 0\)",
        ),
        (lambda: pb.fft.fft(x, 2.5), TypeError, "fft: expected an integer for n, got 2.5"),
        (lambda: pb.fft.fft(x, axis=2), np.exceptions.AxisError, "fft: axis 2 is out of range"),
        (lambda: pb.fft.ifft(x, norm="both"), ValueError, "ifft: norm must be one of 'backward'"),
        (lambda: pb.fft.rfft(x + 1j), TypeError, "rfft: expected real numbers, got complex128"),
        (
            lambda: pb.fft.fftn(x, (2,), (0, 1)),
            ValueError,
            "fftn: expected 2 integers, .* for s, got 1",
        ),
        (lambda: pb.fft.rfftn(x, axes=()), ValueError, "rfftn: expected at least one axis in axes"),
        (lambda: pb.fft.irfft([1.0]), ValueError, "irfft: .* along axis 0, got shape .1,."),
        (lambda: pb.fft.fftfreq(0), ValueError, "fftfreq: expected an integer >= 1 for n, got 0"),
        (lambda: pb.fft.dct(x, 5), ValueError, "dct: type must be one of 1, 2, 3, 4; got 5"),
        (
            lambda: pb.fft.dct([1.0], 1),
            ValueError,
            "dct: expected at least 2 points for type=1, got 1",
        ),
    ):
        with pytest.raises(error, match=text):
            call()


@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_cosines_and_sines(name, kind):
    for n in (1, 2, 3, 4, 7, 8, 31):
        if n == 1 and kind == 1 and "dct" in name:
            continue
        for norm in NORMS:
            for dtype in "dfD":
                x = data((2, n, 3), dtype)
                want = getattr(scipy.fft, name)(x, kind, axis=1, norm=norm)
                close(getattr(pb.fft, name)(x, kind, axis=1, norm=norm), want)
    x = data(6, "d")
    close(getattr(pb.fft, name)(x, kind, n=4), getattr(scipy.fft, name)(x, kind, n=4))
    close(getattr(pb.fft, name)(x, kind, n=9), getattr(scipy.fft, name)(x, kind, n=9))
