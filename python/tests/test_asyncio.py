"""Awaiting jobs in event loops."""

import asyncio
import gc
import os
import select
import threading

import numpy as np
import pytest

import millrace
from millrace import _core

X = np.array([[-1, 2, -3, 4, -5, 6, -7, 8]], np.float32)
EXPECTED = np.maximum(X, 0)


@pytest.fixture(scope="module")
def relu(relu_archive):
    return millrace.load(relu_archive)


@pytest.fixture
def slow(relu_archive, monkeypatch):
    """A model each of whose jobs takes 50 ms."""
    monkeypatch.setenv("MILLRACE_FAULTS", "slow=50ms")
    return millrace.load(relu_archive)


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def test_a_job_is_awaited(slow):
    async def main():
        return await slow.submit(X)

    assert np.array_equal(asyncio.run(main()), EXPECTED)


def test_a_job_that_has_ended_is_awaited(relu):
    async def main():
        job = relu.submit(X)
        job.wait()
        return [await job, await job]

    first, second = asyncio.run(main())
    assert first is second


def test_many_jobs_need_no_threads_and_leave_no_descriptors(slow):
    async def main():
        await slow.submit(X)
        before = descriptors()
        jobs = [slow.submit(X) for _ in range(8 * slow.device.lanes)]
        threads = threading.active_count()
        waits = asyncio.gather(*jobs_as_tasks(jobs))
        await asyncio.sleep(0)
        assert threading.active_count() == threads
        results = await waits
        # The model has at most a unit for each lane. A unit whose jobs are awaited keeps two
        # descriptors; the loop and the first unit have theirs from the first job.
        assert descriptors() <= before + 2 * (slow.device.lanes - 1)
        return results

    def jobs_as_tasks(jobs):
        async def wait(job):
            return await job

        return [asyncio.ensure_future(wait(job)) for job in jobs]

    assert all(np.array_equal(result, EXPECTED) for result in asyncio.run(main()))


def test_the_loop_goes_on_while_jobs_run(slow):
    async def main():
        beats = 0
        job = slow.submit(X)
        while not job.done():
            await asyncio.sleep(0.001)
            beats += 1
        return beats

    assert asyncio.run(main()) > 1


def test_cancelling_the_task_cancels_the_job(relu_archive, monkeypatch):
    monkeypatch.setenv("MILLRACE_FAULTS", "slow=60s")
    model = millrace.load(relu_archive)

    async def main():
        job = model.submit(X)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(awaited(job), 0.05)
        return job

    async def awaited(job):
        return await job

    job = asyncio.run(main())
    job.wait(30)
    assert job.cancelled()


def test_a_failure_is_raised_by_await(relu_archive, monkeypatch):
    monkeypatch.setenv("MILLRACE_FAULTS", "fail=1")
    model = millrace.load(relu_archive)

    async def main():
        with pytest.raises(millrace.DeviceFailed):
            await model.submit(X)
        with pytest.raises(millrace.DeadlineExceeded):
            await model.submit(X, deadline=0)

    asyncio.run(main())


def test_one_job_is_awaited_by_two_loops_and_has_a_callback(slow):
    job = slow.submit(X)
    ended = threading.Event()
    results = []

    async def main():
        results.append(await job)

    threads = [threading.Thread(target=asyncio.run, args=(main(),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    job.add_done_callback(lambda job: ended.set())
    for thread in threads:
        thread.join(30)
    assert ended.wait(30) and len(results) == 2


def test_a_task_that_stops_waiting_leaves_the_others(relu_archive, monkeypatch):
    monkeypatch.setenv("MILLRACE_FAULTS", "slow=300ms")
    model = millrace.load(relu_archive)
    ended = threading.Event()

    async def main():
        job = model.submit(X)
        job.add_done_callback(lambda job: ended.set())
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(awaited(job), 0.01)

    async def awaited(job):
        return await job

    asyncio.run(main())
    assert ended.wait(30)


def test_many_jobs_in_flight(relu):
    async def one(number):
        x = X + number
        return np.array_equal(await relu.submit(x), np.maximum(x, 0))

    async def main():
        for _ in range(20):
            assert all(await asyncio.gather(*map(one, range(50))))

    asyncio.run(main())


def test_ten_thousand_jobs_in_flight_share_their_descriptors(relu_archive, monkeypatch):
    monkeypatch.setenv("MILLRACE_FAULTS", "slow=60s")
    model = millrace.load(relu_archive, device="faulty-null")
    unit = millrace.Unit(model, depth=10_000)

    async def main():
        before = descriptors()
        jobs = [unit.submit(model, X) for _ in range(10_000)]
        waits = [asyncio.ensure_future(code_of(job)) for job in jobs]
        await asyncio.sleep(0)
        assert unit.in_flight == 10_000
        assert descriptors() <= before + 3  # the bell, the loop's epoll and the unit's duplicate
        for job in reversed(jobs):
            job.cancel()
        assert set(await asyncio.gather(*waits)) == {"CANCELLED"}
        assert descriptors() <= before + 3

    asyncio.run(main())


async def code_of(job):
    try:
        await job
    except millrace.Error as error:
        return error.code
    return "OK"


def test_jobs_that_leave_the_queue_early_wake_their_tasks(relu_archive, monkeypatch):
    """A deadline and cancel() end jobs that lie behind one that runs on."""
    monkeypatch.setenv("MILLRACE_FAULTS", "slow=60s")
    model = millrace.load(relu_archive)
    unit = millrace.Unit(model, depth=3)

    async def main():
        first = unit.submit(model, X)
        late, dropped = unit.submit(model, X, deadline=0.02), unit.submit(model, X)
        waits = [asyncio.ensure_future(code_of(job)) for job in (late, dropped)]
        await asyncio.sleep(0)
        assert dropped.cancel() is True
        outcomes = await asyncio.wait_for(asyncio.gather(*waits), 30)
        assert not first.done()
        first.cancel()
        return outcomes

    assert asyncio.run(main()) == ["DEADLINE_EXCEEDED", "CANCELLED"]


def test_a_loop_that_is_busy_delays_no_callback(slow):
    """Each reader of completions learns of them by itself."""
    ended = threading.Event()

    async def main():
        job = slow.submit(X)
        other = slow.submit(X)
        other.add_done_callback(lambda job: ended.set())
        wait = asyncio.ensure_future(awaited(job))
        await asyncio.sleep(0)
        assert ended.wait(30)  # blocks the loop
        await wait

    async def awaited(job):
        await job

    asyncio.run(main())


def test_units_notify_of_completions_only_while_a_job_is_awaited(relu_archive, monkeypatch):
    monkeypatch.setenv("MILLRACE_FAULTS", "slow=10ms")
    model = millrace.load(relu_archive)
    unit = millrace.Unit(model)

    async def main():
        return await unit.submit(model, X)

    with select.epoll() as ear:
        ear.register(_core.bell(), select.EPOLLIN | select.EPOLLET)
        ear.poll(0)
        asyncio.run(main())
        gc.collect()
        assert ear.poll(0)
        unit.submit(model, X).wait()
        unit.close()
        assert not ear.poll(0)


def test_loops_free_their_descriptors(relu):
    async def main():
        await relu.submit(X)

    asyncio.run(main())
    before = descriptors()
    for _ in range(20):
        asyncio.run(main())
    gc.collect()
    assert descriptors() <= before + 1
