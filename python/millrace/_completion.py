"""What tells Python of the end of jobs: a thread for callbacks, and the event loops of asyncio.

A job writes to an event fd when it completes. There is one for the callbacks of the process, which one
thread reads, and one for each event loop, which the loop watches with `add_reader`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import select
import threading
import weakref
from collections.abc import Callable, Generator
from typing import Any

from ._core import Job

_log = logging.getLogger("millrace")

# The stubs of Python's library that come with older type checkers lack eventfd.
_os: Any = os

# Time between two looks at a job whose end is not recorded yet (Job.settling).
_RETRY_SECONDS = 0.001


class _Watchers:
    """The event fds that want to know of the end of each job.

    A job writes to one fd only, the last one; the reader of that fd tells the others.
    """

    def __init__(self) -> None:
        # The collector may finalise a coroutine that awaits a job under the lock.
        self._lock = threading.RLock()
        self._fds: dict[Job, list[int]] = {}

    def add(self, job: Job, fd: int) -> None:
        with self._lock:
            self._fds.setdefault(job, []).append(fd)
            self._notify(job, fd)

    def remove(self, job: Job, fd: int) -> None:
        with self._lock:
            fds = self._fds.get(job, [])
            if fd in fds:
                fds.remove(fd)
            if fds:
                self._notify(job, fds[-1])
            else:
                self._fds.pop(job, None)

    def tell(self, job: Job) -> None:
        """Tells all of them that the job has ended."""
        with self._lock:
            for fd in self._fds.pop(job, []):
                _os.eventfd_write(fd, 1)

    def _notify(self, job: Job, fd: int) -> None:
        # A job whose outcome is known writes nothing any more.
        if not job.notify_fd(fd):
            _os.eventfd_write(fd, 1)


_watchers = _Watchers()


class _Callbacks:
    """The jobs that have callbacks, and the thread that calls them."""

    def __init__(self) -> None:
        # An array that is freed under the lock may run code that adds a callback.
        self._lock = threading.RLock()
        self._waiting: dict[Job, list[Callable[[Job], object]]] = {}
        self._fd = -1

    def add(self, job: Job, function: Callable[[Job], object]) -> None:
        with self._lock:
            if self._fd < 0:
                self._start()
            functions = self._waiting.setdefault(job, [])
            functions.append(function)
            if len(functions) > 1:
                return
            try:
                _watchers.add(job, self._fd)
            except BaseException:
                del self._waiting[job]
                raise

    def _start(self) -> None:
        fd = _os.eventfd(0, _os.EFD_CLOEXEC | _os.EFD_NONBLOCK)
        try:
            threading.Thread(
                target=self._run, args=(fd,), name="millrace-callbacks", daemon=True
            ).start()
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd

    def _run(self, fd: int) -> None:
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        while True:
            with self._lock:
                retries = any(job.settling for job in self._waiting)
            if poll.poll(_RETRY_SECONDS * 1000 if retries else None):
                _os.eventfd_read(fd)
            self._call_ended()

    # The thread must not keep the last job and its arrays alive while it waits, so this is a function.
    def _call_ended(self) -> None:
        with self._lock:
            ended = [(job, self._waiting.pop(job)) for job in list(self._waiting) if _has_ended(job)]
        for job, functions in ended:
            _watchers.tell(job)
            for function in functions:
                _call(function, job)


def _has_ended(job: Job) -> bool:
    """Job.done(), which fails where there is no memory for larger outputs; it is asked again."""
    try:
        return job.done()
    except Exception:
        _log.exception("%r cannot be completed yet", job)
        return False


def _call(function: Callable[[Job], object], job: Job) -> None:
    try:
        function(job)
    except BaseException:  # the thread serves the other callbacks, too
        _log.exception("a callback of %r failed", job)


_callbacks = _Callbacks()


def add_done_callback(self: Job, function: Callable[[Job], object]) -> None:
    """Calls `function(job)` once, when the job has ended.

    All such functions of the process are called by one thread, one after the other, so they should
    return soon; they may submit jobs. An exception is logged. At the end of the process functions
    that have not been called are not called any more.
    """
    _callbacks.add(self, function)


class _Loop:
    """The jobs that tasks of one event loop await."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._waiting: dict[asyncio.Future[None], Job] = {}
        self._fd = _os.eventfd(0, _os.EFD_CLOEXEC | _os.EFD_NONBLOCK)
        loop.add_reader(self._fd, self._completed)
        weakref.finalize(self, os.close, self._fd)

    async def wait_for(self, job: Job) -> None:
        """Returns when the job has ended. Cancelling the task cancels the job."""
        future = asyncio.get_running_loop().create_future()
        self._waiting[future] = job
        try:
            _watchers.add(job, self._fd)
            await future
        except asyncio.CancelledError:
            job.cancel()
            raise
        finally:
            self._waiting.pop(future, None)
            _watchers.remove(job, self._fd)

    def _completed(self) -> None:
        try:
            _os.eventfd_read(self._fd)
        except BlockingIOError:
            pass
        for future, job in list(self._waiting.items()):
            if job.done():
                del self._waiting[future]
                _watchers.tell(job)
                if not future.done():
                    future.set_result(None)
        if any(job.settling for job in self._waiting.values()):
            asyncio.get_running_loop().call_later(_RETRY_SECONDS, self._completed)


# An object whose loop was closed before a job ended refers to it by a future, so it is removed when
# the next loop is used.
_loops: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Loop] = weakref.WeakKeyDictionary()


def _running_loop() -> _Loop:
    loop = asyncio.get_running_loop()
    if loop not in _loops:
        for closed in [other for other in _loops if other.is_closed()]:
            del _loops[closed]
        _loops[loop] = _Loop(loop)
    return _loops[loop]


async def _result_of(job: Job) -> Any:
    if not job.done():
        await _running_loop().wait_for(job)
    return job.result()


def await_job(self: Job) -> Generator[Any, None, Any]:
    """`await job` waits for the job in the running event loop, and returns result()."""
    return _result_of(self).__await__()
