"""gradients() and stop_gradient(): what they answer, to the number, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from support.each import each

import pullback as pb


def listed(answers):
    return [None if g is None else g.numpy().tolist() for g in answers]


def var(value, **more):
    return pb.Variable(value, **more)


# --- what the answer is


def test_result_is_a_list_in_the_order_of_xs():
    x, y = var(3.0), var(5.0)
    for xs in (x, [x], (x,)):
        answer = pb.gradients(x * x * y, xs)
        assert isinstance(answer, list) and listed(answer) == [30.0]
    assert listed(pb.gradients(xs=[y, x], ys=x * x * y)) == [9.0, 30.0]
    assert listed(pb.gradients(x * x, [x, x])) == [6.0, 6.0]
    assert pb.gradients(x * x, []) == []
    assert pb.gradients([], [x]) == [None]


def test_a_y_that_is_an_x_counts():
    a = var(3.0).read()
    assert listed(pb.gradients([a, a * a], [a])) == [7.0]
    assert listed(pb.gradients(a, a)) == [1.0]
    v = var([1.0, 2.0])
    assert listed(pb.gradients(v, v)) == [[1.0, 1.0]]


def test_ys_are_summed_and_intermediates_are_total_derivatives():
    a = var(3.0)
    b = a * a
    c = a * b
    assert listed(pb.gradients([b, c], [a, b])) == [33.0, 4.0]
    y = a * a
    assert listed(pb.gradients(y * a, [y, a])) == [3.0, 27.0]


def test_total_derivative_and_stop_gradients():
    a = var(0.0)
    b = 2 * a
    assert listed(pb.gradients(a + b, [a, b])) == [3.0, 1.0]
    assert listed(pb.gradients(a + b, [a, b], stop_gradients=[a, b])) == [1.0, 1.0]


def test_stop_gradients_cuts_what_lies_before():
    a = var(2.0)
    b = 3 * a
    assert listed(pb.gradients(b * b, [a, b], stop_gradients=[b])) == [None, 12.0]
    assert listed(pb.gradients(b, [a], stop_gradients=b)) == [None]
    assert listed(pb.gradients(b, [b], stop_gradients=[b])) == [1.0]
    w = var(5.0)
    assert listed(pb.gradients(a * w, [a, w], stop_gradients=[w])) == [5.0, 2.0]


def test_stop_gradients_is_about_one_tensor_not_one_operation():
    x = var([1.0, 2.0])
    a, b = pb.split(x, 2)
    assert listed(pb.gradients(3 * a + 5 * b, [x], stop_gradients=[a])) == [[0.0, 5.0]]
    assert listed(pb.gradients(3 * pb.stop_gradient(a) + 5 * b, [x])) == [[0.0, 5.0]]


def test_made_after_y_is_unconnected():
    x = var([1.0, 2.0])
    y = pb.sum(x * x)
    part = x[0]
    assert pb.gradients(y, [part]) == [None]
    assert pb.gradients(y, [pb.identity(x)]) == [None]
    assert listed(pb.gradients(y, [part], unconnected_gradients="zero")) == [0.0]


def test_none_is_no_path_and_zero_is_a_path():
    w1, w2 = var(2.0), var(2.0)
    answer = pb.gradients(w2 * pb.stop_gradient(3 * w1), [w1, w2])
    assert repr(answer) == "[None, Tensor(6., dtype=float32)]"
    assert answer[1].shape == () and answer[1].dtype == np.float32
    assert listed(pb.gradients(pb.sign(w1), [w1])) == [0.0]
    assert listed(pb.gradients(w1 * 0, [w1])) == [0.0]


def test_zero_mode_gives_zeros_of_the_dtype_and_shape():
    x, n = var(np.ones((2, 3))), var([1, 2])
    used = var(1.0)
    zeros = pb.gradients(used * 2, [x, n, used], unconnected_gradients="zero")
    assert [z.shape for z in zeros] == [(2, 3), (2,), ()]
    assert [z.dtype for z in zeros] == [pb.float64, pb.int64, pb.float32]
    assert listed(zeros)[2] == 2.0


@pytest.mark.parametrize("mode", ["ZERO", "Zero", "None", None, 0, ""])
def test_unknown_mode(mode):
    x = var(1.0)
    with pytest.raises(ValueError, match="unconnected_gradients"):
        pb.gradients(x, x, unconnected_gradients=mode)


def test_variable_is_the_sum_over_its_reads():
    v = var(2.0)
    first = v.read()
    y = v * v
    v.assign(10.0)
    z = v * v
    assert listed(pb.gradients([y, z], v)) == [24.0]
    assert listed(pb.gradients([y, z], first)) == [4.0]


def test_reads_of_a_variable_are_one_tensor_until_it_is_assigned():
    v = var(2.0)
    first, second, own, other = v.read(), v.read(), pb.identity(v), pb.identity(v)
    y = first * 3.0 + v * 5.0 + own * 7.0
    assert listed(pb.gradients(y, [first, second, own, other, v])) == [15.0, 15.0, 7.0, None, 15.0]
    v.assign(10.0)
    assert listed(pb.gradients(y, v.read())) == [None]


def test_assignment_is_not_differentiable():
    x, v = var(3.0), var(1.0)
    v.assign(x * x)
    assert listed(pb.gradients(3 * v, [x, v])) == [None, 3.0]


# --- grad_ys


def test_grad_ys_weigh_the_elements():
    x = var([1.0, 2.0, 3.0])
    weights = pb.constant([1.0, 10.0, 100.0])
    assert listed(pb.gradients(x * x, x, weights)) == [[2.0, 40.0, 600.0]]
    assert listed(pb.gradients(x * x, x, [[1, 10, 100]])) == [[2.0, 40.0, 600.0]]
    s = var(3.0)
    assert listed(pb.gradients([s * s, 2 * s], s, grad_ys=[0.5, 10.0])) == [23.0]
    assert listed(pb.gradients([s * s, 2 * s], s, grad_ys=[None, 10])) == [26.0]
    assert listed(pb.gradients([s * s], s, grad_ys=[None])) == [6.0]


@pytest.mark.parametrize("two", [2, 2.0, np.float32(2), pb.constant(2.0)])
def test_a_scalar_grad_y_broadcasts(two):
    x = var([1.0, 2.0, 3.0])
    assert listed(pb.gradients(x * x, x, grad_ys=two)) == [[4.0, 8.0, 12.0]]
    assert listed(pb.gradients(pb.identity(x), x, grad_ys=two)) == [[2.0, 2.0, 2.0]]


def test_grad_ys_take_part_in_later_differentiation():
    x = var(3.0)
    g = pb.gradients(x * x, x, grad_ys=x)[0]
    assert float(g) == 18.0
    assert listed(pb.gradients(g, x)) == [12.0]


def test_forward_mode_by_differentiating_twice():
    x = var([2.0, 3.0])
    y = pb.stack([x[0] * x[1], x[0] ** 2])
    v = var([0.0, 0.0])
    g = pb.gradients(y, x, grad_ys=v)[0]
    jvp = pb.gradients(g, v, grad_ys=pb.constant([1.0, 10.0]))[0]
    np.testing.assert_allclose(jvp.numpy(), [3 + 2 * 10, 4.0])


@pytest.mark.parametrize(
    ("weights", "error", "words"),
    [
        ([1.0, 2.0], ValueError, ["grad_ys", "2", "1"]),
        ([], ValueError, ["grad_ys", "0", "1"]),
        (pb.constant([1.0, 2.0]), ValueError, ["grad_ys[0]", "(2,)", "(3,)"]),
        (np.ones(3), TypeError, ["grad_ys[0]", "float64", "float32"]),
        (pb.constant([1, 2, 3]), TypeError, ["grad_ys[0]", "int64", "float32"]),
        ("x", TypeError, ["str"]),
    ],
)
def test_grad_ys_are_checked_up_front(weights, error, words):
    x = var([1.0, 2.0, 3.0])
    with pytest.raises(error) as caught:
        pb.gradients(x * x, x, grad_ys=weights)
    assert all(word in str(caught.value) for word in words)
    assert listed(pb.gradients(x * x, x)) == [[2.0, 4.0, 6.0]]


# --- higher orders


def test_orders_of_a_power():
    x = var(2.0)
    y = x**4
    orders = []
    for _ in range(5):
        y = pb.gradients(y, x)[0]
        orders.append(float(y))
    assert orders == [32.0, 48.0, 48.0, 24.0, 0.0]


def test_second_derivative_of_a_linear_function_is_none():
    x = var(2.0)
    g = pb.gradients(3 * x, x)[0]
    assert pb.gradients(g, x) == [None]
    assert listed(pb.gradients(g, x, unconnected_gradients="zero")) == [0.0]


def test_gradient_penalty():
    x = var([1.0, -1.0])
    g = pb.gradients(pb.sum(x**3), x)[0]
    penalty = pb.sum(g * g)
    np.testing.assert_allclose(pb.gradients(penalty, x)[0].numpy(), [36.0, -36.0])


def test_hessian_vector_product():
    x = var([1.0, 2.0])
    g = pb.gradients(x[0] ** 2 * x[1], x)[0]
    assert listed(pb.gradients(pb.sum(g * pb.stop_gradient(pb.ones(2))), x)) == [[6.0, 2.0]]


# --- integers


def test_integers_are_not_differentiable():
    n = var(3)
    with pytest.warns(UserWarning, match="gradients: a source of int64 has no gradient"):
        assert pb.gradients(n * n, [n]) == [None]
    x = var(2.5)
    through = pb.cast(pb.cast(x, "int32"), "float32")
    assert listed(pb.gradients(through * x, x)) == [2.0]
    assert pb.gradients(pb.argmax(var([1.0, 2.0])), [x]) == [None]
    assert pb.gradients(x > 1, [x]) == [None]


def test_an_untracked_integer_has_no_gradient_either():
    x = var(2.5)
    with pytest.warns(UserWarning, match="gradients: a source of int64 has no gradient"):
        assert pb.gradients(x * 2, [pb.constant(3)]) == [None]


# --- stop_gradient


def test_stop_gradient():
    x = var(3.0)
    y = pb.stop_gradient(x)
    assert pb.gradients(y, [x]) == [None]
    assert listed(pb.gradients(y, [y])) == [1.0]
    assert listed(pb.gradients(x * pb.stop_gradient(x), x)) == [3.0]
    assert pb.stop_gradient([1, 2]).dtype == np.int64
    assert pb.stop_gradient(True).numpy() == np.True_


def test_stopped_branch_beside_a_live_one():
    a, b = var(1.0), var(1.0)
    assert listed(pb.gradients(pb.stop_gradient(a + b) + (a + b), [a, b])) == [1.0, 1.0]


# --- what is refused


def test_untracked_x():
    x, w = pb.constant([1.0, 2.0]), var(2.0)
    with pytest.raises(ValueError, match=r"xs\[1\].*not tracked.*Variable.*GradientTape.*grad"):
        pb.gradients(w * pb.sum(x), [w, x])


def test_untracked_ys():
    x = pb.constant(2.0)
    y = x * x
    with pb.GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(ValueError, match=r"history was not kept.*before they are used"):
            pb.gradients(y, [x])
        assert listed(pb.gradients([y, x * 3], [x])) == [3.0]
    w = var(2.0)  # nothing made from a variable loses its history
    assert pb.gradients(y, [w]) == [None]


@pytest.mark.parametrize("wrong", [None, 3.0, "x", np.ones(2), [1.0], {"x": 1}, object()])
def test_what_is_not_a_tensor(wrong):
    x = var(1.0)
    with pytest.raises(TypeError, match=r"for xs\[1\], got"):
        pb.gradients(x * x, [x, wrong])
    with pytest.raises(TypeError, match=r"for ys\[1\], got"):
        pb.gradients([x * x, wrong], x)
    with pytest.raises(TypeError, match=r"for stop_gradients\[1\], got"):
        pb.gradients(x * x, x, stop_gradients=[x, wrong])
    assert listed(pb.gradients(x * x, x)) == [2.0]


def test_wrong_number_of_arguments():
    x = var(1.0)
    with pytest.raises(TypeError):
        pb.gradients(x)
    with pytest.raises(TypeError):
        pb.gradients(x, x, None, [x])  # stop_gradients only by name


@pytest.mark.parametrize("weight", [2, np.int64(2), np.float32(2), np.float64(2), np.int8(2)])
def test_weights_that_are_numbers_of_numpy(weight):
    for dtype in ("float32", "float64"):
        x = pb.Variable([3.0, 4.0], dtype=dtype)
        g = pb.gradients(x * x, x, grad_ys=weight)[0]
        assert g.dtype == dtype and g.numpy().tolist() == [12.0, 16.0]


# --- by results of operations that have nothing to do

SAME = {
    "reshape": lambda x: pb.reshape(x, (2,)),
    "ravel": pb.ravel,
    "transpose": pb.transpose,
    "T": lambda x: x.T,
    "permute_dims": lambda x: pb.permute_dims(x, (0,)),
    "moveaxis": lambda x: pb.moveaxis(x, 0, 0),
    "broadcast_to": lambda x: pb.broadcast_to(x, (2,)),
    "expand_dims": lambda x: pb.expand_dims(x, ()),
    "squeeze": lambda x: pb.squeeze(x, ()),
    "astype": lambda x: x.astype("float32"),
    "real": pb.real,
    "conj": pb.conj,
    "concat": lambda x: pb.concat([x]),
    "sum": lambda x: pb.sum(x, axis=()),
    "slice": lambda x: x[:],
    "dropout": lambda x: pb.dropout(x, 0.0),
    "view of a view": lambda x: pb.reshape(pb.reshape(x, (2,)), (2,)),
}


@each("name", SAME)
def test_by_a_result_that_is_its_input(name):
    """It counts the uses of the result, not those of the input."""
    x = var([1.0, 2.0]) * 1
    same, again = SAME[name](x), SAME[name](x)
    y = pb.sum(same * 2 + again * 3 + x * 5)
    assert [listed([g])[0] for g in pb.gradients(y, [same, again, x])] == [
        [2] * 2,
        [3] * 2,
        [10] * 2,
    ]
    assert listed(pb.gradients(pb.sum(x * 2), same)) == [None]
