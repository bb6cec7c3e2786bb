"""pullback: automatic differentiation whose first-class subject is the gradient itself.

>>> import pullback as pb
>>> x = pb.Variable([1.0, 2.0, 3.0])
>>> y = pb.sum(x * x)          # built at once, computed when somebody looks
>>> pb.gradients(y, x)
[Tensor([2., 4., 6.], dtype=float32)]

Arrays are made and computed by functions of NumPy's names; `gradients`, `GradientTape`, `grad`,
`custom_gradient` and `function` are about derivatives. `nn`, `linalg`, `random`, `special`,
`optimizers` and `testing` are namespaces; the functions of the first two are here too.
TensorFlow 1's names are in `pullback.compat.tf1`.
"""

# Long, as it is a list: every public name, imported by its name, so that type checkers know it.

from typing import TYPE_CHECKING

from . import _core, linalg, nn, optimizers, random, special, testing
from ._array.activations import (
    celu,
    elu,
    glu,
    hard_sigmoid,
    hard_silu,
    hard_tanh,
    leaky_relu,
    log_sigmoid,
    log_softmax,
    mish,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    softmax,
    softplus,
    softsign,
)
from ._array.arranging import (
    broadcast_arrays,
    broadcast_shapes,
    flip,
    fliplr,
    flipud,
    moveaxis,
    ravel,
    repeat,
    roll,
    rot90,
    swapaxes,
    tile,
    tril,
    triu,
    unstack,
)
from ._array.choosing import (
    argwhere,
    choose,
    compress,
    extract,
    flatnonzero,
    nonzero,
    piecewise,
    select,
)
from ._array.counting import bincount, digitize, histogram, interp
from ._array.creation import (
    arange,
    constant,
    eye,
    full,
    full_like,
    one_hot,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from ._array.einsum import einsum
from ._array.elementwise import (
    abs,
    add,
    astype,
    cast,
    ceil,
    clip,
    cos,
    divide,
    exp,
    expm1,
    floor,
    floor_divide,
    log,
    log1p,
    maximum,
    minimum,
    multiply,
    negative,
    positive,
    pow,
    remainder,
    round,
    sign,
    sin,
    sqrt,
    square,
    subtract,
    tanh,
)
from ._array.gather import take, take_along_axis
from ._array.grids import asarray, empty, empty_like, linspace, meshgrid
from ._array.interchange import __array_namespace_info__, e, from_dlpack, inf, nan, newaxis, pi
from ._array.joining import atleast_1d, atleast_2d, atleast_3d, column_stack, dstack, hstack, vstack
from ._array.logic import (
    equal,
    greater,
    greater_equal,
    isfinite,
    isinf,
    isnan,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    not_equal,
    where,
)
from ._array.losses import (
    cosine_similarity,
    kl_divergence,
    sigmoid_cross_entropy,
    softmax_cross_entropy,
    sparse_softmax_cross_entropy,
)
from ._array.methods import add_methods as _add_methods
from ._array.normalization import (
    batch_norm,
    dropout,
    embedding,
    group_norm,
    layer_norm,
    rms_norm,
)
from ._array.numbers import (
    allclose,
    bitwise_and,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    copysign,
    divmod,
    fma,
    fmod,
    heaviside,
    isclose,
    isneginf,
    isposinf,
    lerp,
    nan_to_num,
    nextafter,
    signbit,
    trunc,
)
from ._array.powers import (
    cbrt,
    exp2,
    float_power,
    log2,
    log10,
    logaddexp,
    logaddexp2,
    reciprocal,
    rsqrt,
    xlog1py,
    xlogy,
)
from ._array.products import (
    diagonal,
    dot,
    inner,
    matmul,
    matrix_transpose,
    outer,
    tensordot,
    trace,
    vdot,
    vecdot,
)
from ._array.quantiles import median, nanmedian, nanpercentile, nanquantile, percentile, quantile
from ._array.reductions import all, any, argmax, argmin, logsumexp, max, mean, min, prod, sum
from ._array.regression import (
    hinge,
    huber_loss,
    l1_loss,
    l2_loss,
    smooth_l1,
)
from ._array.scans import (
    cumprod,
    cumsum,
    cumulative_logsumexp,
    cumulative_max,
    cumulative_min,
    cumulative_prod,
    cumulative_sum,
)
from ._array.sets import (
    intersect1d,
    isin,
    union1d,
    unique,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)
from ._array.shape import (
    broadcast_to,
    concat,
    expand_dims,
    permute_dims,
    reshape,
    split,
    squeeze,
    stack,
    transpose,
)
from ._array.sorting import argpartition, argsort, lexsort, partition, searchsorted, sort, topk
from ._array.statistics import count_nonzero, diff, nanmean, nansum, ptp, std, var
from ._array.trigonometric import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cosh,
    deg2rad,
    hypot,
    rad2deg,
    sinh,
    tan,
)
from ._autodiff.checkpoint import checkpoint
from ._autodiff.custom import custom_gradient
from ._autodiff.function import function
from ._autodiff.gradients import (
    gradient_override_map,
    gradients,
    identity,
    register_gradient,
    stop_gradient,
)
from ._autodiff.shaping import (
    clip_gradient,
    grad_pass_through,
    prevent_gradient,
    reverse_gradient,
    scale_gradient,
    straight_through,
    with_gradient,
    zero_gradient_where,
)
from ._autodiff.tape import GradientTape
from ._autodiff.transforms import grad, value_and_grad
from ._core import Tensor, Variable, __version__
from ._explain.check import check_numerics
from ._explain.draw import Drawing, draw
from ._explain.explain import Explanation, explain
from ._explain.paths import GradientPath, gradient_paths
from ._runtime.evaluation import evaluate
from ._runtime.profile import Profile, ProfileStep, profile
from ._runtime.settings import bool_ as bool
from ._runtime.settings import (
    float32,
    float64,
    get_default_dtype,
    int32,
    int64,
    num_threads,
    set_debug,
    set_default_dtype,
    set_gradient_verification,
    set_num_threads,
)
from ._training.clip import clip_by_global_norm, clip_by_norm, clip_by_value, global_norm


def _set_blas_path() -> None:
    """Tells the core where the library of scipy-openblas32 is; it is loaded at first use."""
    from glob import glob
    from importlib.util import find_spec

    spec = find_spec("scipy_openblas32")
    for folder in (spec and spec.submodule_search_locations) or ():
        for path in glob(f"{folder}/lib/libscipy_openblas*"):
            if path.endswith((".so", ".dylib", ".dll")):
                _core.set_blas_path(path)


_set_blas_path()
_add_methods(globals())

__all__ = [
    "Drawing",
    "Explanation",
    "GradientPath",
    "GradientTape",
    "Profile",
    "ProfileStep",
    "Tensor",
    "Variable",
    "__array_namespace_info__",
    "__version__",
    "abs",
    "acos",
    "acosh",
    "add",
    "all",
    "allclose",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argpartition",
    "argsort",
    "argwhere",
    "asarray",
    "asin",
    "asinh",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "batch_norm",
    "bincount",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "bool",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "cast",
    "cbrt",
    "ceil",
    "celu",
    "check_numerics",
    "checkpoint",
    "choose",
    "clip",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "clip_gradient",
    "column_stack",
    "compress",
    "concat",
    "constant",
    "copysign",
    "cos",
    "cosh",
    "cosine_similarity",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "cumulative_logsumexp",
    "cumulative_max",
    "cumulative_min",
    "cumulative_prod",
    "cumulative_sum",
    "custom_gradient",
    "deg2rad",
    "diagonal",
    "diff",
    "digitize",
    "divide",
    "divmod",
    "dot",
    "draw",
    "dropout",
    "dstack",
    "e",
    "einsum",
    "elu",
    "embedding",
    "empty",
    "empty_like",
    "equal",
    "evaluate",
    "exp",
    "exp2",
    "expand_dims",
    "explain",
    "expm1",
    "extract",
    "eye",
    "flatnonzero",
    "flip",
    "fliplr",
    "flipud",
    "float32",
    "float64",
    "float_power",
    "floor",
    "floor_divide",
    "fma",
    "fmod",
    "from_dlpack",
    "full",
    "full_like",
    "function",
    "get_default_dtype",
    "global_norm",
    "glu",
    "grad",
    "grad_pass_through",
    "gradient_override_map",
    "gradient_paths",
    "gradients",
    "greater",
    "greater_equal",
    "group_norm",
    "hard_sigmoid",
    "hard_silu",
    "hard_tanh",
    "heaviside",
    "hinge",
    "histogram",
    "hstack",
    "huber_loss",
    "hypot",
    "identity",
    "inf",
    "inner",
    "int32",
    "int64",
    "interp",
    "intersect1d",
    "isclose",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "kl_divergence",
    "l1_loss",
    "l2_loss",
    "layer_norm",
    "leaky_relu",
    "lerp",
    "less",
    "less_equal",
    "lexsort",
    "linalg",
    "linspace",
    "log",
    "log1p",
    "log2",
    "log10",
    "log_sigmoid",
    "log_softmax",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logsumexp",
    "matmul",
    "matrix_transpose",
    "max",
    "maximum",
    "mean",
    "median",
    "meshgrid",
    "min",
    "minimum",
    "mish",
    "moveaxis",
    "multiply",
    "nan",
    "nan_to_num",
    "nanmean",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
    "nansum",
    "negative",
    "newaxis",
    "nextafter",
    "nn",
    "nonzero",
    "not_equal",
    "num_threads",
    "one_hot",
    "ones",
    "ones_like",
    "optimizers",
    "outer",
    "partition",
    "percentile",
    "permute_dims",
    "pi",
    "piecewise",
    "positive",
    "pow",
    "prevent_gradient",
    "prod",
    "profile",
    "ptp",
    "quantile",
    "rad2deg",
    "random",
    "ravel",
    "reciprocal",
    "register_gradient",
    "relu",
    "relu6",
    "remainder",
    "repeat",
    "reshape",
    "reverse_gradient",
    "rms_norm",
    "roll",
    "rot90",
    "round",
    "rsqrt",
    "scale_gradient",
    "searchsorted",
    "select",
    "selu",
    "set_debug",
    "set_default_dtype",
    "set_gradient_verification",
    "set_num_threads",
    "sigmoid",
    "sigmoid_cross_entropy",
    "sign",
    "signbit",
    "silu",
    "sin",
    "sinh",
    "smooth_l1",
    "softmax",
    "softmax_cross_entropy",
    "softplus",
    "softsign",
    "sort",
    "sparse_softmax_cross_entropy",
    "special",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "stop_gradient",
    "straight_through",
    "subtract",
    "sum",
    "swapaxes",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "tensordot",
    "testing",
    "tile",
    "topk",
    "trace",
    "transpose",
    "tril",
    "triu",
    "trunc",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unstack",
    "value_and_grad",
    "var",
    "vdot",
    "vecdot",
    "vstack",
    "where",
    "with_gradient",
    "xlog1py",
    "xlogy",
    "zero_gradient_where",
    "zeros",
    "zeros_like",
]


def _name_publicly() -> None:
    """What is public says so: in `help`, and in pickles, which keep working when files move."""
    spaces = {"pullback": __all__}
    for space in (linalg, nn, optimizers, random, special, testing):
        spaces[space.__name__] = space.__all__
    for name, names in spaces.items():
        entries = globals() if name == "pullback" else vars(globals()[name.split(".")[1]])
        for thing in map(entries.__getitem__, names):
            home = getattr(thing, "__module__", "")
            if home.startswith("pullback._") and home != "pullback._core":
                thing.__module__ = name


_name_publicly()


if not TYPE_CHECKING:  # checkers know the names themselves

    def __getattr__(name):
        from ._runtime.hints import of_module

        hint = "" if name.startswith("_") else of_module(name)
        raise AttributeError(f"module 'pullback' has no attribute {name!r}{hint}")


del TYPE_CHECKING
