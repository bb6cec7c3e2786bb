"""pullback: automatic differentiation with the gradient itself as a first-class object.

>>> import pullback as pb
>>> x = pb.Variable([1.0, 2.0, 3.0])
>>> y = pb.sum(x * x)          # added to the graph; evaluated when its value is read
>>> pb.gradients(y, x)
[Tensor([2., 4., 6.], dtype=float32)]

Functions on arrays have NumPy's names. `gradients`, `GradientTape`, `grad`, `custom_gradient` and
`function` deal with derivatives. The namespaces are `cuda`, `nn`, `linalg`, `fft`, `random`,
`special`, `stats`, `implicit`, `initializers`, `integrate`, `interop`, `interpolate`, `optimize`,
`optimizers`, `testing` and `tree`. Functions of `linalg` that NumPy or the Array API standard have
in the main namespace are also here, and the functions of `nn` that most networks use. The names of
TensorFlow 1 are in `pullback.compat.tf1`.
"""

# Each module lists its public names in `__all__`. Type checkers follow the stars.
# ruff: noqa: F403

import sys as _sys
from typing import TYPE_CHECKING

from . import (
    _autodiff,
    _base,
    _control,
    _core,
    _explain,
    _files,
    _numpy,
    _runtime,
    cuda,
    fft,
    implicit,
    initializers,
    integrate,
    interop,
    interpolate,
    linalg,
    nn,
    optimize,
    optimizers,
    random,
    special,
    stats,
    testing,
    tree,
)
from ._autodiff.callback import *
from ._autodiff.checkpoint import *
from ._autodiff.clipping import *
from ._autodiff.custom import *
from ._autodiff.derivative_products import *
from ._autodiff.derivatives import *
from ._autodiff.diagonals import *
from ._autodiff.forward import *
from ._autodiff.function import *
from ._autodiff.gradients import *
from ._autodiff.per_example import *
from ._autodiff.shaping import *
from ._autodiff.sparse import *
from ._autodiff.tape import *
from ._autodiff.taylor import *
from ._autodiff.transforms import *
from ._autodiff.uncertainty import *
from ._autodiff.vjp import *
from ._autodiff.vmap import *
from ._base.dtypes import *
from ._base.dtypes import bool_ as bool
from ._base.settings import *
from ._control.associative import *
from ._control.branches import *
from ._control.loops import *
from ._core import Tensor, Variable, __version__
from ._explain.check_numerics import *
from ._explain.draw import *
from ._explain.explain import *
from ._explain.paths import *
from ._explain.plan_text import add_html_of_plans as _add_html_of_plans
from ._files.saving import *
from ._numpy.aliases import *
from ._numpy.applying import *
from ._numpy.arithmetic import *
from ._numpy.arranging import *
from ._numpy.array_api import *
from ._numpy.binary_parts import *
from ._numpy.bitwise import *
from ._numpy.blocks import *
from ._numpy.bounds import *
from ._numpy.broadcasting import *
from ._numpy.casting import *
from ._numpy.closeness import *
from ._numpy.comparisons import *
from ._numpy.complex_numbers import *
from ._numpy.covariance import *
from ._numpy.creation import *
from ._numpy.creation_like import *
from ._numpy.diagonals import *
from ._numpy.differences import *
from ._numpy.distinct import *
from ._numpy.divisors import *
from ._numpy.dlpack import *
from ._numpy.dtype_functions import *
from ._numpy.einsum import *
from ._numpy.exponentials import *
from ._numpy.extrema import *
from ._numpy.flipping import *
from ._numpy.floating_point import *
from ._numpy.gather import *
from ._numpy.histograms import *
from ._numpy.hyperbolic import *
from ._numpy.inserting import *
from ._numpy.interpolation import *
from ._numpy.joining import *
from ._numpy.logic import *
from ._numpy.methods import add_methods as _add_methods
from ._numpy.nan_reductions import *
from ._numpy.padding import *
from ._numpy.polynomials import *
from ._numpy.positions import *
from ._numpy.powers import *
from ._numpy.products import *
from ._numpy.quantiles import *
from ._numpy.ranges import *
from ._numpy.reductions import *
from ._numpy.rounding import *
from ._numpy.sampled_derivatives import *
from ._numpy.scans import *
from ._numpy.selection import *
from ._numpy.sets import *
from ._numpy.shape import *
from ._numpy.sizes import *
from ._numpy.sorting import *
from ._numpy.splitting import *
from ._numpy.statistics import *
from ._numpy.triangular import *
from ._numpy.trigonometric import *
from ._numpy.trigonometric_aliases import *
from ._numpy.without_nan import *
from ._runtime.devices import *
from ._runtime.evaluation import *
from ._runtime.memory_profile import *
from ._runtime.profile import *
from ._runtime.support import *
from .fft._convolve import convolve, correlate
from .linalg._polynomial_fit import polyfit
from .nn import (
    dropout,
    gelu,
    log_softmax,
    relu,
    sigmoid,
    sigmoid_cross_entropy,
    softmax,
    softmax_cross_entropy,
    softplus,
    sparse_softmax_cross_entropy,
)


def _numbers_in_order(name: str) -> str:
    """Return a sort key that puts log2 before log10."""
    if name.replace("_", "").isalpha():
        return name
    import re

    return re.sub(r"\d+", lambda number: number[0].zfill(3), name)


def _set_blas_path() -> None:
    """Tell the core where the library of scipy-openblas32 is; it is loaded at its first use."""
    # NumPy has imported these modules; importlib.util and glob would have to be imported first.
    from importlib.machinery import PathFinder
    from os import listdir
    from os.path import isdir

    spec = PathFinder.find_spec("scipy_openblas32")
    for folder in (spec and spec.submodule_search_locations) or ():
        lib = f"{folder}/lib"
        for name in listdir(lib) if isdir(lib) else ():
            if name.startswith("libscipy_openblas") and name.endswith((".so", ".dylib", ".dll")):
                _core.set_blas_path(f"{lib}/{name}")


_set_blas_path()
_add_methods(globals())
_add_html_of_plans()

__all__ = [
    "Tensor",
    "Variable",
    "__version__",
    "bool",
    "convolve",
    "correlate",
    "cuda",
    "dropout",
    "fft",
    "gelu",
    "implicit",
    "initializers",
    "integrate",
    "interop",
    "interpolate",
    "linalg",
    "log_softmax",
    "nn",
    "optimize",
    "optimizers",
    "polyfit",
    "random",
    "relu",
    "sigmoid",
    "sigmoid_cross_entropy",
    "softmax",
    "softmax_cross_entropy",
    "softplus",
    "sparse_softmax_cross_entropy",
    "special",
    "stats",
    "testing",
    "tree",
]
__all__ += _autodiff.callback.__all__
__all__ += _autodiff.checkpoint.__all__
__all__ += _autodiff.clipping.__all__
__all__ += _autodiff.custom.__all__
__all__ += _autodiff.derivative_products.__all__
__all__ += _autodiff.derivatives.__all__
__all__ += _autodiff.diagonals.__all__
__all__ += _autodiff.forward.__all__
__all__ += _autodiff.function.__all__
__all__ += _autodiff.gradients.__all__
__all__ += _autodiff.per_example.__all__
__all__ += _autodiff.shaping.__all__
__all__ += _autodiff.sparse.__all__
__all__ += _autodiff.tape.__all__
__all__ += _autodiff.taylor.__all__
__all__ += _autodiff.transforms.__all__
__all__ += _autodiff.uncertainty.__all__
__all__ += _autodiff.vjp.__all__
__all__ += _autodiff.vmap.__all__
__all__ += _base.dtypes.__all__
__all__ += _base.settings.__all__
__all__ += _control.associative.__all__
__all__ += _control.branches.__all__
__all__ += _control.loops.__all__
__all__ += _explain.check_numerics.__all__
__all__ += _explain.draw.__all__
__all__ += _explain.explain.__all__
__all__ += _explain.paths.__all__
__all__ += _files.saving.__all__
__all__ += _numpy.aliases.__all__
__all__ += _numpy.applying.__all__
__all__ += _numpy.arithmetic.__all__
__all__ += _numpy.arranging.__all__
__all__ += _numpy.array_api.__all__
__all__ += _numpy.binary_parts.__all__
__all__ += _numpy.bitwise.__all__
__all__ += _numpy.blocks.__all__
__all__ += _numpy.bounds.__all__
__all__ += _numpy.broadcasting.__all__
__all__ += _numpy.casting.__all__
__all__ += _numpy.closeness.__all__
__all__ += _numpy.comparisons.__all__
__all__ += _numpy.complex_numbers.__all__
__all__ += _numpy.covariance.__all__
__all__ += _numpy.creation.__all__
__all__ += _numpy.creation_like.__all__
__all__ += _numpy.diagonals.__all__
__all__ += _numpy.differences.__all__
__all__ += _numpy.distinct.__all__
__all__ += _numpy.divisors.__all__
__all__ += _numpy.dlpack.__all__
__all__ += _numpy.dtype_functions.__all__
__all__ += _numpy.einsum.__all__
__all__ += _numpy.exponentials.__all__
__all__ += _numpy.extrema.__all__
__all__ += _numpy.flipping.__all__
__all__ += _numpy.floating_point.__all__
__all__ += _numpy.gather.__all__
__all__ += _numpy.histograms.__all__
__all__ += _numpy.hyperbolic.__all__
__all__ += _numpy.inserting.__all__
__all__ += _numpy.interpolation.__all__
__all__ += _numpy.joining.__all__
__all__ += _numpy.logic.__all__
__all__ += _numpy.nan_reductions.__all__
__all__ += _numpy.padding.__all__
__all__ += _numpy.polynomials.__all__
__all__ += _numpy.positions.__all__
__all__ += _numpy.powers.__all__
__all__ += _numpy.products.__all__
__all__ += _numpy.quantiles.__all__
__all__ += _numpy.ranges.__all__
__all__ += _numpy.reductions.__all__
__all__ += _numpy.rounding.__all__
__all__ += _numpy.sampled_derivatives.__all__
__all__ += _numpy.scans.__all__
__all__ += _numpy.selection.__all__
__all__ += _numpy.sets.__all__
__all__ += _numpy.shape.__all__
__all__ += _numpy.sizes.__all__
__all__ += _numpy.sorting.__all__
__all__ += _numpy.splitting.__all__
__all__ += _numpy.statistics.__all__
__all__ += _numpy.triangular.__all__
__all__ += _numpy.trigonometric.__all__
__all__ += _numpy.trigonometric_aliases.__all__
__all__ += _numpy.without_nan.__all__
__all__ += _runtime.devices.__all__
__all__ += _runtime.evaluation.__all__
__all__ += _runtime.memory_profile.__all__
__all__ += _runtime.profile.__all__
__all__ += _runtime.support.__all__
__all__.sort(key=_numbers_in_order)


def _name_publicly() -> None:
    """Set `__module__` of public objects to their public module.

    `help` shows it, and pickles keep working when files move.
    """
    public = globals()
    spaces = {"pullback": (public, __all__)}
    for space in (public[name] for name in __all__):
        if isinstance(space, type(_core)):
            spaces[space.__name__] = vars(space), space.__all__
    for name, (entries, names) in spaces.items():
        for thing in (entries[one] for one in names):
            home = getattr(thing, "__module__", "")
            if home.startswith("pullback.") and "._" in home and home != "pullback._core":
                getattr(thing, "__func__", thing).__module__ = name


_name_publicly()
_runtime.devices.start()


if not TYPE_CHECKING:  # type checkers see the names themselves
    from ._base.hints import add_hints as _add_hints

    _add_hints(_sys.modules[__name__])


del TYPE_CHECKING
