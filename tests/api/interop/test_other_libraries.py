"""pandas, xarray, polars, SymPy and threadpoolctl, as the page "Use pullback with other libraries"
describes them; each test is skipped without its library."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pullback as pb

X = np.array([0.5, -1.25, 2.0])
W = np.array([[1.0, 2.0], [0.5, 0.25], [3.0, -1.0]])


def test_pandas():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    series, frame = pd.Series(X), pd.DataFrame(W, columns=["a", "b"])
    assert_allclose(pb.asarray(series).numpy(), X)
    assert_allclose(pb.sin(frame).numpy(), np.sin(W))
    assert_allclose(pb.grad(lambda p: pb.sum(p**2))(series).numpy(), 2 * X)
    assert_allclose(pb.Variable(series).numpy(), X)
    missing = pb.asarray(pd.Series([1, None], dtype="Int64"))
    assert missing.dtype == "float64" and np.isnan(missing.numpy()).tolist() == [False, True]
    assert pb.asarray(pd.Series([1, 2], dtype="Int64")).dtype == "int64"
    for other in (
        pd.Series(["a"]),
        pd.Series(["a"], dtype="category"),
        pd.Series(["2026"], dtype="datetime64[ns]"),
    ):
        with pytest.raises(TypeError, match="asarray: expected numbers, got a Series"):
            pb.asarray(other)

    x = pb.constant(X)
    assert pd.Series(x).tolist() == X.tolist()
    assert pd.DataFrame(pb.constant(W), columns=["a", "b"]).equals(frame)
    assert frame.assign(c=x)["c"].tolist() == X.tolist()
    held = pd.Series(x)
    with pytest.raises(ValueError, match="read-only"):
        held.iloc[0] = 9.0
    held = pd.DataFrame({"a": x})
    held.loc[0, "a"] = 9.0
    assert x.tolist() == X.tolist()

    for product in (lambda x: series * x, lambda x: x * series):
        assert isinstance(product(x), pd.Series)
        with pytest.raises(RuntimeError, match="leaves the graph as an array"):
            pb.grad(lambda x, f=product: pb.sum(f(x)))(X)
    assert_allclose(pb.grad(lambda x: pb.sum(pb.asarray(series) * x))(X).numpy(), X)


def test_xarray():
    xr = pytest.importorskip("xarray", reason="xarray is not installed")
    assert_allclose(pb.asarray(xr.DataArray(W, dims=["i", "j"])).numpy(), W)
    weights = np.arange(1.0, 4.0)
    labels = {"i": [0, 1, 1]}
    matrix = xr.DataArray(W, dims=["i", "j"])
    losses = [
        lambda a: (a**2 * xr.DataArray(weights, dims="i")).sum(),
        lambda a: (np.exp(a) * 2 - a.mean()).sum(),
        lambda a: (xr.dot(matrix, a) ** 2).sum(),
        lambda a: a.where(a > 0, 3 * a).sum(),
        lambda a: (xr.concat([a, a * a], "k").sum("i") ** 2).sum(),
        lambda a: (a.diff("i") ** 2).sum(),
        lambda a: (a.assign_coords(labels).groupby("i").mean() ** 2).sum(),
        lambda a: a.assign_coords(i=[10, 20, 30]).sel(i=20) ** 2 + a.isel(i=0) * a.std(),
        lambda a: (a.cumsum("i") ** 2).sum(),
    ]
    for loss in losses:
        kept = xr.DataArray(pb.constant(X), dims="i")
        assert isinstance(kept.data, pb.Tensor)

        def of_numbers(x, loss=loss):
            return float(loss(xr.DataArray(x, dims="i")))

        assert float(loss(kept)) == pytest.approx(of_numbers(X), rel=1e-14)
        slope = pb.grad(lambda x, loss=loss: loss(xr.DataArray(x, dims="i")).data)(X).numpy()
        steps = 1e-6 * np.eye(3)
        wanted = [(of_numbers(X + h) - of_numbers(X - h)) / 2e-6 for h in steps]
        assert_allclose(slope, wanted, rtol=1e-7, atol=1e-8)
    at = {"i": [0.0, 1.0, 2.0]}
    with pytest.raises(RuntimeError, match="leaves the graph as an array"):
        pb.grad(lambda x: xr.DataArray(x, dims="i", coords=at).interp(i=0.5).data)(X)
    with pytest.raises(AttributeError):
        xr.DataArray(pb.constant(X), dims="i").rolling(i=2).mean()


def test_polars():
    pl = pytest.importorskip("polars", reason="polars is not installed")
    assert_allclose(pb.asarray(pl.Series(X)).numpy(), X)
    assert_allclose(pb.asarray(pl.DataFrame(W)).numpy(), W)
    assert_allclose(pb.grad(lambda p: pb.sum(p**2))(pl.Series(X)).numpy(), 2 * X)
    assert np.isnan(pb.asarray(pl.Series([1, None])).numpy()).tolist() == [False, True]
    x = pb.constant(X)
    assert pl.Series(x.numpy()).to_list() == X.tolist()
    assert pl.DataFrame(pb.constant(W).numpy()).to_numpy().tolist() == W.tolist()
    for call in (lambda: pl.Series(x), lambda: pl.DataFrame({"a": x}), lambda: pl.Series(X) * x):
        with pytest.raises(TypeError):
            call()


def test_sympy():
    sympy = pytest.importorskip("sympy", reason="SymPy is not installed")
    a, b = sympy.symbols("a b")
    x, y = np.array([2.5, 0.7]), np.array([1.5, 1.1])
    expressions = [
        sympy.sin(a) * sympy.exp(b) + sympy.sqrt(a) / b + sympy.atan2(a, b) + sympy.pi * a,
        sympy.Max(a, b) * sympy.Min(a, b, 1) + sympy.Abs(a - 1) + a ** sympy.Rational(1, 3),
        sympy.Piecewise((a**2, a > b), (b * a, True)),
        sympy.gamma(a) + sympy.loggamma(b * a) + sympy.polygamma(1, a) + sympy.beta(a, b),
        sympy.erf(a) * sympy.erfc(b * a) + sympy.erfinv(a / 9) + sympy.sinc(a),
        sympy.besselj(0, a) + sympy.bessely(1, a) + sympy.besselk(0, a) + sympy.airyai(a),
        sympy.Ei(a) + sympy.Si(a) + sympy.fresnels(a) + sympy.lowergamma(b, a),
        sympy.Matrix([[a, b], [b * a, a]]),
    ]
    for expression in expressions:
        f = sympy.lambdify((a, b), expression, modules=[pb, pb.special, "scipy"])
        g = sympy.lambdify((a, b), expression, modules="scipy")
        # SymPy's matrices of arrays have no common shape.
        u, v = (x[0], y[0]) if isinstance(expression, sympy.MatrixBase) else (x, y)
        found = f(pb.constant(u), pb.constant(v))
        assert isinstance(found, pb.Tensor)
        assert_allclose(found.numpy(), g(u, v), rtol=1e-12)
        slope = pb.grad(lambda u, f=f, v=v: pb.sum(f(u, v)))(u)
        wanted = (g(u + 1e-6, v) - g(u - 1e-6, v)) / 2e-6
        wanted = wanted if np.ndim(u) else np.sum(wanted)
        assert_allclose(slope.numpy(), wanted, rtol=1e-6)


def test_threadpoolctl():
    threadpoolctl = pytest.importorskip("threadpoolctl", reason="threadpoolctl is not installed")
    pb.interop.register_threadpoolctl()
    pb.interop.register_threadpoolctl()  # a second call has no effect
    before = pb.get_num_threads()

    def listed():
        return [
            i["num_threads"] for i in threadpoolctl.threadpool_info() if i["user_api"] == "pullback"
        ]

    assert listed() == [before]
    for options in ({}, {"user_api": "pullback"}):
        with threadpoolctl.threadpool_limits(before + 1, **options):
            assert pb.get_num_threads() == before + 1 and listed() == [before + 1]
        assert pb.get_num_threads() == before
    with threadpoolctl.threadpool_limits(before + 1, user_api="blas"):
        assert pb.get_num_threads() == before


def test_threadpoolctl_skips_extensions_of_other_packages(tmp_path):
    threadpoolctl = pytest.importorskip("threadpoolctl", reason="threadpoolctl is not installed")
    pb.interop.register_threadpoolctl()
    (controller,) = (
        c for c in threadpoolctl.LibController.__subclasses__() if c.internal_api == "pullback"
    )
    other = object.__new__(controller)
    other.filepath = str(tmp_path)
    with pytest.raises(OSError, match="another package"):
        other.get_version()
