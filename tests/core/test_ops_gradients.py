"""The case table as a whole: linear operations are exactly adjoint, no operation is forgotten, what
has no gradient gives none, and planted errors are found. The derivatives of each row are in
test_ops.py, those of halves in test_ops_digits.py."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from support import checks
from support.cases import Case
from support.check import Check
from support.checks import Program

import pullback as pb
from pullback import _core

# --- linear operations are adjoint: <A x, y> = <x, A* y>, exactly where no sum rounds

LINEAR = ["take", "scatter_add", "slice", "embed", "reshape", "transpose", "broadcast_to", "concat"]


@pytest.mark.parametrize("op", LINEAR)
def test_adjoint(cases: list[Case], op: str) -> None:
    for case in cases:
        if case.op != op or not case.wrt:
            continue
        for shapes in case.shapes:
            program = Program(case, shapes)
            # Small integers: every product and sum is exact.
            xs = [np.round(8 * x) if x.dtype.kind == "f" else x for x in program.xs]
            y = np.round(8 * program.c)
            image = case.run(*map(pb.constant, xs)).numpy()
            back = pb.gradients(program.y, program.wrt, grad_ys=y)
            right = sum(np.sum(xs[k] * g.numpy()) for k, g in zip(case.wrt, back, strict=True))
            assert np.sum(image * y) == right, f"{case} {shapes}"


# --- nothing is forgotten

DRAWN = {"random_uniform", "random_normal", "permutation"}  # test_random.py
DRAWN |= {"random_exponential", "random_gamma", "random_log_gamma", "random_integers"}
DRAWN |= {"random_poisson", "random_binomial"}  # test_random_distributions.py
OTHERS = {"numpy_function"}  # test_numpy_function.py
OTHERS |= {"complex", "real", "imag", "conj"}  # test_complex.py
OTHERS |= {"convolution", "max_pool"}  # test_conv.py, test_pool.py
ROW = re.compile(r"^(UNARY|BINARY|TERNARY)\s*\((\w+),\s*\w+,\s*(\w+),\s*\w+,(.*)\)\s*$")


def test_every_operation_has_a_case(cases: list[Case]) -> None:
    assert set(_core.op_names()) - {case.op for case in cases} == DRAWN | OTHERS


def test_every_row_of_elementwise_def_is_tested_as_what_it_is(cases: list[Case]) -> None:
    table = Path(__file__).parents[2] / "cpp" / "graph" / "elementwise.def"
    rows = [match for line in table.read_text().splitlines() if (match := ROW.match(line))]
    assert len(rows) > 40
    by_name = {case.op: case for case in cases if case.elementwise}
    assert [row[2] for row in rows] == list(by_name)
    # The columns after the value are aligned with spaces and end in the gradients.
    arity = {row[2]: ["UNARY", "BINARY", "TERNARY"].index(row[1]) + 1 for row in rows}
    columns = {row[2]: re.split(r",\s+(?![^()]*\))", row[4].strip()) for row in rows}
    gradients = {name: columns[name][-count:] for name, count in arity.items()}

    def has_two(name: str, k: int) -> bool:
        """Whether there is a second derivative: none of a row whose next one is refused."""
        text = gradients[name][k].strip()
        following = [row for row in gradients if re.search(rf"\b{row}\(", text)]
        refused = "third_order" in text or any(
            k < arity[row] and "third_order" in gradients[row][k] for row in following
        )
        return text != "none" and "no_order" not in text and not refused

    for name, result in ((row[2], row[3]) for row in rows):
        case = by_name[name]
        assert len(case.domains) == arity[name]
        assert (case.result == "bool") == (result == "Bool")
        assert case.wrt == tuple(k for k in range(arity[name]) if has_two(name, k)), name


INSIDE_GRADIENTS = {"log_slope", "max_share", "min_share", "pow_da", "pow_db", "same"}
INSIDE_GRADIENTS |= {"difference", "erf_slope", "gate", "multiply_no_nan", "tanh_slope"}
INSIDE_GRADIENTS |= {"acosh_slope", "asin_slope", "asinh_slope", "atan_slope", "atanh_slope"}
INSIDE_GRADIENTS |= {"linear_recurrence"}
INSIDE_GRADIENTS |= {"gamma_nth", "polygamma_gap", "rgamma_nth"}
INSIDE_GRADIENTS |= {"gammainc_da", "gammainc_daa", "zeta_dq", "zeta_ds", "zeta_dss"}
INSIDE_GRADIENTS |= {"log_gamma_path", "log_gamma_path_da"}
INSIDE_GRADIENTS |= {"gamma_density", "gamma_density_da", "gamma_density_dx"}
INSIDE_GRADIENTS |= {"betainc_da", "betainc_db", "betainc_daa", "betainc_dab", "betainc_dbb"}
INSIDE_GRADIENTS |= {"beta_density", "beta_density_da", "beta_density_db", "beta_density_dx"}
# Of pb.stats, which calls them by other names.
INSIDE_GRADIENTS |= {"log_gammainc", "log_gammainc_da", "log_gammainc_daa", "log_gammainc_dx"}
INSIDE_GRADIENTS |= {"log_gammaincc", "log_gammaincc_da", "log_gammaincc_daa", "log_gammaincc_dx"}
INSIDE_GRADIENTS |= {"stdtr_da", "stdtr_daa", "student_density"}
INSIDE_GRADIENTS |= {"logaddexp_slope", "logaddexp2_slope"}
INSIDE_GRADIENTS |= {"cosine_of", "over_square", "sigmoid_slope", "softsign_slope"}
INSIDE_GRADIENTS |= {"entr_slope", "erfcinv_slope", "erfcx_derivative", "erfinv_slope"}
INSIDE_GRADIENTS |= {"ive_derivative", "log_ndtr_rest", "log_ndtr_slope", "log_ratio"}
INSIDE_GRADIENTS |= {"jn_derivative", "yn_derivative", "rel_entr_slope", "kl_div_slope"}
INSIDE_GRADIENTS |= {"i0e_slope", "i1_slope", "i1e_slope"}
INSIDE_GRADIENTS |= {"logit_slope", "ndtr_slope", "ndtri_slope", "sinc_derivative"}
# Of indexing by several arrays.
INSIDE_GRADIENTS |= {"wrap_index"}


def test_every_row_has_its_function_with_an_example(cases: list[Case]) -> None:
    for case in cases:
        if case.elementwise and case.op not in INSIDE_GRADIENTS:
            homes = [space for space in (pb, pb.nn, pb.special) if case.op in space.__all__]
            assert homes, case.op
            assert ">>> " in (getattr(homes[0], case.op).__doc__ or ""), case.op


def test_operations_without_a_gradient_give_none(cases: list[Case]) -> None:
    for case in cases:
        if case.wrt or not case.domains or case.domains[0].dtype or "d" not in case.dtypes:
            continue
        x = pb.Variable(case.arrays(case.shapes[-1], "d")[0])
        others = case.arrays(case.shapes[-1], "d")[1:]
        y = case.run(x, *others)
        assert pb.gradients(pb.astype(y, "float64"), [x]) == [None], case.id


@pytest.mark.filterwarnings("ignore:gradients. a source of .* has no gradient")
def test_integers_have_no_gradient() -> None:
    n = pb.Variable(np.array([1, 2, 3]))
    x = pb.Variable(np.array([1.0, 2.0, 3.0]))
    assert pb.gradients(pb.sum(n * n), [n]) == [None]
    dx, dn = pb.gradients(pb.sum(x * n), [x, n])
    assert dn is None and dx.numpy().tolist() == [1.0, 2.0, 3.0]
    # A detour through integers is no path either.
    assert pb.gradients(pb.astype(pb.astype(x, "int32"), "float64"), [x]) == [None]


@pytest.mark.parametrize("narrow, wide", [("float32", "float64")])
def test_casts_between_floats_pass_the_gradient_in_the_dtype_of_the_input(
    narrow: str, wide: str
) -> None:
    x = pb.Variable(np.array([0.1, 0.2], narrow))
    (g,) = pb.gradients(pb.sum(pb.exp(pb.astype(x, wide))), [x])
    assert g.dtype == narrow
    expected = np.exp(x.numpy().astype(wide)).astype(narrow)
    np.testing.assert_array_max_ulp(g.numpy(), expected, 1)
    (h,) = pb.gradients(pb.sum(g * g), [x])
    assert h.dtype == narrow


# --- the checks themselves: planted errors that they must see

MUTANTS = {
    "one part in 10¹⁰": ("sin", lambda op, g: g * pb.cos(op.inputs[0]) * (1 + 1e-10)),
    "a wrong sign": ("cos", lambda op, g: g * pb.sin(op.inputs[0])),
    "the saturated form": (
        "tanh",
        lambda op, g: g * (1 - op.outputs[0] * op.outputs[0] * 1.000001),
    ),
    "half of a product": ("multiply", lambda op, a, b=None: (a * op.inputs[1], None)),
    "swapped": ("divide", lambda op, g: (-g * op.outputs[0] / op.inputs[1], g / op.inputs[1])),
    "a constant slope": ("exp", lambda op, g: g * pb.stop_gradient(op.outputs[0])),
    "a detached factor": ("square", lambda op, g: g * 2 * pb.stop_gradient(op.inputs[0])),
    "no cotangent": ("softplus", lambda op, g: pb.sigmoid(op.inputs[0])),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_planted_errors_are_seen(cases: list[Case], mutant: str) -> None:
    op, rule = MUTANTS[mutant]
    case = next(case for case in cases if case.op == op)
    with pb.gradient_override_map({op: rule}), pytest.raises(AssertionError):
        check = Check()
        checks.first_order(case, check)
        checks.second_order(case, check)
        check.done()
