"""The end of things: dropped jobs, arrays in use, interpreters that end with jobs in flight."""

import gc
import os
import subprocess
import sys
import time
import weakref

import numpy as np
import pytest

import millrace

X = np.array([[-1, 2, -3, 4, -5, 6, -7, 8]], np.float32)


class Tracked(np.ndarray):
    """An array to which weak references can be made."""


def tracked(array):
    return array.copy().view(Tracked)


def test_a_dropped_job_keeps_its_arrays_until_it_ends(relu_archive, monkeypatch):
    monkeypatch.setenv("MILLRACE_FAULTS", "slow=100ms")
    model = millrace.load(relu_archive)
    unit = millrace.Unit(model, depth=4)
    memory = np.zeros((1, 8), np.float32)
    x = tracked(X)
    alive = weakref.ref(x)
    unit.submit(model, x, memory)
    del x
    gc.collect()
    assert alive() is not None
    model(X, unit=unit)
    unit.submit(model, X).wait()
    assert alive() is None
    assert np.array_equal(memory, np.maximum(X, 0))


def test_a_job_that_has_ended_frees_its_inputs(relu_archive):
    model = millrace.load(relu_archive)
    x = tracked(X)
    alive = weakref.ref(x)
    job = model.submit(x)
    del x
    job.wait()
    assert alive() is None
    assert job.result().shape == (1, 8)


def test_ended_jobs_behind_a_running_one_free_their_inputs(relu_archive, monkeypatch):
    monkeypatch.setenv("MILLRACE_FAULTS", "slow=60s")
    model = millrace.load(relu_archive)
    unit = millrace.Unit(model, depth=4, close_patience=0.01)
    unit.submit(model, X)
    cancelled, late = [], []
    for _ in range(200):
        x = tracked(X)
        cancelled.append(weakref.ref(x))
        unit.submit(model, x).cancel()
        x = tracked(X)
        late.append(weakref.ref(x))
        unit.submit(model, x, deadline=0.001)
        del x
        while unit.in_flight > 1:
            time.sleep(0.001)
    assert sum(ref() is not None for ref in cancelled) == 0
    assert sum(ref() is not None for ref in late) < 100  # they are looked for now and then


def test_jobs_outlive_unit_and_model(relu_archive, monkeypatch):
    monkeypatch.setenv("MILLRACE_FAULTS", "slow=50ms")
    model = millrace.load(relu_archive)
    job = millrace.Unit(model).submit(model, X)
    del model
    gc.collect()
    assert np.array_equal(job.result(), np.maximum(X, 0))


def test_a_dropped_unit_cancels_its_jobs_and_frees_their_arrays(relu_archive, monkeypatch):
    monkeypatch.setenv("MILLRACE_FAULTS", "slow=50ms")
    model = millrace.load(relu_archive)
    unit = millrace.Unit(model, depth=4)
    results = [np.zeros((1, 8), np.float32) for _ in range(4)]
    alive = []
    for result in results:
        x = tracked(X)
        alive.append(weakref.ref(x))
        unit.submit(model, x, result)
        del x
    assert all(ref() is not None for ref in alive[1:])
    del unit
    gc.collect()
    assert [ref() for ref in alive] == [None] * 4
    assert sum(result.any() for result in results) <= 1  # that of the job that was running
    assert not results[3].any()
    assert np.array_equal(model(X), np.maximum(X, 0))


def test_a_job_keeps_its_unit(relu_archive, monkeypatch):
    monkeypatch.setenv("MILLRACE_FAULTS", "slow=20ms")
    model = millrace.load(relu_archive)
    jobs = [millrace.Unit(model).submit(model, X) for _ in range(3)]
    gc.collect()
    millrace.wait_all(jobs, timeout=30)
    assert [job.status for job in jobs] == ["OK"] * 3


ENDS = {
    "with jobs in flight": "jobs = [model.submit(x) for _ in range(8)]",
    "with dropped jobs": "[model.submit(x) for _ in range(8)]",
    "with an exception": "job = model.submit(x); raise SystemExit(0)",
    "with a thread that waits": (
        "import threading, time\n"
        "job = model.submit(x)\n"
        "threading.Thread(target=lambda: job.wait(), daemon=True).start()\n"
        "time.sleep(0.02)"
    ),
    "with threads that call": (
        "import threading, time\n"
        "def call():\n"
        "    while True:\n"
        "        try: model(x)\n"
        "        except millrace.Error: pass\n"
        "for _ in range(4): threading.Thread(target=call, daemon=True).start()\n"
        "time.sleep(0.05)"
    ),
    "with a callback": "job = model.submit(x); job.add_done_callback(print)",
    "with a coroutine": (
        "import asyncio\n"
        "async def main():\n"
        "    async def one(): await model.submit(x)\n"
        "    asyncio.ensure_future(one())\n"
        "    await asyncio.sleep(0.01)\n"
        "asyncio.run(main())"
    ),
    "in a reference cycle": "a = [model.submit(x)]; a.append(a); del a",
}


@pytest.mark.parametrize("end", ENDS)
def test_the_interpreter_ends(relu_archive, end):
    program = (
        "import sys, numpy as np, millrace\n"
        "model = millrace.load(sys.argv[1])\n"
        f"x = np.zeros((1, 8), np.float32)\n{ENDS[end]}\n"
    )
    environment = {**os.environ, "MILLRACE_FAULTS": "slow=30ms"}
    done = subprocess.run(
        [sys.executable, "-c", program, str(relu_archive)],
        env=environment,
        timeout=60,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "Fatal" not in done.stderr and "terminate" not in done.stderr


def test_subinterpreters_are_refused():
    interpreters = pytest.importorskip("_xxsubinterpreters")
    made = interpreters.create()
    program = (
        f"import sys; sys.path[:] = {sys.path!r}\n"
        "try:\n"
        "    import millrace\n"
        "except ImportError as error:\n"
        "    message = str(error)\n"
        "else:\n"
        "    raise AssertionError('imported')\n"
        "assert 'subinterpreter' in message, message\n"
    )
    interpreters.run_string(made, program)
    interpreters.destroy(made)
