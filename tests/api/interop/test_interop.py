"""Functions of pullback in PyTorch and JAX, and the reverse, against derivatives by hand."""

import operator
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pullback as pb

X = np.array([0.5, -1.25, 2.0])
W = np.array([[1.0, 2.0, -1.0], [0.5, 0.25, 3.0]])
Z = np.array([0.5 + 1j, -1.0 + 0.25j])


def model(x, w):
    return pb.sum(pb.sin(w @ x) * pb.exp(x[:2]))


def model_in(np_like, x, w):
    return (np_like.sin(w @ x) * np_like.exp(x[:2])).sum()


def gradients_by_hand(x, w):
    inner, factor = w @ x, np.exp(x[:2])
    g = np.cos(inner) * factor
    return w.T @ g + [*(np.sin(inner) * factor), 0.0], np.outer(g, x)


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="PyTorch is not installed")


@pytest.fixture
def jax():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield jax
    jax.config.update("jax_enable_x64", before)


def test_import_loads_no_other_library():
    code = "import sys, pullback; sys.exit(any(n in sys.modules for n in ('torch', 'jax')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_a_missing_library_is_named(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    extra = [X] if name == "torch" else []
    for call, args in ((f"{name}_function", []), (f"from_{name}", extra)):
        with pytest.raises(ImportError, match=f"{call}: requires {name}"):
            getattr(pb.interop, call)(pb.sin, *args)
        with pytest.raises(TypeError, match=f"{call}: expected a function for f"):
            getattr(pb.interop, call)(3, *args)


def test_torch_function(torch):
    f = pb.interop.torch_function(model)
    x, w = (torch.tensor(a, requires_grad=True) for a in (X, W))
    y = f(x, w)
    assert_allclose(y.item(), float(model(X, W)), rtol=1e-14)
    for g, wanted in zip(torch.autograd.grad(y, [x, w]), gradients_by_hand(X, W), strict=True):
        assert_allclose(g.numpy(), wanted, rtol=1e-13)
    assert torch.autograd.gradcheck(f, (x, w))
    assert torch.autograd.gradgradcheck(f, (x, w))


def test_torch_function_of_pytrees_and_integers(torch):
    def scaled(p, k, power):
        return {"y": p["x"] ** power, "k": k + 1}

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    made = pb.interop.torch_function(scaled)({"x": x}, torch.tensor([3]), 3)
    assert made["k"].tolist() == [4] and not made["k"].requires_grad
    made["y"].sum().backward()
    assert x.grad.tolist() == [3.0, 12.0] and x.grad.dtype == torch.float32
    with pytest.raises(TypeError, match="torch_function: expected a function that returns tensors"):
        pb.interop.torch_function(lambda x: 3)(x)
    with pytest.raises(TypeError, match="torch_function: expected at least one tensor"):
        pb.interop.torch_function(pb.sin)(1.0)


def test_torch_function_is_called_once_for_a_gradient(torch):
    pb.random.seed(5)
    f = pb.interop.torch_function(lambda x: x * pb.random.uniform((3,), dtype="float64"))
    x = torch.tensor(X, requires_grad=True)
    y = f(x)
    (g,) = torch.autograd.grad(y.sum(), x)
    assert_allclose(g.numpy() * X, y.detach().numpy(), rtol=1e-14)


def address(x):
    return x.__array_interface__["data"][0]


def test_torch_function_shares_its_arguments(torch):
    for x in (torch.tensor(X), torch.tensor(W)[1:], torch.tensor(Z), torch.tensor([1, 2])):
        seen = []
        pb.interop.torch_function(lambda x: seen.append(address(x.numpy())) or x)(x)  # noqa: B023
        assert seen == [x.data_ptr()]
    # Memory in another order is copied, and results can be modified.
    x = torch.tensor(W).T
    y = pb.interop.torch_function(lambda x: x)(x)
    assert_allclose(y.numpy(), W.T)
    y += 1
    assert_allclose(x.numpy(), W.T)


def test_torch_function_of_a_modified_argument(torch):
    x = torch.tensor(X, requires_grad=True)
    inner, late = x * 1, x * 1
    f = pb.interop.torch_function(lambda x: x * x)
    y, z = f(inner), f(late)
    y.data.mul_(7)
    (g,) = torch.autograd.grad(y.sum(), x)
    assert_allclose(g.numpy(), 2 * X)
    late.mul_(7)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(z.sum(), x)


def test_from_torch_of_a_function_that_modifies_its_argument(torch):
    x = pb.constant(X)
    for f in (lambda t: t.mul_(2.0), torch.nn.functional.relu_):
        y = pb.interop.from_torch(f, lambda x: x)(x)
        assert_allclose(y.numpy(), f(torch.tensor(X)).numpy())
        assert_allclose(x.numpy(), X)


def test_torch_function_of_complex_numbers(torch):
    z = torch.tensor(Z, requires_grad=True)
    f = pb.interop.torch_function(lambda z: pb.exp(z) * z.conj() * 2j)
    assert torch.autograd.gradcheck(f, (z,))


def test_from_torch(torch):
    f = pb.interop.from_torch(lambda x, w: model_in(torch, x, w), ((), "float64"))
    x, w = pb.Variable(X), pb.Variable(W)
    assert_allclose(f(x, w).numpy(), model(X, W).numpy(), rtol=1e-14)
    for g, wanted in zip(pb.gradients(f(x, w), [x, w]), gradients_by_hand(X, W), strict=True):
        assert_allclose(g.numpy(), wanted, rtol=1e-13)
    hessian = pb.jacobian(pb.grad(lambda x: f(x, W)), mode="reverse")(X)
    assert_allclose(hessian.numpy(), pb.hessian(lambda x: model(x, W))(X).numpy(), rtol=1e-12)


def test_from_torch_of_several_results(torch):
    f = pb.interop.from_torch(
        lambda x, k: (x.exp_(), k + 1, k.double() / 2), lambda x, k: [x, k, x]
    )
    x = pb.Variable(X)
    k = np.array([1, 2, 3])
    powers, more, half = f(x, pb.constant(k))
    assert more.numpy().tolist() == [2, 3, 4]
    assert_allclose(pb.gradients(powers, x)[0].numpy(), np.exp(X))
    assert half.numpy().tolist() == [0.5, 1.0, 1.5]


def test_from_torch_of_complex_numbers(torch):
    f = pb.interop.from_torch(lambda z: torch.exp(z) * z.conj() * 2j, lambda z: z)
    ours = pb.vjp(lambda z: pb.exp(z) * pb.conj(z) * 2j, Z)[1](Z)[0]
    assert_allclose(pb.vjp(f, Z)[1](Z)[0].numpy(), ours.numpy(), rtol=1e-13)

    x = Z.real  # the gradients of one operation are complex and real
    g = pb.interop.from_torch(lambda z, x: torch.exp(z) * x, lambda z, x: z)
    found = pb.vjp(g, Z, x)[1](Z)
    wanted = pb.vjp(lambda z, x: pb.exp(z) * x, Z, x)[1](Z)
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.dtype == theirs.dtype
        assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-13)


def test_jax_function(jax):
    f = pb.interop.jax_function(model)
    found = jax.jit(jax.grad(f, (0, 1)))(X, W)
    for g, wanted in zip(found, gradients_by_hand(X, W), strict=True):
        assert_allclose(g, wanted, rtol=1e-13)
    second = jax.jacrev(jax.grad(f))(X, W)
    wanted = jax.hessian(lambda x: model_in(jax.numpy, x, W))(X)
    assert_allclose(second, wanted, rtol=1e-12)
    rows = jax.vmap(jax.grad(f), (0, None))(np.stack([X, 2 * X]), W)
    assert_allclose(rows[1], gradients_by_hand(2 * X, W)[0], rtol=1e-13)


def test_jax_function_shares_its_arguments(jax, monkeypatch):
    arrays, seen = [], []
    convert = np.asarray

    def converted(*args, **options):
        arrays.append(convert(*args, **options))
        return arrays[-1]

    monkeypatch.setattr(np, "asarray", converted)
    f = pb.interop.jax_function(lambda x: seen.append(x) or x + 1)
    f(jax.numpy.asarray(X)).block_until_ready()
    monkeypatch.undo()
    assert address(seen[-1].numpy()) in [address(a) for a in arrays]
    assert_allclose(seen[-1].numpy(), X)


def test_jax_function_of_pytrees_and_integers(jax):
    f = pb.interop.jax_function(lambda p, k: {"y": p["x"] ** 3, "k": k + 1})
    assert f({"x": X}, 3)["k"] == 4
    g = jax.grad(lambda p: f(p, 3)["y"].sum())({"x": X})
    assert_allclose(g["x"], 3 * X**2)


def test_jax_and_complex_numbers(jax):
    def own(z):
        return pb.exp(z) * pb.conj(z) * 2j

    def same(z):
        return jax.numpy.exp(z) * jax.numpy.conj(z) * 2j

    there = jax.vjp(pb.interop.jax_function(own), Z)[1](Z)[0]
    assert_allclose(there, jax.vjp(same, Z)[1](Z)[0], rtol=1e-13)
    here = pb.vjp(pb.interop.from_jax(same), Z)[1](Z)[0]
    assert_allclose(here.numpy(), pb.vjp(own, Z)[1](Z)[0].numpy(), rtol=1e-13)


def test_from_jax(jax):
    f = pb.interop.from_jax(jax.jit(lambda x, w: model_in(jax.numpy, x, w)))
    x, w = pb.Variable(X), pb.Variable(W)
    for g, wanted in zip(pb.gradients(f(x, w), [x, w]), gradients_by_hand(X, W), strict=True):
        assert_allclose(g.numpy(), wanted, rtol=1e-13)
    hessian = pb.jacobian(pb.grad(lambda x: f(x, W)), mode="reverse")(X)
    assert_allclose(hessian.numpy(), pb.hessian(lambda x: model(x, W))(X).numpy(), rtol=1e-12)


def test_64_bits_are_not_dropped(jax):
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(TypeError, match="from_jax: expected arrays of at most 32 bits, got float6"):
        pb.interop.from_jax(jax.numpy.sin)(X)
    with pytest.raises(TypeError, match="jax_function: expected arrays of at most 32 bits"):
        pb.interop.jax_function(lambda x: x.astype("float64"))(X)
    assert pb.interop.from_jax(jax.numpy.sin)(X.astype("float32")).dtype == "float32"


class Foreign:
    """An array of a library without the protocols of NumPy; comparisons are left to others."""

    def __init__(self, answer=NotImplemented):
        self.answer = answer

    def __dlpack__(self):
        raise BufferError

    def __eq__(self, other):
        return self.answer

    def __ne__(self, other):
        return self.answer


OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.pow, operator.matmul, operator.lt, operator.ge, operator.eq, operator.ne,
]  # fmt: skip


def check_operators(foreign):
    for x in (pb.asarray(X), pb.Variable(X)):
        for op in OPERATORS:
            for operands in ((x, foreign), (foreign, x)):
                with pytest.raises(TypeError):
                    op(*operands)
        with pytest.raises(TypeError, match=r"^not_equal: expected .* convert it by pb\.asarray"):
            x != foreign  # noqa: B015
    with pytest.raises(TypeError):
        pb.grad(lambda x: pb.sum(x * foreign))(X)


def test_operators_with_arrays_of_other_libraries_are_errors():
    check_operators(Foreign())
    assert (pb.ones(2) == Foreign("answer")) == "answer"
    assert (pb.ones(2) == object()) is False


def test_operators_with_torch_are_errors(torch):
    check_operators(torch.tensor(X))
    check_operators(torch.tensor(X, requires_grad=True))
    shared = pb.from_dlpack(torch.tensor(X), copy=False)
    assert_allclose(shared.numpy(), X)
    x = pb.asarray(X)
    t = torch.from_dlpack(x)
    assert_allclose(t.numpy(), X)
    t += 1.0  # PyTorch ignores that the memory is read-only
    assert_allclose(x.numpy(), X)
    assert_allclose(torch.as_tensor(pb.asarray(X)).numpy(), X)
    with pytest.raises((TypeError, ValueError, RuntimeError, BufferError)):
        torch.asarray(pb.asarray(X))  # reads buffers as bytes


def test_operators_with_jax_are_errors(jax):
    check_operators(jax.numpy.asarray(X))
    source = jax.numpy.asarray(X)
    assert_allclose(pb.from_dlpack(source).numpy(), X)
    assert_allclose(np.asarray(jax.numpy.asarray(pb.asarray(X))), X)
    assert_allclose(np.asarray(jax.dlpack.from_dlpack(pb.asarray(X))), X)
    for f in (lambda z: (pb.asarray(X) * z).sum(), lambda z: (z * pb.asarray(X)).sum()):
        with pytest.raises(TypeError):
            jax.grad(f)(source)
