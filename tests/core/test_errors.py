"""Bad input: the class of the exception, raised by the call that is wrong, with the name of the
operation and what it got in the text. And afterwards everything works as before."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.cases import Case
from support.each import each
from support.table import CASES

import pullback as pb
from pullback import _core

X = pb.constant(np.ones((3, 4), np.float32))
Y = pb.constant(np.ones((5, 2), np.float32))
N = pb.constant(np.arange(3))
S = pb.constant(1.0)

V, T, O = ValueError, TypeError, OverflowError  # noqa: E741
A = np.exceptions.AxisError  # a ValueError and an IndexError

# fmt: off
BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    # --- shapes that do not go together: the operation, both shapes
    (lambda: X + Y, V, r"add: shapes \(3, 4\) and \(5, 2\) do not broadcast"),
    (lambda: X * np.ones(3), V, r"multiply: shapes \(3, 4\) and \(3,\)"),
    (lambda: pb.where(X > 0, X, Y), V, r"where: shapes \(3, 4\) and \(3, 4\) and \(5, 2\)"),
    (lambda: pb.clip(X, np.zeros(3), 1.0), V, "clip: shapes"),
    (lambda: X < Y, V, "less: shapes"),
    (lambda: X == Y, V, "equal: shapes"),
    (lambda: X @ Y, V, r"matmul: .* inner dimensions, got shapes \(3, 4\) and \(5, 2\)"),
    (lambda: X @ X, V, "did you mean transpose"),
    (lambda: X @ S, V, "matmul: .* rank 1 or more"),
    (lambda: 2.0 @ X, V, "matmul: .* rank 1 or more"),
    (lambda: pb.zeros((2, 3, 4)) @ pb.zeros((3, 4, 5)), V, "matmul: .*batch"),
    (lambda: pb.matmul(X, np.ones(5)), V, r"matmul: .*\(3, 4\).*\(5,\)"),
    (lambda: pb.softmax_cross_entropy(X, Y), V, r"softmax_cross_entropy: .*\(3, 4\).*\(5, 2\)"),
    (lambda: pb.softmax_cross_entropy(S, S), V, "softmax_cross_entropy"),
    (lambda: pb.softmax_cross_entropy(X, [0, 1, 2]), V, "; .* use sparse_softmax_cross_entropy$"),
    (lambda: pb.concat([X, Y]), V, r"concat: .* \(3, 4\) for tensor 0 and \(5, 2\) for tensor 1"),
    (lambda: pb.concat([X, S]), V, "concat: .* for tensor 1"),
    (lambda: pb.concat([S, S]), V, "concat: .*stack"),
    (lambda: pb.concat([]), V, "concat: expected at least one tensor"),
    (lambda: pb.stack([X, Y]), V, r"stack: .* \(5, 2\) for tensor 1"),
    (lambda: pb.stack([]), V, "stack: expected at least one tensor"),
    (lambda: pb.split(X, 3, axis=1), V, "split: expected .* to divide 4, .* axis 1, got 3"),
    (lambda: pb.split(X, [3, 1]), V, "split: expected increasing positions from 0 to 3"),
    (lambda: pb.broadcast_to(X, (4, 3)), V, r"broadcast_to: shape \(3, 4\) does not .* \(4, 3\)"),
    (lambda: pb.broadcast_to(X, (4,)), V, "broadcast_to"),
    # --- reshape
    (lambda: pb.reshape(X, (5, 2)), V, r"reshape: .* 12 .* \(3, 4\), got \(5, 2\) \(10"),
    (lambda: pb.reshape(X, (-1, -1)), V, "reshape: expected at most one -1"),
    (lambda: pb.reshape(X, (-2, 6)), V, "reshape: expected axis sizes >= 0"),
    (lambda: pb.reshape(X, (-1, 5)), V, "reshape: expected a shape for 12 elements"),
    (lambda: pb.reshape(pb.zeros((0, 3)), (0, -1)), V, "reshape: expected a shape for 0 elements"),
    (lambda: pb.reshape(X, (2**62, 4)), V, "reshape: .*64 bits"),
    (lambda: pb.reshape(pb.ones(()), (1,) * 17), V, "reshape: expected at most 16 axes"),
    (lambda: pb.reshape(X, "12"), T, "shape"),
    (lambda: pb.reshape(X, (3.0, 4)), T, "expected integers for shape, got 3.0"),
    (lambda: pb.reshape(X, None), T, "shape"),
    # --- axes
    (lambda: pb.sum(X, axis=2), A, r"sum: axis 2 is out of range for a tensor of rank 2"),
    (lambda: pb.sum(X, axis=-3), A, "sum: axis -3"),
    (lambda: pb.max(X, axis=(0, 0)), V, "max: expected distinct axes, got axis 0 twice"),
    (lambda: pb.mean(X, axis=(0, -2)), V, "distinct axes, got axis 0 twice"),
    (lambda: pb.prod(X, axis=5), A, "prod: axis 5"),
    (lambda: pb.logsumexp(X, axis=5), A, "axis 5"),
    (lambda: pb.argmax(X, axis=2), A, "argmax: axis 2"),
    (lambda: pb.argmax(X, axis=(0, 1)), T, r"argmax: expected an integer for axis, got \(0, 1\)"),
    (lambda: pb.stack(X, X), T, "stack: expected an integer for axis, got a Tensor of shape"),
    (lambda: pb.sum(S, axis=0), A, "it has no axes"),
    (lambda: pb.softmax(X, axis=2), A, "softmax: axis 2"),
    (lambda: pb.softmax(S), A, "softmax: axis -1"),
    (lambda: pb.log_softmax(X, axis=-3), A, "log_softmax: axis -3"),
    (lambda: pb.sum(X, axis=1.0), T, "sum: expected an integer or .* for axis, got 1.0"),
    (lambda: pb.sum(X, axis="0"), T, "sum: expected an integer .* for axis"),
    (lambda: pb.transpose(X, (0,)), V, "transpose: expected 2 axes for a tensor of rank 2, got 1"),
    (lambda: pb.transpose(X, (0, 0)), V, "transpose: expected distinct axes, got axis 0 twice"),
    (lambda: pb.transpose(X, (0, 2)), A, "transpose: axis 2"),
    (lambda: pb.expand_dims(X, 3), A, "expand_dims: axis 3"),
    (lambda: pb.expand_dims(X, (0, 0)), V, "distinct axes, got axis 0 twice"),
    (lambda: pb.squeeze(X, 0), V, r"squeeze: expected size 1 for axis 0, got 3 in shape \(3, 4\)"),
    (lambda: pb.squeeze(X, 2), A, "squeeze: axis 2"),
    (lambda: pb.concat([X, X], axis=2), A, "concat: axis 2"),
    (lambda: pb.stack([X, X], axis=4), A, "stack: axis 4"),
    (lambda: pb.take(X, [0], axis=2), A, "take: axis 2"),
    # --- nothing to reduce
    (lambda: pb.max(pb.zeros((0, 3)), axis=0), V, r"max: .* along axis 0, got shape \(0, 3\)"),
    (lambda: pb.min(pb.zeros(0)), V, "min: expected at least one element"),
    (lambda: pb.argmin(pb.zeros(0)), V, "argmin: expected at least one element"),
    (lambda: pb.logsumexp(pb.zeros(0)), V, "expected at least one element"),
    # --- dtypes
    (lambda: pb.constant(True) + True, T, "add: expected numbers, got bool"),
    (lambda: -(X > 0), T, "negative: expected numbers, got bool"),
    (lambda: (X > 0) @ (X > 0).T, T, "matmul: expected numbers, got bool"),
    (lambda: X & X, T, "bitwise_and: expected integers or bool, got float32"),
    (lambda: X | X, T, "bitwise_or: expected integers or bool, got float32"),
    (lambda: ~X, T, "bitwise_invert: expected integers or bool, got float32"),
    (lambda: pb.astype(X, "U3"), T, "unsupported dtype <U3"),
    (lambda: pb.astype(X, "quux"), T, "unknown dtype 'quux'; expected bool, int8"),
    (lambda: pb.astype(X, None), T, "dtype"),
    (lambda: pb.constant([1.0], dtype=list), T, "dtype"),
    (lambda: pb.one_hot([1.0], 3), T, "one_hot: expected integers for indices, got float32"),
    (lambda: pb.one_hot([1], -1), V, "one_hot: expected an integer >= 0 for depth, got -1"),
    (lambda: X + 2**70, O, "int64"),
    # --- what is no number
    (lambda: X + "a", T, "unsupported operand"),
    (lambda: X + None, T, "unsupported operand"),
    (lambda: [1.0] @ {}, T, "unsupported operand"),
    (lambda: X * object(), T, "unsupported operand"),
    (lambda: pb.add(X, "a"), T, "add: expected numbers"),
    (lambda: pb.exp(None), T, "exp: expected numbers"),
    (lambda: pb.sum({}), T, "expected numbers"),
    (lambda: pb.matmul(X, object()), T, "expected numbers"),
    (lambda: pb.constant(1j, "float32"), T, "imaginary part"),
    (lambda: pb.add(X, [[1.0], [1.0, 2.0]]), V, "add: .*ragged"),
    # --- how functions are called
    (lambda: pb.exp(), T, "exp"),
    (lambda: pb.exp(X, X), T, "exp"),
    (lambda: pb.add(X), T, "add"),
    (lambda: pb.where(X, X), T, "where"),
    (lambda: pb.matmul(X), T, "matmul"),
    (lambda: pb.sum(X, keepdim=True), T, "keepdim"),
    (lambda: pb.pow(X, 2, 3), T, "pow"),
    (lambda: pow(X, 2, 3), T, "unsupported operand"),
    # --- sizes
    (lambda: pb.zeros((2**40, 2**40)), V, "zeros|full: .*64 bits"),
    (lambda: pb.zeros((2**62, 2**62, 0)), V, "64 bits"),
    (lambda: pb.zeros((-1,)), V, "expected axis sizes >= 0"),
    (lambda: pb.zeros((1,) * 17), V, "(zeros|full): expected at most 16 axes"),
    (lambda: pb.broadcast_to(S, (2**33, 2**33)), V, "64 bits"),
    (lambda: pb.constant(np.zeros((1,) * 17)), V, "constant: expected at most 16 axes"),
    (lambda: pb.eye(-1), V, "eye: expected axis sizes >= 0"),
    (lambda: pb.eye("3"), T, "eye: expected an integer for n_rows, got '3'"),
    (lambda: pb.arange(0, 1, 0), V, "arange: expected a number other than 0 for step, got 0"),
    # --- one number
    (lambda: float(X), V, r"shape \(3, 4\)"),
    (lambda: bool(X), V, r"bool: .* got shape \(3, 4\)"),
    (lambda: X.item(), V, "one element"),
    (lambda: int(pb.zeros(2)), V, "one element"),
    (lambda: [1, 2, 3][S], T, "integer tensor"),
]
# fmt: on


@each("k", range(len(BAD)))
def test_bad_calls(k: int) -> None:
    call, kind, text = BAD[k]
    nodes = _core.status()["live_nodes"]
    with pytest.raises(kind, match=text) as caught:
        call()
    assert type(caught.value) is kind
    del caught
    assert _core.status()["live_nodes"] <= nodes, "the failed call left nodes behind"


@each("pointwise", [case for case in CASES if case.elementwise], ids=str)
def test_bad_arguments_of_every_row(pointwise: Case) -> None:
    """The same for all: shapes that do not broadcast, a wrong number of arguments, no numbers."""
    arity = len(pointwise.domains)
    number = np.float64 if "d" in pointwise.dtypes else np.int64
    dtypes = {"b": bool, "l": np.int64}
    arrays = [pb.constant(np.ones(3, dtypes.get(d.dtype, number))) for d in pointwise.domains]
    with pytest.raises(TypeError, match=pointwise.op):
        pointwise.run(*arrays, arrays[-1])
    if pointwise.op not in ("clip", "zeta"):  # whose last arguments may be left out
        with pytest.raises(TypeError, match=pointwise.op):
            pointwise.run(*arrays[:-1])
    for k in range(arity):
        for wrong, kind in [("text", TypeError), (object(), TypeError), ([[1.0], 2.0], ValueError)]:
            arguments = [wrong if i == k else arrays[i] for i in range(arity)]
            with pytest.raises(kind, match=f"{pointwise.op}: "):
                pointwise.run(*arguments)
        if arity > 1:
            large = pb.ones((2, 4), arrays[k].dtype)
            arguments = [large if i == k else arrays[i] for i in range(arity)]
            text = rf"{pointwise.op}: shapes .*\(2, 4\).* do not broadcast"
            with pytest.raises(ValueError, match=text):
                pointwise.run(*arguments)
    if pointwise.dtypes == "ilfd" and pointwise.result == "same":
        with pytest.raises(TypeError, match=f"{pointwise.op}: expected numbers, got bool"):
            pointwise.run(*[np.ones(3, bool)] * arity)


def test_memory_that_cannot_be_had_is_a_memory_error() -> None:
    huge = pb.zeros((2**20, 2**20, 2**10)) + 1  # 2^52 bytes: fine until somebody looks
    for _ in range(2):
        with pytest.raises(MemoryError, match="cannot allocate"):
            huge.numpy()
    assert pb.sum(pb.zeros((2**9, 2**10)) + 1).item() == 2**19


def test_a_failure_loses_nothing_and_the_next_call_works() -> None:
    x = pb.Variable(np.arange(4.0))
    good = pb.exp(x)
    bad = pb.take(good, pb.constant([7]) + 0, axis=0)
    both = pb.sum(good) + pb.sum(bad)
    before = _core.status()
    for result in (bad, both):
        with pytest.raises(IndexError, match=r"take: index 7 .* size 4"):
            result.numpy()
    with pytest.raises(IndexError):
        pb.evaluate(good, bad)
    after = _core.status()
    for key in ("live_nodes", "live_buffers", "live_bytes"):
        assert after[key] == before[key]
    assert np.array_equal(good.numpy(), np.exp(np.arange(4.0)))
    (g,) = pb.gradients(pb.sum(good), [x])
    assert np.array_equal(g.numpy(), good.numpy())


def test_a_pending_update_that_fails_does_not_hurt_others() -> None:
    table, other = pb.Variable(np.arange(3.0)), pb.Variable(np.float64(1.0))
    table.assign(pb.take(table, pb.constant([0, 1, 9]) + 0, axis=0))
    other.assign_add(1.0)
    assert float(other) == 2.0
    assert pb.sum(pb.constant([1.0, 2.0])).item() == 3.0
    for _ in range(2):
        with pytest.raises(IndexError, match="index 9"):
            table.numpy()
    table.assign(np.zeros(3))
    assert table.numpy().tolist() == [0.0] * 3


def test_errors_are_raised_on_the_thread_that_evaluates() -> None:
    caught: list[BaseException] = []

    def work() -> None:
        try:
            pb.take(X, pb.constant([99]) + 0, axis=0).numpy()
        except BaseException as error:
            caught.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [type(e) for e in caught] == [IndexError] * 4


# --- variables


def test_assignments_are_checked() -> None:
    v = pb.Variable(np.zeros((2, 3), np.float32), name="weights")
    n = pb.Variable(np.zeros(2, np.int64), name="counts")
    for call, kind, text in [
        (
            lambda: v.assign(np.zeros(3, np.float32)),
            ValueError,
            r"expected shape \(2, 3\) for variable 'weights', got \(3,\)",
        ),
        (
            lambda: v.assign(np.zeros((2, 3))),
            TypeError,
            "float32 for variable 'weights', got float64",
        ),
        (lambda: v.assign_add(np.ones((2, 3))), TypeError, "assign_add: .*weights.*cast"),
        (
            lambda: v.assign_sub(np.ones((3, 2), np.float32)),
            ValueError,
            r"assign_sub: .* shape \(2, 3\) for variable 'weights', got shape \(3, 2\)",
        ),
        (lambda: n.assign(1.5), TypeError, "int64 for variable 'counts', got a float"),
        (lambda: n.assign_add(0.5), TypeError, "'counts'"),
        (lambda: v.assign("abc"), TypeError, "assign"),
        (lambda: v.assign(None), TypeError, "assign"),
    ]:
        with pytest.raises(kind, match=text):
            call()
    assert v.numpy().tolist() == [[0.0] * 3] * 2 and n.numpy().tolist() == [0, 0]


# --- gradients


def test_gradients_checks_its_arguments() -> None:
    x = pb.Variable(np.ones((2, 3)), name="x")
    y = x * x
    for call, kind, text in [
        (lambda: pb.gradients(y, [1.0]), TypeError, r"for xs\[0\], got 1.0"),
        (lambda: pb.gradients([y, None], [x]), TypeError, r"for ys\[1\], got None"),
        (lambda: pb.gradients(y, [x, "x"]), TypeError, r"for xs\[1\], got 'x'"),
        (lambda: pb.gradients(y, x, stop_gradients=[2]), TypeError, r"stop_gradients\[0\]"),
        (
            lambda: pb.gradients(y, x, grad_ys=[1.0, 2.0]),
            ValueError,
            "expected 1 entry for 1 target, got 2",
        ),
        (lambda: pb.gradients(y, x, grad_ys=np.ones(3)), ValueError, r"\(2, 3\).* got \(3,\)"),
        (
            lambda: pb.gradients(y, x, grad_ys=np.ones((2, 3), "f4")),
            TypeError,
            "float64, got float32",
        ),
        (lambda: pb.gradients(y, x, unconnected_gradients="no"), ValueError, "unconnected"),
        (lambda: pb.gradients(y, pb.constant(1.0)), ValueError, "not tracked.*Variable"),
    ]:
        with pytest.raises(kind, match=text):
            call()
    assert pb.gradients(y, [x])[0].numpy().tolist() == [[2.0] * 3] * 2
    assert pb.gradients(y, []) == []
    assert pb.gradients(pb.constant(1.0), x) == [None]


RULES = [
    (
        lambda g: (g, g),
        ValueError,
        "expected 1 gradient(, one for each input, .*| for its arguments), got 2",
    ),
    (lambda g: pb.sum(g), ValueError, r"shape \(3,\) .* got \(\)"),
    (lambda g: pb.astype(g, "float32"), TypeError, "float64 .* got float32"),
    (lambda g: "no", TypeError, "str|expected"),
]


@pytest.mark.parametrize("rule, kind, text", RULES)
def test_what_a_rule_returns_is_checked(rule: Any, kind: type[Exception], text: str) -> None:
    @pb.custom_gradient
    def bent(x: Any) -> Any:
        return x * 2, rule

    x = pb.Variable(np.ones(3))
    with pytest.raises(kind, match=text):
        pb.gradients(bent(x), [x])
    with (
        pytest.raises(kind, match=text),
        pb.gradient_override_map({"sin": lambda op, g: rule(g)}),
    ):
        pb.gradients(pb.sin(x), [x])
    assert pb.gradients(pb.sin(x), [x])[0].numpy().tolist() == np.cos(np.ones(3)).tolist()


def test_a_rule_that_raises_leaves_everything_as_it_was() -> None:
    class MineError(Exception):
        pass

    @pb.custom_gradient
    def broken(x: Any) -> Any:
        def rule(g: Any) -> Any:
            raise MineError("inside")

        return x * 2, rule

    x = pb.Variable(np.ones(3))
    y = broken(x)
    for _ in range(2):
        with pytest.raises(MineError, match="inside"):
            pb.gradients(y, [x])
    assert y.numpy().tolist() == [2.0] * 3


def test_unknown_names_in_an_override_map() -> None:
    with pytest.raises(LookupError, match=r"tahn.*tanh"):
        pb.gradient_override_map({"tahn": lambda op, g: g})
    with pytest.raises(TypeError, match="sin"):
        pb.gradient_override_map({"sin": 3})
