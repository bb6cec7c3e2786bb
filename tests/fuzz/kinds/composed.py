"""Functions that are made of others: activations, losses, normalisations, special functions,
complex numbers and second names. Each is a line beside what it means, in functions of the
reference."""

from __future__ import annotations

import numpy as np

from ..program import listed
from .registry import Generator, axis_of, kind

# Of any floats. What each is beside it.
ACTIVATIONS = {
    "nn.relu6({0})": "pb.clip({0}, 0.0, 6.0)",
    "nn.leaky_relu({0})": "pb.where(pb.greater({0}, 0), {0}, pb.multiply({0}, 0.01))",
    "nn.elu({0})": "pb.where(pb.greater({0}, 0), {0}, pb.expm1(pb.minimum({0}, 0)))",
    "nn.selu({0})": "pb.multiply(1.0507009873554805, pb.where(pb.greater({0}, 0), {0}, "
    "pb.multiply(1.6732632423543772, pb.expm1(pb.minimum({0}, 0)))))",
    "nn.celu({0}, 0.5)": "pb.where(pb.greater({0}, 0), {0}, "
    "pb.multiply(0.5, pb.expm1(pb.multiply(2, pb.minimum({0}, 0)))))",
    "nn.silu({0})": "pb.multiply({0}, pb.sigmoid({0}))",
    "nn.mish({0})": "pb.multiply({0}, pb.tanh(pb.softplus({0})))",
    "gelu({0})": "pb.multiply({0}, pb.quadratic('ndtr', {0}))",
    # Not by 1 + tanh(u), of which nothing is left where tanh is -1: `%` shows the sign of that.
    "gelu({0}, approximate='tanh')": "pb.multiply({0}, pb.sigmoid(pb.multiply(1.5957691216057308, "
    "pb.add({0}, pb.multiply(0.044715, pb.pow({0}, 3))))))",
    "nn.softsign({0})": "pb.divide({0}, pb.add(1, pb.abs({0})))",
    "nn.log_sigmoid({0})": "pb.negative(pb.softplus(pb.negative({0})))",
    "nn.hard_tanh({0})": "pb.clip({0}, -1.0, 1.0)",
    "nn.hard_sigmoid({0})": "pb.divide(pb.clip(pb.add({0}, 3.0), 0.0, 6.0), 6.0)",
    "nn.hard_silu({0})": "pb.multiply({0}, pb.divide(pb.clip(pb.add({0}, 3.0), 0.0, 6.0), 6.0))",
    "sinc({0})": "pb.sinc({0})",
    "nan_to_num(pb.where(pb.greater({0}, 0.5), nan, {0}), nan=1.5)": "pb.where(pb.greater({0}, 0.5)"
    ", 1.5, {0})",
    "float_power(pb.add(pb.square({0}), 0.3), 1.5)": "pb.float_power(pb.add(pb.square({0}), 0.3), "
    "np.array(1.5))",
    "cbrt(pb.add(pb.square({0}), 0.3))": "pb.cbrt(pb.add(pb.square({0}), 0.3))",
    "special.expit({0})": "pb.sigmoid({0})",
    "special.log_expit({0})": "pb.negative(pb.softplus(pb.negative({0})))",
    "isclose({0}, 0.5, 0.0, 0.2)": "pb.less_equal(pb.abs(pb.subtract({0}, 0.5)), 0.2)",
    "allclose({0}, 0.5, 0.0, 0.7)": "np.all(pb.less_equal(pb.abs(pb.subtract({0}, 0.5)), 0.7))",
}


@kind(1.5)
def activation(g: Generator) -> None:
    x = g.float()
    if x is None or g.special:
        return
    text = g.pick(*ACTIVATIONS)
    if text.startswith("float_power") and g.array(x).dtype != np.float64:
        return  # it is of doubles
    g.add(f"pb.{text}", x, ref=ACTIVATIONS[text])


P = "pb.add(0.1, pb.multiply(pb.sigmoid({1}), 0.8))"
SHARES = "pb.softmax({1}, axis=-1)"
LOGS = "pb.log_softmax({0}, axis=-1)"
NEAR = "pb.abs(pb.subtract({0}, {1}))"
HUBER = f"pb.mean(pb.where(pb.less_equal({NEAR}, D), pb.multiply(0.5, pb.square({NEAR})), " + (
    f"pb.multiply(D, pb.subtract({NEAR}, pb.multiply(0.5, D)))))"
)
# Of two tensors of one shape.
LOSSES = {
    "nn.l1_loss({0}, {1})": f"pb.mean({NEAR})",
    "nn.l2_loss({0}, {1}, reduction='sum')": "pb.multiply(0.5, pb.sum(pb.square(pb.subtract({0}, "
    "{1}))))",
    "nn.huber_loss({0}, {1})": HUBER.replace("D", "1.0"),
    "nn.smooth_l1({0}, {1}, 0.5)": f"pb.multiply(2.0, {HUBER.replace('D', '0.5')})",
    "nn.hinge({0}, {1})": "pb.mean(pb.relu(pb.subtract(1, pb.multiply({0}, {1}))))",
    f"sigmoid_cross_entropy({{0}}, {P})": f"pb.mean(pb.subtract(pb.softplus({{0}}), "
    f"pb.multiply({{0}}, {P})))",
    # Not of one distribution twice, where rounding would decide the sign.
    f"nn.kl_divergence(pb.subtract({LOGS}, 0.0625), {SHARES})": "pb.mean(pb.sum(pb.multiply("
    f"{SHARES}, pb.subtract(pb.log({SHARES}), pb.subtract({LOGS}, 0.0625))), axis=-1))",
    "nn.cosine_similarity({0}, {1})": "pb.divide(pb.sum(pb.multiply({0}, {1}), axis=-1), pb.sqrt("
    "pb.multiply(pb.sum(pb.square({0}), axis=-1), pb.sum(pb.square({1}), axis=-1))))",
    "nn.layer_norm({0}, {1}, {0})": "pb.add(pb.multiply(pb.nn.layer_norm({0}), {1}), {0})",
    "nn.rms_norm({0}, {1})": "pb.multiply(pb.nn.rms_norm({0}), {1})",
    "nn.batch_norm({0})": "pb.nn.batch_norm({0})",
    "nn.group_norm({0}, 1)": "pb.nn.group_norm({0}, 1)",
    "copysign({0}, {1})": "pb.multiply(pb.abs({0}), pb.where(pb.signbit({1}), -1, 1))",
    "heaviside({0}, {1})": "pb.where(pb.less({0}, 0), 0.0, pb.where(pb.greater({0}, 0), 1.0, {1}))",
    "fmod({0}, pb.add(pb.square({1}), 0.6))": "pb.subtract({0}, pb.multiply(pb.trunc(pb.divide({0},"
    " pb.add(pb.square({1}), 0.6))), pb.add(pb.square({1}), 0.6)))",
    "special.betaln(pb.add(pb.abs({0}), 0.6), pb.add(pb.abs({1}), 0.7))": "pb.betaln(pb.add("
    "pb.abs({0}), 0.6), pb.add(pb.abs({1}), 0.7))",
    "special.beta(pb.add(pb.abs({0}), 0.6), pb.add(pb.abs({1}), 0.7))": "pb.exp(pb.betaln(pb.add("
    "pb.abs({0}), 0.6), pb.add(pb.abs({1}), 0.7)))",
    "special.rel_entr(pb.add(pb.abs({0}), 0.2), pb.add(pb.abs({1}), 0.3))": "pb.rel_entr(pb.add("
    "pb.abs({0}), 0.2), pb.add(pb.abs({1}), 0.3))",
    "special.kl_div(pb.add(pb.abs({0}), 0.2), pb.add(pb.abs({1}), 0.3))": "pb.add(pb.rel_entr("
    "pb.add(pb.abs({0}), 0.2), pb.add(pb.abs({1}), 0.3)), pb.subtract(pb.add(pb.abs({1}), 0.3), "
    "pb.add(pb.abs({0}), 0.2)))",
}
# These are steep where what they divide by is small: neither rows of one number nor of equal ones.
NORMS = tuple(
    f"nn.{name}"
    for name in ("layer_norm", "batch_norm", "group_norm", "cosine_similarity", "rms_norm")
)


@kind(1.5)
def loss(g: Generator) -> None:
    x = g.float(1)
    if x is None or g.special or g.array(x).size == 0:
        return
    y = g.like(x)
    text = g.pick(*LOSSES)
    if text.startswith(NORMS):
        tensors = [x] if y is None else [x, y]
        axis = 0 if text.startswith("nn.batch_norm") else -1
        if text.startswith("nn.group_norm") and g.array(x).ndim < 2:
            return
        if not all(np.all(np.std(g.array(i), axis=axis) > 0.3) for i in tensors):
            return
    g.add(f"pb.{text}", x, y, ref=LOSSES[text])


@kind(0.3)
def gated(g: Generator) -> None:
    x = g.float(1)
    if x is None or g.special or g.array(x).size == 0:
        return
    axis = axis_of(g, x)
    n = g.array(x).shape[axis]
    if n and n % 2 == 0:
        parts = f"np.split({{0}}, 2, axis={axis})"
        ref = f"pb.multiply({parts}[0], pb.sigmoid({parts}[1]))"
        g.add(f"pb.nn.glu({{0}}, axis={axis})", x, ref=ref)
    elif n:
        rows = listed(g.random.integers(-len(g.array(x)), len(g.array(x)), (3,)))
        g.add(f"pb.nn.embedding({{0}}, {rows})", x, ref=f"np.take({{0}}, {rows}, axis=0)")


POSITIVE = "pb.add(pb.abs({0}), 0.5)"
INSIDE = "pb.multiply(pb.tanh({0}), 0.9)"
SHARE = "pb.add(0.05, pb.multiply(pb.sigmoid({0}), 0.9))"
BOTH = "pb.tanh({0})"
# The argument of each, and its parameters.
SPECIAL: dict[str, tuple[str, tuple[str, ...]]] = {
    "erfc": (BOTH, ()),
    "erfcx": (BOTH, ()),
    "erfinv": (INSIDE, ()),
    "erfcinv": (SHARE, ()),
    "ndtr": ("{0}", ()),
    "log_ndtr": ("{0}", ()),
    "ndtri": (SHARE, ()),
    "gammaln": (POSITIVE, ()),
    "digamma": (POSITIVE, ()),
    "gamma": (SHARE, ()),
    "rgamma": (SHARE, ()),
    "polygamma": (POSITIVE, ("1", "2")),
    "gammainc": (POSITIVE, ("0.7", "2.5")),
    "gammaincc": (POSITIVE, ("0.7", "2.5")),
    "betainc": (SHARE, ("1.5, 0.7", "2.0, 3.5")),
    "betaincc": (SHARE, ("1.5, 0.7", "2.0, 3.5")),
    "gammaincinv": (SHARE, ("0.7", "2.5")),
    "gammainccinv": (SHARE, ("0.7", "2.5")),
    "betaincinv": (SHARE, ("1.5, 0.7", "2.0, 3.5")),
    "betainccinv": (SHARE, ("1.5, 0.7", "2.0, 3.5")),
    "stdtr": ("{0}", ("1.5", "4.0")),
    "stdtrit": (SHARE, ("1.5", "4.0")),
    "zeta": (POSITIVE, ("2.5", "4.0")),
    "i0": (BOTH, ()),
    "i1": (BOTH, ()),
    "iv": (SHARE, ("0.5", "2.5")),
    "i0e": (POSITIVE, ()),
    "i1e": (POSITIVE, ()),
    "ive": (POSITIVE, ("1.5",)),
    "j0": ("{0}", ()),
    "j1": ("{0}", ()),
    "jn": (POSITIVE, ("2", "3")),
    "y0": (POSITIVE, ()),
    "y1": (POSITIVE, ()),
    "yn": (POSITIVE, ("2",)),
}
# Made of others.
SPECIAL_FORMS = {
    f"psi({POSITIVE})": f"pb.quadratic('digamma', {POSITIVE})",
    f"multigammaln(pb.add({POSITIVE}, 0.5), 2)": "pb.add(0.5723649429247001, pb.add("
    f"pb.quadratic('gammaln', pb.add({POSITIVE}, 0.5)), pb.quadratic('gammaln', {POSITIVE})))",
    f"logit({SHARE})": f"pb.subtract(pb.log({SHARE}), pb.log1p(pb.negative({SHARE})))",
    f"entr({SHARE})": f"pb.negative(pb.multiply({SHARE}, pb.log({SHARE})))",
    f"xlogy({SHARE}, {POSITIVE})": f"pb.multiply({SHARE}, pb.log({POSITIVE}))",
    f"xlog1py({SHARE}, {POSITIVE})": f"pb.multiply({SHARE}, pb.log1p({POSITIVE}))",
    "gammasgn(pb.subtract(pb.multiply(pb.tanh({0}), 0.9), 0.0321))": "pb.sign(pb.subtract("
    "pb.multiply(pb.tanh({0}), 0.9), 0.0321))",
    "softmax({0}, axis=-1)": "pb.softmax({0}, axis=-1)",
    "log_softmax({0}, axis=-1)": "pb.log_softmax({0}, axis=-1)",
}


@kind(2)
def special(g: Generator) -> None:
    x = g.float()
    if x is None or g.special or (g.large and g.array(x).size > 2000):
        return
    if g.chance(0.25):
        text = g.pick(*SPECIAL_FORMS)
        if "axis" not in text or (g.array(x).ndim and g.array(x).size):
            g.add(f"pb.special.{text}", x, ref=SPECIAL_FORMS[text])
        return
    name = g.pick(*SPECIAL)
    argument, choices = SPECIAL[name]
    first = f"{g.pick(*choices)}, " if choices else ""
    last = f", {first[:-2]}" if choices else ""
    text = f"pb.special.{name}({first}{argument})"
    g.add(text, x, ref=f"pb.quadratic('{name}', {argument}{last})")


# In all of their arguments.
BY_PARAMETERS = {
    "gammainc": "pb.add(pb.abs({0}), 0.6), pb.add(pb.abs({1}), 0.7)",
    "gammaincc": "pb.add(pb.abs({0}), 0.6), pb.add(pb.abs({1}), 0.7)",
    "betainc": "pb.add(pb.abs({0}), 0.6), pb.add(pb.abs({1}), 0.7), 0.3",
    "zeta": "pb.add(pb.abs({0}), 2.3), pb.add(pb.abs({1}), 0.7)",
}


@kind(0.3)
def by_parameters(g: Generator) -> None:
    x = g.float()
    if x is None or g.special or not 0 < g.array(x).size < 4:
        return
    name = g.pick(*BY_PARAMETERS)
    given = BY_PARAMETERS[name]
    g.add(f"pb.special.{name}({given})", x, g.like(x),
          ref=f"pb.quadratic_in_all('{name}', {given})")  # fmt: skip


Z, W = "pb.complex({0}, {1})", "pb.complex({1}, {0})"
OVER = "pb.add(pb.square({1}), pb.square(pb.add(pb.square({0}), 0.4)))"
AWAY = "pb.complex(pb.add(pb.square({0}), 0.4), {1})"  # of the cut
SIZE = "pb.sqrt(pb.add(pb.square(pb.add(pb.square({0}), 0.4)), pb.square({1})))"
A, B = "pb.add(pb.square({0}), 0.4)", "{1}"
# Real functions through complex numbers, and what they are in real ones.
COMPLEX = {
    f"pb.real(pb.exp({Z}))": "pb.multiply(pb.exp({0}), pb.cos({1}))",
    f"pb.imag(pb.exp({Z}))": "pb.multiply(pb.exp({0}), pb.sin({1}))",
    f"pb.abs({AWAY})": SIZE,
    f"pb.angle({AWAY})": f"pb.atan2({B}, {A})",
    f"pb.real(pb.log({AWAY}))": f"pb.log({SIZE})",
    f"pb.imag(pb.log({AWAY}))": f"pb.atan2({B}, {A})",
    f"pb.real(pb.multiply({Z}, pb.conj({W})))": "pb.multiply(2, pb.multiply({0}, {1}))",
    f"pb.imag(pb.multiply({Z}, {W}))": "pb.add(pb.square({0}), pb.square({1}))",
    f"pb.real(pb.square({Z}))": "pb.subtract(pb.square({0}), pb.square({1}))",
    f"pb.imag(pb.conjugate({Z}))": "pb.negative({1})",
    f"pb.imag(pb.divide({Z}, {AWAY}))": f"pb.divide(pb.subtract(pb.multiply({B}, {A}), "
    f"pb.multiply({{0}}, {B})), {OVER})",
    f"pb.real(pb.reciprocal({AWAY}))": f"pb.divide({A}, {OVER})",
    f"pb.real(pb.sqrt({AWAY}))": f"pb.sqrt(pb.multiply(0.5, pb.add({SIZE}, {A})))",
    f"pb.real(pb.sin({Z}))": "pb.multiply(pb.sin({0}), pb.cosh({1}))",
    f"pb.imag(pb.cosh({Z}))": "pb.multiply(pb.sinh({0}), pb.sin({1}))",
    f"pb.real(pb.pow({AWAY}, 3))": f"pb.subtract(pb.pow({A}, 3), "
    f"pb.multiply(3, pb.multiply({A}, pb.square({B}))))",
    f"pb.imag(pb.sum({Z}, axis=AXIS))": "pb.sum({1}, axis=AXIS)",
    f"pb.real(pb.prod(pb.stack([{Z}, {W}], axis=0), axis=0))": "pb.multiply(0.0, {0})",
    f"pb.imag(pb.cumulative_sum({W}, axis=AXIS))": "pb.cumulative_sum({0}, axis=AXIS)",
    f"pb.real(pb.matmul(pb.conj({Z}), {Z}))": "pb.add(pb.matmul({0}, {0}), pb.matmul({1}, {1}))",
    f"pb.imag({Z}[..., ::-1])": "{1}[..., ::-1]",
    f"pb.real_if_close(pb.real({Z}))": "{0}",
    f"pb.isreal({Z})": "pb.equal({1}, 0)",
    f"pb.iscomplex({Z})": "pb.not_equal({1}, 0)",
    # Not 1 itself, where rounding would decide what a step makes of it.
    f"pb.multiply(pb.abs(pb.sign({AWAY})), 0.8125)": "np.multiply(np.ones_like({0}), 0.8125)",
}


@kind(1.2)
def complex_numbers(g: Generator) -> None:
    x = g.float(1)
    if x is None or g.special or g.array(x).size == 0:
        return
    text = g.pick(*COMPLEX)
    axis = str(axis_of(g, x))
    ref = COMPLEX[text].replace("AXIS", axis)
    g.add(text.replace("AXIS", axis), x, g.like(x), ref=ref)


ALIASES = {
    "absolute": "abs", "arctan": "atan", "arcsinh": "asinh", "around": "round",
    "degrees": "rad2deg",
    "radians": "deg2rad", "amax": "max", "amin": "min", "true_divide": "divide", "power": "pow",
    "mod": "remainder", "arctan2": "atan2", "arcsin": "asin", "arccos": "acos", "arccosh": "acosh",
    "arctanh": "atanh", "concatenate": "concat", "cumsum": "cumulative_sum",
    "cumprod": "cumulative_prod", "invert": "bitwise_invert", "bitwise_not": "bitwise_invert",
    "left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift",
}  # fmt: skip
OF_POSITIVE = f"({POSITIVE}, {POSITIVE})"
CALLED_WITH = dict.fromkeys(("true_divide", "power", "mod", "arctan2"), OF_POSITIVE) | {
    "arcsin": f"({INSIDE})", "arccos": f"({INSIDE})", "arctanh": f"({INSIDE})",
    "arccosh": "(pb.add(pb.square({0}), 1.4))", "concatenate": "([{0}, {0}], axis=-1)",
    "cumsum": "({0}, axis=-1)", "cumprod": "({0}, axis=-1)", "degrees": f"({BOTH})",
}  # fmt: skip
OF_INTEGERS = ("invert", "bitwise_not", "left_shift", "right_shift")


@kind(0.7)
def second_name(g: Generator) -> None:
    name = g.pick(*ALIASES)
    if name in OF_INTEGERS:
        x = g.find(lambda x: x.dtype.kind == "i")
        arguments = "({0}, 2)" if "shift" in name else "({0})"
    else:
        x = g.float(1)
        arguments = CALLED_WITH.get(name, "({0})")
    if not g.special:
        g.add(f"pb.{name}{arguments}", x, ref=f"pb.{ALIASES[name]}{arguments}")
