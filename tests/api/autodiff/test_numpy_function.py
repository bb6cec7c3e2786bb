"""numpy_function: when f is called and with what, its gradients, its errors; in lazy programs, in
traced functions, beside threads."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import pullback as pb


def counted(f: Any) -> Any:
    def call(*arrays: Any) -> Any:
        call.calls += 1  # type: ignore[attr-defined]
        return f(*arrays)

    call.calls = 0  # type: ignore[attr-defined]
    return call


def test_f_is_called_once_when_somebody_looks() -> None:
    f = counted(lambda x, y: x @ y)
    product = pb.numpy_function(f, ((2, 2), "float32"))
    x = pb.constant(np.arange(6, dtype=np.float32).reshape(2, 3))
    y = product(x, (x + 1).T)
    z = pb.sum(y * 2.0)
    assert f.calls == 0
    assert y.shape == (2, 2) and y.dtype == np.float32
    assert float(z) == float(np.sum(x.numpy() @ (x.numpy() + 1).T) * 2)
    assert y.tolist() == (x.numpy() @ (x.numpy() + 1).T).tolist()
    assert f.calls == 1
    product(x, x.T)  # nobody looks
    assert f.calls == 1
    a, b = product(x, x.T), product(x, x.T)
    pb.evaluate([a, b])
    assert f.calls == 3


def test_what_f_gets() -> None:
    seen: list[Any] = []

    def f(x: Any, y: Any, n: Any) -> Any:
        seen.extend([x, y, n])
        with pytest.raises(ValueError, match="read-only"):
            x[...] = 0
        return np.asarray(x.sum() + y)

    v = pb.Variable([[1.0, 2.0], [3.0, 4.0]], dtype="float64")
    out = pb.numpy_function(f, ((), "float64"))(v[::-1, 1:], 2.0, True)
    assert float(out) == 8.0
    v.assign(np.zeros((2, 2)))
    x, y, n = seen
    assert x.tolist() == [[4.0], [2.0]] and x.flags.c_contiguous
    assert (y.dtype, n.dtype) == (np.float32, bool)


@pytest.mark.parametrize(
    "out",
    [
        ((3,), "float32"),
        (3, np.float32),
        ((3,), pb.float32),
        np.zeros(3, np.float32),
        pb.zeros(3),
        lambda x: x,
        lambda x: (x.shape, x.dtype),
    ],
)
def test_descriptions_of_the_result(out: Any) -> None:
    y = pb.numpy_function(np.exp, out)(pb.zeros(3))
    assert (y.shape, y.dtype, y.tolist()) == ((3,), np.float32, [1.0] * 3)


def test_several_results() -> None:
    big = 2**62 + 1
    f = counted(lambda x: (x * 2, np.array([big, -big, 7]), x.sum() > 1, np.float32(0.1), x[:0]))
    out = [((2,), "float64"), ((3,), "int64"), ((), "bool"), ((), "float32"), ((0,), "float64")]
    x = np.array([1.5, -np.inf])
    for call in (pb.numpy_function(f, out), pb.function(pb.numpy_function(f, out))):
        f.calls = 0
        results = call(pb.constant(x))
        assert isinstance(results, tuple)
        pb.evaluate(list(results))
        for got, want in zip(results, f(x), strict=True):
            assert got.dtype == want.dtype and np.array_equal(got.numpy(), want)
        assert f.calls == 2
    same = pb.numpy_function(lambda x: [x, -x[0]], lambda x: [x, ((), x.dtype)])(pb.ones(2))
    assert [t.tolist() for t in same] == [[1.0, 1.0], -1.0]


def test_results_of_real_and_complex_dtypes() -> None:
    z = np.array([1 + 2j, 1e300 - 3j])
    f = lambda x: (z * x, np.complex64(3 - 4j), np.array([-(2**62)]), x)  # noqa: E731
    out = [((2,), "complex128"), ((), "complex64"), ((1,), "int64"), ((2,), "float64")]
    x = np.array([1.5, 0.1])
    for got, want in zip(pb.numpy_function(f, out)(x), f(x), strict=True):
        assert got.dtype == want.dtype and np.array_equal(got.numpy(), want)


# --- gradients


def cube_vjp(primals: Any, upstream: Any) -> Any:
    return 3 * primals[0] ** 2 * upstream[0]


def test_gradients_of_a_vjp_to_second_order() -> None:
    cube = pb.numpy_function(lambda x: x**3, lambda x: x, vjp=cube_vjp)
    x = pb.Variable([1.0, -2.0, 0.5])
    for call in (cube, pb.function(cube)):
        (g,) = pb.gradients(pb.sum(call(x)), x)
        (h,) = pb.gradients(pb.sum(g), x)
        assert g.tolist() == [3.0, 12.0, 0.75] and h.tolist() == [6.0, -12.0, 3.0]
    slope = pb.grad(lambda x: pb.sum(cube(x)))
    assert slope(pb.constant([2.0])).tolist() == [12.0]
    assert pb.function(slope)(pb.constant([2.0])).tolist() == [12.0]
    with pb.GradientTape() as tape:
        y = cube(x)
    assert tape.gradient(y, x).tolist() == [3.0, 12.0, 0.75]


def test_gradients_of_a_jvp_and_of_a_black_box_vjp() -> None:
    x, y = pb.Variable([1.0, 2.0]), pb.Variable([3.0, 5.0])
    times = pb.numpy_function(
        np.multiply, lambda x, y: x, jvp=lambda p, t: p[0] * t[1] + p[1] * t[0]
    )
    assert [g.tolist() for g in pb.gradients(times(x, y), [x, y])] == [[3.0, 5.0], [1.0, 2.0]]
    slope = pb.numpy_function(lambda x, g: np.cos(x) * g, lambda x, g: x)
    sin = pb.numpy_function(np.sin, lambda x: x, vjp=lambda p, u: slope(p[0], u[0]))
    (g,) = pb.gradients(sin(x), x)
    np.testing.assert_allclose(g.numpy(), np.cos([1.0, 2.0]), rtol=1e-6)
    with pytest.raises(LookupError, match=r"numpy_function: .*test_numpy_function.py:\d+\).*vjp="):
        pb.gradients(g, x)


@pytest.mark.parametrize("dtype, tolerance", [("float32", 2e-3), ("float64", 1e-8)])
def test_gradients_by_differences(dtype: str, tolerance: float) -> None:
    rng = np.random.default_rng(0)
    x = pb.Variable(rng.standard_normal((2, 3)), dtype=dtype)
    k = pb.constant(3)

    def f(x: Any, k: Any) -> Any:
        return np.sin(x) * np.array(k, x.dtype), (x**2).sum(0)

    black = pb.numpy_function(f, lambda x, k: [x, ((3,), x.dtype)], vjp="fd")
    c = [rng.standard_normal((2, 3)).astype(dtype), rng.standard_normal(3).astype(dtype)]
    for call in (black, pb.function(black)):
        (got,) = pb.gradients(list(call(x, k)), x, grad_ys=c)
        want = c[0] * 3 * np.cos(x.numpy()) + c[1] * 2 * x.numpy()
        np.testing.assert_allclose(got.numpy(), want, rtol=tolerance, atol=tolerance)


def test_without_a_rule() -> None:
    x = pb.Variable([1.0, 2.0])
    black = pb.numpy_function(np.exp, lambda x: x)
    for ask in (
        lambda: pb.gradients(black(x), x),
        lambda: pb.grad(lambda x: pb.sum(black(x)))(pb.ones(2)),
        lambda: pb.function(pb.grad(lambda x: pb.sum(black(x))))(pb.ones(2)),
    ):
        with pytest.raises(LookupError, match=r"exp has no gradient; pass vjp, jvp or vjp='fd'"):
            ask()
    assert pb.gradients(pb.stop_gradient(black(x)) * x, x)[0].numpy() == pytest.approx(
        np.exp([1, 2]), rel=1e-6
    )
    order = pb.numpy_function(lambda x: np.argsort(x), lambda x: (x.shape, "int64"))
    assert pb.gradients(pb.cast(order(x), "float32") * x, x)[0].tolist() == [0.0, 1.0]


# --- errors


def test_errors_of_f_come_out_at_the_look_and_lose_nothing() -> None:
    fail = True

    def f(x: Any) -> Any:
        if fail:
            raise KeyError("not there")
        return x

    v = pb.Variable([1.0, 2.0])
    v.assign_add([1.0, 1.0])
    y = pb.numpy_function(f, lambda x: x)(v) * 2.0
    for _ in range(2):
        with pytest.raises(KeyError, match="not there") as caught:
            y.numpy()
        assert caught.traceback[-1].path.name == "test_numpy_function.py"
        assert caught.traceback[-1].name == "f"
    assert v.numpy().tolist() == [2.0, 3.0]
    assert pb.sum(v).item() == 5.0
    # An update that fails leaves the variable to whoever looks at it.
    v.assign(pb.numpy_function(f, lambda x: x)(v))
    assert pb.sum(pb.ones(2)).item() == 2.0
    with pytest.raises(KeyError):
        v.numpy()
    fail = False
    assert y.tolist() == [4.0, 6.0] and v.numpy().tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    "answer, error, text",
    [
        (np.zeros(3, np.float32), ValueError, r"expected shape \(2,\) for result, .* got \(3,\)"),
        (np.zeros(2), TypeError, "expected dtype float32 for result, .* got float64"),
        (None, ValueError, r"expected shape \(2,\) for result, .* got \(\)"),
    ],
)
def test_other_results_than_were_said(answer: Any, error: Any, text: str) -> None:
    y = pb.numpy_function(lambda x: answer, ((2,), "float32"))(pb.ones(2))
    with pytest.raises(error, match=rf"numpy_function: .*test_numpy_function.py:\d+\): {text}"):
        y.numpy()
    two = pb.numpy_function(lambda x: answer, [((2,), "float32"), ((), "int32")])(pb.ones(2))
    with pytest.raises(ValueError, match="expected 2 results, got"):
        two[0].numpy()


def test_errors_of_the_call() -> None:
    for arguments, error, text in (
        ((1, ((), "float32")), TypeError, "expected a function for f, got 1"),
        ((np.sin, "abc"), TypeError, "expected .* for out, got"),
        ((np.sin, ((-1,), "float32")), TypeError, "expected .* for out, got"),
        ((np.sin, ((2,), "abc")), TypeError, "expected .* for out, got"),
        ((np.sin, ((), "float32"), "no"), TypeError, "expected a function or 'fd' for vjp"),
        ((np.sin, ((), "float32"), None, 3), TypeError, "expected a function for jvp"),
        ((np.sin, ((), "float32"), cube_vjp, cube_vjp), ValueError, "got both"),
    ):
        with pytest.raises(error, match=rf"^numpy_function: .*{text}"):
            pb.numpy_function(*arguments)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^numpy_function: "):
        pb.numpy_function(np.sin, ((), "float32"))("text")


# --- in traced functions


def test_a_traced_function_calls_f_each_time() -> None:
    f = counted(lambda x: x + 1)
    black = pb.numpy_function(f, lambda x: x)

    @pb.function
    def step(x: Any) -> Any:
        return black(x) * 2.0 + black(pb.ones(2))

    for k in range(3):
        assert step(pb.constant([1.0, 2.0])).tolist() == [6.0, 8.0]
        assert f.calls == 2 * (k + 1)

    @pb.function
    def update(x: Any) -> None:
        v.assign(v + black(x))

    v = pb.Variable([0.0])
    for _ in range(3):
        update(pb.constant([1.0]))
    assert v.numpy().tolist() == [6.0]


def test_f_may_use_the_library_and_other_threads_may_work() -> None:
    def f(x: Any) -> Any:
        worker = threading.Thread(target=lambda: done.append(float(pb.sum(pb.ones(1000)))))
        worker.start()
        return pb.sum(pb.constant(x) ** 2).numpy()

    done: list[float] = []
    y = pb.numpy_function(f, ((), "float32"))(pb.constant([3.0, 4.0]))
    assert float(y) == 25.0
    outer = pb.numpy_function(lambda x: np.asarray((pb.constant(x) + 1).numpy()), lambda x: x)
    assert outer(outer(pb.zeros(2))).tolist() == [2.0, 2.0]


def test_functions_are_let_go() -> None:
    import gc
    import weakref

    class F:
        def __call__(self, x: Any) -> Any:
            return x

        __name__ = "F"

    f = F()
    gone = weakref.ref(f)
    pb.numpy_function(f, lambda x: x)(pb.ones(2)).numpy()
    del f
    gc.collect()
    assert gone() is None


def test_bfloat16_arguments():
    """They reach the function as what numpy() gives."""
    seen = []

    def f(a):
        seen.append(a.dtype)
        return a

    x = pb.cast(pb.constant([1.0, 2.0]), "bfloat16")
    y = pb.numpy_function(f, x)(x)
    assert y.numpy().astype("float32").tolist() == [1.0, 2.0]
    assert seen[0] == x.numpy().dtype
