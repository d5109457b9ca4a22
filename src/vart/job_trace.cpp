#include "vart/job_trace.h"

#include <fmt/format.h>

#include <mutex>
#include <string>
#include <utility>

#include "base/clock.h"
#include "vart/status_code.h"

namespace millrace::vartml {
namespace {

// The start of one job, shared by who submits it and who is told that it is complete.
struct JobStart {
  // Held until the submission is logged, so that the lines of a job come in their order.
  std::mutex mutex;
  const int64_t time_ns = now_ns();
};

std::string outcome(const Status& status, int64_t since_ns) {
  return fmt::format("{} after {} us", to_string(to_status_code(status.code())),
                     (now_ns() - since_ns) / 1000);
}

}  // namespace

Result<runtime::SessionJobId> submit_traced(runtime::Session& session,
                                            const runtime::JobBindings& bindings,
                                            runtime::JobCallback callback,
                                            std::shared_ptr<const RunnerLog> log) {
  const auto start = std::make_shared<JobStart>();
  const std::lock_guard lock(start->mutex);
  Result<runtime::SessionJobId> id = session.submit(
      bindings, [start, log, callback = std::move(callback)](uint64_t job, const Status& status) {
        {
          const std::lock_guard logged(start->mutex);
          log->write(LogLevel::kDebug,
                     fmt::format("job {} completed: {}", job, outcome(status, start->time_ns)));
        }
        if (callback) callback(job, status);
      });
  if (id.ok())
    log->write(LogLevel::kDebug, fmt::format("job {} submitted: frames {}", *id, bindings.frames));
  else
    log->write(LogLevel::kDebug, fmt::format("job refused: {}", id.status().message()));
  return id;
}

Status execute_traced(runtime::Session& session, const runtime::JobBindings& bindings,
                      const RunnerLog& log) {
  const int64_t start_ns = now_ns();
  Status status = session.execute(bindings);
  log.write(LogLevel::kDebug, fmt::format("execute completed: {}, frames {}",
                                          outcome(status, start_ns), bindings.frames));
  return status;
}

}  // namespace millrace::vartml
