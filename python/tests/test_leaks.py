"""Ten thousand calls of each kind leave neither memory, objects nor descriptors behind."""

import asyncio
import gc
import os
import sys

import numpy as np
import pytest

import millrace

CALLS = 10_000
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


@pytest.mark.parametrize("kind", KINDS)
def test_calls_leave_nothing_behind(null, kind):
    unit = millrace.Unit(null, depth=64, when_full="block")
    memory = np.zeros((1, 8), np.float32)
    for _ in range(CALLS // 10):
        kind(null, unit, memory)
    gc.collect()
    before = (resident_kib(), len(gc.get_objects()), sys.getrefcount(X), sys.getrefcount(null))
    descriptors = len(os.listdir("/proc/self/fd"))
    for _ in range(CALLS):
        kind(null, unit, memory)
    unit.close()
    del unit
    gc.collect()
    after = (resident_kib(), len(gc.get_objects()), sys.getrefcount(X), sys.getrefcount(null))
    # Ten thousand arrays of 32 bytes, or jobs, would take over a MiB.
    assert after[0] - before[0] < 900
    assert after[1] - before[1] < 50
    assert after[2] - before[2] <= 0
    assert after[3] - before[3] <= 0
    assert len(os.listdir("/proc/self/fd")) <= descriptors
    assert sys.getrefcount(memory) <= 3


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
