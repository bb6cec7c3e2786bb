"""Interpolation with SciPy's names, `pb.interpolate`."""

from ._bsplines import BSpline
from ._grid_sample import grid_sample
from ._grids import RegularGridInterpolator, interpn, map_coordinates
from ._interpolating_bspline import make_interp_spline
from ._piecewise import PPoly
from ._splines import Akima1DInterpolator, CubicSpline, PchipInterpolator

__all__ = [
    "Akima1DInterpolator",
    "BSpline",
    "CubicSpline",
    "PPoly",
    "PchipInterpolator",
    "RegularGridInterpolator",
    "grid_sample",
    "interpn",
    "make_interp_spline",
    "map_coordinates",
]
