"""Bad input: an exception of the right class, raised where the mistake is, naming it; and the next
call works."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.each import each

import pullback as pb

A = pb.Variable(np.ones((3, 4), np.float32))
B = pb.Variable(np.ones((5, 2), np.float32))


@each(
    ("call", "error", "words"),
    [
        # shapes
        (lambda: A + B, ValueError, ["add", "(3, 4)", "(5, 2)"]),
        (lambda: pb.maximum(A, pb.zeros(3)), ValueError, ["maximum", "(3, 4)", "(3,)"]),
        (lambda: pb.where(A > 0, A, B), ValueError, ["where", "(5, 2)"]),
        (lambda: A @ B, ValueError, ["matmul", "(3, 4)", "(5, 2)"]),
        (lambda: pb.matmul(A, 2.0), ValueError, ["matmul"]),
        (lambda: pb.reshape(A, (5, -1)), ValueError, ["reshape", "(3, 4)"]),
        (lambda: pb.reshape(A, (-1, -1)), ValueError, ["reshape", "-1"]),
        (lambda: pb.reshape(A, (2, 2)), ValueError, ["reshape", "12", "4"]),
        (lambda: pb.reshape(A, "x"), TypeError, ["shape"]),
        (lambda: pb.reshape(A, (1.5, 8)), TypeError, ["shape", "1.5"]),
        (lambda: pb.zeros((-1,)), ValueError, ["-1"]),
        (lambda: pb.zeros((1,) * 17), ValueError, ["16 axes"]),
        (lambda: pb.broadcast_to(A, (3, 5)), ValueError, ["broadcast_to", "(3, 5)"]),
        (lambda: pb.concat([A, B]), ValueError, ["concat"]),
        (lambda: pb.concat([]), ValueError, ["concat"]),
        (lambda: pb.concat([1.0, 2.0]), ValueError, ["concat"]),
        (lambda: pb.stack([A, B]), ValueError, ["stack"]),
        (lambda: pb.concat(3), TypeError, ["concat: expected a sequence", "3"]),
        (lambda: pb.stack("ab"), TypeError, ["stack: expected a sequence", "'ab'"]),
        (lambda: pb.permute_dims(A, None), TypeError, ["permute_dims", "None"]),
        (lambda: pb.take_along_axis([1, 2], [5]), IndexError, ["take_along_axis: index 5 is out"]),
        (lambda: pb.take_along_axis([1, 2], ["a"]), (TypeError, IndexError), ["take_along_axis: "]),
        (
            lambda: pb.take_along_axis(A, [[0, 0]] * 2, axis=1),
            IndexError,
            ["take_along_axis: expected indices whose shapes broadcast"],
        ),
        (lambda: A.read().at[[7]].set(0), IndexError, ["at[].set: index 7 is out"]),
        (lambda: pb.stack([]), ValueError, ["stack"]),
        (lambda: pb.split(A, 2), ValueError, ["split", "3", "2"]),
        (lambda: pb.split(A, [2, 1]), ValueError, ["split"]),
        (lambda: pb.split(A, 1, axis=2), ValueError, ["split", "axis 2"]),
        (lambda: pb.split(A, 0), ValueError, ["split"]),
        (lambda: pb.squeeze(A, 0), ValueError, ["squeeze", "(3, 4)"]),
        (lambda: pb.outer(pb.zeros(2**31), pb.zeros(2**32)), ValueError, ["outer: ", "64 bits"]),
        (lambda: pb.one_hot(pb.zeros(2**40, "int64"), 2**40), ValueError, ["one_hot: ", "64 bits"]),
        (lambda: pb.one_hot(pb.zeros((1,) * 16, "int64"), 2), ValueError, ["one_hot: ", "16 axes"]),
        (lambda: pb.softmax_cross_entropy(A, B), ValueError, ["softmax_cross_entropy", "(5, 2)"]),
        # axes
        (lambda: pb.sum(A, axis=2), ValueError, ["sum", "axis 2"]),
        (lambda: pb.sum(A, axis=(0, 0)), ValueError, ["sum", "twice"]),
        (lambda: pb.mean(A, axis=-3), ValueError, ["axis -3"]),
        (lambda: pb.sum(A, axis=0.5), TypeError, ["sum: expected", "axis", "0.5"]),
        (lambda: pb.max(A, axis="x"), TypeError, ["max: expected", "axis"]),
        (lambda: pb.argmax(A, axis=2), ValueError, ["argmax", "axis 2"]),
        (lambda: pb.softmax(A, axis=2), ValueError, ["softmax", "axis 2"]),
        (lambda: pb.softmax(1.0), ValueError, ["softmax"]),
        (lambda: pb.expand_dims(A, 3), ValueError, ["expand_dims", "axis 3"]),
        (lambda: pb.permute_dims(A, (0, 0)), ValueError, ["permute_dims", "twice"]),
        (lambda: pb.transpose(A, (0,)), ValueError, ["transpose", "rank 2"]),
        (lambda: pb.take(A, [0], axis=2), ValueError, ["take", "axis 2"]),
        (lambda: pb.max(pb.zeros((0, 2)), axis=0), ValueError, ["max"]),
        # dtypes
        (lambda: pb.astype(A, "float128"), TypeError, ["float128"]),
        (lambda: pb.one_hot([0.5], 2), TypeError, ["one_hot", "float32"]),
        (lambda: pb.one_hot([0], -1), ValueError, ["one_hot", "-1"]),
        (lambda: pb.take(A, [0.5], axis=0), TypeError, ["take", "float32"]),
        (lambda: pb.exp("x"), TypeError, ["exp", "str"]),
        (lambda: pb.floor(np.array([1 + 2j])), TypeError, ["floor", "complex", "real(x)"]),
        (lambda: pb.exp([[1.0], [1.0, 2.0]]), ValueError, ["exp", "ragged"]),
        (lambda: pb.exp(np.array([1.0, None])), TypeError, ["exp", "object"]),
        (lambda: pb.exp(None), TypeError, ["exp", "NoneType"]),
        (lambda: ~A, TypeError, ["bool", "float32"]),
        (lambda: A & A, TypeError, ["bool", "float32"]),
        (lambda: -(A > 0), TypeError, ["bool"]),
        (lambda: pb.constant(1, "int32") + 2**40, OverflowError, ["1099511627776", "int32"]),
        (lambda: pb.constant(2**70), OverflowError, ["int64"]),
        (lambda: A + "x", TypeError, ["str"]),
        (lambda: A + None, TypeError, ["NoneType"]),
        (lambda: pb.random.normal(2, "int32"), TypeError, ["int32"]),
        (lambda: pb.sum("x"), TypeError, ["sum: ", "str"]),
        (lambda: pb.matmul(A, None), TypeError, ["matmul: ", "NoneType"]),
        (lambda: pb.stack([A, [[1], [1, 2]]]), ValueError, ["stack: ", "ragged"]),
        # indexing
        (lambda: A[3], IndexError, ["3", "(3, 4)"]),
        (lambda: A[0, 0, 0], IndexError, ["at most 2", "got 3"]),
        (lambda: A[..., ...], IndexError, ["Ellipsis"]),
        (lambda: A[1.0], IndexError, ["float"]),
        (lambda: A[[0, 3]], IndexError, ["3", "axis 0", "size 3"]),
        (lambda: A.__setitem__(0, [1.0, 2.0]), ValueError, ["assignment", "(2,)", "(4,)"]),
        # looking
        (lambda: float(A), ValueError, ["(3, 4)"]),
        (lambda: bool(A), ValueError, ["bool: ", "(3, 4)", "any"]),
        (lambda: A.read().item(), ValueError, ["(3, 4)"]),
        (lambda: len(pb.constant(1.0)), TypeError, ["rank 0"]),
        (lambda: iter(pb.constant(1.0)), TypeError, ["rank 0"]),
        (lambda: range(3)[pb.constant(1.0)], TypeError, ["float32"]),
        (lambda: np.asarray(A, copy=False, dtype="int32"), ValueError, ["copy"]),
        # numbers of arguments
        (lambda: pb.exp(), TypeError, []),
        (lambda: pb.exp(A, A), TypeError, []),
        (lambda: pb._core.exp(A, A), TypeError, ["exp", "1", "2"]),
        (lambda: pb.sum(A, 0, True, 1), TypeError, []),
        # others
        (lambda: pb.arange(0, 1, 0), ValueError, ["arange", "0"]),
        (lambda: pb.random.seed(-1), ValueError, ["seed", "-1"]),
        (lambda: pb.random.seed("x"), ValueError, ["seed"]),
        (lambda: pb.random.shuffle(1.0), ValueError, ["shuffle"]),
        (lambda: pb.random.permutation(-1), ValueError, ["-1"]),
    ],
)
def test_refused_at_the_call(call, error, words):
    with pytest.raises(error) as caught:
        call()
    text = str(caught.value)
    assert all(word in text for word in words), text
    assert float(pb.sum(A)) == 12.0


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: pb.take(A, pb.constant([3]) + 0, axis=0), IndexError, ["take", "3"]),
        (lambda: pb.constant(1) // pb.constant(0), ZeroDivisionError, ["floor_divide"]),
        (lambda: pb.constant(1) % pb.constant(0), ZeroDivisionError, ["remainder"]),
        (lambda: pb.constant(2) ** pb.constant(-1), ValueError, ["pow"]),
    ],
)
def test_found_when_computed(make, error, words):
    faulty = make()
    good = A * 2
    with pytest.raises(error) as caught:
        pb.evaluate(good, faulty)
    assert all(word in str(caught.value) for word in words)
    with pytest.raises(error):
        faulty.numpy()
    assert good.numpy().tolist() == [[2.0] * 4] * 3


def test_a_faulty_update_does_not_spread():
    v, w = pb.Variable([1, 2]), pb.Variable(3.0)
    v.assign(v // pb.constant([1, 0]))
    assert w.item() == 3.0 and (w * 2).item() == 6.0
    with pytest.raises(ZeroDivisionError):
        v.numpy()
    v.assign([5, 6])
    assert v.numpy().tolist() == [5, 6]


def test_the_rows_of_a_variable():
    v = pb.Variable([[1.0, 2.0], [3.0, 4.0]])
    for x in (v, v.read(), v.numpy()):
        assert pb.concat(x).numpy().tolist() == [1.0, 2.0, 3.0, 4.0]
        assert pb.stack(x, axis=1).numpy().tolist() == [[1.0, 3.0], [2.0, 4.0]]


def test_names_of_other_libraries():
    with pytest.raises(AttributeError, match=r"no attribute 'cat'; here it is 'concat'$"):
        pb.cat  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'softplas'; did you mean 'softplus'\?"):
        pb.softplas  # noqa: B018
    with pytest.raises(AttributeError, match=r"did you mean 'softmax_cross_entropy'\?"):
        pb.SoftmaxCrossEntropy  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'erf'; here it is 'special.erf'$"):
        pb.erf  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute '_private'$"):
        pb._private  # noqa: B018
    assert not hasattr(pb, "nothing_like_it")
    with pytest.raises(AttributeError, match=r"'randint'; here it is 'integers'$"):
        pb.random.randint  # noqa: B018
    with pytest.raises(AttributeError, match=r"'Linear'; use x @ weights \+ bias"):
        pb.nn.Linear  # noqa: B018
    with pytest.raises(AttributeError, match=r"'cross_entropy'; use pb.sparse_softmax_cross_entr"):
        pb.nn.cross_entropy  # noqa: B018
    from pullback._base.hints import ATTRIBUTES, INSTEAD, NAMES

    with pytest.raises(AttributeError, match=r"'normal'; here it is 'norm'$"):
        pb.stats.normal  # noqa: B018
    with pytest.raises(AttributeError, match=r"'split'; use pb.random.Generator"):
        pb.random.split  # noqa: B018
    with pytest.raises(AttributeError, match=r"'weibull'; here it is 'weibull_min'$"):
        pb.stats.weibull  # noqa: B018
    with pytest.raises(AttributeError, match=r"'fdtr'; use pb\.stats\.f\.cdf"):
        pb.special.fdtr  # noqa: B018
    spaces = (pb, pb.linalg, pb.optimize, pb.optimizers, pb.random, pb.special, pb.stats)
    assert set(NAMES.values()) <= {name for space in spaces for name in space.__all__}
    assert not {*NAMES, *INSTEAD} & set(pb.__all__)
    for x in (pb.ones(2), pb.Variable([1.0])):
        assert not set(ATTRIBUTES) & set(dir(x)) and not hasattr(x, "detach")
        with pytest.raises(AttributeError, match=r"'detach'; use pb.stop_gradient\(x\)$"):
            x.detach()


def test_names_of_nn_at_the_top_are_deprecated():
    from pullback._base.hints import NN_ONLY

    assert set(pb.nn.__all__) >= NN_ONLY and not NN_ONLY & {*pb.__all__, *dir(pb)}
    for name in NN_ONLY:
        text = rf"^pb\.{name} is deprecated; use pb\.nn\.{name}$"
        with pytest.warns(DeprecationWarning, match=text) as caught:
            assert getattr(pb, name) is getattr(pb.nn, name)
        assert caught[0].filename == __file__
    with pytest.raises(AttributeError, match=r"no attribute 'conv2d'; here it is 'nn.conv2d'$"):
        pb.conv2d  # noqa: B018


@pytest.mark.parametrize("dtype", ["abc", None, "datetime64[s]", "<U3"])
def test_dtypes_are_refused_by_name(dtype):
    calls = {"zeros": lambda: pb.zeros(2, dtype), "Variable": lambda: pb.Variable(1.0, dtype=dtype)}
    for name, call in calls.items():
        if dtype is not None:
            with pytest.raises(TypeError, match=f"^{name}: un.*expected bool, int8 to int64"):
                call()
    with pytest.raises(TypeError, match=r"^set_default_dtype: expected float32 or float64"):
        pb.set_default_dtype(dtype)


@pytest.mark.parametrize("style", ["lazy", "function"])
def test_a_wrong_label_is_told_as_one(style: str) -> None:
    """Whatever it is computed together with."""
    x, w = pb.constant(np.ones((2, 4), np.float32)), pb.Variable(np.ones((4, 3), np.float32))

    def loss(labels: pb.Tensor) -> pb.Tensor:
        return pb.mean(pb.sparse_softmax_cross_entropy(pb.matmul(x, w), labels))

    def slope(labels: pb.Tensor) -> pb.Tensor:
        return pb.gradients(loss(labels), w)[0]

    fs = (loss, slope, lambda labels: 2 * loss(labels) + pb.sum(w))
    for f, labels in itertools.product(fs, (np.array([0, 7]), pb.constant([0, 7]) + 0)):
        called = pb.function(f) if style == "function" else f
        with pytest.raises(
            IndexError, match=r"^sparse_softmax_cross_entropy: label 7 is out of range for 3"
        ):
            called(labels).numpy()


def test_known_labels_are_checked_by_the_call() -> None:
    for label in (-1, 3, 4):
        with pytest.raises(IndexError, match=f"label {label} is out of range for 3 classes"):
            pb.sparse_softmax_cross_entropy(np.zeros((1, 3)), [label])


def test_a_failure_inside_a_group_names_its_operation() -> None:
    n = pb.constant([4, 0])
    with pytest.raises(ZeroDivisionError, match=r"^floor_divide: integer division by zero"):
        pb.sum(pb.exp(pb.cast(8 // n, "float32"))).numpy()


def test_what_a_function_returns():
    def forgets(x):
        pb.sum(x * x)

    with pytest.raises(TypeError, match=r"^grad: .*got None; does it lack a return\?$"):
        pb.grad(forgets)(np.ones(2))
    with pytest.raises(ValueError, match=r"^scan: .*for xs, got shape \(\); .*length=n$"):
        pb.scan(lambda c, x: (c, x), 0.0, 5)

    async def later(x):
        return x

    def rows(x):
        yield x

    for f in (later, rows):
        with pytest.raises(TypeError, match=r"^function: expected a function that returns"):
            pb.function(f)
