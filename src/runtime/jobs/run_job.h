// run_job: the work of one job, frame after frame, on the thread of the lane that runs it.
#pragma once

#include "base/status.h"
#include "queue/requests/run_control.h"
#include "runtime/jobs/executor.h"
#include "runtime/jobs/job_sync.h"

namespace millrace::runtime {

// Runs the job on the calling thread, which must be the lane that `control` names or have borrowed
// it, until a frame fails or the job is asked to stop. Before the first frame: kIoError, which
// names the tensor, when the file behind it was truncated or the exporter of its dma-buf refuses.
// After the last: the same when the exporter refuses the end of the access; outputs are written
// then. `sync` applies to tensors of which the device has a copy of its own. Requirement: the
// bindings fit the executor's model (Executor::check). They are only read, so several jobs may run
// with the same ones; the memory that they name must stay valid until this returns. What it
// converts is added to `conversions`.
Status run_job(Executor& executor, const JobBindings& bindings, const JobSync& sync,
               queue::RunControl& control, BoundaryConversions& conversions) noexcept;

}  // namespace millrace::runtime
