"""Tests that run with the fake driver (fake_driver.cpp): see test_cuda.py, which runs them."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import pullback as pb

FAKE = ctypes.CDLL(os.environ["PULLBACK_FAKE_DRIVER"])
FAKE.fake_calls.restype = FAKE.fake_used_bytes.restype = ctypes.c_int64
OUT_OF_MEMORY, ILLEGAL_ADDRESS = 2, 700


@pytest.fixture(autouse=True)
def no_faults() -> Iterator[None]:
    yield
    FAKE.fake_reset()


def there(x: object) -> pb.Tensor:
    return pb.asarray(np.asarray(x), device="cuda")


def test_available() -> None:
    assert pb.cuda.is_available()
    reason = pb.cuda.reason()  # NVRTC is missing here
    assert "no kernels" in reason and "pullback[cuda13]" in reason and "/nowhere" in reason
    assert pb.cuda.device_count() == 2


def test_a_tensor_moves_there_and_back() -> None:
    x = np.arange(6.0).reshape(2, 3)
    moved = pb.constant(x).to_device("cuda")
    assert moved.device == "cuda:0" and "0." in repr(moved)
    np.testing.assert_array_equal(moved.numpy(), x)
    back = moved.to_device("cpu")
    assert back.device == "cpu"
    np.testing.assert_array_equal(back.numpy(), x)
    assert moved.to_device("cuda") is moved or moved.to_device("cuda").device == "cuda:0"
    large = np.arange(3_000_000.0)  # more than the staging memory
    np.testing.assert_array_equal(there(large).numpy(), large)
    assert there(np.zeros((0, 3))).numpy().shape == (0, 3)


def test_operations_have_the_bits_of_the_processor() -> None:
    x = np.random.default_rng(0).normal(size=(40, 40))
    for f in (
        lambda x: pb.sum(pb.tanh(x @ x) * 2, axis=0),
        lambda x: pb.linalg.solve(x, pb.ones(40, "float64")),
        lambda x: pb.sort(x, axis=1)[:, ::-1] + np.arange(40.0),
        lambda x: pb.fft.fft(x).real,
        lambda x: pb.fori_loop(0, 5, lambda i, y: pb.sin(y) + x, x),
        lambda x: pb.cond(pb.sum(x) > 0, lambda: x * 2, lambda: x - 1),
        lambda x: x[[3, 1], :][:, x[0] > 0],
    ):
        here, moved = f(pb.constant(x)), f(there(x))
        assert moved.device == "cuda:0"
        np.testing.assert_array_equal(moved.numpy(), here.numpy())
    assert sum(pb.cuda.fallbacks().values()) > 0


def test_gradients_are_where_their_tensors_are() -> None:
    x = pb.Variable([1.0, 2.0], dtype="float64")
    moved = x.to_device("cuda")
    y = pb.sum(moved**3)
    (inside,) = pb.gradients(y, [moved])
    assert inside.device == "cuda:0"
    np.testing.assert_array_equal(inside.numpy(), [3, 12])
    np.testing.assert_array_equal(pb.gradients(y, [x])[0].numpy(), [3, 12])
    np.testing.assert_array_equal(pb.grad(lambda t: pb.sum(t * t))(moved).numpy(), [2, 4])
    np.testing.assert_array_equal(
        pb.hessian(lambda t: pb.sum(t**3))(moved).numpy(), [[6, 0], [0, 12]]
    )
    np.testing.assert_array_equal(pb.vmap(pb.sin)(moved).numpy(), np.sin([1.0, 2.0]))


def test_gradients_of_constants_keep_their_zeros() -> None:
    """A zero of `where` does not meet the infinity or the NaN of the branch that is not chosen."""
    for default in ("cuda", "cpu"):
        with pb.use_device(default):
            x = pb.constant(np.array([-2.0, 0.0, 4.0]))
            chosen, weights = pb.constant(np.array([False, False, True])), there([0.5, 1.0, 2.0])
            with pb.GradientTape(persistent=True) as tape:
                tape.watch(x)
                roots = [
                    pb.where(chosen, pb.sqrt(x), 0.0),
                    pb.where(chosen, pb.log(x), 0.0)[1:],
                    pb.where(there([False, False, True]), pb.sqrt(x), 0.0),
                ]
                ys = [pb.sum(root * weights[-len(root) :]) for root in roots]
            for y, slope in zip(ys, (0.5, 0.5, 0.5), strict=True):
                np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [0, 0, slope])


def test_devices_do_not_mix() -> None:
    there_one, here = there([1.0]), there([1.0]).to_device("cpu")
    with pytest.raises(ValueError, match=r"add: .*cuda:0, cpu"):
        there_one + here
    np.testing.assert_array_equal((there_one + np.ones(1) + 1).numpy(), [3])
    other = pb.asarray([2.0], dtype="float64", device="cuda:1")
    with pytest.raises(ValueError, match="cuda:1"):
        there_one + other
    np.testing.assert_array_equal((other.to_device("cuda") + there_one).numpy(), [3])


def test_use_device() -> None:
    with pb.use_device("cuda"):
        x = pb.ones(3)
        v = pb.Variable([1.0, 2.0, 3.0])
        made = [x, pb.eye(2), pb.arange(3), pb.random.normal((2,)), pb.linspace(0, 1, 3)]
        assert {t.device for t in made} == {"cuda:0"} and v.device == "cuda:0"
        assert (pb.sin(np.ones(2)) + 1).device == "cuda:0"
    assert pb.ones(3).device == "cpu"
    v.assign_add(x)
    np.testing.assert_array_equal(v.numpy(), [2, 3, 4])
    assert v.device == "cuda:0"
    with pytest.raises(ValueError, match=r"variable .* is on cuda:0"):
        v.assign(pb.Variable([1.0, 2.0, 3.0]).to_device("cpu"))


def test_loops_run_where_their_inputs_are() -> None:
    here = pb.Variable(np.ones((40, 40)))
    with pb.use_device("cuda"):
        y = pb.fori_loop(0, 3, lambda i, y: pb.sin(y @ y), here)
    assert y.device == "cpu"
    want = np.ones((40, 40))
    for _ in range(3):
        want = np.sin(want @ want)
    np.testing.assert_allclose(y.numpy(), want)
    with pb.use_device("cuda"):  # a body has no device: new tensors are where the loop is
        y = pb.fori_loop(0, 3, lambda i, y: y + pb.ones((40, 40), "float64"), here)
        np.testing.assert_array_equal(y.numpy(), np.full((40, 40), 4.0))
    assert y.device == "cpu"
    captured = pb.ones(3, "float64", device="cuda")
    with pytest.raises(ValueError, match="device"):
        pb.fori_loop(0, 3, lambda i, y: y + captured, pb.Variable(np.ones(3)))


def test_gradients_of_a_branch_in_a_loop() -> None:
    def f(x: pb.Tensor) -> pb.Tensor:
        def step(s: pb.Tensor, _: None) -> tuple[pb.Tensor, None]:
            return pb.cond(s > 2, lambda: s / x, lambda: s * x * pb.ones(())), None

        return pb.scan(step, x, length=4)[0]

    with pb.use_device("cuda"):
        x = there(np.asarray(1.5))
        assert float(f(x)) == pytest.approx(1.5)  # 1.5, 2.25, 1.5, 2.25, 1.5
        assert float(pb.grad(f)(x)) == pytest.approx(1.0)
        assert float(pb.grad(pb.grad(f))(x)) == pytest.approx(0.0, abs=1e-12)
        assert pb.grad(f)(x).device == "cuda:0"


def test_a_variable_stays_on_its_device() -> None:
    with pb.use_device("cuda"):
        v = pb.Variable([1.0, 2.0])
    v.assign(pb.zeros(2) + 1)
    assert v.numpy().tolist() == [1, 1] and v.device == "cuda:0"
    v.assign_add(there(np.ones(2, np.float32)))
    assert v.numpy().tolist() == [2, 2] and v.device == "cuda:0"


def test_updates_write_in_place() -> None:
    """The tables are larger than half of the memory of the device (FAKE_CUDA_MEMORY)."""
    elsewhere = pb.ones(2, device="cuda:1")
    elsewhere.numpy()
    for device in ("cpu", "cuda"):
        with pb.use_device(device):
            v = pb.Variable(np.zeros((10 << 20, 2), np.float32))

            def step(v: pb.Variable = v) -> None:
                v.assign(v.at[3].add(1.0))
                pb.evaluate(v[3, 0], elsewhere)
                assert v.device == ("cuda:0" if device == "cuda" else device)  # noqa: B023
                float(v[3, 0])

            for _ in range(3):
                pb._core.reset_peak_bytes()
                before = pb._core.status()["live_bytes"]
                step()
                beside = pb._core.status()["peak_bytes"] - before
            assert device == "cuda" or beside < 100_000
            np.testing.assert_array_equal(v[2:5].numpy()[:, 0], [0, 3, 0])
            del v, step


def test_traced_functions_distinguish_default_devices() -> None:
    made = pb.function(lambda n: pb.ones(2) * n)
    with pb.use_device("cuda"):
        assert made(2.0).device == "cuda:0"
    assert made(2.0).device == "cpu"
    moves = pb.function(lambda x: pb.sin(x))
    assert moves(there([1.0])).device == "cuda:0" and moves(np.ones(1)).device == "cpu"


def test_arrays_and_tensors_of_the_default_device_share_a_trace() -> None:
    runs = []

    @pb.function
    def f(x: pb.Tensor) -> pb.Tensor:
        runs.append(x)
        return pb.sin(x)

    with pb.use_device("cuda"):
        for x in (np.ones(2), there(np.ones(2)), pb.constant(np.ones(2))):
            assert f(x).device == "cuda:0"
        assert len(runs) == 1
        w = pb.Variable(np.ones(2))
        scaled = pb.function(lambda x: x * w)
    with pytest.raises(ValueError, match=r"argument 0 on cpu, and the function runs on cuda:0"):
        scaled(pb.Variable(np.ones(2)) + 1.0)
    assert scaled(np.ones(2)).device == "cuda:0"  # an array goes where it is read
    with pytest.raises(ValueError, match=r"argument 0 on cpu"):
        scaled(pb.Variable(np.ones(2)) + 1.0)


def test_a_like_tensor_is_beside_its_input() -> None:
    x = there(np.arange(3.0))
    made = [pb.zeros_like(x), pb.ones_like(x), pb.full_like(x, 2), pb.empty_like(x)]
    assert [t.device for t in made] == ["cuda:0"] * 4
    np.testing.assert_array_equal((x + made[0] + made[1] + made[2]).numpy(), [3, 4, 5])
    assert pb.ones_like(x, device="cpu").device == "cpu"
    assert pb.ones_like(np.ones(2)).device == "cpu"
    here = pb.Variable([1.0])
    with pb.use_device("cuda:1"):
        assert pb.zeros_like(x).device == "cuda:0" and pb.zeros_like([1.0]).device == "cuda:1"
        assert pb.zeros_like(here).device == "cpu"
    w = pb.Variable(np.ones(2)).to_device("cuda")
    f = pb.function(lambda x: w * pb.ones_like(x))  # x is an array, on any device
    assert f(np.ones(2)).device == "cuda:0"


def uploads_of(f: Callable[[], object]) -> int:
    before = FAKE.fake_calls(b"cuMemcpyHtoDAsync_v2")
    f()
    return FAKE.fake_calls(b"cuMemcpyHtoDAsync_v2") - before


def test_a_constant_is_uploaded_once() -> None:
    x = there(np.ones(100_000))
    x.numpy()
    pb.cuda.trim()
    before = pb.cuda.memory()["live"]
    held = [pb.constant(np.arange(100_000.0))]
    want = np.arange(100_000.0) + 1

    def run() -> None:
        np.testing.assert_array_equal((x + held[0]).numpy(), want)

    first = uploads_of(run)
    assert [uploads_of(run) for _ in range(2)] == [first - 1] * 2
    assert pb.cuda.memory()["live"] >= before + 800_000
    pb.cuda.trim()  # also frees the copy
    assert pb.cuda.memory()["live"] == before
    assert [uploads_of(run) for _ in range(2)] == [first, first - 1]
    held.clear()
    assert pb.cuda.memory()["live"] == before


def test_an_uploaded_constant_is_not_written_to() -> None:
    """Neither by an update in place nor by an assignment to items."""
    c = pb.constant(np.zeros(1000))
    x = there(np.ones(1000))
    with pb.use_device("cuda"):
        v = pb.Variable(c)
        y = x + c
        for _ in range(3):
            v.assign_add(x)
            y = y + c
        c[0] = 5.0
        np.testing.assert_array_equal(v.numpy(), np.full(1000, 3.0))
    np.testing.assert_array_equal(y.numpy(), np.ones(1000))
    assert (x + c).numpy()[:2].tolist() == [6, 1]
    w = pb.Variable(c)  # on the processor, where an update may overwrite the memory of c
    del c
    for _ in range(3):
        w.assign_add(np.ones(1000))
    np.testing.assert_array_equal(w.to_device("cuda").numpy()[:2], [8, 3])


def test_a_copy_of_shared_memory_is_not_written_to() -> None:
    """A run may write over a tensor that ends, but not over a copy that another tensor reads."""
    c = pb.constant(np.zeros(10_000))
    shares = pb.reshape(c, (100, 100))
    assert np.shares_memory(shares.numpy(), c.numpy())
    with pb.use_device("cuda"):
        np.testing.assert_array_equal((shares + 1.0).numpy(), np.ones((100, 100)))
        y = c * 2.0 + 1.0
        del c
        np.testing.assert_array_equal(y.numpy(), np.ones(10_000))
        np.testing.assert_array_equal((shares + 1.0).numpy(), np.ones((100, 100)))


def test_a_copy_ends_when_the_processor_writes_over_the_constant() -> None:
    c = pb.constant(np.zeros(100_000))
    with pb.use_device("cuda"):
        np.testing.assert_array_equal((c + 1.0).numpy(), np.ones(100_000))
    y = c * 2.0 + 1.0
    del c
    assert float(pb.sum(y)) == 100_000
    y = y + 0.0
    float(y[0])
    with pb.use_device("cuda"):
        np.testing.assert_array_equal((y * 1.0).numpy(), np.ones(100_000))


def test_a_step_works_in_place() -> None:
    with pb.use_device("cuda"):
        v = pb.Variable(np.zeros(200_000))  # larger than a segment
        step = pb.function(lambda x: v.assign_add(x))
        x = there(np.ones(200_000))
        step(x)
        pb.cuda.trim()
        before = FAKE.fake_calls(b"cuMemAlloc_v2")
        for _ in range(3):
            step(x)
        assert FAKE.fake_calls(b"cuMemAlloc_v2") == before
        np.testing.assert_array_equal(v.numpy()[:2], [4, 4])


def test_copies_of_constants_give_way() -> None:
    c = pb.constant(np.zeros(30_000_000, np.int8))
    assert int(pb.sum(c[:2]) + there(np.int64(1))) == 1
    one = there(np.int8(1))
    assert int((c + one)[5]) == 1
    large = there(np.zeros(115_000_000, np.int8))
    assert int(large[7]) == 0  # the memory has room for one of them


def test_training_step() -> None:
    """The same parameters as on the processor after steps of an optimizer in a function."""

    def run(device: str) -> np.ndarray:
        with pb.use_device(device):
            w = pb.Variable(np.linspace(-1, 1, 12).reshape(4, 3))
            optimizer = pb.optimizers.Adam(0.1)

            @pb.function
            def step(x: pb.Tensor, y: pb.Tensor) -> pb.Tensor:
                return optimizer.minimize(lambda: pb.mean((pb.tanh(x @ w) - y) ** 2), [w])

            random = np.random.default_rng(1)
            for _ in range(5):
                step(random.normal(size=(8, 4)), random.normal(size=(8, 3)))
            assert w.device == ("cuda:0" if device == "cuda" else "cpu")
            return w.numpy()

    np.testing.assert_array_equal(run("cuda"), run("cpu"))


def test_memory_is_returned() -> None:
    pb.cuda.synchronize()
    before = pb.cuda.memory()
    x = there(np.ones(1_000_000))
    x.numpy()
    assert pb.cuda.memory()["live"] >= before["live"] + 8_000_000
    del x
    after = pb.cuda.memory()
    assert after["live"] == before["live"] and after["cached"] >= 8_000_000
    pb.cuda.trim()
    assert pb.cuda.memory()["cached"] < 8_000_000


def test_out_of_memory_leaves_everything_as_it_was() -> None:
    x = there(np.ones(1000))
    x.numpy()
    FAKE.fake_fail(b"cuMemAlloc_v2", 1, OUT_OF_MEMORY)
    y = there(np.ones(1_000_000)) * 1.0
    np.testing.assert_array_equal(y.numpy(), np.ones(1_000_000))  # the second request succeeds
    del y
    pb.cuda.trim()
    with pytest.raises(MemoryError, match=r"cuda:0: cannot allocate .* are free"):
        pb.asarray(np.ones(150_000_000, np.int8), device="cuda").numpy()
    np.testing.assert_array_equal((x + 1).numpy(), np.full(1000, 2.0))


@pytest.mark.parametrize("function", ["cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
                                      "cuEventSynchronize", "cuEventQuery",
                                      "cuMemAlloc_v2"])  # fmt: skip
def test_a_lost_device_says_so(function: str) -> None:
    """In a process of its own, since the device stays lost."""
    pid = os.fork()
    if pid:
        assert os.waitpid(pid, 0)[1] == 0
        return
    os._exit(os.system(f"{os.environ['PYTHON_FOR_FAKE']} {__file__} {function}") and 1)


def test_a_forked_child_cannot_use_the_device() -> None:
    x = there([1.0])
    x.numpy()
    pid = os.fork()
    if pid == 0:
        try:
            (x + 1).numpy()
        except RuntimeError as error:
            os._exit(0 if "before fork()" in str(error) and pb.ones(2).numpy().sum() == 2 else 1)
        os._exit(2)
    assert os.waitpid(pid, 0)[1] == 0
    np.testing.assert_array_equal((x + 1).numpy(), [2])


def test_errors_of_data_name_the_operation() -> None:
    with pytest.raises(IndexError, match="take"):
        pb.take(there(np.ones(3)), there(np.array([5]))).numpy()
    with pytest.raises(ValueError, match=r"expected a device of cuda:0 to cuda:1, got cuda:7"):
        pb.zeros(2, device="cuda:7")
    with pytest.raises(ValueError, match='"cpu", "cuda"'):
        pb.zeros(2, device="gpu")


def lose(function: str) -> None:
    here, x = pb.constant([1.0, 2.0]), there(np.ones(3))
    (x * 2).numpy()
    FAKE.fake_fail(function.encode(), 1, ILLEGAL_ADDRESS)
    for _ in range(2):
        try:
            y = there(np.ones(2_000_000)) + 1.0
            y.numpy()
        except RuntimeError as error:
            assert "CUDA_ERROR_ILLEGAL_ADDRESS" in str(error) and "lost" in str(error), error
        else:
            raise AssertionError("no error")
    np.testing.assert_array_equal((here + 1).numpy(), [2, 3])


if __name__ == "__main__":
    import sys

    lose(sys.argv[1])
