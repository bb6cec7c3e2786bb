"""Waits for the device, on the fake driver: see test_cuda.py."""

from __future__ import annotations

import ctypes
import signal
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest
from support.on_fake import FAKE, there

import pullback as pb


def test_ctrl_c_ends_a_wait() -> None:
    y = there(np.arange(4.0)) * 2
    FAKE.fake_busy(ctypes.c_int64(1 << 40))
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        uploads = FAKE.fake_calls(b"cuMemcpyHtoDAsync_v2")
        large = there(np.ones(2_000_000))  # in four parts, two of which fill the pinned memory
        for wait in (y.numpy, pb.cuda.synchronize, pb.cuda.trim, large.numpy):
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(KeyboardInterrupt):
                wait()
    finally:
        signal.signal(signal.SIGALRM, before)
        FAKE.fake_busy(ctypes.c_int64(0))
    assert FAKE.fake_calls(b"cuMemcpyHtoDAsync_v2") - uploads in (2, 3)
    np.testing.assert_array_equal(y.numpy(), [0, 2, 4, 6])  # the work went on
    assert large.numpy().sum() == 2_000_000


def test_other_threads_run_during_a_wait() -> None:
    x = there(np.arange(4.0))
    waits = [
        lambda: (x * 2).numpy(),
        lambda: float(pb.sum(x * 3)),
        lambda: pb.evaluate((x * 4).to_device("cpu")),
        pb.cuda.synchronize,
        pb.cuda.trim,
    ]
    for wait in waits:
        assert polls_left_for_another_thread(FAKE.fake_busy, wait) > 0
    np.testing.assert_array_equal((x * 2).numpy(), [0, 2, 4, 6])


def test_other_threads_run_while_a_read_waits_for_later_work() -> None:
    """Another thread may queue work after the wait of a read, and before its copy."""
    x, large = there(np.arange(4.0)) * 2, there(np.ones(2_000_000)) * 1  # in four parts
    x.numpy(), large.numpy()
    for wait in (x.numpy, lambda: float(x[1]), lambda: pb.evaluate(x.to_device("cpu")),
                 large.numpy):  # fmt: skip
        assert polls_left_for_another_thread(FAKE.fake_busy_later, wait) > 0
    np.testing.assert_array_equal(x.numpy(), [0, 2, 4, 6])
    assert (large.numpy() == 1).all()


def polls_left_for_another_thread(
    busy: Callable[[object], None], wait: Callable[[], object]
) -> int:
    """Let another thread end the busy work during a wait; return the polls that were left."""
    go, left = threading.Event(), []

    def end_the_wait() -> None:
        go.wait()
        time.sleep(0.02)
        left.append(FAKE.fake_busy_polls())
        FAKE.fake_busy(ctypes.c_int64(0))

    thread = threading.Thread(target=end_the_wait)
    thread.start()
    busy(ctypes.c_int64(2000))  # about two seconds, if no thread ends them
    go.set()
    wait()
    thread.join()
    return left[0]


def test_a_wait_ends_while_another_thread_queues_work() -> None:
    x = there(np.arange(4.0))
    for wait in ((x * 2).numpy, pb.cuda.synchronize, pb.cuda.trim, lambda: float(pb.sum(x))):
        rounds, stop = [0], threading.Event()

        def queue(rounds: list[int] = rounds, stop: threading.Event = stop) -> None:
            while rounds[0] < 3000 and not stop.is_set():
                if FAKE.fake_busy_polls() < 100:  # never idle, with a bounded queue as of a driver
                    FAKE.fake_busy(ctypes.c_int64(100))
                rounds[0] += 1
                time.sleep(0.001)

        thread = threading.Thread(target=queue)
        FAKE.fake_busy(ctypes.c_int64(100))
        thread.start()
        wait()
        assert rounds[0] < 3000
        stop.set()
        thread.join()
        FAKE.fake_busy(ctypes.c_int64(0))


def test_threads_share_the_pinned_memory() -> None:
    """Parts of reads stay where they are until their threads have copied them."""
    with pb.use_device("cuda"):
        large = [pb.full(1_500_000, float(k)) + 0.0 for k in range(3)]
    wrong: list[object] = []

    def read(k: int) -> None:
        for i in range(4):
            up = there(np.full(700_000, 10.0 * k + i)) + 0.0
            FAKE.fake_busy(ctypes.c_int64(2))
            if not (large[k].numpy() == k).all() or not (up.numpy() == 10.0 * k + i).all():
                wrong.append(k)

    threads = [threading.Thread(target=read, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_threads_read_and_update_one_variable() -> None:
    """Reads wait without the interpreter lock, while updates overwrite the memory."""
    with pb.use_device("cuda"):
        v = pb.Variable(np.zeros(1000))
    wrong: list[object] = []

    def read() -> None:
        last = 0.0
        for _ in range(50):
            value = v.numpy()
            if not (value == value[0]).all() or value[0] < last:
                wrong.append(value)
            last = value[0]

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(50):
        v.assign_add(np.ones(1000))
        FAKE.fake_busy(ctypes.c_int64(3))
        v[0].numpy()
    for thread in threads:
        thread.join()
    assert not wrong and (v.numpy() == 50).all()
