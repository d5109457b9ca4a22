// The lines about single jobs in the debug log of a runner: submitted; completed, with what status,
// and how long the job was in the queue, on the device, and on its way to its callback. For runners
// whose log passes them on; others call the session directly.
#pragma once

#include <memory>

#include "runtime/session.h"
#include "vart/runner_log.h"

namespace millrace::vartml {

// Like the functions of Session. A job without a callback gets one, which logs: its completion is
// logged before the session is gone, but not always before a wait for it returns.
Result<runtime::SessionJobId> submit_traced(runtime::Session& session,
                                            runtime::JobBindings bindings,
                                            runtime::JobCallback callback,
                                            std::shared_ptr<const RunnerLog> log);
Status execute_traced(runtime::Session& session, runtime::JobBindings bindings,
                      const RunnerLog& log);

}  // namespace millrace::vartml
