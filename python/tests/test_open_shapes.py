"""Models with open dimensions: shapes come from the arrays, and outputs grow."""

import asyncio
import os
import select
import threading

import numpy as np
import pytest

import millrace
from conftest import compiled
from tiny_onnx import INT64, Node, Value, model


@pytest.fixture(scope="module")
def indices_archive(folder):
    """indices of the elements of x (100,000) that are not zero: the data determines the shape."""
    content = model(
        [Node("NonZero", ["x"], ["indices"])],
        [Value("x", [100_000])],
        [Value("indices", [1, "count"], INT64)],
    )
    return compiled(folder, "indices", content)


@pytest.fixture
def indices(indices_archive):
    return millrace.load(indices_archive)


def test_the_array_states_the_shape(open_archive):
    loaded = millrace.load(open_archive)
    for rows in (1, 3, 7, 2):
        x = np.arange(rows * 4, dtype=np.float32).reshape(rows, 4)
        result = loaded(x)
        assert result.shape == (rows, 4) and np.array_equal(result, 2 * x)


def test_arrays_without_elements(open_archive):
    assert millrace.load(open_archive)(np.zeros((0, 4), np.float32)).shape == (0, 4)


def test_a_fixed_dimension_must_fit(open_archive):
    with pytest.raises(millrace.InvalidArgument, match="\\(None, 4\\), not \\(2, 5\\)"):
        millrace.load(open_archive)(np.zeros((2, 5), np.float32))


def sparse(count):
    x = np.zeros(100_000, np.float32)
    x[:count] = 1
    return x


def test_outputs_grow(indices):
    for count in (3, 100_000, 1, 0, 50_000):
        assert np.array_equal(indices(sparse(count)), [np.arange(count)])


def test_the_outputs_of_a_submitted_job_grow(indices):
    job = indices.submit(sparse(90_000))
    assert job.result().shape == (1, 90_000)
    assert list(indices.submit({"x": sparse(2)}).result()) == ["indices"]


def test_the_outputs_of_jobs_that_are_awaited_grow(indices):
    async def both():
        return await asyncio.gather(*(indices.submit(sparse(n)) for n in (80_000, 100_000)))

    assert [result.shape[1] for result in asyncio.run(both())] == [80_000, 100_000]


def test_a_callback_comes_after_the_outputs_have_grown(indices):
    ended = threading.Event()
    job = indices.submit(sparse(100_000))
    job.add_done_callback(lambda job: ended.set())
    assert ended.wait(30)
    assert job.result().shape == (1, 100_000)


def test_an_event_fd_may_be_closed_before_the_job_runs_again(indices_archive, monkeypatch):
    """Both runs add to the eventfd, and none to what has its number by then."""
    monkeypatch.setenv("MILLRACE_FAULTS", "slow=50ms")
    job = millrace.load(indices_archive).submit(sparse(100_000))
    fd = os.eventfd(0, os.EFD_NONBLOCK)
    assert job.notify_fd(fd)
    own = os.dup(fd)
    other = os.eventfd(0, os.EFD_NONBLOCK)
    os.dup2(other, fd)  # closes the descriptor, and takes its number
    assert job.result().shape == (1, 100_000)
    runs = 0
    while runs < 2:
        assert select.select([own], [], [], 30)[0]
        runs += os.eventfd_read(own)
    assert runs == 2
    with pytest.raises(BlockingIOError):
        os.eventfd_read(other)
    for descriptor in (fd, own, other):
        os.close(descriptor)


def test_the_callers_memory_does_not_grow(indices):
    memory = np.zeros(10, np.int64)
    assert indices(sparse(10), outputs=memory).tolist() == [list(range(10))]
    assert memory.tolist() == list(range(10))
    with pytest.raises(millrace.InvalidArgument, match="88 bytes"):
        indices(sparse(11), outputs=memory)


def test_a_full_unit_delays_the_second_run(indices):
    unit = millrace.Unit(indices, depth=1, when_full="block")
    jobs = [unit.submit(indices, sparse(100_000)) for _ in range(4)]
    assert all(job.result(timeout=60).shape == (1, 100_000) for job in jobs)
