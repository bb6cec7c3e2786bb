"""The public functions, by name."""

import inspect

import pullback as pb

SPACES = (pb, pb.nn, pb.linalg, pb.random, pb.special)
FUNCTIONS = {
    name: getattr(space, name)
    for space in SPACES
    for name in space.__all__
    if inspect.isfunction(getattr(space, name))
}
# Not about arrays: what they are given first is a function, a name, a setting or anything.
OTHERS = {
    "load", "save",
    "__array_namespace_info__", "associative_scan", "check_numerics", "checkpoint", "cond",
    "custom_gradient", "draw", "evaluate", "explain", "fori_loop", "map", "scan", "switch",
    "while_loop",
    "can_cast", "finfo", "iinfo", "isdtype", "result_type",
    "function", "get_default_dtype", "get_num_threads", "grad", "gradient_override_map",
    "gradient_paths", "gradients",
    "per_example_gradients", "per_example_gradient_norms",
    "hessian_diagonal", "jacobian_diagonal", "propagate_covariance",
    "divergence", "fisher_product", "gauss_newton_product", "hessian", "hvp", "jacobian", "vhp",
    "vectorize", "vmap", "jvp", "linear_transpose", "linearize", "tangents", "vjp",
    "derivative", "jet", "laplacian",
    "num_threads", "numpy_function", "profile", "profile_memory", "register_gradient",
    "set_debug", "set_default_dtype", "set_escapes", "set_gradient_verification", "set_num_threads",
    "sparse_hessian", "sparse_jacobian",
    "supports", "value_and_grad", "iscomplexobj", "isrealobj",
    "apply_along_axis", "apply_over_axes", "ndim", "shape", "size",
}  # fmt: skip


def parameters(function):
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p for p in inspect.signature(function).parameters.values() if p.kind in kinds]
