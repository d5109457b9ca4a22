// Tells the recorder (record/record.h) which memory a job uses. Thread-safe.
#pragma once

#include "graph/compiled_model.h"
#include "runtime/jobs/job.h"

namespace millrace::runtime {

// Announces a job of `model`; see record::begin_job. Requirement: record::on() returned true, and
// the bindings fit the model.
void record_job(const graph::CompiledModel& model, const JobBindings& bindings) noexcept;

}  // namespace millrace::runtime
