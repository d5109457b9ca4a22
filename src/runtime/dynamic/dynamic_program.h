// A program whose shapes follow from what its jobs bind and compute: it lowers its model stage by
// stage while jobs run, and keeps the plans for the shapes that come again.
#pragma once

#include <memory>

#include "base/status.h"
#include "device/device.h"
#include "runtime/dynamic/plan_cache.h"

namespace millrace::runtime {

// Loads a model that has a network. Its jobs may allocate, and fail with kOutOfMemory; a job with
// new shapes takes as long as lowering and loading a model of these shapes. The plans that are kept
// are 32, or as many as MILLRACE_PLANS says. What needs no job to be known is lowered at once.
// Requirement: `device` outlives all contexts of the program, and its jobs run on it.
Result<std::shared_ptr<const device::Program>> load_dynamic(
    device::Device& device, std::shared_ptr<const graph::CompiledModel> model);

// Counters of a program that load_dynamic() made; all zero for any other. Thread-safe.
PlanCounters plan_counters(const device::Program& program);

}  // namespace millrace::runtime
