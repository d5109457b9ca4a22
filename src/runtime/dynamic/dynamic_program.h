// Dynamic programs: programs of models with dynamic shapes, which follow from the tensors that jobs
// bind and compute. Such a program lowers its model stage by stage while jobs run, and keeps the
// resulting plans for later jobs with the same shapes.
#pragma once

#include <memory>

#include "base/status.h"
#include "device/device.h"
#include "runtime/dynamic/plan_cache.h"

namespace millrace::runtime {

// Loads a model that carries a network. Its jobs may allocate memory, and fail with kOutOfMemory; a
// job with new shapes also takes the time of lowering and loading a model with these shapes. The
// program keeps 32 plans, or the number in the environment variable MILLRACE_PLANS. If the shapes
// of all inputs are fixed, the first plan is made at once. Requirement: `device` outlives all
// contexts of the program, and its jobs run on it.
Result<std::shared_ptr<const device::Program>> load_dynamic(
    device::Device& device, std::shared_ptr<const graph::CompiledModel> model);

// Returns the counters of a program that load_dynamic() has made; all zero for any other program.
// Thread-safe.
PlanCounters plan_counters(const device::Program& program);

}  // namespace millrace::runtime
