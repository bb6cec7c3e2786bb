"""Derivatives of linear algebra: to second order and in both directions beside differences, under
vmap, inside of functions and loops, and where a matrix is singular or has equal eigenvalues."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from support.each import each
from support.matrices import adjoint, close, hermitian, numbers, positive

import pullback as pb
from pullback import _core

la = pb.linalg


Function = Callable[..., Any]


def conj_t(x: Any) -> Any:
    return pb.conj(x.mT) if x.dtype.kind == "c" else x.mT


def projector(v: Any) -> Any:
    return v @ conj_t(v)


def scaled(v: Any, w: Any) -> Any:
    return v * _core.cast(w, v.dtype)[..., None, :]


# What a decomposition is free to choose, signs and phases, must not count.
FUNCTIONS: dict[str, tuple[Function, str]] = {
    "cholesky": (la.cholesky, "p"),
    "cholesky upper": (lambda a: la.cholesky(a, upper=True), "p"),
    "solve": (la.solve, "ab"),
    "inv": (la.inv, "a"),
    "det": (la.det, "a"),
    "slogdet": (lambda a: la.slogdet(a)[1], "a"),
    "lu": (lambda a: list(la.lu(a)[1:]), "a"),
    "lu tall": (lambda a: list(la.lu(a)[1:]), "t"),
    "lu wide": (lambda a: list(la.lu(a)[1:]), "w"),
    "matrix_power": (lambda a: la.matrix_power(a, -3), "p"),
    "qr square": (lambda a: [conj_t(la.qr(a)[1]) @ la.qr(a)[1]], "a"),
    "qr tall": (lambda a: [projector(la.qr(a)[0]), projector(conj_t(la.qr(a)[1]))], "t"),
    "qr wide": (lambda a: [projector(conj_t(la.qr(a)[1]))], "w"),
    "svdvals": (la.svdvals, "w"),
    "svd tall": (
        lambda a: (lambda u, s, vh: [s, scaled(u, pb.sin(s)) @ vh, projector(u[:, :1])])(
            *la.svd(a, full_matrices=False)
        ),
        "t",
    ),
    "svd wide": (
        lambda a: (lambda u, s, vh: [scaled(u, pb.exp(-s)) @ vh, projector(conj_t(vh[1:2]))])(
            *la.svd(a, full_matrices=False)
        ),
        "w",
    ),
    "svd square": (lambda a: (lambda u, s, vh: [u @ vh])(*la.svd(a)), "a"),
    "eigvals": (la.eigvals, "a"),
    # The norm and the phase are the library's own, so the vectors count as they are but for a sign.
    "eig": (lambda a: (lambda w, v: [w, v * v])(*la.eig(a)), "a"),
    "eigvalsh": (la.eigvalsh, "h"),
    "eigh": (
        lambda a: (lambda w, v: [scaled(v, pb.sin(w)) @ conj_t(v), projector(v[:, :1])])(
            *la.eigh(a)
        ),
        "h",
    ),
    "eigh upper": (lambda a: la.eigh(a, "U")[0], "h"),
    "norm": (la.norm, "t"),
    "nuclear": (lambda a: la.matrix_norm(a, ord="nuc"), "t"),
    "spectral": (lambda a: la.matrix_norm(a, ord=2), "w"),
    "vector_norm 3": (lambda a: la.vector_norm(a, ord=3, axis=0), "a"),
    "cond": (la.cond, "a"),
}  # fmt: skip
for _trans in "NTC":
    for _lower in (False, True):
        FUNCTIONS[f"solve_triangular {_trans} {_lower}"] = (
            lambda a, b, t=_trans, lower=_lower: la.solve_triangular(a, b, t, lower), "db",
        )  # fmt: skip


def arguments(kinds: str, dtype: str) -> list[Any]:
    made = {
        "a": lambda: numbers((3, 3), dtype),
        "b": lambda: numbers((3, 2), dtype),
        "d": lambda: numbers((3, 3), dtype) + 4 * np.eye(3),
        "p": lambda: positive((3, 3), dtype),
        "h": lambda: hermitian(numbers((3, 3), dtype)),
        "t": lambda: numbers((4, 2), dtype),
        "w": lambda: numbers((2, 4), dtype),
    }
    return [made[kind]() for kind in kinds]


def directions(kinds: str, xs: list[Any], seed: int) -> list[Any]:
    out = [numbers(x.shape, str(x.dtype), seed) for x in xs]
    return [hermitian(d) if k in "ph" else d for k, d in zip(kinds, out, strict=True)]


def loss_of(function: Function) -> Function:
    """A real number in which every entry of the results has a weight of its own."""

    def loss(*xs: Any) -> Any:
        results = function(*xs)
        total = 0.0
        for k, y in enumerate(results if isinstance(results, (list, tuple)) else [results]):
            weight = numbers(y.shape, str(y.dtype), 7 + k)
            total = total + pb.sum(
                pb.real(pb.conj(weight) * y) if y.dtype.kind == "c" else weight * y
            )
        return total

    return loss


def inner(a: Sequence[Any], b: Sequence[Any]) -> float:
    return sum(float(np.sum(np.real(np.conj(x) * y))) for x, y in zip(a, b, strict=True))


def slope(f: Callable[[float], float]) -> float:
    """By central differences of two steps, extrapolated."""
    h = 1e-3
    coarse, fine = ((f(s) - f(-s)) / (2 * s) for s in (h, h / 2))
    return (4 * fine - coarse) / 3


@each("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name: str, dtype: str) -> None:
    function, kinds = FUNCTIONS[name]
    loss = loss_of(function)
    xs = arguments(kinds, dtype)
    d, e = (directions(kinds, xs, seed) for seed in (3, 4))

    def moved(by: list[Any], step: float) -> list[Any]:
        return [x + step * y for x, y in zip(xs, by, strict=True)]

    def gradient(at: list[Any]) -> list[Any]:
        variables = [pb.Variable(x) for x in at]
        return [g.numpy() for g in pb.gradients(loss(*variables), variables)]

    first = inner(gradient(xs), d)
    assert first == pytest.approx(slope(lambda s: float(loss(*moved(d, s)))), rel=1e-7, abs=1e-8)
    _, tangent = pb.jvp(loss, xs, d)
    assert float(tangent) == pytest.approx(first, rel=1e-9, abs=1e-10)

    variables = [pb.Variable(x) for x in xs]
    gs = pb.gradients(loss(*variables), variables)
    along = sum(pb.sum(pb.real(pb.conj(y) * g)) for g, y in zip(gs, d, strict=True))
    second = [
        np.zeros_like(x) if g is None else g.numpy()
        for g, x in zip(pb.gradients(along, variables), xs, strict=True)
    ]
    expected = slope(lambda s: inner(gradient(moved(e, s)), d))
    assert inner(second, e) == pytest.approx(expected, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize(
    "name",
    ["cholesky", "solve", "inv", "det", "slogdet", "lu", "qr tall", "svdvals", "eig"],
)
def test_vmap_and_function_are_a_loop(name: str) -> None:
    function, kinds = FUNCTIONS[name]
    stacked = [
        np.stack([x, 1.5 * x, x + 0.5 * x.T @ x if x.shape[0] == x.shape[1] else 2 * x])
        for x in arguments(kinds, "float64")
    ]
    if "h" in kinds or "p" in kinds:
        stacked = [hermitian(x) for x in stacked]
    loss = loss_of(function)
    for f in (loss, pb.grad(loss)):
        rows = [f(*row).numpy() for row in zip(*stacked, strict=True)]
        close(pb.vmap(f)(*stacked), np.stack(rows), 50)
        close(pb.vmap(pb.function(f))(*stacked), np.stack(rows), 50)


def test_inside_of_a_loop_and_a_checkpoint() -> None:
    a, b = positive((3, 3), "float64") / 9, numbers((3,), "float64")

    def steps(a: Any) -> Any:
        return pb.scan(lambda x, _: (la.solve(a, x), None), b, length=3)[0]

    plain = la.solve(a, la.solve(a, la.solve(a, b)))
    close(steps(a), plain.numpy())
    expected = pb.grad(lambda a: pb.sum(la.solve(a, la.solve(a, la.solve(a, b)))))(a)
    close(pb.grad(lambda a: pb.sum(steps(a)))(a), expected.numpy())
    close(pb.grad(pb.checkpoint(lambda a: pb.sum(steps(a))))(a), expected.numpy())


def test_one_factorisation_serves_all() -> None:
    x, b = positive((9, 9), "float64"), numbers((9, 2), "float64")

    def factorised(f: Callable[[Any], Any]) -> int:
        a = pb.Variable(x)
        y = f(a)
        asked = [y, *pb.gradients(y, a)]
        steps = _core.recorded_steps(lambda: pb.evaluate(asked))
        return sum(name == "lu" for _, name, *_ in steps)

    assert factorised(lambda a: pb.sum(la.solve(a, b))) == 1
    assert factorised(lambda a: la.slogdet(a)[1]) == 1
    assert factorised(lambda a: pb.sum(la.solve(a, b)) + la.slogdet(a)[1]) == 1


def test_determinants_of_singular_matrices() -> None:
    x = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])
    v = pb.Variable(x)
    y = la.det(v)
    assert float(y) == pytest.approx(0, abs=1e-14)
    cofactors = np.array([
        [(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(x, i, 0), j, 1)) for j in range(3)]
        for i in range(3)
    ])  # fmt: skip
    close(pb.gradients(y, v)[0], cofactors)
    zero = pb.Variable(np.array([[0.0, 1.0], [0.0, 0.0]]))
    close(pb.gradients(la.det(zero), zero)[0], [[0.0, 0.0], [-1.0, 0.0]])


def test_determinants_whose_partial_products_overflow() -> None:
    for n in (4, 40):  # in lanes, and by the library
        values = np.resize([1e200, 1e200, 1e-200, 1e-200], n) * np.linspace(1, 2, n)
        exact = np.prod(np.linspace(1, 2, n))
        for dtype in ("float64", "complex128"):
            close(la.det(np.diag(values).astype(dtype)), exact)
            close(la.det(np.diag(np.sort(values)).astype(dtype)), exact)


def with_values(values: Sequence[float], dtype: str, hermitian_one: bool) -> Any:
    """A matrix with these eigenvalues or, of a hermitian one, singular values too."""
    a = numbers((len(values),) * 2, dtype, 5)
    basis = np.linalg.qr(a)[0] if hermitian_one else a
    return basis @ np.diag(values) @ (adjoint(basis) if hermitian_one else np.linalg.inv(basis))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", ["eigh", "svd", "eig"])
def test_equal_values(name: str, dtype: str) -> None:
    """Beside the same matrix whose values are apart: a projector on the space of those that come
    together has the same derivative, and so have values that are treated alike."""
    x = with_values([1.0, 2.0, 2.0, 5.0], dtype, name != "eig")

    def factors(a: Any, degenerate: Any) -> tuple[Any, Any, Any]:
        if name == "svd":
            u, s, vh = la.svd(a, degenerate=degenerate)
            return s, u, vh
        w, v = getattr(la, name)(a, degenerate=degenerate)
        return w, v, la.inv(v)

    weight = numbers((4, 4), dtype, 6)

    def projector_loss(a: Any, degenerate: Any) -> Any:
        w, v, inverse = factors(a, degenerate)
        which = np.flatnonzero(np.abs(w.numpy() - 2) < 0.5)  # eig knows no order
        v = v[:, which]
        part = v @ (conj_t(v) if name == "svd" else inverse[which])
        return pb.sum(pb.real(weight * part))

    def slope_of(loss: Callable[[Any], Any], direction: Any) -> float:
        return slope(lambda step: float(loss(x + step * direction)))

    def gradient(loss: Callable[[Any], Any]) -> Any:
        v = pb.Variable(x)
        return pb.gradients(loss(v), v)[0].numpy()

    direction = numbers((4, 4), dtype, 8)
    direction = hermitian(direction) if name == "eigh" else direction
    masked = gradient(lambda a: projector_loss(a, "mask"))
    expected = slope_of(lambda a: projector_loss(a, "mask"), direction)
    assert inner([masked], [direction]) == pytest.approx(expected, rel=1e-6, abs=1e-7)
    assert np.isnan(gradient(lambda a: projector_loss(a, "nan"))).all()
    failing = pb.Variable(x)
    with pytest.raises(np.linalg.LinAlgError, match=f"^{name}: two values of the matrix are equal"):
        pb.gradients(projector_loss(failing, "error"), failing)[0].numpy()
    apart = pb.Variable(with_values([1.0, 2.0, 2.2, 5.0], dtype, name != "eig"))
    same = [pb.gradients(projector_loss(apart, d), apart)[0].numpy() for d in ("nan", "error")]
    assert np.isfinite(same[0]).all()
    assert (same[0] == same[1]).all()

    def alike(a: Any) -> Any:
        return pb.sum(pb.real(factors(a, "nan")[0]) ** 2)

    assert inner([gradient(alike)], [direction]) == pytest.approx(
        slope_of(alike, direction), rel=1e-6
    )


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_matrices_without_independent_eigenvectors(dtype: str) -> None:
    jordan = np.eye(3) * 0.5 + np.diag([1.0, 1.0], 1)
    x = np.stack([jordan, np.diag([1.0, 1.0, 2.0])]).astype(dtype)

    def squares(a: Any) -> Any:
        return pb.sum(pb.real(la.eigvals(a) ** 2))

    found = pb.grad(squares)(x).numpy()
    assert np.isnan(found[0]).all()
    close(found[1], 2 * x[1])
    assert np.isnan(pb.jvp(squares, (x[0],), (np.ones_like(x[0]),))[1].numpy())
    second = pb.grad(lambda a: pb.sum(pb.real(pb.grad(squares)(a)) ** 2))(x).numpy()
    assert np.isnan(second[0]).all()


def test_equal_values_name_the_place() -> None:
    x = pb.Variable(np.stack([np.diag([1.0, 2.0]), np.eye(2)]))
    y = pb.sum(la.eigh(x, degenerate="error")[1])
    with pytest.raises(np.linalg.LinAlgError, match="at place 1 of the batch are equal"):
        pb.gradients(y, x)[0].numpy()
    with pytest.raises(ValueError, match="eig: degenerate must be one of 'nan', 'mask', 'error'"):
        la.eig(np.eye(2), degenerate="zero")  # type: ignore[arg-type]


def test_sign_of_a_complex_determinant() -> None:
    x, d, e = (numbers((3, 3), "complex128", seed) for seed in (0, 3, 4))

    def loss(a: Any) -> Any:
        return pb.real((0.3 - 0.7j) * la.slogdet(a)[0])

    def gradient(at: Any) -> Any:
        v = pb.Variable(at)
        return pb.gradients(loss(v), v)[0].numpy()

    first = inner([gradient(x)], [d])
    assert first == pytest.approx(slope(lambda s: float(loss(x + s * d))), rel=1e-7)
    v = pb.Variable(x)
    along = pb.sum(pb.real(pb.conj(d) * pb.gradients(loss(v), v)[0]))
    second = inner([pb.gradients(along, v)[0].numpy()], [e])
    assert second == pytest.approx(slope(lambda s: inner([gradient(x + s * e)], [d])), rel=1e-6)


@each("name", FUNCTIONS)
@each("shape", [(0, 0), (0, 3, 3)])
def test_what_is_empty_has_empty_gradients(name: str, shape: tuple[int, ...]) -> None:
    function, kinds = FUNCTIONS[name]
    if "eigh" in name or "svd" in name or name == "norm" or "nuc" in name or "spec" in name:
        function = lambda a: list(la.eigh(a)) + list(la.svd(a))  # noqa: E731
        kinds = "a"
    if shape == (0, 0) and name in ("cond", "spectral"):
        return
    xs = [pb.Variable(np.zeros(shape)) for _ in kinds]
    for g in pb.gradients(loss_of(function)(*xs), xs):
        assert g is None or g.shape == shape


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_the_gradient_of_cholesky_is_hermitian(dtype: str) -> None:
    a = pb.Variable(positive((4, 4), dtype))
    weights = np.arange(1.0, 17).reshape(4, 4)
    (g,) = pb.gradients(pb.sum(pb.real(la.cholesky(a)) * weights), [a])
    close(g, adjoint(g.numpy()))


def test_gmres_names_the_argument_that_is_not_differentiable() -> None:
    matrix = pb.constant([[2.0, 1.0], [0.0, 3.0]])

    def product(x: Any) -> Any:
        return pb.matmul(matrix, x)

    def constant(x: Any) -> Any:
        return pb.stop_gradient(product(x))

    for a, m, name in ((constant, None, "A"), (product, constant, "M")):
        b = pb.Variable([1.0, 2.0])
        x, _ = la.gmres(a, b, M=m)
        text = f"gmres: expected products that are differentiable in x from {name}, got no gradient"
        with pytest.raises(ValueError, match=text):
            pb.gradients(pb.sum(x), [b])
