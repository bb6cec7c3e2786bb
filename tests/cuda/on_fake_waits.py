"""Waits for the device, on the fake driver: see test_cuda.py."""

from __future__ import annotations

import ctypes
import signal
import threading
import time

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
        go, queries = threading.Event(), []

        def end_the_wait(go: threading.Event = go, queries: list[int] = queries) -> None:
            go.wait()
            time.sleep(0.02)
            queries.append(FAKE.fake_calls(b"cuStreamQuery"))
            FAKE.fake_busy(ctypes.c_int64(0))

        thread = threading.Thread(target=end_the_wait)
        thread.start()
        FAKE.fake_busy(ctypes.c_int64(2000))  # about two seconds, if no thread ends them
        go.set()
        wait()
        thread.join()
        assert queries[0] < FAKE.fake_calls(b"cuStreamQuery")
    np.testing.assert_array_equal((x * 2).numpy(), [0, 2, 4, 6])


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
