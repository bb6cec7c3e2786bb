"""The first random programs of tests/fuzz; `tools/fuzz` runs as many as one likes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz import check, generate, helpers, kinds, peers, shrink
from fuzz.__main__ import failure_of
from fuzz.kinds import composed
from fuzz.oracle import judge
from fuzz.program import Line, Program
from support.each import mostly_slow

import pullback as pb

BLOCKS, BLOCK = 10, 200


@pytest.mark.parametrize("block", mostly_slow(range(BLOCKS), 0, 1))
def test_programs(block: int) -> None:
    check.counts.clear()
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        problem = failure_of(generate.Generator(seed).make())
        assert problem is None, f"tools/fuzz --seed {seed}\n{problem}"
    if peers.PEERS:
        assert sum(check.counts[f"{name}: compared"] for name in peers.PEERS)
    # What nothing can be said about stays rare.
    assert check.counts["decided by rounding"] < 0.05 * BLOCK
    assert check.counts["slope"] > BLOCK and check.counts["curvature"] > BLOCK


# Programs whose sums had other bits when they were evaluated with other values.
KNOWN = (447, 1279)


@pytest.mark.parametrize("block", mostly_slow(range(40), 0))
def test_bits_do_not_depend_on_what_is_evaluated_together(block: int) -> None:
    seeds = [*KNOWN, *range(28)] if block == 0 else range(block * 25, block * 25 + 25)
    for seed in [*seeds, 32 * (1000 + block) + 31]:
        program = generate.Generator(seed).make()
        try:
            check.check_bits(program)
        except check.Failure as failure:
            raise AssertionError(f"seed {seed}: {failure}\n{program}") from failure


def test_every_public_function_is_in_some_program() -> None:
    sources = [*Path(kinds.__file__).parent.glob("*.py"), Path(helpers.__file__)]
    text = "".join(path.read_text() for path in sources)
    functions = {
        name
        for space in (pb, pb.nn, pb.linalg, pb.special)
        for name in space.__all__
        if callable(getattr(space, name)) and name[0].islower()
    }
    called = r"(?<=pb\.)\w+|(?<=nn\.)\w+|(?<=special\.)\w+|(?<=[\"'])\w+(?=[\"'(])"
    used = set(re.findall(called, text)) | {"bfloat16"}
    used |= {n for n in functions if getattr(np, n, None) in np.sctypeDict.values()}
    assert functions - used == {name for names in WITHOUT_PROGRAMS.values() for name in names}


WITHOUT_PROGRAMS = {
    "about dtypes and shapes, not values": "can_cast finfo iinfo isdtype result_type iscomplexobj "
    "isrealobj broadcast_shapes supports ndim shape size",
    "positions without an input that has a gradient": "diag_indices tril_indices triu_indices "
    "indices ix_ ravel_multi_index unravel_index",
    "other values each time, or none": "dropout empty empty_like",
    "of what it is given": "associative_scan vectorize",
    "modes of a program, or of tests of derivatives": "tangents jvp linearize vjp divergence "
    "linear_transpose vmap jacobian hessian hvp vhp gauss_newton_product fisher_product "
    "per_example_gradients per_example_gradient_norms sparse_jacobian sparse_hessian jet "
    "derivative laplacian jacobian_diagonal hessian_diagonal propagate_covariance",
    "of objects of others": "asarray from_dlpack",
    "places of tensors (tests/cuda)": "use_device",
    "of matrices that have to be of a kind, which random programs do not make (test_linalg.py)": ""
    "block_diag cg cho_solve cholesky cross det eig eigh eigsh eigvals eigvalsh expm "
    "expm_multiply funm gmres inv ldl lobpcg lsqr schur "
    "khatri_rao logm lstsq lu lu_factor lu_solve matrix_norm matrix_power matrix_rank "
    "minres multi_dot pinv polar qr slogdet solve solve_banded solve_continuous_are "
    "solve_continuous_lyapunov solve_discrete_are solve_discrete_lyapunov solve_sylvester "
    "solve_triangular sparse_solve sqrtm svd svdvals tensorinv tensorsolve toeplitz "
    "tridiagonal_solve vector_norm",
    "layers with parameters of shapes of their own (test_attention.py, test_recurrent.py, "
    "test_ctc.py)": "ctc_loss embedding_bag gru lstm multi_head_attention rnn "
    "scaled_dot_product_attention",
    "of vectors (test_convolve.py)": "convolve correlate",
    "of pictures, which random programs do not make (test_conv.py, test_pool.py)": ""
    "adaptive_avg_pool adaptive_max_pool avg_pool conv1d conv2d conv3d conv_transpose fold lp_pool "
    "max_pool resize unfold upsample",
    "the neighbour in its dtype, and a long double has others": "nextafter",
    "shows, or computes nothing": "draw explain evaluate gradient_paths profile profile_memory "
    "check_numerics",
    "SciPy's (test_scipy_values.py)": "airy dawsn ellipe ellipk erfi exp1 expi expn fresnel hyp0f1 "
    "hyp1f1 hyp2f1 jv k0 k1 kv lambertw loggamma modstruve owens_t shichi sici sph_harm_y "
    "spherical_in spherical_jn spherical_kn spherical_yn struve wofz yv",
    "SciPy's of several variables (test_scipy_variables.py)": "binom comb ellipeinc ellipj "
    "ellipkinc eval_chebyt eval_chebyu eval_gegenbauer eval_genlaguerre eval_hermite "
    "eval_hermitenorm eval_jacobi eval_laguerre eval_legendre exp10 ivp jvp kn kvp voigt_profile "
    "yvp",
    "in tests of their own (test_numpy_names.py)": "fmax fmin gradient nanargmax nanargmin "
    "nancumsum nanprod polyval setdiff1d setxor1d unwrap vander",
    "in tests of their own (test_numpy_arrays.py)": "apply_along_axis apply_over_axes array "
    "array_equal array_equiv block copy delete fix frexp gcd insert lcm ldexp modf polyfit",
    "of files (test_saving.py)": "load save",
    "settings": "get_default_dtype get_num_threads num_threads register_gradient set_debug "
    "set_default_dtype set_escapes set_gradient_verification set_num_threads",
}
WITHOUT_PROGRAMS = {reason: names.split() for reason, names in WITHOUT_PROGRAMS.items()}


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


def test_the_reference_keeps_the_tail_of_gelu() -> None:
    for text in ("gelu({0})", "gelu({0}, approximate='tanh')"):
        line = Line(
            f"pb.{text} % 0.7", (0,), (1,), f"pb.remainder({composed.ACTIVATIONS[text]}, 0.7)"
        )
        check.check(Program(0, {0: np.array([-9.0, 1.0])}, (line,), (1,)), ["lazy"])


def test_the_reference_of_sinc_is_zero_at_integers() -> None:
    line = Line("pb.not_equal(pb.sinc({0}), 0.0)", (0,), (1,))
    check.check(Program(0, {0: np.array([-2.0, 0.0, 0.5, 3.0])}, (line,), (1,)), ["lazy"])


def test_a_tie_in_a_running_extreme_is_a_kink() -> None:
    """Two squares at 0: the same one is the smaller on both sides, and their mean is neither."""
    line = Line("pb.cumulative_min(pb.square({0}), axis=0)", (0,), (1,))
    for seed in range(4):
        expected = judge(Program(seed, {0: np.zeros(2)}, (line,), (1,)))
        assert expected is not None and expected.curvature is None


@pytest.mark.parametrize(
    "text",
    ["helpers.overridden(pb, {0})", "pb.where(pb.not_equal({0}, 7), {0}, pb.log_softmax({0}))"],
)
def test_zeros_that_a_rule_gets_are_not_structural_where_it_is_called(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its NaN times such a zero is NaN, but not where it is transposed."""
    x = np.array([np.nan, 1.0])
    lines = (Line(text, (0,), (1,)), Line("{0}[1:]", (1,), (2,)))
    program = Program(0, {0: x}, lines, (2,), special=True)
    for modes in (["lazy", "by_tangents"], ["by_tangents", "in_steps"]):
        check.check(program, modes)
    monkeypatch.setattr(helpers, "TRANSPOSED", set())
    with pytest.raises(check.Failure, match="another mode"):
        check.check(program, ["lazy", "by_tangents"])


def test_a_failing_program_becomes_small() -> None:
    programs = (generate.Generator(seed).make() for seed in range(100))
    program = next(
        p for p in programs if "pb.tanh" in p.source() and not any(line.unsafe for line in p.lines)
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
