"""The trap table: kinks, ties, edges of domains, infinities, NaN, zeros that stay zero. One row for
each trap that concerns an operation we have: value, gradient, and second order where it is
interesting. Every row runs in float32 and float64."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

inf, nan = math.inf, math.nan


@dataclass(frozen=True)
class Trap:
    id: str
    f: Callable[..., Any]
    xs: tuple[Any, ...]
    value: Any
    grads: tuple[Any, ...]  # one per argument, of the sum of the value
    second: tuple[Any, ...] | None = None  # of the sum of the gradients: the Hessian times ones
    dtypes: tuple[str, ...] = ("float32", "float64")


def one(id: str, f: Any, x: Any, value: Any, grad: Any, second: Any = None, **more: Any) -> Trap:
    """A function of one argument."""
    return Trap(id, f, (x,), value, (grad,), None if second is None else (second,), **more)


def log_where_positive(x: Any) -> Any:
    return pb.where(x > 0, pb.log(x), 0.0)


def entropy(x: Any) -> Any:
    return pb.where(x > 0, x * pb.log(x), 0.0)


def root_where_positive(x: Any) -> Any:
    return pb.where(x > 0, pb.sqrt(x), 0.0)


def double_where(x: Any) -> Any:
    return pb.where(x > 0, pb.log(pb.where(x > 0, x, 1.0)), 0.0)


def lse(x: Any) -> Any:
    return pb.logsumexp(x)


def cross_entropy(labels: list[float]) -> Any:
    def f(x: Any) -> Any:
        return pb.softmax_cross_entropy(x, pb.constant(np.asarray(labels, x.dtype)))

    return f


SIGMOID_40 = 4.248354255291589e-18
TANH_20 = 1.6993417021166356e-17
EXP_100 = 3.720075976020836e-44
LOG_2 = 0.6931471805599453

F32, F64 = ("float32",), ("float64",)
# fmt: off
TRAPS = [
    # --- kinks: the subgradient of least norm
    one("abs(0)", pb.abs, 0.0, 0.0, 0.0, 0.0),
    one("abs(-0)", pb.abs, -0.0, 0.0, 0.0),
    one("relu6(0), (6)", pb.nn.relu6, [0.0, 6.0, 3.0], [0.0, 6.0, 3.0], [0.0, 0.0, 1.0]),
    one("relu6(nan)", pb.nn.relu6, [nan, inf, -inf], [nan, 6.0, 0.0], [nan, 0.0, 0.0]),
    one("hard_sigmoid(-3), (3)", pb.nn.hard_sigmoid, [-3.0, 3.0], [0.0, 1.0], [0.0, 0.0]),
    one("hard_silu(-3), (3)", pb.nn.hard_silu, [-3.0, 3.0], [-0.0, 3.0], [0.0, 1.0]),
    one("hard_tanh(-1), (1)", pb.nn.hard_tanh, [-1.0, 1.0], [-1.0, 1.0], [1.0, 1.0]),
    one("elu(0)", pb.nn.elu, [0.0, 1e4, nan], [0.0, 1e4, nan], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]),
    one("celu(0)", lambda x: pb.nn.celu(x, 2.0), [0.0, 1e4], [0.0, 1e4], [1.0, 1.0], [0.0, 0.0]),
    one("selu(0)", pb.nn.selu, 0.0, 0.0, 1.0507009873554805, 0.0),
    one("leaky_relu(0)", lambda x: pb.nn.leaky_relu(x, 0.1), 0.0, 0.0, 0.1, 0.0),
    one("relu(0)", pb.relu, 0.0, 0.0, 0.0, 0.0),
    one("relu(-0)", pb.relu, -0.0, 0.0, 0.0),
    one("relu(nan)", pb.relu, nan, nan, nan),
    one("relu(inf)", pb.relu, inf, inf, 1.0, 0.0),
    one("relu(-inf)", pb.relu, -inf, 0.0, 0.0, 0.0),
    one("sign(0)", pb.sign, 0.0, 0.0, 0.0),
    one("sign(nan)", pb.sign, nan, nan, 0.0),
    one("round half to even", pb.round, [0.5, 1.5, 2.5, -0.5], [0.0, 2.0, 2.0, -0.0], [0.0] * 4),
    one("floor ceil", lambda x: pb.floor(x) + pb.ceil(x), [1.0, -0.5], [2.0, -1.0], [0.0, 0.0]),
    # --- ties share equally; a NaN takes value and gradient
    Trap("maximum tie", pb.maximum, (1.0, 1.0), 1.0, (0.5, 0.5), (0.0, 0.0)),
    Trap("minimum tie", pb.minimum, (1.0, 1.0), 1.0, (0.5, 0.5), (0.0, 0.0)),
    Trap("maximum of zeros", pb.maximum, (-0.0, 0.0), 0.0, (0.5, 0.5)),
    Trap("minimum of zeros", pb.minimum, (0.0, -0.0), -0.0, (0.5, 0.5)),
    Trap("maximum(inf, inf)", pb.maximum, (inf, inf), inf, (0.5, 0.5)),
    Trap("maximum(nan, 1)", pb.maximum, (nan, 1.0), nan, (1.0, 0.0)),
    Trap("maximum(1, nan)", pb.maximum, (1.0, nan), nan, (0.0, 1.0)),
    Trap("minimum(nan, 1)", pb.minimum, (nan, 1.0), nan, (1.0, 0.0)),
    Trap("minimum(1, nan)", pb.minimum, (1.0, nan), nan, (0.0, 1.0)),
    Trap("maximum(nan, nan)", pb.maximum, (nan, nan), nan, (0.5, 0.5)),
    Trap("maximum(nan, inf)", pb.maximum, (nan, inf), nan, (1.0, 0.0)),
    one("max tie", pb.max, [3.0, 1.0, 3.0], 3.0, [0.5, 0.0, 0.5], [0.0] * 3),
    one("min tie", pb.min, [3.0, 1.0, 1.0, 1.0], 1.0, [0.0, 1 / 3, 1 / 3, 1 / 3]),
    one("max with nan", pb.max, [5.0, nan, 2.0], nan, [0.0, 1.0, 0.0]),
    one("min with nans", pb.min, [nan, 1.0, nan], nan, [0.5, 0.0, 0.5]),
    one("max of -inf", pb.max, [-inf, -inf], -inf, [0.5, 0.5]),
    # --- clip: closed interval; crossed bounds give the upper one
    Trap("clip at upper", pb.clip, (1.0, -1.0, 1.0), 1.0, (1.0, 0.0, 0.0)),
    Trap("clip at lower", pb.clip, (-1.0, -1.0, 1.0), -1.0, (1.0, 0.0, 0.0)),
    Trap("clip above", pb.clip, (2.0, -1.0, 1.0), 1.0, (0.0, 0.0, 1.0)),
    Trap("clip below", pb.clip, (-2.0, -1.0, 1.0), -1.0, (0.0, 1.0, 0.0)),
    Trap("clip crossed", pb.clip, (0.0, 1.0, -1.0), -1.0, (0.0, 0.0, 1.0)),
    Trap("clip crossed below", pb.clip, (-5.0, 1.0, -1.0), -1.0, (0.0, 0.0, 1.0)),
    Trap("clip infinite bounds", pb.clip, (3.0, -inf, inf), 3.0, (1.0, 0.0, 0.0)),
    Trap("clip(nan)", pb.clip, (nan, -1.0, 1.0), nan, (1.0, 0.0, 0.0)),
    Trap("clip nan bound", pb.clip, (0.0, nan, 1.0), nan, (0.0, 1.0, 0.0)),
    # --- edges of domains
    one("sqrt(0)", pb.sqrt, 0.0, 0.0, inf, -inf),
    one("sqrt(-0)", pb.sqrt, -0.0, -0.0, inf),
    one("sqrt(-1)", pb.sqrt, -1.0, nan, nan),
    one("sqrt(inf)", pb.sqrt, inf, inf, 0.0),
    one("sqrt(0) ** 2", lambda x: pb.sqrt(x) ** 2, 0.0, 0.0, nan),
    one("log(0)", pb.log, 0.0, -inf, inf),
    one("log(-0)", pb.log, -0.0, -inf, inf),
    one("log(-1)", pb.log, -1.0, nan, nan, nan),
    one("log(inf)", pb.log, inf, inf, 0.0, 0.0),
    one("log1p(-1)", pb.log1p, -1.0, -inf, inf),
    one("log1p(-2)", pb.log1p, -2.0, nan, nan),
    one("log1p(1e-20)", pb.log1p, 1e-20, 1e-20, 1.0, -1.0),
    one("expm1(-40)", pb.expm1, -40.0, -1.0, 4.248354255291589e-18, 4.248354255291589e-18),
    one("rsqrt(0)", lambda x: x ** -0.5, 0.0, inf, -inf),
    one("times 0 at inf", lambda x: x * 0.0, inf, nan, 0.0),
    # --- division
    Trap("0 / 0", pb.divide, (0.0, 0.0), nan, (inf, nan)),
    Trap("1 / 0", pb.divide, (1.0, 0.0), inf, (inf, -inf)),
    Trap("1 / -0", pb.divide, (1.0, -0.0), -inf, (-inf, -inf)),
    Trap("inf / inf", pb.divide, (inf, inf), nan, (0.0, nan)),
    one("x / constant -0", lambda x: x / -0.0, 1.0, -inf, -inf),
    # --- powers
    Trap("pow(0, 0)", pb.pow, (0.0, 0.0), 1.0, (0.0, 0.0)),
    Trap("pow(0, 2)", pb.pow, (0.0, 2.0), 0.0, (0.0, 0.0)),
    Trap("pow(0, 1)", pb.pow, (0.0, 1.0), 0.0, (1.0, 0.0)),
    Trap("pow(0, 0.5)", pb.pow, (0.0, 0.5), 0.0, (inf, 0.0)),
    Trap("pow(0, -1)", pb.pow, (0.0, -1.0), inf, (-inf, nan)),
    Trap("pow(-2, 3)", pb.pow, (-2.0, 3.0), -8.0, (12.0, nan)),
    Trap("pow(-8, 1/3)", pb.pow, (-8.0, 1 / 3), nan, (nan, nan)),
    Trap("pow(2, 0)", pb.pow, (2.0, 0.0), 1.0, (0.0, LOG_2), (0.5, 0.5 + LOG_2**2)),
    Trap("pow(2, 1)", pb.pow, (2.0, 1.0), 2.0, (1.0, 2 * LOG_2),
         (1 + LOG_2, 1 + LOG_2 + 2 * LOG_2**2)),
    one("x ** 0 at 0", lambda x: x**0, 0.0, 1.0, 0.0, 0.0),
    one("x ** 0 at nan", lambda x: x**0, nan, 1.0, 0.0),
    one("x ** 1 at 0", lambda x: x**1, 0.0, 0.0, 1.0, 0.0),
    one("x ** 2 at 0", lambda x: x**2, 0.0, 0.0, 0.0, 2.0),
    one("x ** 2.0 at 0", lambda x: x**2.0, 0.0, 0.0, 0.0, 2.0),
    one("pow(x, 2) at 0", lambda x: pb.pow(x, 2), 0.0, 0.0, 0.0, 2.0),
    one("x ** 3 at 0", lambda x: x**3, 0.0, 0.0, 0.0, 0.0),
    one("x ** 3 at -2", lambda x: x**3, -2.0, -8.0, 12.0, -12.0),
    one("x ** -1 at -2", lambda x: x**-1, -2.0, -0.5, -0.25, -0.25),
    one("0 ** x at 2", lambda x: 0.0**x, 2.0, 0.0, 0.0, 0.0),
    one("0 ** x at 0", lambda x: 0.0**x, 0.0, 1.0, 0.0),
    # --- products with zeros, without division
    one("prod one zero", pb.prod, [2.0, 0.0, 3.0], 0.0, [0.0, 6.0, 0.0], [3.0, 5.0, 2.0]),
    one("prod two zeros", pb.prod, [0.0, 0.0, 3.0], 0.0, [0.0, 0.0, 0.0], [3.0, 3.0, 0.0]),
    one("prod zero first", pb.prod, [0.0, 5.0, 7.0, 2.0], 0.0, [70.0, 0.0, 0.0, 0.0]),
    # --- saturated functions keep their slopes
    one("sigmoid(40)", pb.sigmoid, 40.0, 1.0, SIGMOID_40, -SIGMOID_40),
    one("sigmoid(-40)", pb.sigmoid, -40.0, SIGMOID_40, SIGMOID_40, SIGMOID_40),
    one("sigmoid(1000)", pb.sigmoid, 1000.0, 1.0, 0.0, 0.0),
    one("sigmoid(-inf)", pb.sigmoid, -inf, 0.0, 0.0, 0.0),
    one("tanh(20)", pb.tanh, 20.0, 1.0, TANH_20, -2 * TANH_20),
    one("tanh(-20)", pb.tanh, -20.0, -1.0, TANH_20, 2 * TANH_20),
    one("tanh(inf)", pb.tanh, inf, 1.0, 0.0, 0.0),
    one("softplus(100)", pb.softplus, 100.0, 100.0, 1.0, EXP_100),
    one("softplus(-100)", pb.softplus, -100.0, EXP_100, EXP_100, EXP_100),
    one("softplus(1000)", pb.softplus, 1000.0, 1000.0, 1.0, 0.0),
    one("softplus(-1000)", pb.softplus, -1000.0, 0.0, 0.0, 0.0),
    one("softplus(inf)", pb.softplus, inf, inf, 1.0, 0.0),
    one("softplus(-inf)", pb.softplus, -inf, 0.0, 0.0, 0.0),
    one("softplus(0)", pb.softplus, 0.0, LOG_2, 0.5, 0.25),
    # --- and formulas are computed as written
    one("log(1+exp(100))", lambda x: pb.log(1 + pb.exp(x)), 100.0, inf, nan, dtypes=F32),
    one("log(1+exp(100)) ", lambda x: pb.log(1 + pb.exp(x)), 100.0, 100.0, 1.0, dtypes=F64),
    one("log1p(exp(1000))", lambda x: pb.log1p(pb.exp(x)), 1000.0, inf, nan),
    one("log1p(exp(-100))", lambda x: pb.log1p(pb.exp(x)), -100.0, EXP_100, EXP_100, EXP_100),
    one("log1p(exp(-1000))", lambda x: pb.log1p(pb.exp(x)), -1000.0, 0.0, 0.0, 0.0),
    one("log(exp(1000))", lambda x: pb.log(pb.exp(x)), 1000.0, inf, nan),
    # --- logsumexp, softmax, cross entropy
    one("logsumexp [-inf, 0]", lse, [-inf, 0.0], 0.0, [0.0, 1.0], [0.0, 0.0]),
    one("logsumexp -inf", lse, [-inf, -inf], -inf, [0.0, 0.0], [0.0, 0.0]),
    one("logsumexp [inf, 0]", lse, [inf, 0.0], inf, [1.0, 0.0]),
    one("logsumexp [inf, -inf]", lse, [inf, -inf], inf, [1.0, 0.0]),
    one("logsumexp infs", lse, [inf, 2.0, inf], inf, [0.5, 0.0, 0.5]),
    one("logsumexp 1000", lse, [1000.0, 1000.0], 1000.0 + LOG_2, [0.5, 0.5], [0.0, 0.0]),
    one("logsumexp -1000", lse, [-1000.0, -1000.0], -1000.0 + LOG_2, [0.5, 0.5]),
    one("logsumexp rows", lambda x: pb.logsumexp(x, axis=1), [[-inf, -inf], [0.0, -inf]],
        [-inf, 0.0], [[0.0, 0.0], [1.0, 0.0]]),
    one("softmax 1000", pb.softmax, [1000.0, -1000.0], [1.0, 0.0], [0.0, 0.0], [0.0, 0.0]),
    one("softmax -inf", pb.softmax, [-inf, -inf], [nan, nan], [nan, nan]),
    one("softmax one -inf", pb.softmax, [0.0, -inf], [1.0, 0.0], [0.0, 0.0]),
    one("log_softmax 1000", lambda x: pb.log_softmax(x)[0], [1000.0, 0.0], 0.0, [0.0, 0.0]),
    one("cross entropy 1000", cross_entropy([0.0, 1.0]), [1000.0, -1000.0], 2000.0, [1.0, -1.0]),
    one("cross entropy huge", cross_entropy([1.0, 0.0]), [1e38, 0.0], 0.0, [0.0, 0.0]),
    one("cross entropy, label 0 at -inf", cross_entropy([1.0, 0.0]), [0.0, -inf], 0.0, [0.0, 0.0],
        [0.0, 0.0]),
    one("cross entropy, label 1 at -inf", cross_entropy([0.0, 1.0]), [0.0, -inf], inf, [1.0, -1.0]),
    # --- structural zeros never meet an infinity
    one("where log at 0", log_where_positive, 0.0, 0.0, 0.0, 0.0),
    one("where log at -1", log_where_positive, -1.0, 0.0, 0.0, 0.0),
    one("where log in a vector", log_where_positive, [0.0, 2.0, -1.0], [0.0, LOG_2, 0.0],
        [0.0, 0.5, 0.0], [0.0, -0.25, 0.0]),
    one("where x log x at 0", entropy, 0.0, 0.0, 0.0, 0.0),
    one("where x log x in a vector", entropy, [0.0, 1.0], [0.0, 0.0], [0.0, 1.0], [0.0, 1.0]),
    one("where sqrt at 0", root_where_positive, 0.0, 0.0, 0.0, 0.0),
    one("where sqrt at -1", root_where_positive, -1.0, 0.0, 0.0, 0.0),
    one("double where", double_where, [0.0, 2.0], [0.0, LOG_2], [0.0, 0.5], [0.0, -0.25]),
    one("where around a reshape", lambda x: pb.where(pb.reshape(x, (2, 1)) > 0,
        pb.reshape(pb.log(x), (2, 1)), 0.0), [0.0, 2.0], [[0.0], [LOG_2]], [0.0, 0.5]),
    one("where around a transpose", lambda x: pb.where(x.T > 0, pb.log(x).T, 0.0),
        [[0.0, 2.0]], [[0.0], [LOG_2]], [[0.0, 0.5]]),
    one("where around exp of log", lambda x: pb.where(x > 0, pb.exp(pb.log(x) * 2), 0.0),
        [0.0, 3.0], [0.0, 9.0], [0.0, 6.0], [0.0, 2.0]),
    one("relu of log", lambda x: pb.relu(pb.log(x)), [0.0, 2.0], [0.0, LOG_2], [0.0, 0.5]),
    one("maximum of log", lambda x: pb.maximum(pb.log(x), 0.0), [0.0, 2.0], [0.0, LOG_2],
        [0.0, 0.5], [0.0, -0.25]),
    one("max of log", lambda x: pb.max(pb.log(x)), [0.0, 2.0], LOG_2, [0.0, 0.5], [0.0, -0.25]),
    one("clip of log", lambda x: pb.clip(pb.log(x), -1.0, 1.0), [0.0, 2.0], [-1.0, LOG_2],
        [0.0, 0.5], [0.0, -0.25]),
    one("index of log", lambda x: pb.log(x)[1], [0.0, 2.0], LOG_2, [0.0, 0.5], [0.0, -0.25]),
    one("slice of sqrt", lambda x: pb.sqrt(x)[1:], [0.0, 4.0], [2.0], [0.0, 0.25]),
    one("take of log", lambda x: pb.take(pb.log(x), pb.constant([1, 1]), axis=0), [0.0, 2.0],
        [LOG_2, LOG_2], [0.0, 1.0], [0.0, -0.5]),
]
# fmt: on


@each("trap", TRAPS, ids=[trap.id for trap in TRAPS])
def test_trap(trap: Trap) -> None:
    for dtype in trap.dtypes:
        xs = [pb.Variable(np.asarray(x, dtype)) for x in trap.xs]
        y = trap.f(*xs)
        same(y, trap.value, dtype, "value")
        grads = pb.gradients(y, xs)
        for k, (g, want) in enumerate(zip(grads, trap.grads, strict=True)):
            same(g, want, dtype, f"gradient {k}")
        if trap.second is None:
            continue
        total = sum(pb.sum(g) for g in grads)
        second = pb.gradients(total, xs, unconnected_gradients="zero")
        for k, (h, want) in enumerate(zip(second, trap.second, strict=True)):
            same(h, want, dtype, f"second order {k}")


def same(got: Any, expected: Any, dtype: str, what: str) -> None:
    """Zeros, infinities and NaN exactly, signs of zeros in values too; the rest to 4 ulp."""
    value = got.numpy()
    want = np.asarray(expected, dtype)
    text = f"{what} in {dtype}: {value}, expected {want}"
    assert value.dtype == want.dtype and value.shape == want.shape, text
    if what == "value":
        zero = want == 0
        assert np.array_equal(np.signbit(value[zero]), np.signbit(want[zero])), text
    exact = (want == 0) | ~np.isfinite(want)
    assert np.array_equal(value[exact], want[exact], equal_nan=True), text
    np.testing.assert_array_max_ulp(value[~exact], want[~exact], 4)


# --- dtypes: casts, integers, subnormals


@pytest.mark.parametrize("source", ["float32", "float64"])
def test_casts_to_integers_saturate_and_nan_gives_zero(source: str) -> None:
    x = np.array([nan, inf, -inf, 3e9, -3e9, 1e19, -1e19, 2.9, -2.9, -0.0], source)
    low, high = -(2**31), 2**31 - 1
    expected = [0, high, low, high, low, high, low, 2, -2, 0]
    assert pb.astype(pb.constant(x), "int32").numpy().tolist() == expected
    low, high = -(2**63), 2**63 - 1
    expected = [0, high, low, int(x[3]), int(x[4]), high, low, 2, -2, 0]
    assert pb.astype(pb.constant(x), "int64").numpy().tolist() == expected
    assert pb.astype(pb.constant(x), "bool").numpy().tolist() == [True] * 9 + [False]
    # One number at a time: constants are converted when they are made, not by the kernels.
    for value, want in zip(x.tolist(), expected, strict=True):
        assert pb.astype(pb.constant(value, dtype=source), "int64").item() == want


def test_casts_between_integers_wrap() -> None:
    x = pb.constant(np.array([2**32 + 5, -(2**31) - 1, 2**31]))
    assert pb.astype(x, "int32").numpy().tolist() == [5, 2**31 - 1, -(2**31)]


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integer_arithmetic(dtype: str) -> None:
    smallest = np.iinfo(dtype).min
    a = pb.constant(np.array([smallest, -7, 7, -7, 7], dtype))
    b = pb.constant(np.array([-1, 2, -2, -2, 2], dtype))
    assert (a // b).numpy().tolist() == [smallest, -4, -4, 3, 3]
    assert (a % b).numpy().tolist() == [0, 1, -1, -1, 1]
    assert pb.abs(a).numpy().tolist()[0] == smallest
    three = pb.constant(np.array([3, 0, -2], dtype))
    assert (three**3).numpy().tolist() == [27, 0, -8]
    assert (three**0).numpy().tolist() == [1, 1, 1]
    assert (pb.constant(np.array(3, dtype)) ** 200).item() == np.asarray(
        3**200 % 2**64, "u8"
    ).astype(dtype)


@pytest.mark.parametrize("operator", [pb.floor_divide, pb.remainder])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integer_division_by_zero_raises(operator: Any, dtype: str) -> None:
    numbers = pb.constant(np.arange(5, dtype=dtype))
    result = operator(1, numbers)
    for _ in range(2):  # and again: nothing was published
        with pytest.raises(ZeroDivisionError, match=r"floor_divide|remainder"):
            result.numpy()
    assert operator(numbers, 2).numpy().shape == (5,)


def test_integer_to_a_negative_power_raises() -> None:
    with pytest.raises(ValueError, match="negative"):
        (pb.constant(2) ** -1).numpy()
    with pytest.raises(ValueError, match="negative"):
        (2 ** pb.constant(np.array([1, -1]))).numpy()
    assert (2.0 ** pb.constant(np.array([1, -1]))).numpy().tolist() == [2.0, 0.5]


@pytest.mark.parametrize("dtype, tiny", [("float32", 1e-42), ("float64", 5e-324)])
def test_subnormals_are_kept(dtype: str, tiny: float) -> None:
    assert 5e-324 * 1.0 != 0.0  # import changed no flag of the processor
    x = np.full(300_000, tiny, dtype)  # in every thread
    kept = pb.constant(x)
    assert np.array_equal((kept * 1.0).numpy(), x)
    assert np.array_equal((kept + kept).numpy(), x + x)
    assert np.array_equal(pb.expm1(kept).numpy(), x)
    assert np.array_equal(pb.sqrt(kept).numpy(), np.sqrt(x))
    assert pb.log(kept).numpy()[0] == np.log(np.float64(x[0])).astype(dtype)
    assert pb.exp(pb.constant(np.asarray(math.log(x[0]), dtype))).item() > 0
    assert pb.sum(kept[:4]).item() == float(x[0]) * 4


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_sign_of_zero_constants_is_kept(dtype: str) -> None:
    one = pb.constant(np.array(1.0, dtype))
    for zero, expected in [(0.0, inf), (-0.0, -inf), (0.0, inf)]:  # one plan serves all of them
        assert (one / zero).item() == expected
        assert (one / pb.constant(zero, dtype=dtype)).item() == expected
        assert (one / pb.full((), zero, dtype=dtype)).item() == expected
        assert (one / pb.constant(np.array([zero], dtype))).numpy().tolist() == [expected]
        assert math.copysign(1, pb.constant(zero).item()) == math.copysign(1, expected)


AXES = [axes for n in range(1, 5) for axes in itertools.combinations(range(4), n)]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", ["max", "min"])
def test_ties_share_over_any_axes(name: str, keepdims: bool) -> None:
    """Also over axes that do not lie together, where one fold after the other is computed."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 3, (3, 2, 4, 3)).astype("float64")
    x[0, 0, 0, 0] = x[0, 1, 2, 0] = nan
    t = pb.Variable(x)
    for axes in AXES:
        value = getattr(np, name)(x, axis=axes, keepdims=True)
        wins = (x == value) | (np.isnan(x) & np.isnan(value))
        g = rng.integers(1, 5, value.shape).astype("float64")
        expected = np.where(wins, g / wins.sum(axis=axes, keepdims=True), 0.0)
        y = getattr(pb, name)(t, axis=axes, keepdims=keepdims)
        assert np.array_equal(y.numpy(), value.reshape(y.shape), equal_nan=True)
        (got,) = pb.gradients(y, [t], grad_ys=[g.reshape(y.shape)])
        assert np.array_equal(got.numpy(), expected), axes


def test_an_override_of_max_sees_all_axes_at_once() -> None:
    x = pb.Variable(np.ones((2, 3, 2)))
    seen = []

    def rule(op: Any, g: Any) -> Any:
        seen.append((op.type, len(op.inputs), g.shape))
        return pb.broadcast_to(pb.reshape(g, (1, 3, 1)), (2, 3, 2))

    with pb.gradient_override_map({"max": rule}):
        y = pb.max(x, axis=(0, 2))
    assert pb.gradients(y, [x])[0].numpy().tolist() == np.ones((2, 3, 2)).tolist()
    later = pb.gradients(pb.max(x, axis=(0, 2)), [x], overrides={"max": rule})[0]
    assert later.numpy().tolist() == np.ones((2, 3, 2)).tolist()
    assert seen == [("max", 1, (3,))] * 2
