// Tracing of single jobs in the debug log of a runner. The lines say that a job was submitted or
// refused, and that it completed, with its status and the times that it spent in the queue, on the
// device and between completion and callback. Only for runners whose log is at DEBUG; others call
// the session directly.
#pragma once

#include <memory>

#include "runtime/session.h"
#include "vart/runner_log.h"

namespace millrace::vartml {

// Like Session::submit and Session::execute, with log lines. The completion of a submitted job is
// logged by its callback, so before the session is destroyed, but possibly after a wait for the job
// has returned.
Result<runtime::SessionJobId> submit_traced(runtime::Session& session,
                                            runtime::JobBindings bindings,
                                            runtime::JobCallback callback,
                                            std::shared_ptr<const RunnerLog> log);
Status execute_traced(runtime::Session& session, runtime::JobBindings bindings,
                      const RunnerLog& log);

}  // namespace millrace::vartml
