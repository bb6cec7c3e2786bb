"""Processes: forked children compute, whatever the parent was doing; nothing is left running."""

from __future__ import annotations

import os

import pytest
from support.process import run

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def test_a_child_made_while_another_thread_computes() -> None:
    """The locks that the thread holds exist in the child, the thread does not."""
    code = """if True:
    import os, signal, threading
    import numpy as np
    import pullback as pb
    pb.set_num_threads(3)
    x = pb.constant(np.ones((700, 700)))
    expected = float(pb.sum(pb.exp(x) @ x))
    stop = False
    def work():
        while not stop:
            float(pb.sum(pb.exp(x + 0.0) @ x))
    thread = threading.Thread(target=work)
    thread.start()
    codes = []
    for _ in range(20):
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            os._exit(0 if float(pb.sum(pb.exp(x + 0.0) @ x)) == expected else 3)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    stop = True
    thread.join()
    print(codes == [0] * 20, float(pb.sum(pb.exp(x) @ x)) == expected)
    """
    assert run(code).split() == ["True", "True"]


def test_a_child_made_while_another_thread_ends_a_rule() -> None:
    """Rules that end in the child are freed there, though the thread that ended one is gone."""
    code = """if True:
    import os, threading
    import pullback as pb
    inside, leave = threading.Event(), threading.Event()
    class Slow:
        def __del__(self):
            inside.set()
            leave.wait()
    class Counted:
        ended = 0
        def __del__(self):
            Counted.ended += 1
    def make(kept):
        @pb.custom_gradient
        def f(x):
            def rule(g): kept; return g
            return x * 2.0, rule
        return f(pb.Variable(1.0))
    thread = threading.Thread(target=lambda: make(Slow()))
    thread.start()
    inside.wait()
    child = os.fork()
    if child == 0:
        make(Counted())
        os._exit(Counted.ended)
    leave.set()
    thread.join()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert run(code).split() == ["1"]


def test_a_child_of_a_child_and_its_exit() -> None:
    """Children leave through the interpreter's whole exit, with a team in the parent only."""
    code = """if True:
    import os, sys
    import pullback as pb
    def work():
        return float(pb.sum(pb.ones((500, 500)) @ pb.ones((500, 500))))
    assert work() == 500.0**3
    for depth in range(2):
        child = os.fork()
        if child:
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        assert work() == 500.0**3
    sys.exit(0)
    """
    run(code)


def test_exit_while_a_daemon_thread_computes() -> None:
    code = """if True:
    import threading
    import pullback as pb
    def work():
        while True:
            float(pb.sum(pb.ones((900, 900)) @ pb.ones((900, 900))))
    started = threading.Event()
    def begin():
        float(pb.sum(pb.ones((900, 900)) @ pb.ones((900, 900))))
        started.set()
        work()
    threading.Thread(target=begin, daemon=True).start()
    started.wait()
    print("end")
    """
    for _ in range(5):
        assert run(code).strip() == "end"


def test_no_thread_before_it_is_needed_and_none_that_spins() -> None:
    code = """if True:
    import os, time
    import numpy as np
    import pullback as pb
    pb.set_num_threads(2)
    def threads():
        return len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0
    before = threads()
    float(pb.sum(pb.ones(10)))
    small = threads() == before
    float(pb.sum(pb.exp(pb.ones((1000, 1000)) * 2.0)))
    busy = time.process_time()
    time.sleep(1)
    print(small, time.process_time() - busy < 0.5)
    """
    assert run(code).split() == ["True", "True"]
