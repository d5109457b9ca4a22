"""BenchmarkResult, and the measurement of executions by the host and by the device."""

from __future__ import annotations

import ctypes
import json
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import POINTER, byref, c_char_p, c_size_t, c_void_p
from dataclasses import dataclass
from typing import Any

from ._library import check, nrt

_EXECUTION = b"nc_exec_running"


@dataclass(frozen=True)
class BenchmarkResult:
    """Times of executions, in milliseconds; `std_dev_ms` is that of all timed executions.

    `iterations` counts the times, which are in `durations_ms` in their order.
    """

    mean_ms: float
    min_ms: float
    max_ms: float
    std_dev_ms: float
    iterations: int
    warmup_iterations: int
    durations_ms: list[float]


def result_of(durations_ms: list[float], warmup_iterations: int) -> BenchmarkResult:
    return BenchmarkResult(
        mean_ms=statistics.fmean(durations_ms),
        min_ms=min(durations_ms),
        max_ms=max(durations_ms),
        std_dev_ms=statistics.pstdev(durations_ms),
        iterations=len(durations_ms),
        warmup_iterations=warmup_iterations,
        durations_ms=durations_ms,
    )


def time_on_host(run: Callable[[], None], iterations: int) -> list[float]:
    """Returns the wall-clock time of each call in milliseconds."""
    durations = []
    for _ in range(iterations):
        begin = time.perf_counter_ns()
        run()
        durations.append((time.perf_counter_ns() - begin) * 1e-6)
    return durations


def time_on_device(run: Callable[[], None], iterations: int, core_id: int) -> list[float]:
    """Returns how long the core computed in each execution, in milliseconds.

    RuntimeError if the system trace has no execution of the core.
    """
    with _trace_of_executions(iterations):
        for _ in range(iterations):
            run()
    events = [event for event in _fetch_events() if event.get("nc_idx") == core_id]
    starts = {e["tracking_id"]: e["timestamp_ns"] for e in events if e["phase"] == "start"}
    stops = {e["tracking_id"]: e["timestamp_ns"] for e in events if e["phase"] == "stop"}
    durations = [(stops[key] - starts[key]) * 1e-6 for key in starts if key in stops]
    if not durations:
        raise RuntimeError("the system trace has no execution of this model")
    return durations


@contextmanager
def _trace_of_executions(iterations: int) -> Iterator[None]:
    config = c_void_p()
    check(nrt.nrt_sys_trace_config_allocate(byref(config)), "Failed to configure a system trace")
    try:
        for name in _event_types():
            nrt.nrt_sys_trace_config_set_capture_enabled_for_event_type(
                config, name, name == _EXECUTION
            )
        spare = 1024
        nrt.nrt_sys_trace_config_set_max_events_per_nc(config, 2 * iterations + spare)
        check(nrt.nrt_sys_trace_start(config), "Failed to start a system trace")
    finally:
        nrt.nrt_sys_trace_config_free(config)
    try:
        yield
    finally:
        nrt.nrt_sys_trace_stop()


def _event_types() -> list[bytes]:
    names, count = POINTER(c_char_p)(), c_size_t()
    check(nrt.nrt_sys_trace_get_event_types(byref(names), byref(count)),
          "Failed to list the events of system traces")
    try:
        return [names[i] or b"" for i in range(count.value)]
    finally:
        nrt.nrt_sys_trace_free_event_types(names, count)


def _fetch_events() -> list[dict[str, Any]]:
    text, size = c_void_p(), c_size_t()
    check(nrt.nrt_sys_trace_fetch_events(byref(text), byref(size), None),
          "Failed to fetch the events of a system trace")
    try:
        events: list[dict[str, Any]] = json.loads(ctypes.string_at(text.value or 0, size.value))[
            "events"
        ]
        return events
    finally:
        nrt.nrt_sys_trace_buffer_free(text)
