"""Numbers on their way in: the same answer from a list, an array and a tensor; integers of NumPy
wherever an integer is expected."""

import numpy as np
import pytest
from support.each import each

import pullback as pb

SPECIAL = [np.nan, np.inf, -np.inf, 1e20, -1e20, 2.9, -2.9, -0.0]


@each("dtype", ["bool", "int32", "int64", "float32", "float64"])
@each("source", [np.float32, np.float64])
def test_casts_of_floats(dtype, source):
    """Floats cast to integers saturate, NaN gives 0."""
    values = np.array(SPECIAL, source)
    if dtype.startswith("int"):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        expected = np.array([0, high, low, high, low, 2, -2, 0], dtype)
        if dtype == "int64":
            assert high < 1e20
    else:
        expected = values.astype(dtype)
    for given in (values, list(values), pb.constant(values), [pb.constant(v) for v in values]):
        for cast in (lambda x: pb.constant(x, dtype), lambda x: pb.cast(x, dtype)):
            got = cast(given).numpy()
            assert got.dtype == dtype
            np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(pb.Variable(given, dtype=dtype).numpy(), expected)
    for given, wanted in zip(values.tolist(), expected, strict=True):
        np.testing.assert_array_equal(pb.constant(given, dtype).numpy(), wanted)
        np.testing.assert_array_equal(pb.full(2, given, dtype).numpy(), [wanted] * 2)


def test_casts_of_lists_keep_what_float64_holds():
    assert pb.constant([2.0**53 - 1, 16777217.0], "int64").numpy().tolist() == [2**53 - 1, 16777217]
    assert pb.constant([1e300, 1.0]).numpy().tolist() == [np.inf, 1.0]
    assert pb.constant([0.1], "float64").numpy()[0] == 0.1


def test_integers_of_arrays_wrap():
    big = np.array([2**40 + 7, -1])
    for given in (big, list(big), pb.constant(big)):
        assert pb.cast(given, "int32").numpy().tolist() == [7, -1]


INT32 = pb.zeros(2, "int32")


@each(
    "call",
    [
        lambda: pb.constant(2**31, "int32"),
        lambda: pb.constant([1, -(2**31) - 1], "int32"),
        lambda: pb.constant([[2**64]]),
        lambda: pb.constant(-(2**63) - 1),
        lambda: pb.constant([2**70, 1], "int64"),
        lambda: pb.cast(2**40, "int32"),
        lambda: pb.cast([2**40], "int32"),
        lambda: pb.full(2, 2**31, "int32"),
        lambda: pb.full_like(INT32, 2**31),
        lambda: INT32 + 2**31,
        lambda: pb.where([True, False], INT32, 2**31),
        lambda: pb.Variable([1, 2], dtype="int32").assign([2**31, 0]),
        lambda: pb.Variable([1, 2], dtype="int32").assign_add(2**31),
        lambda: pb.Variable(2**31, dtype="int32"),
        lambda: pb.constant([10**400], "float64"),
    ],
)
def test_python_integers_out_of_range(call):
    with pytest.raises(OverflowError):
        call()


def test_python_integers_in_the_range_of_a_float():
    assert pb.constant([2**70], "float64").numpy().tolist() == [2.0**70]
    assert pb.constant(2**70, "float32").item() == 2.0**70
    assert pb.constant([2**70, 0.5]).numpy().tolist() == [2.0**70, 0.5]


THREE = np.int64(3)
X = pb.reshape(pb.arange(9.0), (3, 3))


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint16, np.array, pb.constant])
@each(
    "call",
    [
        lambda n: pb.zeros(n(3)),
        lambda n: pb.ones((n(2), n(1))),
        lambda n: pb.reshape(X, n(9)),
        lambda n: pb.broadcast_to(X, (n(2), 3, n(3))),
        lambda n: pb.eye(n(3), n(2), k=n(1)),
        lambda n: pb.one_hot([1], n(3)),
        lambda n: pb.split(X, n(3), axis=n(1))[2],
        lambda n: pb.split(X, [n(1), n(2)])[1],
        lambda n: pb.sum(X, axis=n(1)),
        lambda n: pb.max(X, axis=(n(0), n(1))),
        lambda n: pb.argmax(X, axis=n(1)),
        lambda n: pb.softmax(X, n(0)),
        lambda n: pb.take(X, [0], axis=n(1)),
        lambda n: pb.take_along_axis(X, pb.argmax(X, axis=0, keepdims=True), axis=n(0)),
        lambda n: pb.concat([X, X], axis=n(1)),
        lambda n: pb.stack([X, X], axis=n(1)),
        lambda n: pb.expand_dims(X, n(0)),
        lambda n: pb.squeeze(X[:1], n(0)),
        lambda n: pb.transpose(X, (n(1), n(0))),
        lambda n: pb.diagonal(X, n(1), n(0), n(1)),
        lambda n: pb.trace(X, n(1)),
        lambda n: pb.tensordot(X, X, n(1)),
        lambda n: pb.tensordot(X, X, [n(0), [n(1)]]),
        lambda n: pb.einsum(X, [n(0), n(1)], [n(1), n(0)]),
        lambda n: X[n(1)],
        lambda n: X[n(0) : n(2)],
        lambda n: X.at[n(1)].set(0.0),
        lambda n: pb.arange(n(3)),
        lambda n: pb.logsumexp(X, axis=n(1)),
        lambda n: pb.clip_by_norm(X, 1.0, axis=n(1)),
        lambda n: pb.grad(lambda a, b: a * b, n(1))(2.0, 3.0),
        lambda n: pb.grad(lambda a, b: a * b, (n(1), n(0)))(2.0, 3.0)[1],
        lambda n: pb.function(lambda a, b: a * b, static_argnums=n(1))(2.0, 3),
    ],
)
def test_any_integer_is_one(kind, call):
    expected, got = call(int), call(kind)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got.numpy(), expected.numpy())


def test_seeds_and_numbers_of_draws():
    pb.random.seed(np.uint8(7))
    first = pb.random.uniform(np.int64(3)).numpy()
    pb.random.seed(7)
    assert pb.random.uniform(3).numpy().tolist() == first.tolist()
    assert pb.random.permutation(np.int32(4)).shape == (4,)
    pb.set_num_threads(np.int64(pb.num_threads()))
    for wrong in (1.0, "1", None, -1, 2**64):
        with pytest.raises(ValueError, match="seed"):
            pb.random.seed(wrong)


@pytest.mark.parametrize(
    "call",
    [
        lambda: pb.zeros(2.0),
        lambda: pb.reshape(X, 9.0),
        lambda: pb.sum(X, axis=1.0),
        lambda: pb.split(X, 3.0),
        lambda: pb.eye(2.0),
        lambda: pb.grad(pb.sum, 0.0),
        lambda: pb.function(pb.sum, static_argnums=0.0),
    ],
)
def test_floats_are_no_integers(call):
    with pytest.raises(TypeError):
        call()


@pytest.mark.parametrize("product", [pb.outer, pb.vdot, pb.vecdot])
def test_products_with_a_number(product):
    """It takes the dtype of the array before it is rounded."""

    def last(a, b):
        a, b = (
            pb.reshape(x, (1,)) if product is pb.vecdot and getattr(x, "shape", 1) == () else x
            for x in (a, b)
        )
        out = product(a, b)
        return out.dtype, pb.reshape(out, (-1,))[0].item()

    if product is not pb.vecdot:
        assert last(np.array([3.0]), 0.1) == last(0.1, np.array([3.0])) == ("float64", 3.0 * 0.1)
        assert last(pb.constant([1], "int32"), 2) == ("int32", 2)
        assert last(pb.constant([3], "int32"), 0.5) == ("float32", 1.5)
        assert last(2, 3) == ("int64", 6) and last(2, 0.5) == ("float32", 1.0)
    assert last(np.array([3.0]), np.float64(0.1).reshape(1)) == ("float64", 3.0 * 0.1)


@each(
    ("arguments", "length"),
    [
        ((pb.constant(2**25 + 1),), 2**25 + 1),
        ((pb.constant(2**25 + 1, "float64"),), 2**25 + 1),
        ((np.float32(3.5),), 4),
        ((pb.constant(2.5),), 3),
        ((2**53, 2**53 + 3), 3),
        ((pb.constant(10), 0, -3), 4),
        ((0, -5, 2), 0),
        ((np.int8(100), 300), 200),
        ((0.0, 1.0, 0.1), 10),
        ((5, np.array(7)), 2),
    ],
)
def test_the_length_of_arange(arguments, length):
    assert pb.arange(*arguments).shape == (length,)


def test_arange_of_what_has_no_length():
    for bad in (float("inf"), float("nan"), pb.constant(float("inf"))):
        with pytest.raises(ValueError, match="arange: expected finite"):
            pb.arange(bad)
    assert pb.arange(pb.constant(2.5)).dtype == "float32"
    assert pb.arange(pb.constant(2)).dtype == "int64"
    for bad in ("3", pb.ones(3), None, 1j):
        with pytest.raises(TypeError, match="arange: expected numbers"):
            pb.arange(0, bad, 1) if bad is not None else pb.arange(bad)


@each(
    "join",
    [
        lambda a, b: a @ b,
        pb.matmul,
        pb.dot,
        pb.inner,
        pb.outer,
        pb.vdot,
        pb.vecdot,
        lambda a, b: pb.tensordot(a, b, 1),
        lambda a, b: pb.einsum("i,i->", a, b),
    ],
)
def test_lists_beside_floats(join):
    """As in arithmetic: they take the dtype of the array before they are rounded."""
    for wide in (np.array([3.0]), pb.constant([3.0], "float64")):
        got = join(wide if isinstance(wide, pb.Tensor) else pb.constant(wide), [0.1])
        assert (got.dtype, pb.reshape(got, -1)[0].item()) == ("float64", 3.0 * 0.1)
    narrow = join(pb.constant([3.0]), [1])
    assert narrow.dtype == "float32" and pb.reshape(narrow, -1)[0].item() == 3.0
    assert join(pb.constant([3], "int32"), [2]).dtype == "int64"


def test_numbers_beside_floats_in_one_array():
    wide, narrow, integers = (pb.constant([3], d) for d in ("float64", "float32", "int32"))
    for number in (lambda x: x, lambda x: [x], lambda x: [[x]]):
        shape = pb.constant(number(0)).shape or (1,)
        for join in (pb.stack, pb.concat) if number(0) != 0 else (pb.stack,):
            beside = (
                pb.reshape(x, shape if number(0) != 0 else ()) for x in (wide, narrow, integers)
            )
            for x, dtype in zip(beside, ("float64", "float32", "float32"), strict=True):
                for out in (
                    join([x, number(0.1)]),
                    pb.function(lambda x, r, j=join, n=number: j([x, n(r)]))(x, 0.1),
                ):
                    assert out.dtype == dtype
                    assert pb.reshape(out, -1)[-1].item() == np.dtype(dtype).type(0.1)


ROUNDED_TWICE = [2**53 + 2**29 + 1, -(2**53) - 2**29 - 1, 2**24 + 1, 2**62 + 2**38 + 1]


@pytest.mark.parametrize("n", ROUNDED_TWICE)
def test_integers_are_rounded_once(n):
    """Not to a double first, which would move what lies just past the middle onto it."""
    expected = np.float32(np.int64(n))
    for made in (n, [n], np.array(n), np.array([n]), np.int64(n), pb.constant([n])):
        assert float(pb.sum(pb.constant(made, dtype="float32"))) == expected
    assert float(pb.cast(pb.constant(n), "float32")) == expected


def test_numbers_that_come_out():
    assert float(pb.constant(0.1)) == float(np.float32(0.1)) != 0.1
    large = 2**63 + 5
    for x in (pb.constant(np.uint64(large)), pb.constant(np.array([large], np.uint64))):
        assert int(x) == x.item() == large


def test_copies_may_be_written_to_and_are_not_shared():
    x = pb.constant([1.0, 2.0])
    for copy in (x.__array__(copy=True), np.array(x, copy=True)):
        assert copy.flags.writeable and not np.shares_memory(copy, x.numpy())


def test_lists_of_tensors_and_numbers_take_the_dtype_of_the_tensors():
    for number in (1.5, 2):
        assert pb.constant([pb.constant(1.0, "float32"), number]).dtype == "float32"
    assert pb.constant([pb.constant(np.int32(1)), 2.5]).dtype == "float32"
