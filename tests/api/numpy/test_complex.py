"""Complex tensors: how they come in and go out, their dtypes, what is refused, and every operation
that only moves, chooses or adds up entries."""

from __future__ import annotations

import cmath
import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.complex_cases import draw
from support.each import each

import pullback as pb

Z = np.array([1 + 2j, -0.5 + 1j, 3 - 4j], "complex64")
M = draw(np.random.default_rng(3), (4, 3), "complex128")


@pytest.fixture
def default_float64() -> Iterator[None]:
    pb.set_default_dtype("float64")
    yield
    pb.set_default_dtype("float32")


# --- in and out


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_arrays_keep_their_dtype_and_value(dtype: str) -> None:
    z = pb.constant(Z.astype(dtype))
    assert (
        z.dtype == dtype and z.itemsize == np.dtype(dtype).itemsize and z.nbytes == 3 * z.itemsize
    )
    assert np.array_equal(z.numpy(), Z) and z.numpy().dtype == dtype
    assert pb.asarray(Z.tolist(), dtype=dtype).dtype == dtype
    assert np.array_equal(np.asarray(z), Z) and np.asarray(z, "complex128").dtype == "complex128"
    assert z.tolist() == Z.astype(dtype).tolist()


def test_python_numbers_and_lists_take_the_default(default_float64: None) -> None:
    assert pb.constant([1j, 2]).dtype == pb.constant(1j).dtype == "complex128"
    pb.set_default_dtype("float32")
    assert pb.constant([1j, 2]).dtype == pb.constant(1j).dtype == "complex64"
    assert pb.constant([[1 + 1j, 2.5]]).tolist() == [[1 + 1j, 2.5 + 0j]]


@pytest.mark.parametrize("layout", ["F", "strided", "reversed", "swapped", "zero", "rank 0"])
def test_any_layout_of_numpy(layout: str) -> None:
    a = {
        "F": np.asfortranarray(M),
        "strided": np.repeat(M, 2, 1)[:, ::2],
        "reversed": M[::-1, ::-1],
        "swapped": M.astype(">c16"),
        "zero": M[:0],
        "rank 0": M[1, 2],
    }[layout]
    assert np.array_equal(pb.constant(a).numpy(), a)
    assert np.array_equal((pb.constant(a) * 2j).numpy(), a * 2j)


def test_zero_sized_operations() -> None:
    z = pb.constant(M[:0])
    assert pb.exp(z).shape == pb.sqrt(z * 1j).shape == (0, 3)
    assert pb.sum(z).item() == 0 and pb.prod(z).item() == 1 and pb.sum(z).dtype == "complex128"
    assert (z @ pb.ones((3, 2), "complex128")).numpy().shape == (0, 2)
    assert np.array_equal((z.T @ z).numpy(), np.zeros((3, 3)))


def test_one_element_is_a_number() -> None:
    z = pb.constant(1.5 - 2j)
    assert complex(z) == z.item() == z.tolist() == 1.5 - 2j and type(z.item()) is complex
    assert bool(z) and not bool(pb.constant(0j)) and f"{z:.1f}" == "1.5-2.0j"
    assert complex(pb.constant(2.5)) == 2.5 and complex(pb.Variable(1j)) == 1j
    for convert in (float, int):
        with pytest.raises(TypeError, match=r"complex64.*real"):
            convert(z)
    with pytest.raises(ValueError, match="one element"):
        complex(pb.constant(Z))


def test_repr_copies_and_pickles() -> None:
    z = pb.constant(Z)
    assert repr(z) == "Tensor([ 1. +2.j, -0.5+1.j,  3. -4.j], dtype=complex64)"
    assert repr(pb.constant(1j)) == "Tensor(0.+1.j, dtype=complex64)"
    for other in (pickle.loads(pickle.dumps(z)), copy.deepcopy(z), z.copy()):
        assert other.dtype == "complex64" and other.tolist() == z.tolist()


@pytest.mark.usefixtures("processor")
def test_dlpack() -> None:
    z = pb.constant(Z)
    assert np.array_equal(np.from_dlpack(z), Z)
    assert pb.from_dlpack(Z).dtype == "complex64" and pb.from_dlpack(Z).tolist() == Z.tolist()


def test_creation() -> None:
    for dtype in ("complex64", "complex128"):
        for x, expected in [
            (pb.zeros((2, 2), dtype), np.zeros((2, 2))),
            (pb.ones(3, dtype), np.ones(3)),
            (pb.full((2,), 1 - 1j, dtype), np.full(2, 1 - 1j)),
            (pb.full_like(pb.zeros(2, dtype), 2j), np.full(2, 2j)),
            (pb.zeros_like(pb.ones(2, dtype)), np.zeros(2)),
            (pb.eye(2, dtype=dtype), np.eye(2)),
            (pb.arange(4, dtype=dtype), np.arange(4)),
            (pb.astype([1.0, 2.0], dtype), np.array([1, 2])),
            (pb.cast(True, dtype), np.array(1)),
        ]:
            assert x.dtype == dtype and np.array_equal(x.numpy(), expected)
    assert pb.full((2,), 1j).dtype == "complex64" and pb.empty(2, "complex64").shape == (2,)


def test_a_tensor_of_two_parts() -> None:
    z = pb.complex([[1.0], [2.0]], np.array([0.5, -1.0]))
    assert z.dtype == "complex128"
    assert np.array_equal(z.numpy(), np.array([[1 + 0.5j, 1 - 1j], [2 + 0.5j, 2 - 1j]]))
    assert pb.complex(1, 2).dtype == "complex64" and pb.complex(1, 2).item() == 1 + 2j
    assert pb.complex(pb.constant([1.5], "float16"), 0).dtype == "complex64"
    with pytest.raises(TypeError, match="complex: expected real numbers for the parts"):
        pb.complex(1j, 0.0)
    with pytest.raises(ValueError, match="broadcast"):
        pb.complex([1.0, 2.0], [1.0, 2.0, 3.0])


def test_parts_are_attributes_and_functions() -> None:
    z = pb.constant(Z)
    assert np.array_equal(z.real.numpy(), Z.real) and z.real.dtype == "float32"
    assert np.array_equal(z.imag.numpy(), Z.imag) and z.imag.dtype == "float32"
    assert np.array_equal(z.conj().numpy(), Z.conj())
    assert np.array_equal(pb.conjugate(z).numpy(), pb.conj(Z).numpy())
    x = pb.constant([1, -2])
    assert x.real.tolist() == x.conj().tolist() == [1, -2] and x.imag.tolist() == [0, 0]
    assert x.real.dtype == x.imag.dtype == pb.conj(x).dtype == "int64"
    v = pb.Variable(Z)
    assert v.real.tolist() == Z.real.tolist() and v.conj().tolist() == Z.conj().tolist()
    assert pb.angle([1.0, -1.0]).tolist() == [0.0, float(np.float32(np.pi))]


def test_questions_about_parts() -> None:
    z = [1 + 2j, 3.0, 0j]
    assert pb.iscomplex(z).tolist() == np.iscomplex(z).tolist() == [True, False, False]
    assert pb.isreal(z).tolist() == np.isreal(z).tolist() == [False, True, True]
    assert pb.iscomplexobj(z) and pb.isrealobj([1.0]) and not pb.iscomplexobj(pb.ones(2))
    assert pb.real_if_close(pb.constant([2.1 + 4e-15j], "complex128")).dtype == "float64"
    assert pb.real_if_close(pb.constant([2.1 + 4e-13j], "complex128")).dtype == "complex128"
    assert pb.real_if_close(pb.constant([2.1 + 4e-13j], "complex128"), tol=1e4).dtype == "float64"
    assert pb.real_if_close([1.0]).tolist() == [1.0]


# --- dtypes


@each("other", ["bool", "int8", "int64", "uint64", "float16", "bfloat16",
                                   "float32", "float64", "complex64", "complex128"])  # fmt: skip
@each("dtype", ["complex64", "complex128"])
def test_promotion(dtype: str, other: str) -> None:
    wide = "complex128" in (dtype, other) or other == "float64"
    expected = "complex128" if wide else "complex64"
    z, x = pb.ones(2, dtype), pb.ones(2, other)
    assert pb.result_type(z, x) == pb.result_type(other, dtype) == expected
    for y in (z + x, x * z, x / z, pb.where(True, x, z), pb.concat([x, z]), pb.stack([z, x])):
        assert y.dtype == expected and y.numpy().dtype == expected
    assert (pb.ones((2, 2), other) @ z).dtype == expected


def test_complex_python_numbers_are_weak() -> None:
    for dtype, expected in [
        ("bool", "complex64"), ("int64", "complex64"), ("float16", "complex64"),
        ("float32", "complex64"), ("float64", "complex128"), ("complex64", "complex64"),
        ("complex128", "complex128"),
    ]:  # fmt: skip
        x = pb.ones(2, dtype)
        assert (x * 1j).dtype == (1j + x).dtype == pb.result_type(x, 1j) == expected
        assert pb.where(True, x, 1j).dtype == expected
    assert (pb.ones(1, "float64") * 0.1j).item() == 0.1j
    assert (pb.ones(1, "float32") * 0.1j).item() == complex(0, np.float32(0.1))
    assert (pb.ones(1, "complex128") * 0.1).item() == 0.1 and (
        pb.ones(1, "complex64") * 2
    ).item() == 2
    assert (2j * pb.constant(3.0)).item() == 6j and (1j - pb.constant(1)).item() == -1 + 1j
    assert (pb.ones(1, "float32") * np.complex128(1j)).dtype == "complex128"
    assert pb.add(pb.constant(Z), [1j, 2, 3]).dtype == "complex64"


def test_what_is_known_of_the_dtypes() -> None:
    assert pb.complex64 == np.complex64 and pb.complex128 == np.dtype(complex)
    assert pb.isdtype(pb.complex64, "complex floating") and pb.isdtype("complex128", "numeric")
    assert not pb.isdtype(pb.complex64, "real floating")
    assert pb.finfo(pb.complex64).eps == pb.finfo(pb.float32).eps
    assert pb.finfo(pb.ones(1, "complex128")).dtype == "float64"
    assert pb.can_cast("float32", "complex64") and not pb.can_cast("complex64", "float64")
    assert pb.can_cast("bfloat16", "complex64") and not pb.can_cast("complex128", "complex64")
    info = pb.__array_namespace_info__()
    assert info.dtypes(kind="complex floating") == {
        "complex64": pb.complex64, "complex128": pb.complex128,
    }  # fmt: skip


def test_casts() -> None:
    z = pb.constant(Z)
    assert (
        z.astype("complex128").dtype == "complex128"
        and z.astype("complex64").tolist() == z.tolist()
    )
    assert pb.constant([0j, 1j]).astype("bool").tolist() == [False, True]
    for dtype in ("float32", "int64", "bfloat16"):
        with pytest.raises(TypeError, match="imaginary part; take real"):
            z.astype(dtype)
        with pytest.raises(TypeError, match="imaginary part; take real"):
            pb.constant(Z, dtype)
        with pytest.raises(TypeError, match="imaginary part; take real"):
            pb.constant(1j, dtype)


# --- what complex numbers do not have


@each("call", [
    lambda z: z < 1, lambda z: z >= z, lambda z: pb.greater(1.0, z), lambda z: z.real < 1j,
    lambda z: pb.max(z), lambda z: pb.min(z, 0), lambda z: pb.argmax(z), lambda z: pb.sort(z),
    lambda z: pb.argsort(z), lambda z: pb.maximum(z, 1), lambda z: pb.minimum(0.5, z),
    lambda z: pb.clip(z, 0, 1), lambda z: pb.floor(z), lambda z: pb.ceil(z), lambda z: pb.trunc(z),
    lambda z: z // 2, lambda z: z % 2, lambda z: pb.cumulative_max(z), lambda z: pb.atan2(z, 1),
    lambda z: pb.hypot(z, z), lambda z: pb.logaddexp(z, z), lambda z: pb.signbit(z),
    lambda z: pb.copysign(z, 1), lambda z: pb.bitwise_and(z, z), lambda z: pb.special.erf(z),
    lambda z: pb.nn.relu(z), lambda z: pb.median(z), lambda z: pb.ptp(z), lambda z: pb.cbrt(z),
    lambda z: pb.searchsorted(z, 1.0), lambda z: z.at[0].max(1), lambda z: z.at[[0, 0]].min(1j),
    lambda z: pb.logsumexp(z), lambda z: pb.nn.softmax(z), lambda z: pb.nn.layer_norm(z),
])  # fmt: skip
def test_what_has_no_meaning_is_a_type_error(call: Callable[[Any], Any]) -> None:
    for z in (pb.constant(Z), pb.constant(M[0])):
        with pytest.raises(TypeError, match="complex"):
            call(z)


def test_what_does_not_fit() -> None:
    x = pb.zeros(3)
    with pytest.raises(TypeError, match="can represent, got complex64"):
        x[0] = 1j
    with pytest.raises(TypeError, match="complex number"):
        pb.Variable([1.0]).assign(1j)
    with pytest.raises(TypeError, match="floating dtype"):
        pb.random.normal(3, "complex64")
    with pytest.raises(IndexError, match=r"integers.*got a complex64"):
        pb.zeros(3)[pb.constant(1j)]


# --- entries that are moved, chosen, compared, added up

MOVES: dict[str, Callable[[Any, Any], Any]] = {
    "reshape": lambda p, z: p.reshape(z, (2, 6)),
    "reshape of a slice": lambda p, z: p.reshape(z[1:, ::2], (-1,)),
    "transpose": lambda p, z: z.T,
    "broadcast": lambda p, z: p.broadcast_to(z[0], (2, 3)),
    "slice": lambda p, z: z[::-2, 1:],
    "index": lambda p, z: z[2],
    "take": lambda p, z: p.take(z, [2, 0, 2], axis=0),
    "rows": lambda p, z: z[[3, 0, -1]],
    "mask": lambda p, z: z[np.array([True, False, True, True])],
    "newaxis": lambda p, z: z[:, None],
    "concat": lambda p, z: p.concatenate([z, z[:1]], axis=0),
    "stack": lambda p, z: p.stack([z, z * 2], axis=1),
    "flip": lambda p, z: p.flip(z, axis=0),
    "roll": lambda p, z: p.roll(z, 1, axis=1),
    "tile": lambda p, z: p.tile(z, (2, 1)),
    "repeat": lambda p, z: p.repeat(z, 2, axis=0),
    "pad": lambda p, z: p.pad(z, 1),
    "diag": lambda p, z: p.diag(z[0]),
    "tril": lambda p, z: p.tril(z),
    "where": lambda p, z: p.where(z.real > 0, z, 0),
    "where of numbers": lambda p, z: p.where(z.real > 0, z, z.imag),
    "equal": lambda p, z: z == p.broadcast_to(z[0], z.shape),
    "not equal": lambda p, z: z != p.broadcast_to(z[0], z.shape),
    "logical": lambda p, z: p.logical_not(z),
    "round": lambda p, z: p.round(z),
    "round to": lambda p, z: p.round(z, 2),
    "sum": lambda p, z: p.sum(z),
    "sum over": lambda p, z: p.sum(z, axis=0, keepdims=True),
    "mean": lambda p, z: p.mean(z, axis=1),
    "prod": lambda p, z: p.prod(z, axis=0),
    "var": lambda p, z: p.var(z, axis=0),
    "std": lambda p, z: p.std(z),
    "any": lambda p, z: p.any(z, axis=0),
    "all": lambda p, z: p.all(z - z[0], axis=1),
    "count": lambda p, z: p.count_nonzero(z - z[0]),
    "cumsum": lambda p, z: p.cumsum(z, axis=0),
    "cumprod": lambda p, z: p.cumprod(z, axis=1),
    "cumprod of all": lambda p, z: p.cumprod(z),
    "diff": lambda p, z: p.diff(z, axis=0),
    "trapezoid": lambda p, z: p.trapezoid(z, axis=0),
    "average": lambda p, z: p.average(z, axis=0, weights=z.real[:, 0] ** 2),
    "matmul": lambda p, z: z @ z.T,
    "matmul by real": lambda p, z: z @ z.real.T,
    "matmul of real": lambda p, z: z.imag.T @ z,
    "vector": lambda p, z: z @ z[0],
    "outer": lambda p, z: p.outer(z[0], z[1]),
    "dot": lambda p, z: p.dot(z[0], z[1]),
    "inner": lambda p, z: p.inner(z, z),
    "vdot": lambda p, z: p.vdot(z, z * 1j),
    "tensordot": lambda p, z: p.tensordot(z, z, axes=([0], [0])),
    "einsum": lambda p, z: p.einsum("ij,kj->ik", z, z),
    "einsum of three": lambda p, z: p.einsum("ij,kj,kl->il", z, z, z),
    "trace": lambda p, z: p.trace(z),
    "kron": lambda p, z: p.kron(z[0], z[1]),
    "nan_to_num": lambda p, z: p.nan_to_num(z),
    "isclose": lambda p, z: p.isclose(z, z + 1e-9j),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@each("name", MOVES)
def test_entries_are_moved_and_added_up_as_numpy_does(name: str, dtype: str) -> None:
    a = M.astype(dtype)
    got, expected = MOVES[name](pb, pb.constant(a)), np.asarray(MOVES[name](np, a))
    assert got.dtype == expected.dtype and got.shape == expected.shape
    tolerance = 0 if expected.dtype.kind == "b" else 16 * np.finfo(a.dtype).eps
    np.testing.assert_allclose(got.numpy(), expected, rtol=tolerance, atol=tolerance)


def test_vecdot_conjugates_its_first() -> None:
    a = pb.constant(M)
    expected = np.sum(M.conj() * M[::-1], 1)
    np.testing.assert_allclose(pb.vecdot(a, a[::-1]).numpy(), expected, rtol=1e-14)
    np.testing.assert_allclose(pb.linalg.vecdot(a, M.real).numpy(), np.sum(M.conj() * M.real, 1))


def test_items_are_assigned_and_updated() -> None:
    for key in (1, (slice(None), 0), [0, 2], np.array([True, False, True, False])):
        mine, theirs = pb.constant(M), M.copy()
        mine[key] = 1 - 2j
        theirs[key] = 1 - 2j
        assert np.array_equal(mine.numpy(), theirs)
        mine[key] += M[0, 0]
        theirs[key] += M[0, 0]
        mine[key] *= 2j
        theirs[key] *= 2j
        np.testing.assert_allclose(mine.numpy(), theirs, rtol=1e-15)
    z = pb.zeros(3, "complex64").at[[0, 2, 0]].add([1j, 2.0, 1.0])
    assert z.tolist() == [1 + 1j, 0, 2]
    assert pb.zeros(2, "complex64").at[0].set(3).tolist() == [3, 0]
    assert pb.constant(Z).at[1:].multiply(2j).tolist() == [1 + 2j, -2 - 1j, 8 + 6j]
    assert pb.constant(Z).at[np.array([2, 1])].multiply(2.0).tolist() == [1 + 2j, -1 + 2j, 6 - 8j]
    with pytest.raises(TypeError, match="distinct indices for complex numbers"):
        pb.constant(Z).at[pb.constant([0, 0])].multiply(2j)


def test_reductions_with_where_and_initial() -> None:
    z, some = pb.constant(Z), [True, False, True]
    assert pb.sum(z, where=some, initial=1j).item() == 4 - 1j
    assert pb.prod(z, where=some).item() == (1 + 2j) * (3 - 4j)
    assert pb.mean(z, where=some).item() == 2 - 1j
    assert pb.sum(pb.constant([1, 2]), dtype="complex64").item() == 3 + 0j
    assert abs(pb.nansum([1j, complex("nan"), 2.0]).item() - (2 + 1j)) == 0
    assert abs(float(pb.var(z, where=some)) - np.var(Z[[0, 2]])) < 1e-5
    assert np.allclose(pb.cumulative_prod(z, include_initial=True).numpy(), [1, *np.cumprod(Z)])
    assert 3 - 4j in z and 1j not in z


def test_numbers_that_are_not_finite() -> None:
    inf, nan = np.inf, np.nan
    z = np.array([complex(inf, nan), complex(nan, 1), complex(1, -inf), 1j])
    for name in ("isnan", "isinf", "isfinite"):
        assert getattr(pb, name)(z).tolist() == getattr(np, name)(z).tolist()
    assert pb.nan_to_num(z).numpy()[1] == 1j and pb.abs(z).tolist()[0] == inf
    with pytest.raises(FloatingPointError, match=r"infinite|NaN"), pb.check_numerics():
        pb.log(pb.constant([0j, 1]) + 1j * pb.constant([0.0, 1.0])).numpy()


def test_a_function_of_parts_looks_the_same_lazy_and_step_by_step() -> None:
    z = pb.constant(M)
    lazy = pb.sum(pb.exp(z * 1j) / (1 + z) ** 2 - pb.conj(z), 0)
    one = pb.exp(pb.constant((z * 1j).numpy()))
    two = pb.square(pb.constant((1 + z).numpy()))
    three = pb.constant(one.numpy()) / pb.constant(two.numpy())
    four = pb.constant(three.numpy()) - pb.constant(pb.conj(z).numpy())
    step = pb.sum(pb.constant(four.numpy()), 0)
    assert np.array_equal(lazy.numpy(), step.numpy())
    assert abs(cmath.exp(1j) - complex(pb.exp(pb.constant(1j, "complex128")))) < 1e-16
