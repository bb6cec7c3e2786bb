"""Names of public functions that are neither operations nor composites, for overrides.

ALIASES have another name in the core. The purpose of SHAPED is a gradient of their own.
"""

# Names of public functions that the core knows under another name.
ALIASES = {
    "absolute": "abs",
    "amax": "max",
    "amin": "min",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "around": "round",
    "astype": "cast",
    "bitwise_not": "bitwise_invert",
    "concatenate": "concat",
    "conjugate": "conj",
    "fix": "trunc",
    "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "mod": "remainder",
    "permute_dims": "transpose",
    "positive": "identity",
    "power": "pow",
    "right_shift": "bitwise_right_shift",
    "true_divide": "divide",
}

# Public functions whose purpose is a gradient that they define, and solvers by an implicit rule.
SHAPED = {
    "cg",
    "eigsh",
    "gmres",
    "lobpcg",
    "lsqr",
    "minres",
    "clip_gradient",
    "grad_pass_through",
    "numpy_function",
    "prevent_gradient",
    "reverse_gradient",
    "scale_gradient",
    "straight_through",
    "with_gradient",
    "zero_gradient_where",
}
