"""A walk over the public functions: errors of composites name the function that was called,
the override map knows every one, two arrays that could be swapped may be given by name."""

import numpy as np
import pytest
import scipy.sparse
from support.each import each
from support.public import FUNCTIONS, OTHERS, parameters

import pullback as pb
from pullback import _core
from pullback._autodiff.override_names import SHAPED


def test_errors_of_composites():
    for call, name in (
        (lambda: pb.zeros(-1), "zeros"),
        (lambda: pb.ones_like([1.0], "int128"), "ones_like"),
        (lambda: pb.trace(pb.ones(3)), "trace"),
        (lambda: pb.permute_dims(pb.ones(3), (1,)), "permute_dims"),
        (lambda: pb.random.uniform(-1), "uniform"),
        (lambda: pb.special.erf("x"), "erf"),
        (lambda: pb.inner(pb.ones(2), pb.ones(3)), "inner"),
        (lambda: pb.ones(2) + pb.ones(3), "add"),
        (lambda: pb.dot(pb.ones(2), pb.ones(3)), "dot"),
    ):
        with pytest.raises((ValueError, TypeError)) as caught:
            call()
        assert str(caught.value).startswith(f"{name}: "), caught.value


def test_an_error_of_a_function_inside_a_transform_keeps_its_name():
    with pytest.raises(ValueError, match=r"^add: "):
        pb.grad(lambda x: pb.sum(x + pb.ones(3)))(pb.ones(2))
    with pytest.raises(ValueError, match=r"^zeros: "):
        pb.custom_gradient(lambda x: (pb.zeros(-1), lambda g: g))(1.0)
    with pytest.raises(ValueError, match=r"^value_and_grad: .*shape"):
        pb.value_and_grad(lambda x: x)(pb.ones(2))


# --- overrides

X = np.arange(1.0, 10.0).reshape(3, 3) / 4


def positive(x):
    """A positive definite matrix."""
    return x @ pb.matrix_transpose(x) + pb.eye(3, dtype=x.dtype)


def recurrent(x, gates):
    """Weights of a recurrent cell."""
    wide = pb.concat([x] * gates, axis=0)
    return wide, wide, wide[:, 0]


EXAMPLES = {
    "angle": lambda x: pb.angle(x + 1j),
    "complex": lambda x: pb.real(pb.complex(x, x)),
    "conj": lambda x: pb.real(pb.conj(x * 1j)),
    "conjugate": lambda x: pb.real(pb.conjugate(x * 1j)),
    "imag": lambda x: pb.imag(x * 1j),
    "real": lambda x: pb.real(x * 1j),
    "real_if_close": lambda x: pb.real_if_close(pb.complex(x, 0.0)),
    "array": pb.array,
    "apply_along_axis": lambda x: pb.apply_along_axis(lambda row: row * row, 1, x),
    "block": lambda x: pb.block([[x, x]]),
    "delete": lambda x: pb.delete(x, 0, 1),
    "frexp": lambda x: pb.frexp(x)[0],
    "insert": lambda x: pb.insert(x, 0, x[0], 1),
    "ldexp": lambda x: pb.ldexp(x, 2),
    "modf": lambda x: pb.modf(x)[0],
    "polyfit": lambda x: pb.polyfit(x[0], x[1], 1),
    "where": lambda x: pb.where(x > 1, x, 2.0 * x),
    "append": lambda x: pb.append(x, x),
    "array_split": lambda x: pb.array_split(x, 2)[0],
    "concatenate": lambda x: pb.concatenate([x, x]),
    "diag": lambda x: pb.diag(x[0]) + pb.diag(x),
    "dsplit": lambda x: pb.dsplit(x[None], 3)[0],
    "fill_diagonal": lambda x: pb.fill_diagonal(x, x[0]),
    "geomspace": lambda x: pb.geomspace(x[0, 0], x[1, 1], 5),
    "hsplit": lambda x: pb.hsplit(x, 3)[0],
    "logspace": lambda x: pb.logspace(x[0, 0], x[1, 1], 5),
    "pad": lambda x: sum(
        pb.pad(x, 1, mode, reflect_type="odd", end_values=x[0, 0])
        for mode in ("edge", "linear_ramp", "reflect", "mean", "maximum", "minimum")
    ),
    "rollaxis": lambda x: pb.rollaxis(x, 1),
    "vsplit": lambda x: pb.vsplit(x, 3)[0],
    "bincount": lambda x: pb.bincount([0, 1, 0], x[0]),
    "choose": lambda x: pb.choose([0, 1, 0], [x[0], x[1]]),
    "compress": lambda x: pb.compress([True, False, True], x, axis=0),
    "block_diag": lambda x: pb.linalg.block_diag(x, x),
    "tensorinv": lambda x: pb.linalg.tensorinv(x + np.eye(3), ind=1),
    "tensorsolve": lambda x: pb.linalg.tensorsolve(x + np.eye(3), x[0], axes=(0,)),
    "cond": pb.linalg.cond,
    "convolve": lambda x: pb.convolve(x[0], x[1]),
    "correlate": lambda x: pb.correlate(x[0], x[1], "full"),
    "cross": lambda x: pb.linalg.cross(x, x),
    "cho_solve": lambda x: pb.linalg.cho_solve((x, True), x[0]),
    "matrix_power": lambda x: pb.linalg.matrix_power(x, 3),
    "multi_dot": lambda x: pb.linalg.multi_dot([x, x, x]),
    "slogdet": lambda x: pb.linalg.slogdet(x)[1],
    "cumulative_logsumexp": lambda x: pb.cumulative_logsumexp(x, axis=0),
    "cumulative_max": lambda x: pb.cumulative_max(x, axis=0),
    "cumulative_min": lambda x: pb.cumulative_min(x, axis=0),
    "cumulative_prod": lambda x: pb.cumulative_prod(x, axis=0),
    "cumulative_sum": lambda x: pb.cumulative_sum(x, axis=0),
    "extract": lambda x: pb.extract(X > 1, x),
    "histogram": lambda x: pb.histogram(X, 3, weights=x, density=True)[0],
    "interp": lambda x: pb.interp(X, x[0], x[1]),
    "median": lambda x: pb.median(x[:2]),
    "expn": lambda x: pb.special.expn(2, x),
    "hyp0f1": lambda x: pb.special.hyp0f1(1.5, x),
    "hyp1f1": lambda x: pb.special.hyp1f1(0.5, 1.5, x),
    "hyp2f1": lambda x: pb.special.hyp2f1(0.5, 1.0, 1.5, x / 9),
    "jv": lambda x: pb.special.jv(0.5, x),
    "kv": lambda x: pb.special.kv(0.5, x),
    "lambertw": lambda x: pb.real(pb.special.lambertw(x)),
    "modstruve": lambda x: pb.special.modstruve(0.5, x),
    "multigammaln": lambda x: pb.special.multigammaln(x, 2),
    "nanmedian": lambda x: pb.nanmedian(x, axis=0),
    "nanpercentile": lambda x: pb.nanpercentile(x, 30, axis=0),
    "nanquantile": lambda x: pb.nanquantile(x, 0.3, axis=0),
    "partition": lambda x: pb.partition(x, 1),
    "percentile": lambda x: pb.percentile(x, 30, axis=0),
    "piecewise": lambda x: pb.piecewise(x, [X > 1], [x]),
    "polyval": lambda x: pb.polyval(x[0], x),
    "setdiff1d": lambda x: pb.setdiff1d(x[0], x[1]),
    "setxor1d": lambda x: pb.setxor1d(x[0], x[1]),
    "vander": lambda x: pb.vander(x[0]),
    "quantile": lambda x: pb.quantile(x, 0.3, axis=0),
    "select": lambda x: pb.select([X > 1], [x]),
    "eval_chebyt": lambda x: pb.special.eval_chebyt(2, x),
    "eval_chebyu": lambda x: pb.special.eval_chebyu(2, x),
    "eval_gegenbauer": lambda x: pb.special.eval_gegenbauer(2, 0.5, x),
    "eval_genlaguerre": lambda x: pb.special.eval_genlaguerre(2, 0.5, x),
    "eval_hermite": lambda x: pb.special.eval_hermite(2, x),
    "eval_hermitenorm": lambda x: pb.special.eval_hermitenorm(2, x),
    "eval_jacobi": lambda x: pb.special.eval_jacobi(2, 0.5, 0.5, x),
    "eval_laguerre": lambda x: pb.special.eval_laguerre(2, x),
    "eval_legendre": lambda x: pb.special.eval_legendre(2, x),
    "ivp": lambda x: pb.special.ivp(1.5, x),
    "jvp": lambda x: pb.special.jvp(1.5, x),
    "kn": lambda x: pb.special.kn(2, x),
    "kvp": lambda x: pb.special.kvp(1.5, x),
    "yvp": lambda x: pb.special.yvp(1.5, x),
    "sph_harm_y": lambda x: pb.real(pb.special.sph_harm_y(2, 1, x, 0.5)),
    "spherical_in": lambda x: pb.special.spherical_in(1, x),
    "spherical_jn": lambda x: pb.special.spherical_jn(1, x),
    "spherical_kn": lambda x: pb.special.spherical_kn(1, x),
    "spherical_yn": lambda x: pb.special.spherical_yn(1, x),
    "struve": lambda x: pb.special.struve(0.5, x),
    "topk": lambda x: pb.topk(x, 2)[0],
    "union1d": lambda x: pb.union1d(x[0], x[1]),
    "intersect1d": lambda x: pb.intersect1d(x, x[0]),
    "wofz": lambda x: pb.real(pb.special.wofz(x)),
    "yv": lambda x: pb.special.yv(0.5, x),
    "unique_all": lambda x: pb.unique_all(x).values,
    "unique_counts": lambda x: pb.unique_counts(x).values,
    "unique_inverse": lambda x: pb.unique_inverse(x).values,
    "average": lambda x: pb.average(x, weights=x),
    "ediff1d": lambda x: pb.ediff1d(x, x[0], x[1]),
    "trapezoid": lambda x: pb.trapezoid(x, x),
    "jn": lambda x: pb.special.jn(2, x),
    "yn": lambda x: pb.special.yn(2, x),
    "batch_norm": lambda x: pb.nn.batch_norm(x, None, None, x[0], x[1]),
    "cosine_similarity": lambda x: pb.nn.cosine_similarity(x, x[0]),
    "embedding": lambda x: pb.nn.embedding(x, [0, 2, 0]),
    "embedding_bag": lambda x: (
        pb.nn.embedding_bag(x, [[0, 1]])
        + pb.nn.embedding_bag(x, [[0, 1]], mode="max")
        + pb.nn.embedding_bag(x, [0, 1], [0], mode="max")
        + pb.nn.embedding_bag(x, [0, 1], [0], mode="sum", per_sample_weights=x[0, :2])
    ),
    "multi_head_attention": lambda x: pb.nn.multi_head_attention(
        x, x, x, [x] * 4, 1, biases=[x[0]] * 4
    ),
    "glu": lambda x: pb.nn.glu(x[:, :2]),
    "group_norm": lambda x: pb.nn.group_norm(x, 3, x[0], x[1]),
    "hinge": lambda x: pb.nn.hinge(x, x),
    "kl_divergence": lambda x: pb.nn.kl_divergence(x, x),
    "layer_norm": lambda x: pb.nn.layer_norm(x, x[0], x[1]),
    "rms_norm": lambda x: pb.nn.rms_norm(x, x[0]),
    "sigmoid_cross_entropy": lambda x: pb.nn.sigmoid_cross_entropy(x, x),
    "elu": lambda x: pb.nn.elu(x, 0.5),
    "leaky_relu": pb.nn.leaky_relu,
    "linspace": lambda x: pb.linspace(x[0, 0], x[1, 1], 5),
    "meshgrid": lambda x: pb.meshgrid(x[0], x[1])[0],
    "atleast_1d": lambda x: pb.atleast_1d(x[0, 0]),
    "atleast_2d": lambda x: pb.atleast_2d(x[0]),
    "broadcast_arrays": lambda x: sum(pb.broadcast_arrays(x, pb.ones((2, 3, 3)))),
    "column_stack": lambda x: pb.column_stack([x[0], x[1]]),
    "dstack": lambda x: pb.dstack([x, x]),
    "hstack": lambda x: pb.hstack([x, x]) + pb.hstack([x[0, 0], x[1, 1]])[0],
    "moveaxis": lambda x: pb.moveaxis(x, 0, 1),
    "repeat": lambda x: pb.repeat(x, [1, 2, 0], axis=0) + pb.reshape(pb.repeat(x, 2), (6, 3))[:3],
    "roll": lambda x: pb.roll(x, 1),
    "swapaxes": lambda x: pb.swapaxes(x, 0, 1),
    "tile": lambda x: pb.tile(x, (2, 2)),
    "unstack": lambda x: pb.unstack(x)[0],
    "vstack": lambda x: pb.vstack([x[0], x[1]]),
    "broadcast_to": lambda x: pb.broadcast_to(x, (2, 3, 3)),
    "clip": lambda x: pb.clip(x, 0.5, 1.0),
    "clip_by_global_norm": lambda x: pb.clip_by_global_norm([x], 0.1)[0][0],
    "clip_by_norm": lambda x: pb.clip_by_norm(x, 0.1),
    "clip_by_value": lambda x: pb.clip_by_value(x, 0.5, 1.0),
    "concat": lambda x: pb.concat([x, x]),
    "cast": lambda x: pb.cast(x, "float32"),
    "astype": lambda x: pb.astype(x, "float32"),
    "divmod": lambda x: sum(pb.divmod(x, x + 0.3)),
    "dot": lambda x: pb.dot(x, x) + pb.dot(x[0], x[1]),
    "einsum": lambda x: (
        pb.sum(pb.einsum("ij,jk->ki", x, x))
        + pb.sum(pb.einsum("ij,ij->i", x, x))
        + pb.sum(pb.einsum("ii->i", x))
    ),
    "expand_dims": lambda x: pb.expand_dims(x, 0),
    "global_norm": lambda x: pb.global_norm([x, x * 1.0]),
    "inner": lambda x: pb.inner(x, x) + pb.inner(x[0], x[1]),
    "outer": lambda x: pb.outer(x, x),
    "permute_dims": lambda x: pb.permute_dims(x, (1, 0)),
    "reshape": lambda x: pb.reshape(x, 9),
    "shuffle": pb.random.shuffle,
    "sparse_softmax_cross_entropy": lambda x: pb.sparse_softmax_cross_entropy(x, [0, 1, 2]),
    "split": lambda x: pb.split(x, 3)[0],
    "squeeze": lambda x: pb.squeeze(pb.take(x, [0], axis=0), 0),
    "stack": lambda x: pb.stack([x, x]),
    "take": lambda x: pb.take(x, [0, 1], axis=0),
    "take_along_axis": lambda x: pb.take_along_axis(x, np.array([[0], [1], [2]])),
    "tensordot": lambda x: (
        pb.sum(pb.tensordot(x, x, 1))
        + pb.tensordot(x, x, 2)
        + pb.sum(pb.tensordot(x, x, [[0], [1]]))
        + pb.sum(pb.tensordot(*[pb.broadcast_to(x, (3, 3, 3))] * 2, 2))
    ),
    "trace": pb.linalg.trace,
    "adaptive_avg_pool": lambda x: pb.nn.adaptive_avg_pool(x[None], 2, data_format="NCW"),
    "adaptive_max_pool": lambda x: pb.nn.adaptive_max_pool(x[None], 2, data_format="NCW"),
    "avg_pool": lambda x: pb.nn.avg_pool(x[None], 2, padding="SAME", data_format="NCW"),
    "conv1d": lambda x: (
        pb.nn.conv1d(x[None], x[None], x[0])
        + pb.nn.conv1d(x[None], x[:, :, None], data_format="NCW")
    ),
    "conv2d": lambda x: (
        pb.nn.conv2d(x[None, None], x[None, None], x[0])
        + pb.nn.conv2d(x[None, None], x[:, :, None, None], data_format="NCHW")
    ),
    "conv3d": lambda x: (
        pb.nn.conv3d(x[None, None, None], x[None, None, None], x[0])
        + pb.nn.conv3d(
            x[None, None, None], x[:, :, None, None, None], data_format="NCDHW", padding=1
        )[:, :, 1:2, 1:2, :3]
    ),
    "conv_transpose": lambda x: (
        pb.nn.conv_transpose(x[None], x[None], x[0])
        + pb.nn.conv_transpose(x[None], x[None], data_format="NCW")
    ),
    "cholesky": lambda x: pb.linalg.cholesky(positive(x)),
    "ctc_loss": lambda x: pb.nn.ctc_loss(x[:, None], [[1]], [3], [1]),
    "eig": lambda x: pb.abs(pb.linalg.eig(x)[0]),
    "eigvals": lambda x: pb.abs(pb.linalg.eigvals(x)),
    "gru": lambda x: pb.nn.gru(x[:, None], x[:1], *recurrent(x, 3))[0],
    "lstm": lambda x: pb.nn.lstm(x[:, None], (x[:1], x[:1]), *recurrent(x, 4))[0],
    "rnn": lambda x: pb.nn.rnn(x[:, None], x[:1], *recurrent(x, 1))[0],
    "lu_solve": lambda x: pb.linalg.lu_solve(pb.linalg.lu_factor(positive(x)), x),
    "solve_banded": lambda x: pb.linalg.solve_banded((1, 1), x + 3 * pb.eye(3)[[1]], x[0]),
    "sparse_solve": lambda x: pb.linalg.sparse_solve(
        scipy.sparse.eye_array(3, format="csr"), x, x[0] + 3
    ),
    "solve_continuous_are": lambda x: pb.linalg.solve_continuous_are(*[positive(x)] * 4),
    "polar": lambda x: sum(pb.linalg.polar(positive(x))),
    "solve_continuous_lyapunov": lambda x: pb.linalg.solve_continuous_lyapunov(positive(x), x),
    "solve_discrete_are": lambda x: pb.linalg.solve_discrete_are(*[positive(x)] * 4),
    "solve_discrete_lyapunov": lambda x: pb.linalg.solve_discrete_lyapunov(x / 9, x),
    "solve_sylvester": lambda x: pb.linalg.solve_sylvester(positive(x), positive(x), x),
    "sqrtm": lambda x: pb.linalg.sqrtm(positive(x)),
    "expm_multiply": lambda x: pb.linalg.expm_multiply(x, x[0]),
    "funm": lambda x: pb.linalg.funm(x, pb.exp),
    "schur": lambda x: pb.linalg.schur(positive(x)).T,
    "ldl": lambda x: pb.linalg.ldl(positive(x)).d,
    "fold": lambda x: pb.nn.fold(x[None], 5, 3, data_format="NCW"),
    "lp_pool": lambda x: pb.nn.lp_pool(x[None], 2, 2, data_format="NCW"),
    "max_pool": lambda x: pb.nn.max_pool(x[None], 2),
    "resize": lambda x: (
        pb.nn.resize(x[None], 6, data_format="NCW")[:, :, :3]
        + pb.nn.resize(x[None], 6, method="nearest")[:, :3]
    ),
    "unfold": lambda x: pb.nn.unfold(x[None], 2, padding=1, data_format="NCW"),
    "upsample": lambda x: (
        pb.nn.upsample(x[None], 2, data_format="NCW")[:, :, :3]
        + pb.nn.upsample(x[None], 2, method="bilinear")[:, :3]
    ),
}
# They take shapes, lengths and integers, so no gradient can be lost.
NO_FLOATS = {"arange", "eye", "normal", "one_hot", "ones", "seed", "uniform", "zeros"} | {
    "broadcast_shapes",
    "empty",
    *("diag_indices", "tri", "tril_indices", "triu_indices"),
    *("gcd", "indices", "ix_", "lcm", "ravel_multi_index", "unravel_index"),
}
DISCRETE = {  # their results are integers or bool
    "argsort", "searchsorted",
    "all", "any", "argmax", "argmin", "equal", "greater", "greater_equal",
    "isfinite", "isinf", "isnan", "less", "less_equal", "logical_and", "logical_not",
    "logical_or", "logical_xor", "not_equal", "signbit",
    "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "bitwise_not", "invert", "left_shift", "right_shift",
}  # fmt: skip


# The shape or dtype of their results depends on values, so that `function` refuses them.
DATA_DEPENDENT = {
    "intersect1d", "real_if_close", "setdiff1d", "setxor1d", "union1d", "unique",
    "unique_all", "unique_counts", "unique_inverse", "unique_values",
}  # fmt: skip


def example(name):
    """A function of one matrix that calls a public function."""
    arity = sum(p.default is p.empty for p in parameters(FUNCTIONS[name]))
    return EXAMPLES.get(name) or (lambda x: FUNCTIONS[name](*[x] * arity))


def zeros(seen):
    """The rule that notes the operations that it is called for."""

    def rule(op, *cotangents):
        assert len(op.outputs) == len(cotangents) >= 1
        seen.append(op.type)
        return [pb.zeros(x.shape, x.dtype) if x.dtype.kind in "fc" else None for x in op.inputs]

    return rule


def called(name, keys):
    """Which of the operations `keys` have their overrides called in the gradient of an example."""
    seen = []
    x = pb.Variable(X)
    with pb.gradient_override_map(dict.fromkeys(keys, zeros(seen))):
        y = example(name)(x)
    pb.evaluate(pb.gradients(y, x))
    return set(seen)


@each("name", sorted(FUNCTIONS))
def test_the_override_map_knows_every_function(name):
    key = FUNCTIONS[name]
    if name in SHAPED:
        with pytest.raises(LookupError, match="defines its own gradient"):
            pb.gradient_override_map({key: lambda op, g: g})
        return
    if name in DISCRETE:
        with pytest.raises(ValueError, match="has no gradient"):
            pb.gradient_override_map({key: lambda op, g: g})
        return
    try:
        pb.gradient_override_map({key: lambda op, g: g})
    except LookupError as error:
        assert "is not an operation with a gradient" in str(error), name
        x = pb.Variable(X)
        if name in NO_FLOATS:
            with pytest.raises((TypeError, ValueError)):
                FUNCTIONS[name](x)
        elif name not in OTHERS | {"asarray", "constant", "digitize", "full", "piecewise"}:
            required = [p for p in parameters(FUNCTIONS[name]) if p.default is p.empty]
            y = FUNCTIONS[name](x, *[2] * (len(required) - 1))
            assert pb.gradients(y, x) == [None], name
    else:
        assert len(called(name, [key])) == 1, name


@each("name", sorted(name for name in FUNCTIONS if _core.composite_key(FUNCTIONS[name])))
def test_overrides_of_composites_in_every_mode(name):
    """The rule replaces the whole gradient, wherever the composite is called and the rule given."""
    x, key = pb.Variable(X), FUNCTIONS[name]
    for wrap in (lambda f: f, pb.function)[: 1 if name in DATA_DEPENDENT else 2]:
        function = wrap(example(name))
        pb.random.seed(3)
        (expected,) = pb.gradients(function(x), x)
        seen = []
        for late in (True, False):
            with pb.gradient_override_map({} if late else {key: zeros(seen)}):
                y = wrap(example(name))(x)
            (g,) = pb.gradients(y, x, overrides={key: zeros(seen)} if late else None)
            assert set(seen) == {_core.composite_key(key)} and (g is None or not g.numpy().any()), (
                late,
                wrap,
            )
            seen.clear()
        pb.random.seed(3)
        (g,) = pb.gradients(function(x), x)  # the rules are gone
        np.testing.assert_array_equal(g.numpy(), expected.numpy())


# --- keywords


@each(
    ("function", "names"),
    [
        (pb.softmax_cross_entropy, ("logits", "labels")),
        (pb.clip_by_value, ("x", "clip_value_min", "clip_value_max")),
        *(
            (function, ("x", "y"))
            for function in (
                pb.subtract, pb.divide, pb.floor_divide, pb.remainder, pb.pow, pb.less,
                pb.less_equal, pb.greater, pb.greater_equal, pb.maximum,
            )
        ),
        *((function, ("a", "b")) for function in (pb.matmul, pb.dot, pb.outer, pb.tensordot)),
        (pb.where, ("condition", "x", "y")),
    ],
)  # fmt: skip
def test_arguments_by_name(function, names):
    values = [pb.constant(k + X) for k in range(len(names))]
    by_name = function(**dict(reversed(list(zip(names, values, strict=True)))))
    np.testing.assert_array_equal(by_name.numpy(), function(*values).numpy())


def test_sparse_losses_by_name():
    logits, labels = pb.constant(X), [0, 1, 2]
    expected = pb.sparse_softmax_cross_entropy(logits, labels).numpy()
    got = pb.sparse_softmax_cross_entropy(labels=labels, logits=logits).numpy()
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(pb.take(indices=labels, x=logits, axis=0).numpy(), X)
