"""What programs see of failures: an exception for each status, units that degrade, jobs that hang."""

import gc
import weakref

import numpy as np
import pytest

import millrace
from millrace import _errors

X = np.zeros((1, 8), np.float32)


class Tracked(np.ndarray):
    """An array to which weak references can be made."""


def tracked():
    return np.zeros((1, 8), np.float32).view(Tracked)


@pytest.fixture
def faulty(relu_archive, monkeypatch):
    """Returns a function that loads a model on the null device with these faults."""

    def load(faults):
        monkeypatch.setenv("MILLRACE_FAULTS", faults)
        return millrace.load(relu_archive, device="faulty-null")

    return load


@pytest.mark.parametrize(
    "code",
    [
        "DEVICE_FAILED",
        "INTERNAL",
        "OUT_OF_MEMORY",
        "INVALID_ARGUMENT",
        "UNSUPPORTED",
        "CORRUPT_DATA",
        "NOT_FOUND",
        "IO_ERROR",
        "DEADLINE_EXCEEDED",
    ],
)
def test_each_status_is_an_exception(faulty, code):
    model = faulty(f"fail=1,status={code}")
    job = model.submit(X)
    error = job.exception()
    assert type(error) is _errors.ERRORS[code]
    assert isinstance(error, millrace.Error)
    assert error.code == code == job.status
    assert error.message == str(error) != ""
    with pytest.raises(type(error)):
        job.result()
    assert model(X).shape == (1, 8)


def test_every_status_but_ok_has_a_class():
    assert len(_errors.ERRORS) == 21
    assert all(issubclass(made, millrace.Error) for made in _errors.ERRORS.values())


def test_the_third_job_fails(faulty):
    model = faulty("fail=3")
    model(X)
    model(X)
    with pytest.raises(millrace.DeviceFailed):
        model(X)
    model(X)


def test_a_unit_degrades_until_it_is_reset(faulty):
    model = faulty("fail=1")
    unit = millrace.Unit(model)
    with pytest.raises(millrace.DeviceFailed):
        model(X, unit=unit)
    assert unit.state == "degraded"
    assert isinstance(unit.failure, millrace.Error)
    with pytest.raises(millrace.UnitDegraded):
        unit.submit(model, X)
    unit.reset()
    assert (unit.state, unit.generation) == ("healthy", 1)
    model(X, unit=unit)


def test_a_unit_may_reset_itself(faulty):
    model = faulty("fail=1")
    unit = millrace.Unit(model, auto_reset=True)
    assert isinstance(unit.submit(model, X).exception(), millrace.DeviceFailed)
    model(X, unit=unit)


def test_faults_of_the_environment_need_no_other_device(relu_archive, monkeypatch):
    monkeypatch.setenv("MILLRACE_FAULTS", "fail=1")
    model = millrace.load(relu_archive, device="null")
    assert model.device.name == "faulty-null"
    with pytest.raises(millrace.DeviceFailed):
        model(X)


def test_a_wrong_plan_is_an_invalid_argument(faulty):
    with pytest.raises(millrace.InvalidArgument, match="nonsense"):
        faulty("nonsense=1")


# A device is open, with its faults, until a job that hung on it has returned, so these tests are the
# last ones, and each has a device of its own.


def test_a_job_that_hangs_is_given_up(faulty):
    model = faulty("hang=1,hang_for=1s")
    unit = millrace.Unit(model, watchdog=0.05)
    x, memory = tracked(), tracked()
    alive = weakref.ref(x), weakref.ref(memory)
    job = unit.submit(model, x, memory)
    del x, memory
    with pytest.raises(millrace.Hung):
        job.result()
    assert unit.state == "degraded"
    del job
    gc.collect()
    assert all(ref() is not None for ref in alive)  # the thread that hangs may write to them


def test_a_dropped_job_that_hangs_keeps_its_arrays(relu_archive, monkeypatch):
    monkeypatch.setenv("MILLRACE_FAULTS", "hang=1,hang_for=500ms")
    model = millrace.load(relu_archive)
    unit = millrace.Unit(model, watchdog=0.05, auto_reset=True)
    x, memory = tracked(), tracked()
    alive = weakref.ref(x), weakref.ref(memory)
    unit.submit(model, x, memory)
    x = tracked()
    freed = weakref.ref(x)
    job = unit.submit(model, x)
    del x, memory
    job.wait()
    unit.close()
    del job, unit
    gc.collect()
    assert all(ref() is not None for ref in alive)
    assert freed() is None
