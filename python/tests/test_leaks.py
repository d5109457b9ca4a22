"""Ten thousand calls of each kind leave neither memory, objects nor descriptors behind."""

import asyncio
import gc
import os
import sys

import numpy as np
import pytest

import millrace

CALLS = 10_000
DEPTH = 64
X = np.zeros((1, 8), np.float32)


@pytest.fixture(scope="module")
def null(relu_archive):
    return millrace.load(relu_archive, device="null")


def resident_kib():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def call(model, unit, memory):
    model(X)


def call_with_memory(model, unit, memory):
    model(X, outputs=memory)


def run_by_name(model, unit, memory):
    model.run({"x": X}, ["positive"])


def submit_and_wait(model, unit, memory):
    model.submit(X).result()


def submit_and_drop(model, unit, memory):
    unit.submit(model, X)


def cancel(model, unit, memory):
    unit.submit(model, X).cancel()


def converted(model, unit, memory):
    model(memory[:, ::-1])


def refused(model, unit, memory):
    try:
        model(memory[:, 1:])
    except millrace.InvalidArgument:
        pass


KINDS = [
    call,
    call_with_memory,
    run_by_name,
    submit_and_wait,
    submit_and_drop,
    cancel,
    converted,
    refused,
]


def growth(unit, calls):
    """Returns by how much `calls` lets the resident memory (KiB) and the number of objects grow.

    A leak grows with each repetition. What an allocator takes once for a thread, or for jobs that wait
    while the machine is busy, does not.
    """
    found = []
    for _ in range(3):
        gc.collect()
        before = (resident_kib(), len(gc.get_objects()))
        calls()
        unit.wait_free(DEPTH)
        gc.collect()
        found.append((resident_kib() - before[0], len(gc.get_objects()) - before[1]))
        if found[-1][0] < 900 and found[-1][1] < 50:
            break
    return min(found)


@pytest.mark.parametrize("kind", KINDS)
def test_calls_leave_nothing_behind(null, kind):
    unit = millrace.Unit(null, depth=DEPTH, when_full="block")
    memory = np.zeros((1, 8), np.float32)

    def make_calls(count):
        for _ in range(count):
            kind(null, unit, memory)

    make_calls(CALLS // 10)
    references = (sys.getrefcount(X), sys.getrefcount(null))
    descriptors = len(os.listdir("/proc/self/fd"))
    grown = growth(unit, lambda: make_calls(CALLS))
    # Ten thousand arrays of 32 bytes, or jobs, would take over a MiB.
    assert grown[0] < 900
    assert grown[1] < 50
    unit.close()
    del unit
    gc.collect()
    assert sys.getrefcount(X) <= references[0]
    assert sys.getrefcount(null) <= references[1]
    assert len(os.listdir("/proc/self/fd")) <= descriptors
    assert sys.getrefcount(memory) <= 4  # also that of `make_calls`


def test_awaited_jobs_leave_nothing_behind(null):
    async def main(count):
        for _ in range(count):
            await null.submit(X)

    asyncio.run(main(CALLS // 10))
    gc.collect()
    before, objects = resident_kib(), len(gc.get_objects())
    descriptors = len(os.listdir("/proc/self/fd"))
    asyncio.run(main(CALLS))
    gc.collect()
    assert resident_kib() - before < 900
    # Each unit of the model has a descriptor from its first job that is awaited on.
    assert len(os.listdir("/proc/self/fd")) <= descriptors + null.device.lanes
    assert len(gc.get_objects()) - objects < 50


def test_models_and_units_are_freed(relu_archive):
    def once():
        model = millrace.load(relu_archive, device="null")
        millrace.Unit(model).submit(model, X).wait()
        model(X)
        model.submit(X)  # nobody keeps the job, which may outlive the model

    for _ in range(20):
        once()
    gc.collect()
    before, descriptors = resident_kib(), len(os.listdir("/proc/self/fd"))
    for _ in range(200):
        once()
    gc.collect()
    assert resident_kib() - before < 2000
    assert len(os.listdir("/proc/self/fd")) <= descriptors
