"""The first random programs of tests/fuzz; `tools/fuzz` runs as many as one likes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz import check, generate, helpers, kinds, shrink
from fuzz.__main__ import failure_of
from fuzz.program import Line, Program

import pullback as pb

BLOCKS, BLOCK = 10, 200


@pytest.mark.parametrize("block", range(BLOCKS))
def test_programs(block: int) -> None:
    check.counts.clear()
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        problem = failure_of(generate.Generator(seed).make())
        assert problem is None, f"tools/fuzz --seed {seed}\n{problem}"
    # What nothing can be said about stays rare.
    assert check.counts["decided by rounding"] < 0.05 * BLOCK
    assert check.counts["slope"] > BLOCK and check.counts["curvature"] > BLOCK


def test_every_public_function_is_in_some_program() -> None:
    sources = [*Path(kinds.__file__).parent.glob("*.py"), Path(helpers.__file__)]
    text = "".join(path.read_text() for path in sources)
    names = {name for space in (pb, pb.nn, pb.linalg, pb.special) for name in space.__all__}
    functions = {n for n in names if callable(getattr(pb, n, None)) and n[0].islower()}
    used = set(re.findall(r"(?<=pb\.)\w+|(?<=[\"'])\w+(?=[\"'])|(?<=special\.)\w+", text))
    assert functions - used == WITHOUT_PROGRAMS


# What computes nothing, and what has no one answer.
WITHOUT_PROGRAMS = {
    *("can_cast", "finfo", "iinfo", "isdtype", "result_type", "numpy_function"),
    # Complex numbers: programs are real.
    *("angle", "complex", "conj", "conjugate", "imag", "iscomplex", "iscomplexobj", "isreal"),
    *("isrealobj", "real", "real_if_close"),
    "from_dlpack",
    "supports",
    # Views and joins, which have programs of their own.
    *("atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_shapes"),
    *("column_stack", "dstack", "flip", "fliplr", "flipud", "hstack", "moveaxis", "ravel"),
    *("repeat", "roll", "rot90", "swapaxes", "tile", "tril", "triu", "unstack", "vstack"),
    # Sums and differences, and activations made of others; creation.
    *("asarray", "count_nonzero", "diff", "empty", "empty_like", "linspace", "meshgrid"),
    *("nanmean", "nansum", "ptp", "std", "var", "elu", "hard_sigmoid", "hard_silu"),
    *("leaky_relu", "log_sigmoid", "mish", "relu6", "selu", "silu", "softsign"),
    # Activations, losses and normalisations made of others.
    *("celu", "gelu"),
    *("glu", "hard_tanh", "hinge", "huber_loss", "kl_divergence", "l1_loss", "l2_loss"),
    *("sigmoid_cross_entropy", "smooth_l1", "cosine_similarity", "batch_norm", "group_norm"),
    *("layer_norm", "rms_norm", "dropout", "embedding"),
    # Scans, sorts and what they are made into, sets and counts.
    *("argpartition", "argsort", "argwhere", "bincount", "choose", "compress", "cumprod", "cumsum"),
    *("cumulative_logsumexp", "cumulative_max", "cumulative_min", "cumulative_prod"),
    *("cumulative_sum", "digitize", "extract", "flatnonzero", "histogram", "interp", "intersect1d"),
    *("isin", "lexsort", "median", "nanmedian", "nanpercentile", "nanquantile", "nonzero"),
    *("partition", "percentile", "piecewise", "quantile", "searchsorted", "select", "sort", "topk"),
    *("union1d", "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values"),
    *("average", "cov", "corrcoef", "trapezoid", "ediff1d"),
    *("nanmax", "nanmin", "nanstd", "nanvar"),
    # Shapes, grids and second names.
    *("append", "array_split", "concatenate", "diag", "diag_indices", "diagflat", "dsplit"),
    *("fill_diagonal", "geomspace", "hsplit", "kron", "logspace", "pad", "rollaxis", "tri"),
    *("tril_indices", "triu_indices", "vsplit"),
    *("absolute", "amax", "amin", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2"),
    *("arctanh", "power", "true_divide", "mod", "around", "degrees", "radians", "bitwise_not"),
    *("invert", "left_shift", "right_shift"),
    # Of bits and signs, with kinks of their own, or made of others here.
    *("bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift"),
    *("bitwise_xor", "cbrt", "copysign", "divmod", "float_power", "fmod", "heaviside"),
    *("isneginf", "isposinf", "isclose", "allclose", "nan_to_num", "nextafter", "signbit"),
    "sinc",
    "check_numerics",
    "checkpoint",
    "draw",
    "evaluate",
    "explain",
    "get_default_dtype",
    "gradient_paths",
    "num_threads",
    "profile",
    "register_gradient",
    "set_debug",
    "set_default_dtype",
    "set_gradient_verification",
    "set_num_threads",
}


def square(text: str) -> Program:
    """A program of one line that claims to be a square."""
    return Program(0, {0: np.array(2.0)}, (Line(text, (0,), (1,), "pb.square({0})"),), (1,))


@pytest.mark.parametrize("mode", check.MODES)
def test_it_finds_what_is_wrong(mode: str) -> None:
    check.check(square("pb.square({0})"), [mode])
    for text, wrong in {
        "pb.square({0}) + 1e-8": "result 0",
        "pb.multiply({0}, pb.stop_gradient({0}))": "slope",
        "pb.square(pb.stop_gradient({0})) + pb.sin(0.0 * {0})": "slope",
        "2 * {0} * pb.stop_gradient({0}) - pb.stop_gradient(pb.square({0}))": "curvature",
    }.items():
        with pytest.raises(check.Failure, match=wrong):
            check.check(square(text), [mode])


def test_a_failing_program_becomes_small() -> None:
    programs = (generate.Generator(seed).make() for seed in range(100))
    program = next(
        p for p in programs if "pb.tanh" in str(p) and not any(line.unsafe for line in p.lines)
    )
    small = shrink.shrink(program, lambda p: "pb.tanh" in p.source())
    assert len(small.lines) == 1 and len(small.results) == 1
    assert all(np.all(x == 1) for x in small.leaves.values() if x.dtype.kind == "f")


def test_a_printed_program_runs() -> None:
    for seed in range(40):
        program = generate.Generator(seed).make()
        space: dict[str, Any] = {}
        exec(str(program), space)
        assert len(space["results"]) == len(program.results)


def test_the_same_seed_is_the_same_program() -> None:
    assert str(generate.Generator(7).make()) == str(generate.Generator(7).make())
