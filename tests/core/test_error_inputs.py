"""Wrong arguments of every public function that takes arrays: the class of the exception, and a
message that starts with the name of the function that was called.

The cases are made: from an example call of each function (of the case table, or of `CALLS`) by
putting something wrong in the place of one argument, or beside them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support import matrix
from support.each import each

import pullback as pb

SPACES = (pb, pb.special, pb.nn, pb.linalg)
X = np.linspace(0.1, 0.9, 6).reshape(2, 3)
N = np.arange(6).reshape(2, 3)

# Example calls of those that the case table has none of, or in another way.
# fmt: off
CALLS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(
        ("absolute", "amax", "amin", "arccos", "arcsin", "arcsinh", "arctan", "arctanh", "around",
         "argwhere", "asarray", "constant", "deg2rad", "degrees", "empty_like", "expit",
         "flatnonzero", "gelu", "isneginf", "isposinf", "log_expit", "nan_to_num", "nonzero",
         "ones_like", "positive", "psi", "rad2deg", "radians", "reciprocal", "unique", "unique_all",
         "unique_counts", "unique_inverse", "unique_values", "zeros_like",
         "prevent_gradient", "reverse_gradient"), (X,)),
    **dict.fromkeys(
        ("allclose", "arctan2", "float_power", "isclose", "isin", "mod", "power",
         "true_divide", "union1d", "intersect1d"), (X, X)),
    **dict.fromkeys(("bitwise_not", "invert"), (N,)),
    **dict.fromkeys(("left_shift", "right_shift", "divmod"), (N, N + 1)),
    **dict.fromkeys(("fma", "lerp"), (X, X, X)),
    **dict.fromkeys(("partition", "argpartition", "topk"), (X, 1)),
    **dict.fromkeys(("quantile", "nanquantile", "percentile", "nanpercentile"), (X, 0.5)),
    **dict.fromkeys(("bincount",), (N[0],)),
    "arccosh": (X + 1,),
    "average": (X,),
    "broadcast_to": (X, (2, 2, 3)),
    "choose": (N[0] % 2, [X[0], X[1]]),
    "compress": ([True, False], X),
    "concat": ([X, X],),
    "concatenate": ([X, X],),
    "stack": ([X, X],),
    "digitize": (X, X[0]),
    "extract": (X > 0.5, X),
    "fill_diagonal": (X, 1.0),
    "full_like": (X, 1.0),
    "group_norm": (X, 1),
    "histogram": (X, 3),
    "interp": (X, X[0], X[1]),
    "moveaxis": (X, 0, 1),
    "multigammaln": (X + 3, 2),
    "one_hot": (N, 7),
    "permute_dims": (X, (1, 0)),
    "repeat": (X, 2),
    "reshape": (X, (3, 2)),
    "roll": (X, 1),
    "clip_gradient": (X, 1.0),
    "scale_gradient": (X, 2.0),
    "searchsorted": (X[0], X),
    "split": (X, 1),
    "swapaxes": (X, 0, 1),
    "tensordot": (X, X, ((0, 1), (0, 1))),
    "tile": (X, 2),
}
# fmt: on

# In the place of an array.
WRONG: list[tuple[str, Callable[[], Any], type[Exception]]] = [
    ("a text", lambda: "text", TypeError),
    ("None", lambda: None, TypeError),
    ("a dict", lambda: {"a": 1.0}, TypeError),
    ("an object", object, TypeError),
    ("a set", lambda: {1.0, 2.0}, TypeError),
    ("ragged lists", lambda: [[1.0, 2.0], [3.0]], ValueError),
    ("a list of texts", lambda: ["a", "b"], TypeError),
    ("dates", lambda: np.zeros(2, "datetime64[s]"), TypeError),
    ("records", lambda: np.zeros(2, [("a", float)]), TypeError),
    ("a masked array", lambda: np.ma.masked_array([1.0, 2.0], [True, False]), TypeError),
    ("too many axes", lambda: np.zeros((1,) * 17), ValueError),
]
AXES: list[tuple[str, Any, type[Exception]]] = [
    ("axis 99", 99, ValueError),
    ("axis -99", -99, ValueError),
    ("axis 0.5", 0.5, TypeError),
    ("axis 'x'", "x", TypeError),
]
# What is no error there.
RIGHT = {
    ("clip", "None as argument 1"), ("clip", "None as argument 2"), ("meshgrid", "no arguments"),
    ("ediff1d", "None as argument 1"), ("ediff1d", "None as argument 2"),
    ("trapezoid", "None as argument 1"), ("zeta", "None as argument 1"),
}  # fmt: skip
DTYPES = [("an unknown dtype", "quux"), ("a list as dtype", list), ("a text dtype", "U3")]


def functions() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Each with an example of its arguments."""
    found = {}
    for space in SPACES:
        for name in space.__all__:
            function = getattr(space, name)
            if not inspect.isfunction(function) or function.__name__ != name:
                continue
            if name in CALLS:
                found[name] = function, CALLS[name]
            elif name in EXAMPLES:
                case = EXAMPLES[name]
                shapes = matrix.shapes_of(case)
                xs = tuple(case.arrays(shapes, "d" if "d" in case.dtypes else case.dtypes[-1]))
                if works(function, xs):
                    found[name] = function, xs
    return found


def works(function: Callable[..., Any], xs: tuple[Any, ...]) -> bool:
    try:
        function(*xs)
    except (TypeError, ValueError):
        return False
    return True


EXAMPLES = matrix.examples()


def wrong_calls() -> Iterator[tuple[str, str, Callable[[], Any], type[Exception]]]:
    """Function, what is wrong, the call, what it raises."""
    for name, (f, xs) in functions().items():
        parameters = inspect.signature(f).parameters
        for k, x in enumerate(xs):
            if not isinstance(x, np.ndarray):
                continue
            for what, make, kind in WRONG:
                ys = (*xs[:k], make, *xs[k + 1 :])
                call = lambda f=f, ys=ys, k=k: f(*(y() if i == k else y for i, y in enumerate(ys)))  # noqa: E731
                yield name, f"{what} as argument {k}", call, kind
        yield name, "a mistyped keyword", lambda f=f, xs=xs: f(*xs, axsi=0), TypeError
        yield name, "no arguments", lambda f=f: f(), TypeError
        if "axis" in parameters:
            for what, axis, kind in AXES:
                yield name, what, lambda f=f, xs=xs, axis=axis: f(*xs, axis=axis), kind
        if "dtype" in parameters and parameters["dtype"].default is None:
            for what, dtype in DTYPES:
                yield name, what, lambda f=f, xs=xs, dtype=dtype: f(*xs, dtype=dtype), TypeError


CASES = [case for case in wrong_calls() if case[:2] not in RIGHT]


def test_how_many_there_are() -> None:
    assert len(CASES) >= 1000


@each("name", sorted({case[0] for case in CASES}))
def test_wrong_arguments(name: str) -> None:
    for _, what, call, kind in (case for case in CASES if case[0] == name):
        with pytest.raises(kind) as caught:
            call()
        text = str(caught.value)
        assert text.startswith((f"{name}: ", f"{name}()")), f"{what}: {text}"
