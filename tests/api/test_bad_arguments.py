"""A walk over the parameters of the public functions: each refuses what it cannot take, with an
error that names the function that was called."""

import inspect
import re

import pytest
import scipy.sparse
from support.public import FUNCTIONS, OTHERS, parameters

import pullback as pb

BAD = {
    "object": object(),
    "text": "abc",
    "complex": 1j,
    "dict": {},
    "none": None,
    "ragged": [[1.0], [1.0, 2.0]],
    "rank 1": [1, 2, 3, 4, 5],
    "rank 2": pb.ones((2, 3)),
    "float": 1.5,
    "large": 10**30,
}
ONES = pb.ones((2, 2))
CUBE = pb.ones((2, 2, 2))
# Arguments of a valid call; of the other functions, one matrix for each required parameter.
VALID = {
    "adaptive_avg_pool": (CUBE, 2),
    "adaptive_max_pool": (CUBE, 2),
    "arange": (3,),
    "argpartition": (ONES, 0),
    "array_split": (ONES, 2),
    "avg_pool": (CUBE, 2),
    "bincount": ([0, 1],),
    "bitwise_and": ([1, 2], [1, 2]),
    "bitwise_invert": ([1, 2],),
    "bitwise_left_shift": ([1, 2], [1, 2]),
    "bitwise_not": ([1, 2],),
    "bitwise_or": ([1, 2], [1, 2]),
    "bitwise_right_shift": ([1, 2], [1, 2]),
    "bitwise_xor": ([1, 2], [1, 2]),
    "broadcast_shapes": ((2, 2),),
    "broadcast_to": (ONES, (2, 2, 2)),
    "cg": (ONES, ONES[0]),
    "cho_solve": ((ONES, True), ONES),
    "choose": ([0, 1], [ONES[0], ONES[0]]),
    "clip_by_global_norm": ([ONES], 1.0),
    "clip_by_norm": (ONES, 1.0),
    "compress": ([True, False], ONES),
    "conv1d": (CUBE, CUBE),
    "conv2d": (CUBE[None], CUBE[None]),
    "conv3d": (CUBE[None, None], CUBE[None, None]),
    "conv_transpose": (CUBE, CUBE),
    "convolve": (ONES[0], ONES[0]),
    "correlate": (ONES[0], ONES[0]),
    "cross": (pb.ones(3), pb.ones(3)),
    "ctc_loss": (pb.zeros((4, 2, 3)), [[1], [2]]),
    "cumulative_logsumexp": (ONES[0],),
    "cumulative_max": (ONES[0],),
    "cumulative_min": (ONES[0],),
    "cumulative_prod": (ONES[0],),
    "cumulative_sum": (ONES[0],),
    "delete": (ONES, 0),
    "diag_indices": (2,),
    "digitize": (ONES, ONES[0]),
    "dsplit": (CUBE, 2),
    "eigsh": (pb.eye(4), 1),
    "einsum": ("ij", ONES),
    "embedding": (ONES, [0, 1]),
    "embedding_bag": (ONES, [[0, 1]]),
    "empty": ((2, 2),),
    "expm_multiply": (ONES, ONES[0]),
    "expn": (1, ONES),
    "eye": (2,),
    "fill_diagonal": (ONES, 2.0),
    "fold": (pb.ones((1, 1, 2)), 2, 2),
    "full": ((2,), 1.0),
    "funm": (ONES + pb.eye(2), pb.exp),
    "gcd": ([1, 2], [1, 2]),
    "global_norm": ([ONES],),
    "gmres": (ONES, ONES[0]),
    "grad_pass_through": (pb.sin,),
    "group_norm": (CUBE, 2),
    "gru": (CUBE, ONES, pb.ones((6, 2)), pb.ones((6, 2))),
    "hsplit": (ONES, 2),
    "indices": ((2, 2),),
    "insert": (ONES, 0, 1.0),
    "interp": (ONES, [0.0, 1.0], ONES[0]),
    "invert": ([1, 2],),
    "jn": (1, ONES),
    "lcm": ([1, 2], [1, 2]),
    "ldexp": (ONES, 1),
    "left_shift": ([1, 2], [1, 2]),
    "lp_pool": (CUBE, 2, 2),
    "lobpcg": (pb.eye(6), pb.eye(6)[:, :1]),
    "lsqr": (ONES, ONES[0]),
    "lstm": (CUBE, (ONES, ONES), pb.ones((8, 2)), pb.ones((8, 2))),
    "lu_solve": ((ONES, [0, 1]), ONES),
    "matrix_power": (ONES, 2),
    "max_pool": (CUBE, 2),
    "minres": (ONES, ONES[0]),
    "moveaxis": (ONES, 0, 1),
    "multi_head_attention": (ONES, ONES, ONES, [ONES] * 4, 1),
    "multigammaln": (ONES * 5, 2),
    "one_hot": ([0, 1], 2),
    "ones": (2,),
    "pad": (ONES, 1),
    "partition": (ONES, 0),
    "permute_dims": (ONES, (1, 0)),
    "polyfit": (pb.arange(3.0), pb.arange(3.0), 1),
    "polyval": (ONES[0], ONES),
    "ravel_multi_index": (([0, 1], [1, 0]), (2, 2)),
    "repeat": (ONES, 2),
    "reshape": (ONES, (4,)),
    "resize": (CUBE, 4),
    "right_shift": ([1, 2], [1, 2]),
    "rnn": (CUBE, ONES, ONES, ONES),
    "roll": (ONES, 1),
    "rollaxis": (ONES, 1),
    "searchsorted": (ONES[0], ONES),
    "seed": (0,),
    "solve_banded": ((0, 0), pb.ones((1, 2)), ONES[0]),
    "solve_continuous_are": (pb.eye(2),) * 4,
    "solve_discrete_are": (pb.eye(2),) * 4,
    "sparse_softmax_cross_entropy": (ONES, [0, 1]),
    "sparse_solve": (scipy.sparse.eye_array(2, format="csr"), ONES),
    "eval_chebyt": (1, ONES),
    "eval_chebyu": (1, ONES),
    "eval_gegenbauer": (1, ONES, ONES),
    "eval_genlaguerre": (1, ONES, ONES),
    "eval_hermite": (1, ONES),
    "eval_hermitenorm": (1, ONES),
    "eval_jacobi": (1, ONES, ONES, ONES),
    "eval_laguerre": (1, ONES),
    "eval_legendre": (1, ONES),
    "kn": (1, ONES),
    "sph_harm_y": (1, 0, ONES, ONES),
    "spherical_in": (1, ONES),
    "spherical_jn": (1, ONES),
    "spherical_kn": (1, ONES),
    "spherical_yn": (1, ONES),
    "split": (ONES, 2),
    "straight_through": (pb.sign,),
    "swapaxes": (ONES, 0, 1),
    "take": (ONES, [0, 1]),
    "take_along_axis": (ONES, [[0], [1]]),
    "tensorinv": (ONES, 1),
    "tensorsolve": (ONES, ONES[0]),
    "tile": (ONES, 2),
    "topk": (ONES, 1),
    "tri": (2,),
    "tril_indices": (2,),
    "triu_indices": (2,),
    "unfold": (CUBE, 1),
    "unravel_index": ([0, 1], (2, 2)),
    "upsample": (CUBE, 2),
    "vander": (ONES[0],),
    "vsplit": (ONES, 2),
    "with_gradient": (ONES, lambda g: g),
    "yn": (1, ONES),
    "zero_gradient_where": (ONES > 0, ONES),
    "zeros": (2,),
}


def calls_with(function, valid, bad):
    """(parameter, positional arguments, keyword arguments) with `bad` in one place."""
    taken = parameters(function)
    matrices = [ONES] * sum(p.default is p.empty for p in taken)
    for known in (matrices, valid):
        for k, parameter in enumerate(taken):
            arguments = [*known, *(p.default for p in taken[len(known) : k + 1])]
            if known is matrices:
                arguments = [ONES] * max(len(matrices), k + 1)
            arguments[k] = bad
            yield parameter.name, arguments, {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            yield parameter.name, [*valid, bad], {}
        if parameter.kind is parameter.KEYWORD_ONLY:
            yield parameter.name, valid, {parameter.name: bad}


def problem_of(name, kind, arguments, keywords):
    """What is wrong with the error of a call; with "object", no error is wrong too."""
    try:
        FUNCTIONS[name](*arguments, **keywords)
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        if re.match(rf"{name}(\(\))?:? ", str(error)):
            return None
        return "pybind dump" if "incompatible function arg" in str(error) else "another name"
    except Exception as error:
        return type(error).__name__
    return "accepted" if kind == "object" else None


@pytest.mark.filterwarnings("ignore::numpy.exceptions.RankWarning")  # of polyfit
@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - OTHERS))
def test_errors_name_the_function_that_was_called(name):
    """Every parameter refuses what it cannot take."""
    function = FUNCTIONS[name]
    required = sum(p.default is p.empty for p in parameters(function))
    valid = VALID.get(name, [ONES] * required)
    function(*valid)
    found = {}
    for kind, bad in BAD.items():
        for parameter, *call in calls_with(function, valid, bad):
            problem = problem_of(name, kind, *call)
            if problem:
                found.setdefault((problem, f"{name}.{parameter}"), []).append(kind)
    assert not found, found
