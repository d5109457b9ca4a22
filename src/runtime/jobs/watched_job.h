// Tells the hazard checker (check/check.h) which memory a job uses. Thread-safe.
#pragma once

#include "check/check.h"
#include "graph/compiled_model.h"
#include "runtime/jobs/job.h"

namespace millrace::runtime {

// Announces a job of `model`; see check::begin_job. Requirement: check::on() returned true, and the
// bindings fit the model.
void watch_job(const graph::CompiledModel& model, const JobBindings& bindings,
               const check::JobTraits& traits) noexcept;

}  // namespace millrace::runtime
