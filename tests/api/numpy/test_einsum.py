"""einsum and its relatives: every form of subscripts against NumPy, the order of the products, what
they become in a plan, and what is refused. Gradients and dtypes of some are in the case table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.cases import same_bits
from support.each import each, examples
from support.oracle import FIRST_TOLERANCE, gradient, off
from support.process import run

import pullback as pb
from pullback import _core
from pullback._numpy.contraction_order import contraction_order

RNG = np.random.default_rng(0)
STEP = re.compile(r"^\d+  (\w+)", re.MULTILINE)
Shape = tuple[int, ...]


def drawn(*shapes: Shape) -> list[Any]:
    return [RNG.standard_normal(shape) for shape in shapes]


def steps_of(*results: Any) -> Counter[str]:
    return Counter(STEP.findall(_core.describe_plan(list(results))))


def close(got: Any, expected: Any) -> None:
    assert got.shape == np.shape(expected)
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-12, atol=1e-12)


# --- values

FORMS: list[tuple[str, tuple[Shape, ...]]] = [
    ("ba", ((2, 3),)),
    ("", ((),)),
    ("->", ((),)),
    ("aB", ((3, 4),)),
    ("Ab,bA", ((3, 4), (4, 3))),
    ("iii->i", ((3, 3, 3),)),
    ("iijj->ji", ((2, 2, 3, 3),)),
    ("ijij", ((2, 3, 2, 3),)),
    ("i j , j k -> i k", ((2, 3), (3, 4))),
    ("...", ((2, 3),)),
    ("...ij,...jk", ((2, 3, 4), (5, 1, 4, 2))),
    ("i...,i...->...", ((3, 2), (3, 4, 2))),
    ("...ii->...i", ((2, 3, 3),)),
    ("i...j->...ji", ((2, 3, 4, 5),)),
    ("ij,j->...i", ((3, 4), (4,))),
    ("i->i...", ((3,),)),
    ("ij,jk", ((2, 1), (3, 4))),
    ("ij,ij->ij", ((1, 3), (2, 1))),
    ("ij,ij->", ((1, 1), (1, 1))),
    (",,ij", ((), (), (2, 2))),
    ("ij,jk,kl,lm,mn,no,op,pq,qr->ir", ((2, 2),) * 9),
    ("bhqd,bhkd->bhqk", ((2, 3, 4, 5), (2, 3, 6, 5))),
    ("bqhd,bkhd->bhqk", ((2, 4, 3, 5), (2, 6, 3, 5))),
    ("abcdefg,abcdefh->abcdefgh", ((1, 2, 1, 2, 1, 2, 2), (1, 2, 1, 2, 1, 2, 2))),
    ("abcdefgi,abcdefhi->abcdefgh", ((1, 2, 1, 2, 1, 2, 2, 3),) * 2),
    ("i,i->", ((0,), (0,))),
    ("ij,jk->ik", ((2, 0), (0, 3))),
]


@each(("text", "shapes"), FORMS, ids=lambda x: str(x))
def test_forms(text: str, shapes: tuple[Shape, ...]) -> None:
    xs = drawn(*shapes)
    close(pb.einsum(text, *xs), np.einsum(text, *xs))


def test_lists_of_axes() -> None:
    a, b = drawn((2, 3), (3, 4))
    close(pb.einsum(a, [0, 1], b, [1, 2], [0, 2]), a @ b)
    close(pb.einsum(a, [5, 1], b, [1, 2]), (a @ b).T)
    close(pb.einsum(a, [..., 0], [0, ...]), a.T)
    close(pb.einsum(a, (7, 7000), (7000, 7)), a.T)


@st.composite
def expressions(draw: st.DrawFn) -> tuple[str, list[Shape]]:
    size = {letter: draw(st.sampled_from([0, 1, 2, 3, 3])) for letter in "abcde"}
    parts, shapes = [], []
    for _ in range(draw(st.integers(1, 4))):
        term = draw(st.lists(st.sampled_from("abcde"), max_size=4))
        shape = [
            1 if term.count(x) == 1 and draw(st.integers(0, 11)) == 0 else size[x] for x in term
        ]
        if draw(st.booleans()):
            at = draw(st.integers(0, len(term)))
            shape[at:at] = draw(st.lists(st.sampled_from([1, 2]), max_size=2))
            term[at:at] = ["..."]
        parts.append("".join(term))
        shapes.append(tuple(shape))
    text = ",".join(parts)
    if draw(st.booleans()):
        letters = sorted(set(text) - set(".,"))
        result = draw(st.permutations(letters))[: draw(st.integers(0, len(letters)))]
        if "..." in text:
            result.insert(draw(st.integers(0, len(result))), "...")
        text += "->" + "".join(result)
    return text, shapes


@settings(
    max_examples=examples(200),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(expressions())
def test_any_expression(expression: tuple[str, list[Shape]]) -> None:
    """NumPy's value, or refused where NumPy refuses; the gradient is what differences say."""
    text, shapes = expression
    xs = drawn(*shapes)
    try:
        expected = np.einsum(text, *xs)
    except ValueError:
        with pytest.raises(ValueError, match="einsum: "):
            pb.einsum(text, *xs)
        return
    tensors = [pb.Variable(x) for x in xs]
    y = pb.einsum(text, *tensors)
    close(y, expected)
    if expected.size == 0 or max(x.size for x in xs) > 30:
        return
    weight = RNG.standard_normal(expected.shape)
    got = pb.gradients(y, tensors, grad_ys=weight)
    want = gradient(lambda *xs: np.einsum(text, *xs), xs, range(len(xs)), weight)
    for g, slope in zip(got, want, strict=True):
        assert off(g.numpy(), slope) < FIRST_TOLERANCE


def test_numbers_take_the_dtype_of_the_arrays() -> None:
    x = np.ones((2, 3), np.float32)
    assert pb.einsum(",ij", 2.0, x).dtype == np.float32
    assert pb.einsum(",ij", 2, np.ones((2, 2))).dtype == np.float64
    assert pb.einsum("ij,j", np.ones((2, 3), np.int32), x[0]).dtype == np.float32
    assert pb.einsum(",", 2, 3).numpy() == 6
    assert pb.einsum("i,i,i", np.ones(3, bool), np.ones(3, bool), np.ones(3, np.int32)).numpy() == 3
    assert pb.einsum("ij->", np.ones((2, 3), np.int32)).dtype == np.int32
    assert pb.dot(2.0, x).dtype == pb.inner(x, 2).dtype == np.float32


def test_second_order() -> None:
    w = pb.Variable(RNG.standard_normal((3, 3)))
    x = RNG.standard_normal((4, 3))
    (g,) = pb.gradients(pb.einsum("ni,ij,nj->", x, w, x) * pb.einsum("ii", w), [w])
    (h,) = pb.gradients(pb.sum(g * g), [w])
    a, t = x.T @ x, np.trace(w.numpy())
    s = np.sum(a * w.numpy())
    eye = np.eye(3)
    first = a * t + s * eye
    np.testing.assert_allclose(g.numpy(), first, rtol=1e-12)
    second = 2 * (np.sum(first * a) * eye + np.sum(first * eye) * a)
    np.testing.assert_allclose(h.numpy(), second, rtol=1e-12)


# --- the order of the products


def cost_of(order: list[tuple[int, int]], terms: list[str], result: str, size: Any) -> int:
    sets = [set(term) for term in terms]
    total = 0
    for i, j in order:
        b, a = sets.pop(j), sets.pop(i)
        total += int(np.prod([size[x] for x in a | b], initial=1))
        sets.append((a | b) & set(result).union(*sets))
    assert len(sets) == 1
    return total


def all_orders(count: int) -> list[list[tuple[int, int]]]:
    if count == 1:
        return [[]]
    rest = all_orders(count - 1)
    return [[pair, *tail] for pair in combinations(range(count), 2) for tail in rest]


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_the_cheapest_order_is_taken(data: st.DataObject) -> None:
    size = {x: data.draw(st.integers(1, 9)) for x in "abcde"}
    count = data.draw(st.integers(3, 4))
    letters = st.lists(st.sampled_from("abcde"), max_size=3, unique=True).map("".join)
    terms = [data.draw(letters) for _ in range(count)]
    # What only one of them has is in the result: einsum sums over the rest before.
    uses = Counter("".join(terms))
    result = "".join(x for x in "abcde" if uses[x] == 1 or (uses[x] and data.draw(st.booleans())))
    got = contraction_order([tuple(t) for t in terms], tuple(result), size)
    best = min(cost_of(order, terms, result, size) for order in all_orders(count))
    assert cost_of(got, terms, result, size) == best


def test_long_chains_are_ordered_greedily_and_well() -> None:
    letters = "abcdefghijklm"
    terms = [letters[k : k + 2] for k in range(12)]
    size = dict.fromkeys(letters, 50) | {"m": 1}
    got = contraction_order([tuple(t) for t in terms], ("a", "m"), size)
    assert cost_of(got, terms, "am", size) == 11 * 50 * 50  # from the vector at the end


# --- what they become


def test_products_are_matrix_products_on_views() -> None:
    """No copy where the strides allow one product; else the smaller operand's."""
    x, w = pb.constant(np.ones((30, 20))), pb.constant(np.ones((20, 10)))
    batch = pb.constant(np.ones((4, 30, 20)))
    heads = pb.constant(np.ones((2, 8, 3, 5)))
    for text, xs in (
        ("nd,de->ne", (x, w)),
        ("nd,de->en", (x, w)),
        ("bnd,de->bne", (batch, w)),
        ("bnd,bne->bde", (batch, batch)),
        ("bnd,bmd->bnm", (batch, batch)),
        ("nd,bnd->nb", (x, batch)),
        ("bqhd,bkhd->bhqk", (heads, heads)),
        ("bnd,bnd->d", (batch, batch)),
    ):
        steps = steps_of(pb.einsum(text, *xs))
        assert sum(steps.values()) == 1, (text, steps)
    few = pb.constant(np.ones((3, 20, 10)))
    assert steps_of(pb.einsum("nd,kde->nke", x, few)) == {"copy": 1, "gemm": 1}
    assert steps_of(pb.einsum("nd,kde->kne", x, few)) == {"gemm": 1}
    assert steps_of(pb.tensordot(batch, w, 1)) == {"gemm": 1}
    assert steps_of(pb.vdot(x, x)) == {"tiles": 1}
    outer = pb.einsum("i,j->ij", x[0], w[0])  # in an assertion pytest would hold x[0]
    assert steps_of(outer) == {"tiles": 1}


def test_the_gradient_of_a_shared_matrix_is_one_product() -> None:
    w = pb.Variable(np.ones((20, 10)))
    y = pb.matmul(np.ones((4, 30, 20)), w)
    (g,) = pb.gradients(y, [w], grad_ys=np.ones((4, 30, 10)))
    assert steps_of(g) == {"gemm": 1}
    assert g.numpy().tolist() == [[120.0] * 10] * 20


# --- bits and threads

PRODUCTS: dict[str, Callable[[Callable[[Shape], Any]], Any]] = {
    "large": lambda x: x((300, 200)) @ x((200, 250)),
    "deep": lambda x: x((3000, 30)).T @ x((3000, 20)),
    "batch": lambda x: x((9, 100, 64)) @ x((9, 64, 64)),
    "batch, transposed": lambda x: x((9, 100, 64)) @ pb.matrix_transpose(x((9, 64, 64))),
    "one matrix": lambda x: x((9, 100, 64)) @ x((64, 64)),
    "one left matrix": lambda x: x((100, 64)) @ x((9, 64, 64)),
    "many small": lambda x: x((3000, 4, 5)) @ x((3000, 5, 3)),
    "matrix and vector": lambda x: x((5000, 128)) @ x((128,)),
    "vector and matrix": lambda x: x((5000,)) @ x((5000, 128)),
    "transposed and vector": lambda x: x((5000, 128)).T @ x((5000,)),
    "outer": lambda x: x((900, 1)) @ x((1, 800)),
    "thin": lambda x: x((2000, 700)) @ x((700, 10)),
    "dot": lambda x: pb.vdot(x((100000,)), x((100000,))),
    "einsum": lambda x: pb.einsum("nd,kde,ne->nk", x((500, 20)), x((30, 20, 20)), x((500, 20))),
}


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_threads_change_no_bit(name: str, dtype: str) -> None:
    def once() -> Any:
        rng = np.random.default_rng(1)
        return PRODUCTS[name](
            lambda shape: pb.constant(rng.standard_normal(shape).astype(dtype))
        ).numpy()

    threads = pb.num_threads()
    try:
        results = []
        for count in (1, 2, 3, 8):
            pb.set_num_threads(count)
            results.append(once())
    finally:
        pb.set_num_threads(threads)
    assert all(same_bits(result, results[0]) for result in results)


# --- errors

A = np.ones((3, 4), np.float32)
E = pb.einsum
V, T = ValueError, TypeError
# fmt: off
BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: E("ij,jk", A), V, "expected 2 operands for 'ij,jk', got 1"),
    (lambda: E("ij", A, A), V, "expected 1 operand for 'ij', got 2"),
    (lambda: E("ijk", A), V, r"expected 3 axes for operand 0 .* 'ijk', got shape \(3, 4\)"),
    (lambda: E("i", A), V, "expected 1 axis for operand 0 by its subscripts 'i'"),
    (lambda: E("...ijk", A), V, "expected 3 axes"),
    (lambda: E("ij,jk", A, A), V, r"'j', got 4 in operand 0 of shape \(3, 4\) and 3 in oper"),
    (lambda: E("...,...", A, A[:, :3]), V, r"axis -1 of '...', got 4"),
    (lambda: E("ii", A), V, r"'i', a diagonal, in operand 0, got 3 and 4 in shape \(3, 4\)"),
    (lambda: E("ii", A[:1, :2]), V, "expected equal sizes for .* 'i', a diagonal"),
    (lambda: E("i1", A), V, r"expected letters.* got '1' in 'i1'"),
    (lambda: E("iä", A), V, "got 'ä'"),
    (lambda: E("i..j", A), V, r"got '\.'"),
    (lambda: E("...i...", A), V, r"got '\.'"),
    (lambda: E("ij->ii", A), V, "expected .* 'i' once in the result"),
    (lambda: E("ij->k", A), V, "expected .* 'k' of the result in an operand"),
    (lambda: E("i...->i", A), V, "it stands for 1 axis"),
    (lambda: E("ij-i", A), V, "only as one '->' in subscripts"),
    (lambda: E("ij->i->j", A), V, "only as one '->' in subscripts"),
    (lambda: E("ij->i,j", A), V, "expected no ',' after '->'"),
    (lambda: E(3), T, "expected subscripts like .* got 3"),
    (lambda: E(A, [0, "a"]), T, r"got \[0, 'a'\]"),
    (lambda: E(A, [..., ...]), T, "at most one Ellipsis"),
    (lambda: E(A, [0, 1, 2]), V, r"expected 3 axes .* subscripts \[0, 1, 2\]"),
    (lambda: E("ij", None), T, "einsum: operand 0: .*NoneType"),
    (lambda: E("ij", A > 0), T, "expected numbers, got bool"),
    (lambda: pb.tensordot(A, A.T), V, "tensordot: expected one size for axis 0 of a and axis 0"),
    (lambda: pb.tensordot(A, A, 1), V, r"tensordot: .* got 4 in shape \(3, 4\) and 3 in"),
    (lambda: pb.tensordot(A, A, 3), V, "tensordot: .* from 0 to 2 for axes, got 3"),
    (lambda: pb.tensordot(A, A, ([0], [0, 1])), V, "tensordot: .* got 1 of a and 2 of b"),
    (lambda: pb.tensordot(A, A, ([0, 0], [0, 0])), V, "tensordot: expected distinct axes"),
    (lambda: pb.tensordot(A, A, ([2], [0])), V, r"axis 2 is out of range for shape \(3, 4\)"),
    (lambda: pb.tensordot(A, A, "ab"), V, "tensordot: expected an integer or a pair .* got 'ab'"),
    (lambda: pb.tensordot(A, A, (1, 0, 1)), V, "tensordot: expected an integer or a pair"),
    (lambda: pb.dot(A, A), V, r"dot: expected one size for axis 1 of a and axis 0 of b, got 4 in"),
    (lambda: pb.inner(A, A[:, :3]), V, "inner: expected one size for axis 1"),
    (lambda: pb.vdot(A, A[0]), V, r"vdot: .* shapes \(3, 4\) and \(4,\)"),
    (lambda: pb.vecdot(A, A[:, :3]), V, "vecdot: expected one size of axis -1"),
    (lambda: pb.vecdot(A, A, axis=0), V, "vecdot: expected an axis from -2 to -1"),
    (lambda: pb.outer(A > 0, A > 0), T, "outer: expected numbers, got bool"),
    (lambda: pb.matrix_transpose(A[0]), V, r"matrix_transpose: .* \(4,\)"),
    (lambda: pb.diagonal(A[0]), V, r"diagonal: axis 1 is out of range for shape \(4,\)"),
    (lambda: pb.diagonal(A, 0, 1, -1), V, "diagonal: expected distinct axes"),
]
# fmt: on


@each("number", range(len(BAD)))
def test_errors(number: int) -> None:
    call, kind, text = BAD[number]
    with pytest.raises(kind, match=text):
        call()


def test_without_a_library_a_product_fails_before_it_runs() -> None:
    """When its plan is made, so that nothing of it has been computed; the rest works on."""
    lines = run(WITHOUT_BLAS).splitlines()
    assert lines[0] == lines[1]
    assert lines[0].startswith("matmul: no BLAS library could be loaded")
    assert lines[2] == "9.0"


WITHOUT_BLAS = """
import os

os.environ["PULLBACK_BLAS"] = "nowhere/libblas.so"
import numpy as np
import pullback as pb

x = pb.constant(np.ones((3, 3)))
y = pb.exp(x) @ np.ones(3)
steps = pb._core.status()["steps"]
for _ in range(2):
    try:
        y.numpy()
    except RuntimeError as error:
        print(error)
assert pb._core.status()["steps"] == steps
print(float(pb.sum(x)))
"""
