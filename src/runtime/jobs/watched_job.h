// Tells the hazard checker (check/check.h) and the recorder (record/record.h) which memory a job
// uses. Thread-safe.
#pragma once

#include "check/check.h"
#include "graph/compiled_model.h"
#include "record/record.h"
#include "runtime/jobs/job.h"

namespace millrace::runtime {

// Returns whether anybody wants to know.
inline bool jobs_are_watched() noexcept {
  return check::on() || record::on();
}

// Announces a job of `model`; see check::begin_job and record::begin_job. Requirement:
// jobs_are_watched() returned true, and the bindings fit the model.
void watch_job(const graph::CompiledModel& model, const JobBindings& bindings,
               const check::JobTraits& traits) noexcept;

}  // namespace millrace::runtime
