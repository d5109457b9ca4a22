"""Model.map and Model.amap: many jobs, a bounded number of them in flight."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any

from ._core import Job, Model, wait_some
from ._errors import InvalidArgument

# Jobs in flight for each lane: one that runs, and one that is ready when it ends.
_PER_LANE = 2


def _bound(model: Model, in_flight: int | None) -> int:
    if in_flight is None:
        return _PER_LANE * model.device.lanes
    if in_flight < 1:
        raise InvalidArgument(f"in_flight is {in_flight}, which must be 1 or more")
    return in_flight


def _cancel(jobs: Iterable[Job]) -> None:
    listed = list(jobs)
    for job in listed:
        job.cancel()
    for job in listed:
        job.wait()


def map_inputs(
    self: Model,
    inputs: Iterable[Any],
    in_flight: int | None = None,
    *,
    ordered: bool = True,
    **options: Any,
) -> Iterator[Any]:
    """Yields the result of a job for each element of `inputs`.

    An element is what submit() takes as its inputs. At most `in_flight` jobs, by default two for each
    lane of the device, are submitted and not yet yielded, so the iterable may be endless. Results
    have the order of the inputs, or that in which the jobs end if `ordered` is False. `options` are
    the keyword arguments of submit().

    The exception of a job is raised in its place. Then, and when the generator is closed, the other
    jobs are cancelled.
    """
    return _results(self, iter(inputs), _bound(self, in_flight), ordered, options)


def _results(
    model: Model, inputs: Iterator[Any], bound: int, ordered: bool, options: dict[str, Any]
) -> Iterator[Any]:
    jobs: deque[Job] = deque()
    try:
        for item in inputs:
            jobs.append(model.submit(item, **options))
            if len(jobs) >= bound:
                yield _next(jobs, ordered).result()
        while jobs:
            yield _next(jobs, ordered).result()
    finally:
        _cancel(jobs)


def _next(jobs: deque[Job], ordered: bool) -> Job:
    if not ordered:
        jobs.rotate(-wait_some(list(jobs))[0])
    return jobs.popleft()


async def map_asynchronously(
    self: Model,
    inputs: Iterable[Any] | AsyncIterable[Any],
    in_flight: int | None = None,
    **options: Any,
) -> AsyncIterator[Any]:
    """Like map(), for `async for`; `inputs` may be an asynchronous iterable. Results keep its order."""
    bound = _bound(self, in_flight)
    jobs: deque[Job] = deque()
    try:
        async for item in _each(inputs):
            jobs.append(self.submit(item, **options))
            if len(jobs) >= bound:
                yield await jobs.popleft()
        while jobs:
            yield await jobs.popleft()
    finally:
        for job in jobs:
            job.cancel()


async def _each(inputs: Iterable[Any] | AsyncIterable[Any]) -> AsyncIterator[Any]:
    if isinstance(inputs, AsyncIterable):
        async for item in inputs:
            yield item
    else:
        for item in inputs:
            yield item
