"""Units: depth, policies, states."""

import time

import numpy as np
import pytest

import millrace

X = np.array([[-1, 2, -3, 4, -5, 6, -7, 8]], np.float32)


@pytest.fixture
def slow(relu_archive, monkeypatch):
    """A model each of whose jobs takes 100 ms."""
    monkeypatch.setenv("MILLRACE_FAULTS", "slow=100ms")
    return millrace.load(relu_archive)


def test_a_unit_describes_itself(relu_archive):
    unit = millrace.Unit("null", depth=7, name="first")
    assert (unit.name, unit.depth, unit.in_flight) == ("first", 7, 0)
    assert (unit.state, unit.failure, unit.generation) == ("healthy", None, 0)
    model = millrace.load(relu_archive, device="null")
    assert unit.submit(model, X).unit is unit


def test_a_full_unit_refuses(slow):
    unit = millrace.Unit(slow, depth=1)
    job = unit.submit(slow, X)
    with pytest.raises(millrace.QueueFull):
        unit.submit(slow, X)
    assert unit.in_flight == 1
    job.wait()
    unit.submit(slow, X).wait()


def test_a_full_unit_blocks(slow):
    unit = millrace.Unit(slow, depth=1, when_full="block")
    jobs = [unit.submit(slow, X) for _ in range(3)]
    assert jobs[1].done()
    millrace.wait_all(jobs)


def test_a_full_unit_drops_the_oldest(slow):
    unit = millrace.Unit(slow, depth=2, when_full="drop_oldest")
    jobs = [unit.submit(slow, X)]
    time.sleep(0.03)  # the first one has started by then
    jobs += [unit.submit(slow, X) for _ in range(2)]
    assert isinstance(jobs[1].exception(), millrace.Dropped)
    assert jobs[2].exception() is None


def test_a_full_unit_sheds_what_will_be_late(slow):
    unit = millrace.Unit(slow, depth=2, when_full="shed_by_deadline")
    for _ in range(3):
        unit.submit(slow, X).wait()
    jobs = [unit.submit(slow, X, deadline=60) for _ in range(2)]
    with pytest.raises(millrace.DeadlineExceeded):
        unit.submit(slow, X, deadline=0.01)
    millrace.wait_all(jobs)
    assert [job.status for job in jobs] == ["OK", "OK"]


def test_places_become_free(slow):
    unit = millrace.Unit(slow, depth=1)
    unit.wait_free()
    unit.submit(slow, X)
    with pytest.raises(TimeoutError):
        unit.wait_free(timeout=0.001)
    unit.wait_free(timeout=30)
    with pytest.raises(millrace.InvalidArgument):
        unit.wait_free(2)


def test_a_closed_unit_cancels_and_refuses(slow):
    with millrace.Unit(slow) as unit:
        running, queued = (unit.submit(slow, X) for _ in range(2))
    assert queued.status == "CANCELLED"
    assert running.done()
    with pytest.raises(millrace.Closed):
        unit.submit(slow, X)


def test_a_unit_belongs_to_its_device(relu_archive):
    with pytest.raises(millrace.InvalidArgument, match="another device"):
        millrace.Unit("null").submit(millrace.load(relu_archive), X)


@pytest.mark.parametrize(
    "options",
    [{"depth": 0}, {"depth": 65537}, {"when_full": "wait"}, {"watchdog": -1}, {"wait_spin": -1.0}],
)
def test_wrong_options_are_refused(options):
    with pytest.raises(millrace.InvalidArgument):
        millrace.Unit("null", **options)


def test_something_else_is_no_device():
    with pytest.raises(TypeError, match="millrace.Device"):
        millrace.Unit(3)


def test_statistics_count_jobs_by_their_outcome(relu_archive, monkeypatch):
    monkeypatch.setenv("MILLRACE_FAULTS", "fail=2,status=INTERNAL")
    model = millrace.load(relu_archive)
    unit = millrace.Unit(model)
    for _ in range(3):
        try:
            unit.submit(model, X).result()
        except millrace.Internal:
            pass
    known = unit.statistics()
    assert known.pop("mean_run") >= 0
    assert known == {
        "submitted": 3,
        "refused": 0,
        "in_flight": 0,
        "succeeded": 2,
        "cancelled": 0,
        "dropped": 0,
        "late": 0,
        "failed": 1,
    }
