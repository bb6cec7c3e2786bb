"""Edges of functions of several families: ranges that only unsigned integers have, dtypes that
stay, sums of squares beyond the dtype, matrices of zeros, arguments that are another one's."""

import numpy as np
import pytest
from support.each import each

import pullback as pb


def test_integers_beyond_int64():
    drawn = pb.random.integers(0, 2**64 - 1, (20_000,), dtype="uint64", endpoint=True).numpy()
    assert drawn.dtype == np.uint64
    quarters = np.bincount((drawn >> np.uint64(62)).astype(int), minlength=4)
    assert (abs(quarters - 5000) < 400).all()
    low, high = 2**63 - 5, 2**63 + 5
    few = pb.random.integers(low, high, (2000,), dtype="uint64").numpy()
    assert sorted(set(few.tolist())) == list(range(low, high))
    tensors = pb.random.integers(
        pb.constant([0, 7], dtype="uint64"), pb.constant([2, 2**64 - 1], dtype="uint64"),
        (500, 2), dtype="uint64",
    ).numpy()  # fmt: skip
    assert set(tensors[:, 0].tolist()) == {0, 1} and (tensors[:, 1] >= 7).all()
    assert len(set(tensors[:, 1].tolist())) == 500
    with pytest.raises(ValueError, match="expected low and high in the range of int64"):
        pb.random.integers(0, 2**63 + 5, (3,))


def test_diagonals_of_stacks():
    x = np.arange(48.0).reshape(2, 3, 2, 4)
    for offset in (-1, 0, 2):
        got = pb.linalg.diagonal(x, offset=offset)
        np.testing.assert_array_equal(got, np.diagonal(x, offset, -2, -1))
        traced = pb.linalg.trace(x, offset=offset)
        np.testing.assert_array_equal(traced, np.trace(x, offset, -2, -1))
    assert pb.linalg.trace(x, dtype="float32").dtype == "float32"
    pb.testing.check_gradients(lambda x: pb.linalg.trace(x) * pb.linalg.diagonal(x)[..., 0], x)
    assert pb.trace(x).shape == (2, 4)  # NumPy's: of the first two axes
    for function in (pb.linalg.diagonal, pb.linalg.trace):
        with pytest.raises(np.linalg.LinAlgError, match=function.__name__):
            function(np.ones(3))


@each("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_rounded_integers_keep_their_dtype(dtype):
    limits = np.iinfo(dtype)
    exact = [limits.min, limits.max, 0, 5, 15, 25, 26, 100, limits.max // 2]
    x = np.array([max(limits.min // 4 * 3, min(limits.max // 4 * 3, v)) for v in exact], dtype)
    for digits in (-1, -2, -3, -18):
        power = 10**-digits
        expected = [_rounded(int(v), power) for v in x]
        got = pb.round(x, digits)
        assert got.dtype == dtype
        if power <= limits.max:
            assert got.numpy().tolist() == expected
        else:
            assert not got.numpy().any()


def _rounded(value: int, power: int) -> int:
    down, rest = divmod(value, power)
    up = 2 * rest > power or (2 * rest == power and down % 2)
    return (down + bool(up)) * power


def test_trapezoid_keeps_float16():
    y = np.array([1, 2, 4], "float16")
    assert pb.trapezoid(y).dtype == pb.trapezoid(y, dx=2).dtype == "float16"
    assert float(pb.trapezoid(y, dx=2)) == 9.0
    assert float(pb.trapezoid(y, dx=np.array([1.0, 3.0]))) == 10.5


@each("p", [None, 2, -2])
def test_the_condition_of_zeros_is_infinite(p):
    x = np.stack([np.zeros((2, 2)), np.diag([2.0, 8.0])])
    got = pb.linalg.cond(x, p).numpy()
    assert got[0] == np.inf
    assert got[1] == pytest.approx(np.linalg.cond(x[1], p))


def test_norms_whose_squares_overflow():
    for dtype, big in (("float32", 1e20), ("float64", 1e200), ("float16", 100.0)):
        x, y = np.array([3 * big, 4 * big], dtype), np.array([12 * big], dtype)
        rtol = 4 * float(np.finfo(dtype).eps)
        assert float(pb.linalg.norm(x)) == pytest.approx(5 * big, rel=rtol)
        assert float(pb.global_norm([x, y])) == pytest.approx(13 * big, rel=2 * rtol)
        clipped, norm = pb.clip_by_global_norm([x, y], 6.5)
        assert norm.dtype == dtype
        np.testing.assert_allclose(clipped[0], [1.5, 2], rtol=4 * rtol)
        np.testing.assert_allclose(pb.clip_by_norm(x, 10), [6, 8], rtol=4 * rtol)
        small = np.array([3 / big, 4 / big], dtype)
        if dtype != "float16":
            assert float(pb.linalg.norm(small)) == pytest.approx(5 / big, rel=rtol)
    for f in (pb.global_norm, lambda xs: pb.clip_by_global_norm(xs, 1.0)[0]):
        pb.testing.check_gradients(f, [np.array([0.3, -0.4]), np.array(1.2)])
    zero = pb.Variable([0.0, 0.0])
    np.testing.assert_array_equal(pb.gradients(pb.global_norm([zero]), zero)[0], [0, 0])


def test_draws_without_meaning():
    nan, inf = np.nan, np.inf
    for logits in ([nan, 1.0], [-inf, -inf], [inf, 0.0], [[0.0, 1.0], [nan, 0.0]]):
        with pytest.raises(ValueError, match="categorical: expected logits"):
            pb.random.categorical(logits)
        assert -1 in np.atleast_1d(pb.random.categorical(pb.constant(logits)).numpy())
    assert int(pb.random.categorical([-inf, 0.0])) == 1
    for alpha in ([0.0, 0.0], [1.0, -1.0], [nan, 1.0]):
        with pytest.raises(ValueError, match="dirichlet: expected numbers > 0 for alpha"):
            pb.random.dirichlet(alpha)
    for low, high in ((-1e308, 1e308), (-inf, 1.0), (0.0, inf)):
        with pytest.raises(ValueError, match="uniform: expected low and high whose difference"):
            pb.random.uniform((4,), "float64", low=low, high=high)
    with pytest.raises(ValueError, match="difference float16 can represent"):
        pb.random.uniform((4,), "float16", low=-60_000, high=60_000)


WRONG = {
    "Variable: expected True or False for trainable": lambda: pb.Variable([1.0], "float64"),
    "Variable: expected a string or None for name": lambda: pb.Variable([1.0], name=3),
    "GradientTape: expected True or False for persistent": lambda: pb.GradientTape("no"),
    "GradientTape: expected True or False for watch": lambda: pb.GradientTape(False, "y"),
    "dropout: expected True or False for training": lambda: pb.dropout(pb.ones(3), training="no"),
    "median: expected True or False for keepdims": lambda: pb.median([1.0, 2.0], keepdims="x"),
    "std: expected True or False for keepdims": lambda: pb.std([1.0, 2.0], keepdims="x"),
    "sum: expected True or False for keepdims": lambda: pb.sum([1.0, 2.0], 0, "float64"),
    "Adam: expected .* for learning_rate": lambda: pb.optimizers.Adam([pb.Variable(1.0)]),
    "identity: expected a tensor": lambda: pb.identity(3),
    "concat: expected an integer for axis": lambda: pb.concat(pb.ones(2), pb.ones(2)),
    "fft2: expected a sequence of integers for s": lambda: pb.fft.fft2(pb.ones((2, 2)), 2),
    "dct: type": lambda: pb.fft.dct([1.0, 2.0], [1]),
    "multivariate_normal.entropy: expected a vector for mean": lambda: (
        pb.stats.multivariate_normal.entropy(0.5)
    ),
    "AdagradDA: expected a number for initial_acc": lambda: pb.optimizers.AdagradDA(0.1, "same"),
    "histogram: expected a pair .* for range": lambda: pb.histogram([1.0, 2.0], range=1.0),
    "derivative: expected an integer for n": lambda: pb.derivative(pb.sin, None),
    "categorical: expected an integer for axis": lambda: pb.random.categorical([1.0, 2.0], axis=()),
    "__dlpack__: expected a pair of integers for max_version": lambda: pb.ones(3).__dlpack__(
        max_version=[]
    ),
    "check_gradients: expected a function": lambda: pb.testing.check_gradients(5, 1.0),
    "ones: unknown dtype": lambda: pb.ones(3, dtype="\ud800"),
}


@each("message", WRONG)
def test_arguments_that_are_another_ones(message):
    with pytest.raises((TypeError, ValueError), match=f"^{message}") as caught:
        WRONG[message]()
    assert "incompatible function arguments" not in str(caught.value)


def test_numpys_positional_axis():
    x = np.arange(6.0).reshape(2, 3)[:, ::-1].copy()
    for ours, theirs, *more in (
        (pb.take, np.take, [0]), (pb.roll, np.roll, 1), (pb.flip, np.flip), (pb.sort, np.sort),
        (pb.argsort, np.argsort), (pb.repeat, np.repeat, 2), (pb.partition, np.partition, 1),
    ):  # fmt: skip
        np.testing.assert_array_equal(ours(x, *more, 1), theirs(x, *more, 1))
    for a, b in zip(pb.split(x, 3, 1), np.split(x, 3, 1), strict=True):
        np.testing.assert_array_equal(a, b)
    assert pb.eye(3, k=2**63).shape == (3, 3) and not pb.eye(3, k=-(2**70)).numpy().any()
