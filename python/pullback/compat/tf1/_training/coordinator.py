"""`train.Coordinator`: threads that stop together; the error of one of them is raised at `join`."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import OutOfRangeError


class Coordinator:
    """Asks several threads to stop. The first error that a thread reports by `request_stop` or
    inside of `stop_on_exception` is raised again by `join`; those of
    `clean_stop_exception_types` (OutOfRangeError) only stop.

    >>> import threading
    >>> from pullback.compat import tf1 as tf
    >>> coord, done = tf.train.Coordinator(), []
    >>> def work():
    ...     while not coord.should_stop():
    ...         done.append(1)
    ...         if len(done) >= 10:
    ...             coord.request_stop()
    >>> threads = [threading.Thread(target=work) for _ in range(2)]
    >>> for thread in threads:
    ...     thread.start()
    >>> coord.join(threads)
    >>> coord.should_stop(), coord.joined, len(done) >= 10
    (True, True, True)
    """

    def __init__(self, clean_stop_exception_types: Any = None) -> None:
        given = clean_stop_exception_types
        self._clean = (OutOfRangeError,) if given is None else tuple(given)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._threads: set[threading.Thread] = set()
        self._joined = False

    @property
    def joined(self) -> bool:
        """Whether `join` has returned."""
        return self._joined

    def request_stop(self, ex: Any = None) -> None:
        """Asks the threads to stop, perhaps because of an error, or a triple of `sys.exc_info`."""
        error = ex[1] if isinstance(ex, tuple) else ex
        if error is not None and not isinstance(error, BaseException):
            raise TypeError(f"request_stop: expected an exception for ex, got {ex!r:.60}")
        error = None if isinstance(error, self._clean) else error
        with self._lock:
            if error is not None and self._joined:
                raise error
            if not self._stop.is_set():
                self._error = error
            self._stop.set()

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._stop.is_set()

    def clear_stop(self) -> None:
        """Begins anew after a stop."""
        with self._lock:
            self._joined, self._error = False, None
            self._stop.clear()

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits until a stop is requested; False if `timeout` seconds have passed before."""
        return self._stop.wait(timeout)

    @contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """An error inside requests a stop, and is raised by `join` instead."""
        try:
            yield
        except BaseException:
            self.request_stop(sys.exc_info())

    def register_thread(self, thread: threading.Thread) -> None:
        """A thread for `join` to wait for."""
        with self._lock:
            self._threads.add(thread)

    def join(
        self, threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120, ignore_live_threads: bool = False,
    ) -> None:  # fmt: skip
        """Waits for the threads, after a request to stop for so many seconds at most; then raises
        the error that was reported first. RuntimeError for threads that have not stopped."""
        with self._lock:
            waiting = self._threads.union(threads or ())
        while any(t.is_alive() for t in waiting) and not self.wait_for_stop(0.05):
            pass
        end = time.monotonic() + stop_grace_period_secs
        for thread in waiting:
            thread.join(max(0.0, end - time.monotonic()))
        alive = [t.name for t in waiting if t.is_alive()]
        with self._lock:
            self._joined, self._threads = True, set()
        self.raise_requested_exception()
        if alive and not ignore_live_threads:
            raise RuntimeError(
                f"Coordinator stopped with threads still running: {' '.join(alive)}; let them end "
                "when should_stop() holds"
            )

    def raise_requested_exception(self) -> None:
        """Raises the error that a thread has reported, if there is one."""
        if self._error is not None:
            raise self._error


def start_queue_runners(
    sess: Any = None, coord: Any = None, daemon: bool = True, start: bool = True,
    collection: str = "queue_runners",
) -> list[threading.Thread]:  # fmt: skip
    """Gives an empty list: there are no queues, and so no threads that fill them."""
    return []
