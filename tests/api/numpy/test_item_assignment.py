"""x[index] = value: the object stands for a new tensor; what was made from the old one, and who may
not become another one, stays as it is. Indices drawn at random, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from support.each import each, examples

import pullback as pb

SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, max_side=4)


@st.composite
def arrays_and_keys(draw: Any) -> tuple[Any, Any]:
    shape = draw(SHAPES)
    x = np.arange(1.0, np.prod(shape) + 1).reshape(shape)
    basic = hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True)
    integers = hnp.integer_array_indices(shape, result_shape=hnp.array_shapes(max_dims=2))
    masks = st.integers(1, len(shape)).flatmap(lambda n: hnp.arrays(bool, shape[:n]))
    key = draw(basic | integers | masks)
    if draw(st.booleans()) and isinstance(key, tuple) and len(key) < len(shape):
        key = (*key, Ellipsis) if Ellipsis not in [k for k in key if k is Ellipsis] else key
    return x, key


@settings(max_examples=examples(150), deadline=None)
@given(arrays_and_keys(), st.integers(0, 2**32 - 1), st.booleans())
def test_any_index_is_assigned_as_in_numpy(
    pair: tuple[Any, Any], seed: int, broadcast: bool
) -> None:
    x, key = pair
    taken = x[key]
    assume(taken.ndim <= 8)
    rng = np.random.default_rng(seed)
    shape = tuple(1 if broadcast and rng.random() < 0.5 else n for n in taken.shape)
    shape = shape[rng.integers(0, len(shape) + 1) if broadcast else 0 :]
    value = rng.integers(-9, 10, shape).astype(float)
    tensor, want = pb.constant(x), x.copy()
    other = tensor
    before = tensor * 1
    view = tensor[:1]
    tensor[key] = value
    want[key] = value
    assert other is tensor and tensor.dtype == x.dtype
    assert np.array_equal(tensor.numpy(), want)
    assert np.array_equal(before.numpy(), x) and np.array_equal(view.numpy(), x[:1])
    tensor[key] += value
    want[key] += value
    assert np.array_equal(tensor.numpy(), want)
    variable = pb.Variable(x)
    variable[key] = value
    variable[key] *= 2.0
    want[...] = x
    want[key] = value
    want[key] *= 2
    assert isinstance(variable, pb.Variable) and np.array_equal(variable.numpy(), want)


@settings(max_examples=examples(50), deadline=None)
@given(arrays_and_keys())
def test_gradients_pass_through_assignments(pair: tuple[Any, Any]) -> None:
    x, key = pair
    base, value = pb.Variable(x), pb.Variable(np.arange(1.0, x[key].size + 1).reshape(x[key].shape))
    y = base.copy()
    y[key] = value * value
    y[key] *= 3.0
    c = np.cos(x)
    of_base, of_value = pb.gradients(y, [base, value], grad_ys=c, unconnected_gradients="zero")
    plain = base.at[key].set(3.0 * value * value)
    for got, want in zip(
        (of_base, of_value),
        pb.gradients(plain, [base, value], grad_ys=c, unconnected_gradients="zero"),
        strict=True,
    ):
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-14)


def test_a_loop_that_fills_a_tensor() -> None:
    v = pb.Variable(2.0)
    powers = pb.ones(8)
    for k in range(1, 8):
        powers[k] = powers[k - 1] * v
    assert powers.tolist() == [2.0**k for k in range(8)]
    assert float(pb.gradients(powers[7], v)[0]) == 7 * 2.0**6
    filled = pb.zeros(5000)
    for k in range(5000):
        filled[k] = float(k)
    assert np.array_equal(filled.numpy(), np.arange(5000.0))


def test_rebinding_of_names_is_that_of_python() -> None:
    x = pb.constant([1.0, 2.0])
    y = x
    y += 1.0
    y *= x
    assert x.tolist() == [1.0, 2.0] and y.tolist() == [2.0, 6.0]
    v = w = pb.Variable([1.0])
    w += 1.0
    assert isinstance(w, pb.Tensor) and v.numpy().tolist() == [1.0]


def test_others_see_the_same_object_change_and_nothing_else() -> None:
    x = pb.constant([1.0, 2.0, 3.0])
    held, array = [x], x.numpy()
    x[x > 1.5] = 0.0
    x[[0, 0]] = [5.0, 6.0]
    assert held[0].tolist() == [6.0, 0.0, 0.0]
    assert array.tolist() == [1.0, 2.0, 3.0] and not array.flags.writeable


def test_dtypes_stay() -> None:
    x = pb.zeros(3, "int32")
    x[0] = True
    x[1:] = np.array([2, 3], np.int64)
    assert x.dtype == np.int32 and x.tolist() == [1, 2, 3]
    with pytest.raises(
        TypeError, match=r"^item assignment: expected a value that int32 .* got float32"
    ):
        x[0] = 1.5
    y = pb.zeros(2, "float64")
    y[:] = [0.1, 0.2]
    assert y.tolist() == [0.1, 0.2]


X = pb.constant(np.zeros((2, 3)))


@each(
    "key, value, error, text",
    [
        (5, 1.0, IndexError, "5 is out of range for axis 0 of size 2"),
        ([0, 5], 1.0, IndexError, "item assignment: index 5 is out of range"),
        (0, [1.0, 2.0], ValueError, r"item assignment: .* indexed shape \(3,\), got shape \(2,\)"),
        ([0, 1], [1.0, 2.0], ValueError, r"item assignment: .* got shape \(2,\)"),
        (np.ones(3, bool), 1.0, IndexError, "a mask of shape"),
        ("a", 1.0, IndexError, "got str"),
        (0, "a", TypeError, "item assignment"),
        (0, None, TypeError, "item assignment"),
    ],
)
def test_bad_assignments(key: Any, value: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        X[key] = value
    assert not X.numpy().any()


def test_what_a_tape_watches_stays() -> None:
    x = pb.constant([1.0, 2.0])
    with pb.GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(
            TypeError, match=r"test_item_assignment.py:\d+\): a tape watches .*copy"
        ):
            x[0] = 3.0
        y = x.copy()
        y[0] = x[1] * 4.0
        z = pb.sum(y)
    assert tape.gradient(z, x).tolist() == [0.0, 5.0]

    def f(x: Any) -> Any:
        x[0] = 1.0
        return pb.sum(x)

    with pytest.raises(TypeError, match="a tape watches"):
        pb.grad(f)(pb.ones(2))


def test_in_traced_functions() -> None:
    outside = pb.ones(2)

    @pb.function
    def fill(x: Any, n: int) -> Any:
        y = pb.zeros(n)
        for k in range(n):
            y[k] = x[k] * x[k]
        y[y > 5.0] = 0.0
        return y

    x = pb.Variable([1.0, 2.0, 3.0])
    assert fill(x, 3).tolist() == [1.0, 4.0, 0.0]
    assert pb.gradients(fill(x, 3), x)[0].tolist() == [2.0, 4.0, 0.0]

    @pb.function
    def change_argument(x: Any) -> None:
        x[0] = 5.0

    @pb.function
    def change_outside(x: Any) -> None:
        outside[0] = x[0]

    @pb.function
    def change_variable(x: Any) -> None:
        v[0] = x[0]
        v[1] += 1.0

    for function, text in (
        (change_argument, r"py:\d+\): this tensor is an argument .*copy"),
        (change_outside, "created outside of the function .*Variable"),
    ):
        with pytest.raises(TypeError, match=text):
            function(pb.ones(2))
    slope = pb.grad(lambda x: change_outside(x) or x[0])
    for function in (pb.vmap(change_outside), pb.vmap(slope)):
        with pytest.raises(TypeError, match=r"created outside of the function .*Variable"):
            function(pb.ones((3, 2)))
    assert outside.tolist() == [1.0, 1.0]
    v = pb.Variable([1.0, 2.0])
    for _ in range(2):
        change_variable(pb.constant([7.0, 8.0]))
    assert v.numpy().tolist() == [7.0, 4.0]


def test_masks_in_a_traced_function_name_where() -> None:
    for f in (
        lambda x: x[x > 0],
        lambda x: x[1:, x[0] > 0],
        lambda x: x.at[x > 0].set([1.0, 2.0]),
        lambda x: x.copy().__setitem__((slice(None), x[0] > 0), 1.0),
    ):
        with pytest.raises(IndexError, match=r"pb\.where"):
            pb.function(f)(np.ones((2, 3)))


def test_an_argument_of_a_custom_gradient_is_what_it_was() -> None:
    @pb.custom_gradient
    def doubled(x: Any) -> Any:
        y = x * 2.0
        x[0] = 100.0
        return y, lambda g: g * 10.0

    v = pb.Variable([1.0, 2.0])
    x = v * 3.0
    z = doubled(x)
    assert z.tolist() == [6.0, 12.0] and x.tolist() == [100.0, 6.0]
    assert pb.gradients(z, v)[0].tolist() == [30.0, 30.0]


def test_tensors_of_tensorflow_do_not_change() -> None:
    from pullback.compat.tf1._graph.tensor import as_eager

    with pytest.raises(TypeError, match="item assignment"):
        as_eager(pb.ones(2))[0] = 1.0
