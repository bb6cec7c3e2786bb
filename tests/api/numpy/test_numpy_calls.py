"""Calls in NumPy's style: its positional arguments and its keyword names.

`CALLS` compares results with NumPy's. The walk compares the signatures of all functions that have
the name of a NumPy function; `LEFT_OUT` lists the parameters that differ on purpose. A parameter
that is newer than NumPy `READ` is not required yet.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.check import Check
from support.each import each

import pullback as pb

X = np.array([[3.0, 1.0, 2.0, 8.0], [0.5, 7.0, -4.0, 6.0]])
Y = np.array([[1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 2.0]])
V = np.array([1.0, 2.0, 4.0, 7.0])
SQUARE = np.array([[4.0, 1.0], [2.0, 3.0]])
CUBE = np.arange(24.0).reshape(2, 3, 4)
NAN = np.array([[1.0, np.nan, 3.0], [2.0, 5.0, np.nan]])
COUNTS = np.array([0, 2, 1, 2])

CALLS: list[Callable[[Any], Any]] = [
    lambda m: m.allclose(V, b=V, rtol=1e-3),
    lambda m: m.isclose(a=V, b=V + 1e-7),
    lambda m: m.append(X, values=Y, axis=1),
    lambda m: m.partition(X, kth=1)[:, 1],
    lambda m: m.argpartition([3.0, 1.0, 2.0], kth=1),
    lambda m: m.array_split(X, 3, 1),
    lambda m: m.array_split(X, indices_or_sections=3, axis=1),
    lambda m: m.split(X, indices_or_sections=2, axis=1),
    lambda m: m.hsplit(X, indices_or_sections=[1]),
    lambda m: m.vsplit(X, indices_or_sections=2),
    lambda m: m.dsplit(CUBE, indices_or_sections=2),
    lambda m: m.bincount(COUNTS, None, 6),
    lambda m: m.can_cast(from_=np.int32, to=np.int64),
    lambda m: m.choose([0, 1, 0, 1], choices=X),
    lambda m: m.clip(X, a_min=0.0, a_max=5.0),
    lambda m: m.clip(X, a_min=None, a_max=5.0),
    lambda m: m.clip(X, a_min=0, a_max=None),
    lambda m: m.compress([True, False, True], X, 1),
    lambda m: m.compress(condition=[True, False, True], a=X, axis=1),
    lambda m: m.extract(condition=X > 1, arr=X),
    lambda m: m.convolve(V, v=V, mode="same"),
    lambda m: m.correlate(a=V, v=V, mode="full"),
    lambda m: m.cov(X, Y, False),
    lambda m: m.cov(X, y=Y, rowvar=False, ddof=0),
    lambda m: m.cov(X, None, True, True, None, [1, 2, 1, 1]),
    lambda m: m.corrcoef(X, y=Y, rowvar=False),
    lambda m: m.corrcoef(X, Y, True),
    lambda m: m.cumsum(X, 1, np.float64),
    lambda m: m.cumprod(X, 1, np.float64),
    lambda m: m.diff(X, 1, 1, X[:, :1], X[:, 1:2]),
    lambda m: m.digitize(X, V, True),
    lambda m: m.digitize(X, bins=V, right=False),
    lambda m: m.einsum("ij,ij->i", X, Y, optimize=True),
    lambda m: m.einsum("ij,kj,lj->ikl", X, Y, X, optimize="greedy"),
    lambda m: m.eye(2, 4, 1, np.float64),
    lambda m: m.linspace(start=0.0, stop=3.0, num=4),
    lambda m: m.linspace(0.0, 3.0, 4, False),
    lambda m: m.linspace(V, V + 3, 3, axis=1),
    lambda m: m.linspace(V, V + 3, 3, axis=-1),
    lambda m: m.geomspace(1.0, V, 3, True, np.float64, 1),
    lambda m: m.geomspace(start=1.0, stop=16.0, num=3),
    lambda m: m.logspace(0.0, V, 3, True, 2.0, np.float64, 1),
    lambda m: m.logspace(start=1.0, stop=3.0, num=2, endpoint=False, base=2.0),
    lambda m: m.histogram(V, 3, (0.0, 8.0))[0],
    lambda m: m.histogram(V, bins=3, range=(0.0, 8.0), density=True, weights=V),
    lambda m: m.histogram(V, 3, (0.0, 8.0), True, V),
    lambda m: m.interp([1.5, 9.0], xp=V, fp=V * V),
    lambda m: m.interp(x=[0.5, 9.0], xp=V, fp=V * V, left=-1.0, right=-2.0),
    lambda m: m.interp([0.5, 9.0], V, V * V, -1.0, -2.0),
    lambda m: m.isin([1, 2, 5], test_elements=[5, 1]),
    lambda m: m.lexsort([[3, 1, 2], [0, 1, 0]], -1),
    lambda m: m.meshgrid(V, V[:2], sparse=True),
    lambda m: m.meshgrid(V, V[:2], sparse=True, indexing="ij"),
    lambda m: m.moveaxis(CUBE, source=0, destination=-1),
    lambda m: m.nanmean(NAN, 1, np.float64),
    lambda m: m.nansum(NAN, 1, np.float64),
    lambda m: m.nanstd(NAN, 1, np.float64, ddof=1),
    lambda m: m.nanvar(NAN, 1, np.float64),
    lambda m: m.std(X, 1, np.float64, ddof=1),
    lambda m: m.var(X, 1, np.float64, keepdims=True),
    lambda m: m.quantile(X, q=0.3, axis=1),
    lambda m: m.percentile(X, q=30, axis=1, keepdims=True),
    lambda m: m.nanquantile(NAN, q=0.3, axis=1),
    lambda m: m.nanpercentile(NAN, q=30, axis=1, method="lower"),
    lambda m: m.piecewise(V, condlist=[V < 2, V >= 2], funclist=[0.0, 1.0]),
    lambda m: m.repeat(X, repeats=2, axis=1),
    lambda m: m.roll(X, shift=1, axis=1),
    lambda m: m.searchsorted(V, [2.0, 5.0], "right"),
    lambda m: m.searchsorted(a=V, v=[2.0, 5.0], side="right"),
    lambda m: m.select(condlist=[V < 2, V < 5], choicelist=[V, -V], default=9.0),
    lambda m: m.swapaxes(CUBE, axis1=0, axis2=2),
    lambda m: m.tile(X, reps=(2, 1)),
    lambda m: m.trace(X, 1, 0, 1, np.float64),
    lambda m: m.trace(np.array([[1, 2], [3, 4]]), dtype=np.float64),
    lambda m: m.tril(X, -1),
    lambda m: m.triu(X, 1),
    lambda m: m.unique([3, 1, 3], True, True, True),
    lambda m: m.asarray(X).repeat(repeats=2, axis=1),
    lambda m: m.asarray(X).cumsum(1, np.float64),
    lambda m: m.asarray(X).std(1, np.float64, ddof=1),
    lambda m: m.asarray(V).searchsorted(v=[2.0, 5.0], side="right"),
    lambda m: m.linalg.lstsq(SQUARE, b=[1.0, 2.0])[0],
    lambda m: m.linalg.lstsq(SQUARE, [1.0, 2.0], -1)[0],
    lambda m: m.linalg.matrix_power(SQUARE, n=3),
    lambda m: m.linalg.matrix_rank(SQUARE, 3.0),
    lambda m: m.linalg.matrix_rank([SQUARE, SQUARE], tol=[3.0, 0.1]),
    lambda m: m.linalg.pinv(SQUARE, 0.5),
    lambda m: m.linalg.pinv(SQUARE, rcond=1e-10),
    lambda m: m.abs(m.linalg.qr(SQUARE, "complete")[0]),
    lambda m: m.linalg.solve(SQUARE, b=[1.0, 2.0]),
    lambda m: m.linalg.svd(SQUARE, compute_uv=False),
    lambda m: m.linalg.svd(X, True, False),
    lambda m: m.abs(m.linalg.svd(X, False)[2]),
    lambda m: m.linalg.tensorsolve(np.eye(4).reshape(4, 2, 2), b=V),
]

# The newest NumPy whose signatures were compared with LEFT_OUT.
READ = (2, 4)
NEWER = tuple(map(int, np.__version__.split(".")[:2])) > READ

# Parameters of NumPy that pullback does not have, or has at another position: functions,
# parameters, reason.
LEFT_OUT = [
    ("concat concatenate hstack stack vstack", "dtype", "cast the result"),
    ("mean prod sum", "dtype", "keepdims follows `axis`; dtype is given by name"),
    ("nanvar nanstd std var", "mean", "is computed, so that its rounding is known"),
    ("empty_like full_like ones_like zeros_like", "shape", "zeros(shape, x.dtype)"),
    ("average", "returned", "by name: it changes the type of the result"),
    ("linspace", "retstep", "changes the type of the result; (stop - start) / (num - 1)"),
    ("linspace", "dtype axis", "by name, because they follow retstep"),
    ("nanpercentile nanquantile percentile quantile", "weights", "is a method that is missing"),
    ("nanprod", "initial where", "prod has them"),
    ("meshgrid", "copy", "tensors do not change"),
    ("nan_to_num", "copy nan posinf neginf", "tensors do not change; by name after `copy`"),
    ("intersect1d isin setdiff1d setxor1d", "assume_unique", "changes the speed only"),
    ("isin", "invert", "by name, because it follows assume_unique"),
    ("intersect1d", "return_indices", "unique_all returns indices"),
    (
        "intersect1d setdiff1d setxor1d union1d",
        "ar2",
        "is y, as in the other functions of two arrays",
    ),
    ("array", "ndmax", "limits lists of Python objects, which are errors here"),
    ("unique", "sorted", "values are always sorted"),
    ("take", "mode", "indices out of range are errors"),
    ("eye tri", "M", "is n_cols or m: names in lower case"),
    ("identity", "dtype", "is the identity function; eye makes the matrix"),
    ("matrix_rank pinv svd", "hermitian", "changes the speed only"),
    ("matmul outer tensordot vecdot", "x2", "is b, as in dot"),
    ("load", "mmap_mode allow_pickle fix_imports encoding max_header_size", "has another format"),
    ("save", "arr allow_pickle", "writes another format"),
    ("vectorize", "otypes doc excluded cache signature", "is vmap with NumPy's name"),
    ("corrcoef", "bias ddof", "have no effect; deprecated"),
    ("nanpercentile nanquantile percentile quantile", "interpolation", "is method; deprecated"),
    ("reshape", "newshape", "is shape; deprecated"),
    ("fftfreq rfftfreq", "device", "by name, as in the Array API"),
]
# Parameters that need mutable arrays, layouts or classes; what follows them is given by name.
NEVER = {"out", "order", "kind", "subok", "like", "casting", "overwrite_input"}
ALIASES = {"a_min": "min", "a_max": "max"}

BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def same(got: Any, want: Any) -> None:
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            same(one, other)
    else:
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-12, atol=1e-12)


@each("call", CALLS, ids=[inspect.getsource(call).strip() for call in CALLS])
def test_a_call_of_numpy(call: Callable[[Any], Any]) -> None:
    same(call(pb), call(np))


def test_fill_diagonal_returns_the_array() -> None:
    want = SQUARE.copy()
    np.fill_diagonal(want, val=0.5)
    same(pb.fill_diagonal(SQUARE, val=0.5), want)
    same(pb.fill_diagonal(SQUARE, value=0.5), want)
    tall = np.zeros((5, 2))
    np.fill_diagonal(tall, 1.0, True)
    same(pb.fill_diagonal(np.zeros((5, 2)), 1.0, True), tall)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: pb.clip(X, 0, a_min=1), "^clip: give min or a_min, which are the same, not both"),
        (lambda: pb.split(V, 2, parts=2), "^split: give indices_or_sections or parts, which"),
        (lambda: pb.hsplit(V, 2, parts=2), "^hsplit: give indices_or_sections or parts, which"),
        (lambda: pb.split(V), "^split: .* for indices_or_sections, got None"),
        (lambda: pb.hsplit(V), "^hsplit: expected an integer or a sequence .*, got None"),
        (lambda: pb.fill_diagonal(X, 1, value=1), "^fill_diagonal: give val or value"),
        (lambda: pb.linalg.pinv(X, 0.1, rtol=0.1), "^pinv: give rcond or rtol"),
        (lambda: pb.linalg.matrix_rank(X, 0.1, rtol=0.1), "^matrix_rank: give tol, which is abs"),
        (lambda: pb.einsum("i->i", V, optimize=3), "^einsum: .* for optimize, got 3"),
        (lambda: pb.linalg.svd(X, compute_uv="no"), "^svd: expected True or False for compute_uv"),
        (lambda: pb.meshgrid(V, sparse=1), "^meshgrid: expected True or False for sparse"),
    ],
)
def test_arguments_that_contradict(call: Callable[[], Any], text: str) -> None:
    with pytest.raises(TypeError, match=text):
        call()


def _pairs() -> Iterator[tuple[str, Any, Any]]:
    """Yield the functions that both have, with their names."""
    for ours, theirs in ((pb, np), (pb.linalg, np.linalg), (pb.fft, np.fft)):
        for name in ours.__all__:
            function, model = getattr(ours, name), getattr(theirs, name, None)
            if inspect.isfunction(function) and callable(model) and not isinstance(model, np.ufunc):
                yield name, function, model


def _parameters_of_numpy(model: Any) -> list[inspect.Parameter]:
    """Return the parameters of a NumPy function; none if this NumPy does not tell them."""
    try:
        return [*inspect.signature(model).parameters.values()]
    except ValueError:
        return []


def _refused(function: Any, model: Any) -> Iterator[str]:
    """Yield NumPy's parameters, after the first, that a function does not accept as NumPy does."""
    ours = inspect.signature(function).parameters
    taken = [p.name for p in ours.values() if p.kind in BY_POSITION]
    anything = any(p.kind is p.VAR_POSITIONAL for p in ours.values())
    listed = _parameters_of_numpy(model)
    in_order = True
    for k, wanted in enumerate(listed):
        in_order = in_order and wanted.name not in NEVER
        if k == 0 or wanted.name in NEVER or wanted.kind not in {*BY_POSITION, *BY_NAME}:
            continue
        by_name = wanted.kind not in BY_NAME or (
            wanted.name in ours and ours[wanted.name].kind in BY_NAME
        )
        name = ALIASES.get(wanted.name, wanted.name)
        by_position = wanted.kind not in BY_POSITION or anything or taken[k : k + 1] == [name]
        if not by_name or (in_order and not by_position):
            yield wanted.name


def test_parameters_of_numpy_are_accepted_or_left_out() -> None:
    check, met, known = Check(), set(), set()
    left_out = {
        (name, parameter)
        for names, parameters, _ in LEFT_OUT
        for name in names.split()
        for parameter in parameters.split()
    }
    for name, function, model in _pairs():
        known |= {(name, parameter.name) for parameter in _parameters_of_numpy(model)}
        for parameter in _refused(function, model):
            met.add((name, parameter))
            check.that(NEWER or (name, parameter) in left_out, f"{name} refuses {parameter}")
    for pair in sorted(left_out & known - met):
        check.problems.append(f"accepted, but in LEFT_OUT: {pair}")
    check.done()
