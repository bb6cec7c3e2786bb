"""Interpolation beside SciPy; derivatives by the data, the breakpoints and the points."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

scipy_interpolate = pytest.importorskip("scipy.interpolate")
ndimage = pytest.importorskip("scipy.ndimage")

random = np.random.default_rng(3)
AT = np.array([-0.7, 0.0, 0.3, 1.0, 1.9, 3.3, 4.5, 5.0, 6.2])
SIZES = (2, 3, 4, 5, 9)


def knots(n: int) -> Any:
    return np.cumsum(random.uniform(0.3, 1.0, n)) * (5 / n)


def near(got: Any, want: Any, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(np.asarray(got), want, rtol=tolerance, atol=tolerance)


def splines() -> list[tuple[str, dict[str, Any]]]:
    conditions: list[Any] = ["not-a-knot", "natural", "clamped", "periodic"]
    conditions += [((1, 0.3), (2, -1.5)), ("natural", "not-a-knot"), ("not-a-knot", (1, 2.0))]
    made: list[Any] = [("CubicSpline", {"bc_type": one}) for one in conditions]
    made += [("CubicSpline", {"extrapolate": False}), ("PchipInterpolator", {})]
    made += [("Akima1DInterpolator", {"method": m}) for m in ("akima", "makima")]
    return [*made, ("Akima1DInterpolator", {"extrapolate": True})]


def test_splines_are_those_of_scipy() -> None:
    for name, options in splines():
        ours, theirs = getattr(pb.interpolate, name), getattr(scipy_interpolate, name)
        for n in SIZES:
            x = knots(n)
            for values in (random.standard_normal(n), np.repeat([0.0, 1.0, 1.0, -1.0], 3)[:n]):
                y = copy.copy(values)
                if options.get("bc_type") == "periodic":
                    y[-1] = y[0]
                made, expected = ours(x, y, **options), theirs(x, y, **options)
                near(made.c, expected.c, 1e-10)
                for nu in range(5):
                    near(made(AT, nu), expected(AT, nu), 1e-9)
                near(made.derivative(2)(AT), expected.derivative(2)(AT), 1e-9)
                near(made.antiderivative()(x), expected.antiderivative()(x), 1e-10)
                near(made.integrate(x[0], x[-1]), expected.integrate(x[0], x[-1]), 1e-10)
    spline = pb.interpolate.CubicSpline(x, y * 0, bc_type="periodic")
    assert spline.extrapolate == "periodic"
    y = np.sin(np.linspace(0, 2 * np.pi, 7))
    y[-1] = y[0]
    ours = pb.interpolate.CubicSpline(np.arange(7.0), y + 1, bc_type="periodic")
    theirs = scipy_interpolate.CubicSpline(np.arange(7.0), y + 1, bc_type="periodic")
    for a, b in ((0.5, 3.0), (-8.0, 20.0), (5.0, 1.0), (-3.0, -2.5)):
        near(ours.integrate(a, b), theirs.integrate(a, b), 1e-11)


def test_axes() -> None:
    x, y = knots(6), random.standard_normal((2, 6, 3))
    at = np.linspace(1.0, 4.0, 8).reshape(2, 4)
    for name in ("CubicSpline", "PchipInterpolator", "Akima1DInterpolator"):
        made = getattr(pb.interpolate, name)(x, y, axis=1)
        expected = getattr(scipy_interpolate, name)(x, y, axis=1)
        near(made(at), expected(at), 1e-10)
        near(made.integrate(x[1], x[3]), expected.integrate(x[1], x[3]), 1e-10)
        near(made.antiderivative(2)(at[0]), expected.antiderivative(2)(at[0]), 1e-10)


def _check(f: Callable[..., Any], *args: Any) -> None:
    """Compare first and second derivatives by every argument with differences."""
    pb.testing.check_gradients(f, *args, order=2)


def test_splines_are_differentiable_in_everything() -> None:
    x, at = knots(6), np.array([0.2, 1.1, 1.9, 2.3])
    y = random.standard_normal(6)
    for name, options in splines():
        family = getattr(pb.interpolate, name)
        if options.get("bc_type") == "periodic":
            closed = lambda y: pb.concatenate([y[:-1], y[:1]])  # noqa: E731
        else:
            closed = lambda y: y  # noqa: E731

        def f(x: Any, y: Any, at: Any, family: Any = family, options: Any = options) -> Any:
            spline = family(x, closed(y), **options)  # noqa: B023
            inside = x[0] + 0.05 + at * 0.8
            return spline(inside) * spline(inside, 1) + spline.integrate(inside[0], inside[1])

        _check(f, x, y, at)
        near(pb.function(f)(x, y, at), f(x, y, at))
        batch = pb.vmap(lambda y, f=f: f(x, y, at))(np.stack([y, 2 * y]))
        near(batch[1], f(x, 2 * y, at))


def test_grids_are_those_of_scipy() -> None:
    grid = (np.array([0.0, 1.0, 3.0]), np.array([5.0, 4.0, 2.0, 1.5]))
    values = random.standard_normal((3, 4, 2))
    points = np.stack([random.uniform(0, 3, 20), random.uniform(1.5, 5, 20)], -1)
    points[:3] = [[0.0, 5.0], [3.0, 1.5], [1.0, 4.0]]
    outside = points + np.array([2.0, -1.0])
    for method in ("linear", "nearest"):
        made = pb.interpolate.RegularGridInterpolator(grid, values, method)
        expected = scipy_interpolate.RegularGridInterpolator(grid, values, method)
        near(made(points), expected(points))
        near(made((points[:, 0], points[:, 1])), expected(points))
        near(pb.interpolate.interpn(grid, values, points, method), expected(points))
        for fill in (np.nan, -3.0, None):
            options = {"bounds_error": False, "fill_value": fill}
            made = pb.interpolate.RegularGridInterpolator(grid, values, method, **options)
            expected_ = scipy_interpolate.RegularGridInterpolator(grid, values, method, **options)
            near(made(outside), expected_(outside))
            near(pb.function(made)(outside), expected_(outside))
    made = pb.interpolate.RegularGridInterpolator(grid, values)
    with pytest.raises(ValueError, match="coordinates from 0 to 3 along axis 0, got one outside"):
        made(outside)
    assert np.isnan(np.asarray(pb.function(made)(outside))).any()
    line = pb.interpolate.RegularGridInterpolator((grid[0],), values[:, 0, 0])
    near(line([0.5, 2.0]), np.interp([0.5, 2.0], grid[0], values[:, 0, 0]))
    inside = points[3:9]

    def f(first: Any, values: Any, at: Any) -> Any:
        whole = {"bounds_error": False, "fill_value": None}
        return pb.interpolate.RegularGridInterpolator((first, grid[1]), values, **whole)(at) ** 2

    _check(f, grid[0], values, inside)


def test_images_are_those_of_scipy() -> None:
    image = random.standard_normal((4, 5))
    at = random.uniform(-9, 12, (2, 60))
    at[:, :6] = [[0, 3, 1, 0, -1, 3], [0, 4, 2, 4, 0, 4.4]]
    for mode in ("constant", "grid-constant", "nearest", "mirror", "reflect", "wrap", "grid-wrap"):
        for order in (0, 1):
            made = pb.interpolate.map_coordinates(image, at, order, mode, 1.5)
            expected = ndimage.map_coordinates(image, at, order=order, mode=mode, cval=1.5)
            near(made, expected, 1e-10)
        inner = random.uniform(-3.9, 7.9, (2, 5))
        _check(
            lambda image, at, c, mode=mode: (
                pb.interpolate.map_coordinates(image, at, 1, mode, c) ** 2
            ),
            image, inner, np.float64(0.5),
        )  # fmt: skip
    one = np.array([2.0])
    for mode in ("nearest", "mirror", "reflect", "grid-wrap"):
        near(pb.interpolate.map_coordinates(one, [[0.3, 5.0]], 1, mode), [2.0, 2.0])
    near(pb.interpolate.map_coordinates(image, at), ndimage.map_coordinates(image, at), 1e-12)


def test_python_numbers_keep_their_digits() -> None:
    x, y = np.arange(4.0), np.array([0.0, 1.0, 0.0, 1.0])
    ours, theirs = pb.interpolate.CubicSpline(x, y), scipy_interpolate.CubicSpline(x, y)
    near(ours(0.3), theirs(0.3), 1e-15)
    near(ours([0.3]), theirs([0.3]), 1e-15)
    near(ours.integrate(0.1, 0.3), theirs.integrate(0.1, 0.3), 1e-15)
    near(pb.interpolate.CubicSpline([0.1, 0.2, 0.4, 0.5], y)(0.3),
         scipy_interpolate.CubicSpline([0.1, 0.2, 0.4, 0.5], y)(0.3), 1e-14)  # fmt: skip
    near(pb.interpolate.map_coordinates(y, [[0.3]], 1), [0.3], 1e-15)
    near(pb.interpolate.RegularGridInterpolator(([0.1, 0.2],), y[:2])((0.13,)), 0.3, 1e-14)


def test_dtypes() -> None:
    made = pb.interpolate.RegularGridInterpolator(([0, 1],), np.array([1j, 3.0]))([0.25])
    near(made, [0.75 + 0.75j])
    near(pb.interpolate.map_coordinates(np.array([1j, 3.0]), [[0.25]], 1), [0.75 + 0.75j])
    unsorted = pb.function(lambda x: pb.interpolate.CubicSpline(x, [1.0, 2.0, 3.0])(0.5))
    assert np.isnan(float(unsorted(np.array([0.0, 2.0, 1.0]))))
    x, y = [0, 1, 2, 3], [0, 1, 8, 27]
    assert pb.interpolate.CubicSpline(x, y)(0.5).dtype == np.float32
    assert pb.interpolate.CubicSpline(np.array(x, "f8"), y)(0.5).dtype == np.float64
    near(pb.interpolate.CubicSpline(np.array(x, "f8"), np.array(y, "f8"))([0.5]), [0.125])
    assert repr(pb.interpolate.CubicSpline(x, y)) == "CubicSpline(degree 3, 4 breakpoints)"


def test_errors() -> None:
    spline, grid = pb.interpolate.CubicSpline, pb.interpolate.RegularGridInterpolator
    for error, words, call in (
        (ValueError, "CubicSpline: expected increasing points", lambda: spline([0, 0], [1, 2])),
        (ValueError, "expected a vector of at least 2 points", lambda: spline([0.0], [1.0])),
        (ValueError, "expected 2 values along axis 0 of y", lambda: spline([0, 1], [1, 2, 3])),
        (ValueError, "bc_type", lambda: spline([0, 1], [1, 2], bc_type="flat")),
        (ValueError, "expected a derivative of shape", lambda: spline(
            [0, 1], [1, 2], bc_type=((1, [1.0]), (1, 0.0)))),
        (ValueError, "equal first and last values", lambda: spline(
            [0, 1], [1, 2], bc_type="periodic")),
        (TypeError, "expected real points and values", lambda: spline([0, 1], [1j, 2])),
        (ValueError, "expected True, False or 'periodic'", lambda: spline(
            [0, 1], [1, 2], extrapolate="no")),
        (ValueError, "expected nu >= 0", lambda: spline([0, 1], [1, 2])(0.5, -1)),
        (ValueError, "PPoly: expected coefficients of shape", lambda: pb.interpolate.PPoly(
            [1.0], [0.0, 1.0])),
        (ValueError, "method", lambda: grid(([0, 1],), [1, 2], "cubic")),
        (ValueError, r"expected 2 values along axis 0", lambda: grid(([0, 1],), [1, 2, 3])),
        (ValueError, "expected points of 2 coordinates", lambda: grid(
            ([0, 1], [0, 1]), np.ones((2, 2)))([0.5])),
        (ValueError, "map_coordinates: expected order 0, 1, 2 or 3, got 4", lambda: (
            pb.interpolate.map_coordinates([1.0], [[0.0]], 4))),
        (ValueError, "mode", lambda: pb.interpolate.map_coordinates([1.0], [[0.0]], mode="no")),
        (ValueError, "one row for each axis", lambda: pb.interpolate.map_coordinates(
            np.ones((2, 2)), [[0.0]])),
    ):  # fmt: skip
        with pytest.raises(error, match=words):
            call()


def test_points_as_in_scipy() -> None:
    grid, values = np.array([3.0, 2.0, 1.0]), np.array([5.0, 1.0, 2.0])
    with_grid = lambda g: pb.interpolate.interpn((g,), values, np.array([1.25]))  # noqa: E731
    expected = scipy_interpolate.interpn((grid,), values, [1.25])
    for got in (with_grid(grid), pb.function(with_grid)(grid)):
        assert got.shape == expected.shape == (1,)
        np.testing.assert_allclose(got, expected)
    pb.testing.check_gradients(pb.function(with_grid), grid)
    for method in ("linear", "nearest"):
        options = {"method": method, "bounds_error": False, "fill_value": 7.0}
        at = np.array([np.nan, 9.0, 2.2])
        got = pb.interpolate.interpn((grid,), values, at, **options)
        expected = scipy_interpolate.interpn((grid,), values, at, **options)
        np.testing.assert_allclose(got, expected)
        assert np.isnan(np.asarray(got)[0])


def test_periods_of_an_image_as_in_scipy() -> None:
    image, at = np.array([4.0, 1.0, 3.0, 9.0]), np.arange(-13, 14) * np.ones((1, 1))
    for order in (0, 1):
        for mode in ("wrap", "grid-wrap", "mirror", "reflect"):
            got = pb.interpolate.map_coordinates(image, at, order, mode)
            expected = ndimage.map_coordinates(image, at, order=order, mode=mode)
            np.testing.assert_allclose(got, expected, err_msg=f"{mode} {order}")


def sampled(image: Any, at: Any, mode: str, padding: str, corners: bool) -> Any:
    """Sample one image of shape (C, H, W) at one point (x, y), pixel by pixel."""
    places = []
    for x, size in zip(at[::-1], image.shape[1:], strict=True):
        x = (x + 1) / 2 * (size - 1) if corners else ((x + 1) * size - 1) / 2
        if padding == "reflection":
            low, high = (0.0, size - 1.0) if corners else (-0.5, size - 0.5)
            while high > low and not low <= x <= high:
                x = 2 * low - x if x < low else 2 * high - x
        places.append(x if padding == "zeros" else min(max(x, 0.0), size - 1.0))
    total = np.zeros(image.shape[0])
    for i in range(image.shape[1]):
        for j in range(image.shape[2]):
            if mode == "nearest":
                weight = float(round(places[0]) == i and round(places[1]) == j)
            else:
                parts = [max(0.0, 1 - abs(p - k)) for p, k in zip(places, (i, j), strict=True)]
                weight = parts[0] * parts[1]
            total += weight * image[:, i, j]
    return total


def test_grid_sample() -> None:
    images = random.normal(size=(2, 3, 4, 5))
    grid = random.uniform(-2.5, 2.5, (2, 3, 2, 2))
    for mode in ("bilinear", "nearest"):
        for padding in ("zeros", "border", "reflection"):
            for corners in (False, True):
                options = (mode, padding, corners)
                got = np.asarray(pb.interpolate.grid_sample(images, grid, *options))
                assert got.shape == (2, 3, 3, 2)
                for n, i, j in np.ndindex(2, 3, 2):
                    near(got[n, :, i, j], sampled(images[n], grid[n, i, j], *options))
    for options in (("bilinear", "zeros", False), ("bilinear", "reflection", True)):
        f = lambda x, at, options=options: pb.interpolate.grid_sample(x, at, *options)  # noqa: E731
        pb.testing.check_gradients(f, images[:, :1], grid[:, :2, :1])
    compiled = pb.function(pb.interpolate.grid_sample)
    near(compiled(images, grid), pb.interpolate.grid_sample(images, grid))
    volumes = random.normal(size=(1, 2, 3, 4, 5))
    points = np.stack(np.meshgrid(*(np.linspace(-1, 1, n) for n in (3, 4, 5)), indexing="ij"), -1)
    near(pb.interpolate.grid_sample(volumes, points[None, ..., ::-1], align_corners=True), volumes)
    far = np.array([[[[1e30, 0.0], [np.nan, 0.0]]]])
    assert not np.asarray(pb.interpolate.grid_sample(images[:1], far, "nearest")).any()
    for words, call in (
        ("expected images of shape", lambda: pb.interpolate.grid_sample(images[0], grid)),
        ("for grid, got", lambda: pb.interpolate.grid_sample(images, grid[:1])),
        ("padding_mode must be one of", lambda: pb.interpolate.grid_sample(
            images, grid, padding_mode="zero")),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"grid_sample: .*{words}"):
            call()


def test_splines_of_images() -> None:
    for shape in ((12,), (10, 11), (1,)):
        image = random.normal(size=shape)
        at = random.uniform(-25, 30, (len(shape), 60))
        for order in (2, 3):
            for mode in ("constant", "grid-constant", "nearest", "mirror", "reflect", "wrap",
                         "grid-wrap"):  # fmt: skip
                got = pb.interpolate.map_coordinates(image, at, order, mode, 0.7)
                want = ndimage.map_coordinates(image, at, order=order, mode=mode, cval=0.7)
                near(got, want, 1e-5)  # SciPy truncates a series in the mode "reflect"
    image, at = random.normal(size=(3, 4)), random.uniform(0.2, 1.8, (2, 2))
    for order, mode in ((2, "mirror"), (3, "grid-constant")):
        f = lambda x, at, cval, order=order, mode=mode: pb.interpolate.map_coordinates(  # noqa: E731
            x, at, order, mode, cval
        )
        pb.testing.check_gradients(f, image, at, np.float64(0.3))
    wave = np.exp(1j * np.arange(9.0))
    both = pb.interpolate.map_coordinates(wave, [[2.5]], 3)
    near(both, [np.exp(2.5j)], 1e-2)
