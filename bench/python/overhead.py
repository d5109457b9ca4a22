#!/usr/bin/env python3
"""What a call costs on the null device, which completes every job at once, in ns.

    PYTHONPATH=build/release/python /usr/bin/python3 bench/python/overhead.py glyphs.rai

Each line is the median of batches of 1,000 calls, and their least. NumPy's allocation of an array of
the output's size is printed for comparison, since every call that has no `outputs` makes one.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Callable

import numpy as np

import millrace

BATCHES, CALLS = 101, 1_000


def measured(name: str, function: Callable[[], object]) -> None:
    """Prints the time of a call of the function."""
    times = []
    for _ in range(BATCHES):
        begin = time.perf_counter_ns()
        for _ in range(CALLS):
            function()
        times.append((time.perf_counter_ns() - begin) / CALLS)
    print(f"{name:46s} {statistics.median(times):8.0f} {min(times):8.0f}")


def measure_submit(model: millrace.Model, x: np.ndarray) -> None:
    """Measures submit and result apart: 1,000 jobs are submitted, then waited for."""
    unit = millrace.Unit(model, depth=2 * CALLS)
    submits, results = [], []
    for _ in range(BATCHES):
        begin = time.perf_counter_ns()
        jobs = [unit.submit(model, x) for _ in range(CALLS)]
        middle = time.perf_counter_ns()
        for job in jobs:
            job.result()
        end = time.perf_counter_ns()
        submits.append((middle - begin) / CALLS)
        results.append((end - middle) / CALLS)
    for name, times in (
        ("unit.submit(model, x), 1,000 in flight", submits),
        ("job.result() of these", results),
    ):
        print(f"{name:46s} {statistics.median(times):8.0f} {min(times):8.0f}")


def measure_await(model: millrace.Model, x: np.ndarray) -> None:
    """Measures `await model.submit(x)`, one after the other."""

    async def main() -> list[float]:
        times = []
        for _ in range(BATCHES // 10):
            begin = time.perf_counter_ns()
            for _ in range(CALLS):
                await model.submit(x)
            times.append((time.perf_counter_ns() - begin) / CALLS)
        return times

    times = asyncio.run(main())
    print(f"{'await model.submit(x)':46s} {statistics.median(times):8.0f} {min(times):8.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archive", help="a model with one input and one output")
    parser.add_argument("--device", default="null")
    arguments = parser.parse_args()
    model = millrace.load(arguments.archive, arguments.device)
    tensor, output = model.inputs[0], model.outputs[0]
    x = np.zeros(tensor.shape, tensor.dtype)
    memory = np.zeros(output.shape, output.dtype)
    feeds = {tensor.name: x}
    print(f"{'call':46s} {'median':>8s} {'least':>8s}  ns")
    measured("an empty function", lambda: None)
    shape, dtype = output.shape, output.dtype
    measured("np.empty of the output", lambda: np.empty(shape, dtype))
    measured("model(x)", lambda: model(x))
    measured("model(x, outputs=memory)", lambda: model(x, outputs=memory))
    measured("model.run({name: x})", lambda: model.run(feeds))
    measured("model.submit(x).result()", lambda: model.submit(x).result())
    measure_submit(model, x)
    measure_await(model, x)


if __name__ == "__main__":
    main()
