"""What tells Python of the end of jobs: a thread for callbacks, and the event loops of asyncio.

The units whose jobs are waited for here add to one event fd of the process, the bell, at each of their
completions. The thread and each event loop learn of that by an epoll of their own, and then look which
of their jobs have ended. So the number of descriptors does not depend on that of jobs, and a reader
that is busy delays no other.
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

from . import _core
from ._core import Job

_log = logging.getLogger("millrace")

# Time between two looks at a job whose end is not recorded yet (_core.ended_among).
_RETRY_SECONDS = 0.001


class _Ear:
    """An epoll that is readable after the bell has rung, until listen() is called."""

    def __init__(self) -> None:
        self.epoll = select.epoll()
        try:
            self.epoll.register(_core.bell(), select.EPOLLIN | select.EPOLLET)
        except BaseException:
            self.epoll.close()
            raise

    def listen(self, timeout: float | None = 0) -> None:
        """Waits until the bell rings."""
        self.epoll.poll(timeout)


class _Callbacks:
    """The jobs that have callbacks, and the thread that calls them."""

    def __init__(self) -> None:
        # An array that is freed under the lock may run code that adds a callback.
        self._lock = threading.RLock()
        self._waiting: dict[Job, list[Callable[[Job], object]]] = {}
        self._started = False

    def add(self, job: Job, function: Callable[[Job], object]) -> None:
        with self._lock:
            if job in self._waiting:
                self._waiting[job].append(function)
                return
            may_have_ended = _core.watch(job)
            try:
                if not self._started:
                    self._start()
            except BaseException:
                _core.unwatch(job)
                raise
            self._waiting[job] = [function]
        if may_have_ended:
            _core.ring_bell()

    def _start(self) -> None:
        ear = _Ear()
        try:
            threading.Thread(
                target=self._run, args=(ear,), name="millrace-callbacks", daemon=True
            ).start()
        except BaseException:
            ear.epoll.close()
            raise
        self._started = True

    def _run(self, ear: _Ear) -> None:
        retry = False
        while True:
            ear.listen(_RETRY_SECONDS if retry else None)
            retry = self._call_ended()

    # The thread must not keep the last job and its arrays alive while it waits, so this is a function.
    def _call_ended(self) -> bool:
        """Calls what is to be called. Returns whether a job has to be looked at again soon."""
        with self._lock:
            candidates = _core.ended_among(list(self._waiting))
            ended = [(job, self._waiting.pop(job)) for job in candidates if job.done()]
            for job, _ in ended:
                _core.unwatch(job)
        if not candidates:
            _core.rest_units()
        for job, functions in ended:
            for function in functions:
                _call(function, job)
        return len(ended) < len(candidates)


def _call(function: Callable[[Job], object], job: Job) -> None:
    try:
        function(job)
    except BaseException:  # the thread serves the other callbacks, too
        _log.exception("a callback of %r failed", job)


_callbacks = _Callbacks()


def _forget_callbacks() -> None:
    """To be called in a forked child, which has no such thread, and where the lock may be taken."""
    global _callbacks
    _callbacks = _Callbacks()


os.register_at_fork(after_in_child=_forget_callbacks)


def add_done_callback(self: Job, function: Callable[[Job], object]) -> None:
    """Calls `function(job)` once, when the job has ended.

    All such functions of the process are called by one thread, one after the other, so they should
    return soon; they may submit jobs. An exception is logged. At the end of the process functions
    that have not been called are not called any more.
    """
    _callbacks.add(self, function)


def _close(epoll: select.epoll) -> None:
    """Ends a loop's ear. Its units need not ring any more, unless others listen."""
    epoll.close()
    _core.rest_units()


class _Loop:
    """The jobs that tasks of one event loop await."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._waiting: dict[Job, list[asyncio.Future[None]]] = {}
        self._ear = _Ear()
        loop.add_reader(self._ear.epoll.fileno(), self._completed)
        weakref.finalize(self, _close, self._ear.epoll)

    async def wait_for(self, job: Job) -> None:
        """Returns when the job has ended. Cancelling the task cancels the job."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        may_have_ended = _core.watch(job)
        try:
            self._waiting.setdefault(job, []).append(future)
            if may_have_ended:
                loop.call_soon(self._look)
            await future
        except asyncio.CancelledError:
            job.cancel()
            raise
        finally:
            _core.unwatch(job)
            futures = self._waiting.get(job, [])
            if future in futures:
                futures.remove(future)
            if not futures:
                self._waiting.pop(job, None)

    def _completed(self) -> None:
        self._ear.listen()
        self._look()

    def _look(self) -> None:
        """Wakes the tasks whose jobs have ended."""
        candidates = _core.ended_among(list(self._waiting))
        if not candidates:
            _core.rest_units()
        retry = False
        for job in candidates:
            if not job.done():
                retry = True
                continue
            for future in self._waiting.pop(job, []):
                if not future.done():
                    future.set_result(None)
        if retry:
            asyncio.get_running_loop().call_later(_RETRY_SECONDS, self._look)


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
