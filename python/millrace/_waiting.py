"""Waiting for several jobs: wait_any, wait_all and as_completed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from ._core import Job, wait_some
from ._errors import Pending


def _limit(timeout: float | None) -> float | None:
    return None if timeout is None else time.monotonic() + timeout


def _rest(limit: float | None) -> float | None:
    return None if limit is None else max(limit - time.monotonic(), 0.0)


def wait_any(jobs: Iterable[Job], timeout: float | None = None) -> Job:
    """Waits until one of the jobs has ended, whatever its outcome, and returns it.

    The first of the list if several have. Pending, which is a TimeoutError, if none has after
    `timeout` seconds; InvalidArgument for an empty list.
    """
    listed = list(jobs)
    ended = wait_some(listed, timeout)
    if not ended:
        raise Pending(f"none of {len(listed)} jobs has ended within {timeout} s")
    return listed[ended[0]]


def wait_all(jobs: Iterable[Job], timeout: float | None = None) -> None:
    """Waits until all jobs have ended, whatever their outcomes.

    Pending, which is a TimeoutError, if some have not after `timeout` seconds.
    """
    limit = _limit(timeout)
    for job in list(jobs):
        job.wait(_rest(limit))


def as_completed(jobs: Iterable[Job], timeout: float | None = None) -> Iterator[Job]:
    """Yields the jobs as they end, each once; those that have ended come first, in their order.

    Pending, which is a TimeoutError, if some have not ended `timeout` seconds after this call.
    """
    return _completions(list(dict.fromkeys(jobs)), _limit(timeout), timeout)


def _completions(waiting: list[Job], limit: float | None, timeout: float | None) -> Iterator[Job]:
    while waiting:
        ended = wait_some(waiting, _rest(limit))
        if not ended:
            raise Pending(f"{len(waiting)} jobs have not ended within {timeout} s")
        jobs = [waiting[index] for index in ended]
        for index in reversed(ended):
            del waiting[index]
        yield from jobs
