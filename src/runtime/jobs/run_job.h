// run_job(): runs one job, frame by frame, on the thread of its lane.
#pragma once

#include "base/status.h"
#include "queue/requests/run_control.h"
#include "runtime/jobs/executor.h"
#include "runtime/jobs/job_sync.h"

namespace millrace::runtime {

// Runs the job on the calling thread, which must be the lane that `control` names, or have borrowed
// it, until a frame fails or a stop is requested. `sync` applies to tensors of which the device has
// its own copy. Adds the job's conversions to `conversions`.
//
// Fails with kIoError, which names the tensor, before the first frame if the file behind its memory
// was truncated or the exporter of its DMA-BUF refuses access; and after the last frame, with all
// outputs written, if the exporter refuses the end of the access.
//
// Requirement: the bindings fit the executor's model (Executor::check). They are only read, so
// several jobs may run with the same ones. The memory that they refer to must stay valid until this
// returns.
Status run_job(Executor& executor, const JobBindings& bindings, const JobSync& sync,
               queue::RunControl& control, BoundaryConversions& conversions) noexcept;

}  // namespace millrace::runtime
