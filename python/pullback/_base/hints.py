"""Hints in errors: similar names, and what to use in pullback in place of an absent name.

`did_you_mean` finds similar names for all errors of the package. `add_hints` gives the modules of
the package a `__getattr__`, which raises these errors. A name of `NN_ONLY` is still found at the
top, with a DeprecationWarning. Tensors have no `__getattr__`, which would slow down every
attribute; `ATTRIBUTES` lists the absent ones that raise a hint. `renamed` is for errors of calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial, wraps
from inspect import Parameter, getattr_static, signature
from types import ModuleType
from typing import Any, NoReturn, ParamSpec, TypeVar
from warnings import warn

P = ParamSpec("P")
R = TypeVar("R")

# Names of other libraries, with the public name in pullback.
NAMES = {
    "as_tensor": "asarray",
    "blockcat": "block",
    "bmm": "matmul",
    "cat": "concat",
    "clamp": "clip",
    "convert_to_tensor": "constant",
    "custom_jvp": "custom_gradient",
    "custom_vjp": "custom_gradient",
    "diagcat": "block_diag",
    "eval": "evaluate",
    "fabs": "abs",
    "from_numpy": "constant",
    "jacfwd": "jacobian",
    "jacrev": "jacobian",
    "jit": "function",
    "linalg.bicg": "gmres",
    "linalg.bicgstab": "gmres",
    "linalg.lsmr": "lsqr",
    "linalg.solve_lyapunov": "solve_continuous_lyapunov",
    "linalg.solve_riccati": "solve_continuous_are",
    "linalg.spsolve": "sparse_solve",
    "mm": "matmul",
    "mmax": "max",
    "mmin": "min",
    "mtimes": "matmul",
    "mul": "multiply",
    "mv": "matmul",
    "neg": "negative",
    "nograd": "stop_gradient",
    "optim": "optimizers",
    "optimize.brenth": "bisect",
    "optimize.brentq": "bisect",
    "optimize.fmin": "minimize",
    "optimize.fmin_bfgs": "minimize",
    "optimize.fmin_cg": "minimize",
    "optimize.fmin_l_bfgs_b": "minimize",
    "optimize.fmin_tnc": "minimize",
    "optimize.fsolve": "root",
    "optimize.leastsq": "least_squares",
    "optimize.minimize_scalar": "minimize",
    "optimize.newton": "root",
    "optimize.newton_krylov": "root",
    "optimize.ridder": "bisect",
    "optimize.root_scalar": "bisect",
    "optimize.toms748": "bisect",
    "permute": "permute_dims",
    "rand": "uniform",
    "randint": "integers",
    "randn": "normal",
    "range": "arange",
    "rem": "remainder",
    "remat": "checkpoint",
    "rint": "round",
    "RMSprop": "RMSProp",
    "SGD": "GradientDescent",
    "special.lgamma": "gammaln",
    "stats.exponential": "expon",
    "stats.gaussian": "norm",
    "stats.gumbel": "gumbel_r",
    "stats.inverse_gamma": "invgamma",
    "stats.lognormal": "lognorm",
    "stats.negative_binomial": "nbinom",
    "stats.normal": "norm",
    "stats.student_t": "t",
    "stats.weibull": "weibull_min",
    "sub": "subtract",
    "tensor": "constant",
    "unsqueeze": "expand_dims",
}

# Names of other libraries, with an expression to use in their place; some in one module only.
INSTEAD = {
    "argnames": "pb.grad(f, argnums)",
    "autograd": "pb.gradients(y, xs)",
    "backward": "pb.gradients(loss, variables)",
    "block_until_ready": "pb.evaluate(x)",
    "chunk": "pb.array_split(x, n, axis)",
    "compat": "import pullback.compat.tf1",
    "compile": "pb.function(f)",
    "cross_entropy": "pb.sparse_softmax_cross_entropy if the labels are numbers of classes, or "
    "pb.softmax_cross_entropy if they are probabilities",
    "datasets": "import pullback.datasets",
    "debug": "print(x), which evaluates x",
    "default_rng": "pb.random.Generator(seed)",
    "defvjp": "pb.custom_gradient, whose function returns the result and its rule",
    "Dense": "x @ weights + bias, with a Variable for each",
    "detach": "pb.stop_gradient(x)",
    "device_put": "x.to_device(device)",
    "elementwise_grad": "pb.grad(lambda x: pb.sum(f(x)))",
    "enable_grad": "nothing: operations are always tracked",
    "eval_shape": "f(x).shape and f(x).dtype, which are known without an evaluation",
    "flatten_func": "pb.tree.ravel(tree)",
    "func": "the transforms of pb, such as pb.grad, pb.vjp and pb.vmap",
    "gather": "pb.take(x, indices, axis=0)",
    "grad_and_value": "pb.value_and_grad(f), which returns the value first",
    "hessian_tensor_product": "pb.hvp(f, (x,), (v,))",
    "hessian_vector_product": "pb.hvp(f, (x,), (v,))",
    "holomorphic_grad": "pb.vjp(f, z), which conjugates the derivative",
    "horzcat": "pb.hstack of columns, or pb.stack(xs, axis=1) of vectors",
    "if_else": "pb.where(condition, x, y), or pb.cond if only one of them may be evaluated",
    "index_select": "pb.take(x, indices, axis)",
    "inference_mode": "pb.stop_gradient(x) for the values that have no gradient",
    "integrate.cumulative_trapezoid": "pb.cumsum(0.5 * (y[1:] + y[:-1]) * pb.diff(x))",
    "integrate.dblquad": "a function that returns pb.integrate.quad(f, a, b)[0], in another "
    "pb.integrate.quad",
    "integrate.simpson": "pb.interpolate.CubicSpline(x, y).integrate(x[0], x[-1])",
    "integrator": "pb.integrate.solve_ivp, or pb.integrate.odeint for pytrees",
    "interpolant": "pb.interpolate.RegularGridInterpolator, or "
    "pb.interpolate.CubicSpline on one axis",
    "interpolate.interp1d": "pb.interp(x, xp, fp) for lines between the points, or "
    "pb.interpolate.CubicSpline(xp, fp)",
    "interpolate.interp2d": "pb.interpolate.RegularGridInterpolator((x, y), z)",
    "interpolate.lagrange": "pb.polyfit(x, y, len(x) - 1)",
    "interpolate.RectBivariateSpline": "pb.interpolate.RegularGridInterpolator((x, y), z, 'cubic')",
    "interpolate.splev": "pb.interpolate.make_interp_spline(x, y), which is called with the points",
    "interpolate.splrep": "pb.interpolate.make_interp_spline(x, y)",
    "interpolate.UnivariateSpline": "pb.interpolate.CubicSpline(x, y)",
    "is_tensor": "isinstance(x, pb.Tensor)",
    "jacobian_sparsity": "pb.sparse_jacobian(f, x), whose result has the positions too",
    "jtimes": "pb.jvp(f, (x,), (v,)), or pb.vjp(f, x) for the transpose",
    "lax": "the control flow of pb, such as pb.scan, pb.cond and pb.while_loop",
    "linalg.cho_factor": "pb.linalg.cholesky(a) and pb.linalg.cho_solve",
    "linalg.circulant": "pb.linalg.toeplitz(c, pb.roll(c[::-1], 1))",
    "linalg.coshm": "pb.linalg.funm(a, pb.cosh)",
    "linalg.cosm": "pb.linalg.funm(a, pb.cos)",
    "linalg.fractional_matrix_power": "pb.linalg.funm(a, lambda x: x**p)",
    "linalg.sinhm": "pb.linalg.funm(a, pb.sinh)",
    "linalg.sinm": "pb.linalg.funm(a, pb.sin)",
    "linalg.tanhm": "pb.linalg.funm(a, pb.tanh)",
    "linalg.tanm": "pb.linalg.funm(a, pb.tan)",
    "Linear": "x @ weights + bias, with a Variable for each",
    "linear": "x @ weights + bias",
    "make_hvp": "pb.hvp(f, (x,), (v,))",
    "make_jvp": "pb.jvp(f, (x,), (v,))",
    "make_vjp": "pb.vjp(f, x)",
    "manual_seed": "pb.random.seed(n)",
    "mapaccum": "pb.scan",
    "masked_fill": "pb.where(mask, value, x)",
    "minimize": "pb.optimize.minimize, or an optimizer of pb.optimizers",
    "Module": "a function of variables, as in the examples",
    "mse_loss": "pb.mean(pb.square(predictions - targets)), or pb.nn.l2_loss, which is half of it",
    "MX": "a function of arrays; pullback has no symbols",
    "narrow": "x[start : start + n]",
    "nlpsol": "pb.optimize.minimize, or a solver of SciPy with pb.value_and_grad for constraints",
    "no_grad": "pb.stop_gradient(x) for the values that have no gradient",
    "norm_2": "pb.linalg.norm(x)",
    "numpy": "pb itself, whose functions have the names of NumPy",
    "Opti": "pb.optimize.minimize, or a solver of SciPy with pb.value_and_grad for constraints",
    "optimize.approx_fprime": "pb.grad(f)(x), which is exact",
    "optimize.basinhopping": "pb.optimize.minimize from several starts",
    "optimize.check_grad": "pb.testing.check_gradients(f, x)",
    "optimize.differential_evolution": "pb.implicit.minimum(f, solver), with a solver of SciPy",
    "optimize.lsq_linear": "pb.linalg.lstsq(a, b)",
    "optimize.nnls": "pb.optimize.least_squares(lambda x: a @ x - b, x0, bounds=(0, np.inf))",
    "Parameter": "pb.Variable(value)",
    "pmap": "pb.vmap(f)",
    "primitive": "pb.custom_gradient, whose function returns the result and its rule",
    "PRNGKey": "pb.random.seed(n), or pb.random.Generator(n)",
    "random.split": "pb.random.Generator(seed).spawn(n)",
    "ravel_pytree": "pb.tree.ravel(tree)",
    "reduce_max": "pb.max(x, axis)",
    "reduce_mean": "pb.mean(x, axis)",
    "reduce_sum": "pb.sum(x, axis)",
    "register_pytree_node": "pb.tree.register(cls, flatten, unflatten)",
    "register_tree": "pb.tree.register(cls, flatten, unflatten)",
    "repmat": "pb.tile(x, repeats)",
    "rootfinder": "pb.optimize.root",
    "Sequential": "a function that calls the layers",
    "set_grad_enabled": "pb.stop_gradient(x) for the values that have no gradient",
    "special.bdtr": "pb.stats.binom.cdf(k, n, p)",
    "special.boxcox": "pb.expm1(p * pb.log(x)) / p",
    "special.btdtr": "pb.special.betainc(a, b, x)",
    "special.chdtr": "pb.stats.chi2.cdf(x, df)",
    "special.chdtrc": "pb.stats.chi2.sf(x, df)",
    "special.exprel": "pb.expm1(x) / x",
    "special.factorial": "pb.special.gamma(n + 1)",
    "special.fdtr": "pb.stats.f.cdf(x, dfn, dfd)",
    "special.fdtrc": "pb.stats.f.sf(x, dfn, dfd)",
    "special.fdtri": "pb.stats.f.ppf(q, dfn, dfd)",
    "special.gdtr": "pb.stats.gamma.cdf(x, b, scale=1 / a)",
    "special.hankel1": "pb.special.jv(v, x) + 1j * pb.special.yv(v, x)",
    "special.hankel2": "pb.special.jv(v, x) - 1j * pb.special.yv(v, x)",
    "special.nbdtr": "pb.stats.nbinom.cdf(k, n, p)",
    "special.pdtr": "pb.stats.poisson.cdf(k, mu)",
    "special.poch": "pb.special.gamma(z + m) / pb.special.gamma(z)",
    "sumsqr": "pb.sum(x * x)",
    "SX": "a function of arrays; pullback has no symbols",
    "tree_flatten": "pb.tree.flatten(tree)",
    "tree_leaves": "pb.tree.leaves(tree)",
    "tree_map": "pb.tree.map(f, tree)",
    "tree_structure": "pb.tree.structure(tree)",
    "tree_unflatten": "pb.tree.unflatten(structure, leaves)",
    "tree_util": "pb.tree",
    "vector_jacobian_product": "pb.vjp(f, x)",
    "vertcat": "pb.stack of numbers, or pb.concatenate of vectors",
}

# The same for attributes of a tensor.
ATTRIBUTES = {
    "abs": "pb.abs(x)",
    "add": "x + y",
    "add_": "x + y: tensors cannot be modified",
    "backward": "pb.gradients(loss, variables)",
    "base": "nothing: a tensor owns its value",
    "block_until_ready": "pb.evaluate(x)",
    "bool": "x.astype('bool')",
    "byteswap": "x.numpy().byteswap()",
    "clamp": "pb.clip(x, low, high)",
    "clone": "x.copy()",
    "contiguous": "x itself",
    "cos": "pb.cos(x)",
    "cpu": "x.to_device('cpu')",
    "ctypes": "x.numpy().ctypes",
    "cuda": "x.to_device('cuda')",
    "data": "x.numpy()",
    "detach": "pb.stop_gradient(x)",
    "dim": "x.ndim",
    "div": "x / y",
    "double": "x.astype('float64')",
    "dump": "pb.save(path, x)",
    "dumps": "x.tobytes(), or pb.save(path, x)",
    "exp": "pb.exp(x)",
    "expand": "pb.broadcast_to(x, shape)",
    "expand_as": "pb.broadcast_to(x, y.shape)",
    "flags": "x.numpy().flags",
    "float": "x.astype('float32')",
    "gather": "pb.take_along_axis(x, indices, axis)",
    "getfield": "x.real, x.imag, or x.numpy().getfield(dtype, offset)",
    "grad": "pb.gradients(loss, variables), which returns the gradients",
    "grad_fn": "pb.explain(y, x)",
    "half": "x.astype('float16')",
    "int": "x.astype('int32')",
    "is_leaf": "isinstance(x, pb.Variable)",
    "log": "pb.log(x)",
    "long": "x.astype('int64')",
    "masked_fill": "pb.where(mask, value, x)",
    "matmul": "x @ y",
    "mm": "x @ y",
    "mul": "x * y",
    "mul_": "x * y: tensors cannot be modified",
    "norm": "pb.linalg.norm(x)",
    "numel": "x.size",
    "permute": "pb.permute_dims(x, axes)",
    "pow": "x ** y",
    "put": "x.flat[indices] = values",
    "register_hook": "pb.custom_gradient, whose rule may change a gradient",
    "relu": "pb.relu(x)",
    "requires_grad": "pb.Variable(value), whose gradients are tracked",
    "requires_grad_": "pb.Variable(value), whose gradients are tracked",
    "resize": "x.reshape(shape), or pb.pad(x, widths)",
    "retain_grad": "pb.gradients(loss, [x]), also for an intermediate tensor",
    "setfield": "x[...] = value",
    "setflags": "nothing: arrays that share the memory of a tensor are read-only",
    "sigmoid": "pb.sigmoid(x)",
    "sin": "pb.sin(x)",
    "softmax": "pb.softmax(x)",
    "sqrt": "pb.sqrt(x)",
    "square": "pb.square(x)",
    "strides": "x.numpy().strides",
    "sub": "x - y",
    "tanh": "pb.tanh(x)",
    "to": "x.astype(dtype), or x.to_device(device)",
    "tofile": "x.numpy().tofile(path), or pb.save(path, x)",
    "type": "x.astype(dtype)",
    "unsqueeze": "pb.expand_dims(x, axis)",
    "view": "x.reshape(shape), or pb.constant(x.numpy().view(dtype)) for the same bytes",
    "view_as": "x.reshape(y.shape)",
    "zero_": "pb.zeros_like(x): tensors cannot be modified",
    "zero_grad": "nothing: pb.gradients returns new gradients in each call",
}

# Parameters of other libraries, with the name in pullback.
KEYWORDS = {
    "dim": "axis",
    "dims": "axis",
    "eps": "epsilon",
    "keepdim": "keepdims",
    "keep_dims": "keepdims",
    "lr": "learning_rate",
    "nesterov": "use_nesterov",
    "size": "shape",
    "strides": "stride",
    "tol": "rtol",
}

# Names of pb.nn that were also in pb. The others in both are those that most networks use.
NN_ONLY = {
    "batch_norm", "celu", "cosine_similarity", "ctc_loss", "elu", "embedding", "embedding_bag",
    "glu", "group_norm", "gru", "hard_sigmoid", "hard_silu", "hard_tanh", "hinge",
    "huber_loss", "kl_divergence", "l1_loss", "l2_loss", "layer_norm", "leaky_relu",
    "log_sigmoid", "lstm", "mish", "multi_head_attention", "relu6", "rms_norm", "rnn",
    "scaled_dot_product_attention", "selu", "silu", "smooth_l1", "softsign",
}  # fmt: skip


def add_hints(package: ModuleType) -> None:
    """Set `__getattr__` of the package and of its public modules."""
    for module in (package, *_modules(package)):
        vars(module)["__getattr__"] = partial(_absent, package, module)


def _modules(package: ModuleType) -> Iterable[ModuleType]:
    for value in [vars(package)[name] for name in package.__all__]:
        if isinstance(value, ModuleType):
            yield value


def _absent(package: ModuleType, module: ModuleType, name: str) -> Any:
    if module is package and name in NN_ONLY:
        text = f"pb.{name} is deprecated; use pb.nn.{name}"
        warn(text, DeprecationWarning, stacklevel=2)
        return getattr(package.nn, name)
    hint = "" if name.startswith("_") else _hint(package, module, name)
    text = f"module {module.__name__!r} has no attribute {name!r}{hint}"
    raise AttributeError(text, name=name, obj=module)


def _hint(package: ModuleType, module: ModuleType, name: str) -> str:
    path = module.__name__.removeprefix("pullback.")
    for own in (f"{path}.{name}", name):
        if own in INSTEAD:
            return f"; use {INSTEAD[own]}"
    for wanted in (NAMES.get(f"{path}.{name}", name), NAMES.get(name)):
        for space in (module, package, *_modules(package)):
            if wanted in space.__all__:
                here = f"{space.__name__.removeprefix('pullback')}.{wanted}".lstrip(".")
                if space is module:
                    here = str(wanted)
                elif space is package:
                    here = f"pb.{wanted}"
                return f"; here it is {here!r}"
    return did_you_mean(name, module.__all__)


def renamed(function: Callable[..., Any], keywords: Mapping[str, Any]) -> str:
    """Return the hint for a call that failed because a keyword has another name here, else ""."""
    known = signature(function).parameters
    if any(p.kind is Parameter.VAR_KEYWORD for p in known.values()):
        return ""
    for keyword in keywords:
        if keyword not in known and KEYWORDS.get(keyword) in known:
            return f"unexpected keyword argument {keyword!r}; use {KEYWORDS[keyword]!r}"
    return ""


def with_hints(init: Callable[P, None]) -> Callable[P, None]:
    """Add to the errors of a constructor the names of parameters in other libraries."""

    @wraps(init)
    def hinting(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            init(*args, **kwargs)
        except TypeError:
            if hint := renamed(init, kwargs):
                raise TypeError(f"{type(args[0]).__name__}: {hint}") from None
            raise

    return hinting


def without(**hints: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that refuses keywords of other libraries, each with a hint."""

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            who = function.__name__  # also for errors of the core
            for name in hints:
                if name in kwargs:
                    raise TypeError(f"{who}: unexpected keyword argument {name!r}; {hints[name]}")
            return function(*args, **kwargs)

        return call

    return decorated


def did_you_mean(name: Any, known: Iterable[str], similarity: float = 0.7) -> str:
    """Return "; did you mean 'a' or 'b'?" with up to three similar names of `known`, else "".

    Capitals and underscores do not count. `similarity` is the least ratio of difflib.
    """
    from difflib import get_close_matches

    def letters(text: Any) -> str:
        return str(text).lower().replace("_", "")

    by_letters = {letters(entry): entry for entry in known}
    wish = letters(name)
    near = [wish] if wish in by_letters else get_close_matches(wish, by_letters, 3, similarity)
    return f"; did you mean {' or '.join(repr(by_letters[k]) for k in near)}?" if near else ""


class _Absent:
    """An attribute of other libraries' tensors, which raises an AttributeError with a hint."""

    def __init__(self, name: str, hint: str) -> None:
        self._name, self._hint = name, hint

    def __get__(self, tensor: Any, owner: type) -> NoReturn:
        text = f"{owner.__name__} has no attribute {self._name!r}; use {self._hint}"
        raise AttributeError(text, name=self._name, obj=tensor)


def _dir(self: Any) -> list[str]:
    names = dict.fromkeys(object.__dir__(self))
    return [name for name in names if not isinstance(getattr_static(self, name), _Absent)]


def absent_attributes() -> dict[str, Any]:
    """Return the attributes of ATTRIBUTES for a class of tensors, and a `__dir__` without them."""
    return {"__dir__": _dir, **{name: _Absent(name, hint) for name, hint in ATTRIBUTES.items()}}
