"""Submitting jobs, waiting for them, deadlines and cancellation."""

import concurrent.futures
import contextlib
import gc
import os
import signal
import threading
import time

import numpy as np
import pytest

import millrace

X = np.array([[-1, 2, -3, 4, -5, 6, -7, 8]], np.float32)
EXPECTED = np.maximum(X, 0)


@pytest.fixture(scope="module")
def relu(relu_archive):
    return millrace.load(relu_archive)


@pytest.fixture
def slow(relu_archive, monkeypatch):
    """A model each of whose jobs takes 100 ms."""
    monkeypatch.setenv("MILLRACE_FAULTS", "slow=100ms")
    return millrace.load(relu_archive)


@pytest.fixture
def endless(relu_archive, monkeypatch):
    """A model each of whose jobs takes a minute, unless it is stopped."""
    monkeypatch.setenv("MILLRACE_FAULTS", "slow=60s")
    return millrace.load(relu_archive)


def test_a_job_has_a_result(relu):
    job = relu.submit(X)
    assert np.array_equal(job.result(), EXPECTED)
    assert job.done() and job.status == "OK" and job.exception() is None
    assert not job.cancelled()
    assert job.result() is job.result()


def test_the_result_has_the_form_of_the_inputs(relu):
    assert isinstance(relu.submit([X]).result(), np.ndarray)
    assert list(relu.submit({"x": X}).result()) == ["positive"]


def test_a_wait_has_a_timeout(slow):
    job = slow.submit(X)
    with pytest.raises(TimeoutError):
        job.result(timeout=0.001)
    with pytest.raises(millrace.Pending):
        job.wait(0)
    assert not job.done() and job.status == "PENDING"
    assert np.array_equal(job.result(timeout=30), EXPECTED)


def test_a_deadline_ends_a_job(slow):
    job = slow.submit(X, deadline=0.01)
    assert isinstance(job.exception(), millrace.DeadlineExceeded)
    with pytest.raises(millrace.DeadlineExceeded):
        job.result()
    with pytest.raises(millrace.DeadlineExceeded):
        slow(X, deadline_at=time.monotonic() + 0.01)


def test_a_job_in_time_is_not_affected_by_its_deadline(relu):
    assert np.array_equal(relu(X, deadline=60), EXPECTED)
    assert np.array_equal(relu(X, deadline_at=time.monotonic() + 60), EXPECTED)


def test_a_running_job_is_stopped(relu_archive, monkeypatch):
    monkeypatch.setenv("MILLRACE_FAULTS", "slow=60s")
    job = millrace.load(relu_archive).submit(X)
    assert job.cancel(timeout=30) is True
    assert job.cancelled()
    with pytest.raises(concurrent.futures.CancelledError):
        job.result()
    assert job.cancel() is True


def test_a_queued_job_is_removed(slow):
    unit = millrace.Unit(slow)
    first = slow.submit(X, unit=unit)
    second = slow.submit(X, unit=unit)
    assert second.cancel() is True
    assert second.status == "CANCELLED"
    assert np.array_equal(first.result(), EXPECTED)
    assert first.cancel() is False


def test_an_outcome_is_published_with_its_result(two_outputs_archive):
    """The garbage collector runs code, and so other threads, while a result is made."""
    model = millrace.load(two_outputs_archive)
    job = model.submit({"x": X})
    fd = os.eventfd(0)
    job.notify_fd(fd)
    os.eventfd_read(fd)
    os.close(fd)
    asks, seen = threading.Event(), []

    def ask():
        assert asks.wait(30)
        seen.append(job.result(timeout=30))

    def collect(phase, info):
        if phase == "start" and not asks.is_set():
            asks.set()
            time.sleep(0.02)

    thread = threading.Thread(target=ask)
    thread.start()
    gc.collect()
    held = [{} for _ in range(100)]  # so that the next dict is allocated, and not reused
    gc.disable()
    held += [set() for _ in range(10)]
    thresholds = gc.get_threshold()
    gc.callbacks.append(collect)
    try:
        gc.set_threshold(1)
        gc.enable()
        job.done()
    finally:
        gc.callbacks.remove(collect)
        gc.set_threshold(*thresholds)
        asks.set()
        thread.join()
    assert list(seen[0]) == ["positive", "opposite"]
    assert seen[0] is job.result()


def test_threads_that_ask_for_one_outcome_see_the_same(two_outputs_archive):
    model = millrace.load(two_outputs_archive)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for _ in range(200):
            job = model.submit({"x": X})
            first, *others = pool.map(lambda _, job=job: job.result(), range(4))
            assert list(first) == ["positive", "opposite"]
            assert all(result is first for result in others)


def test_several_threads_wait_for_one_job(slow):
    job = slow.submit(X)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: job.result(), range(8)))
    assert all(result is results[0] for result in results)


def test_threads_call_one_model(relu):
    def call(number):
        x = X + number
        return np.array_equal(relu(x), np.maximum(x, 0)) and np.array_equal(
            relu.submit(x).result(), np.maximum(x, 0)
        )

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(call, range(800)))


@pytest.mark.parametrize(
    "kind",
    ["wait", "exception", "wait_any", "wait_all", "as_completed", "wait_free", "submit", "close"],
)
def test_a_wait_lets_other_threads_run(endless, kind):
    """The wait ends only since another thread cancels the job meanwhile."""
    unit = millrace.Unit(endless, depth=1, when_full="block")
    job = unit.submit(endless, X)
    waits = {
        "wait": job.wait,
        "exception": job.exception,
        "wait_any": lambda: millrace.wait_any([job]),
        "wait_all": lambda: millrace.wait_all([job]),
        "as_completed": lambda: list(millrace.as_completed([job])),
        "wait_free": unit.wait_free,
        "submit": lambda: unit.submit(endless, X).cancel(),
        "close": unit.close,
    }
    other = threading.Thread(target=job.cancel, args=(30,))
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(waits[kind])
        other.start()
        waiting.result(timeout=30)
    other.join()
    assert job.cancelled()


def test_a_call_lets_other_threads_run(endless):
    """This thread sees the job in flight that another one has called and waits for."""
    unit = millrace.Unit(endless)
    seen = 0
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        called = pool.submit(endless, X, unit=unit, deadline=0.3)
        while seen == 0 and not called.done():
            seen = unit.in_flight
            time.sleep(0.001)
        assert isinstance(called.exception(timeout=30), millrace.DeadlineExceeded)
    assert seen == 1


def test_callbacks_are_called_once_and_in_one_thread(slow):
    seen = []
    ended = threading.Semaphore(0)

    def note(job):
        seen.append((job, threading.current_thread().name))
        ended.release()

    jobs = [slow.submit(X) for _ in range(3)]
    for job in jobs:
        job.add_done_callback(note)
    done = jobs[0]
    done.wait()
    done.add_done_callback(note)
    for _ in range(4):
        assert ended.acquire(timeout=30)
    assert {job for job, _ in seen} == set(jobs) and len(seen) == 4
    assert {name for _, name in seen} == {"millrace-callbacks"}


def test_a_callback_that_ends_its_thread_does_not_end_the_others(relu):
    def leave(job):
        raise SystemExit

    ended = threading.Event()
    first = relu.submit(X)
    first.add_done_callback(leave)
    first.wait()
    second = relu.submit(X)
    second.add_done_callback(lambda job: ended.set())
    assert ended.wait(30)


def test_a_callback_that_fails_is_logged(relu, caplog):
    ended = threading.Event()
    job = relu.submit(X)
    job.add_done_callback(lambda job: 1 / 0)
    job.add_done_callback(lambda job: ended.set())
    assert ended.wait(30)
    assert "ZeroDivisionError" in caplog.text


def test_waiting_for_one_of_several(slow):
    units = [millrace.Unit(slow) for _ in range(2)]
    late = [slow.submit(X, unit=units[0]) for _ in range(2)][1]
    early = slow.submit(X, unit=units[1])
    assert millrace.wait_any([late, early]) is early
    millrace.wait_all([late, early], timeout=30)
    assert late.done()
    with pytest.raises(millrace.InvalidArgument):
        millrace.wait_any([])


def test_waits_for_several_have_timeouts(slow):
    jobs = [slow.submit(X, unit=millrace.Unit(slow, depth=1)) for _ in range(2)]
    with pytest.raises(TimeoutError):
        millrace.wait_any(jobs, timeout=0.001)
    with pytest.raises(TimeoutError):
        millrace.wait_all(jobs, timeout=0.001)
    with pytest.raises(TimeoutError):
        list(millrace.as_completed(jobs, timeout=0.001))


def test_jobs_are_yielded_as_they_end(slow):
    units = [millrace.Unit(slow, depth=3) for _ in range(2)]
    jobs = [slow.submit(X, unit=units[i % 2]) for i in range(6)]
    ended = []
    for job in millrace.as_completed(jobs):
        assert job.done()
        ended.append(job)
    assert sorted(map(id, ended)) == sorted(map(id, jobs))


@contextlib.contextmanager
def interrupted():
    """Sends SIGINT to this thread in a moment, and expects that it ends the block."""
    timer = threading.Timer(0.1, signal.pthread_kill, (threading.get_ident(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        yield
    timer.join()


def test_an_interrupt_ends_a_wait(endless):
    unit = millrace.Unit(endless, depth=1, when_full="block")
    job = unit.submit(endless, X)
    for wait in (
        job.wait,
        job.result,
        lambda: millrace.wait_any([job]),
        lambda: endless(X),
        unit.wait_free,
        lambda: unit.submit(endless, X),
    ):
        with interrupted():
            wait()
    assert job.cancel(timeout=30) is True


def test_an_interrupt_ends_the_wait_for_a_close(endless):
    unit = millrace.Unit(endless)
    running, queued = (unit.submit(endless, X) for _ in range(2))
    for _ in range(2):
        with interrupted():
            unit.close()
    with pytest.raises(millrace.Closed):
        unit.submit(endless, X)
    assert not running.done()
    assert running.cancel(timeout=30) is True
    unit.close()
    assert queued.cancelled()


def test_an_event_fd_tells_of_the_end(slow):
    job = slow.submit(X)
    fd = os.eventfd(0)
    assert job.notify_fd(fd)
    assert os.eventfd_read(fd) == 1
    assert job.done() and not job.notify_fd(fd)
    os.close(fd)
    with pytest.raises(millrace.InvalidArgument, match="cannot duplicate file descriptor"):
        slow.submit(X).notify_fd(fd)


def test_jobs_cannot_be_made():
    with pytest.raises(TypeError):
        millrace.Job()
