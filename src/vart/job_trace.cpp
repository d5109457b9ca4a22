#include "vart/job_trace.h"

#include <fmt/format.h>

#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "vart/status_code.h"

namespace millrace::vartml {
namespace {

int64_t microseconds(int64_t from_ns, int64_t to_ns) {
  return (to_ns - from_ns) / 1000;
}

// The state of one job, shared by the thread that submits it and the one that runs its callback.
struct JobLife {
  // Held until the submission is logged, so that the lines of a job are in order.
  std::mutex mutex;
  const int64_t submitted_ns = now_ns();
  runtime::JobTimes times;

  // Describes the status and the times. Requirement: the job is complete or was refused.
  std::string outcome(const Status& status) const {
    const int64_t started = times.started(), ended = times.ended();
    const std::string_view code = to_string(to_status_code(status.code()));
    if (ended == 0) return std::string(code);
    if (started == 0)
      return fmt::format("{}: {} us in the queue, never started", code,
                         microseconds(submitted_ns, ended));
    return fmt::format("{}: {} us in the queue, {} us on the device", code,
                       microseconds(submitted_ns, started), microseconds(started, ended));
  }
};

}  // namespace

Result<runtime::SessionJobId> submit_traced(runtime::Session& session,
                                            runtime::JobBindings bindings,
                                            runtime::JobCallback callback,
                                            std::shared_ptr<const RunnerLog> log) {
  const auto life = std::make_shared<JobLife>();
  bindings.times = {life, &life->times};
  const std::lock_guard lock(life->mutex);
  Result<runtime::SessionJobId> id = session.submit(
      bindings, [life, log, callback = std::move(callback)](uint64_t job, const Status& status) {
        {
          const std::lock_guard logged(life->mutex);
          log->write(LogLevel::kDebug, fmt::format("job {} completed: {}, {} us until the callback",
                                                   job, life->outcome(status),
                                                   microseconds(life->times.ended(), now_ns())));
        }
        if (callback) callback(job, status);
      });
  if (id.ok())
    log->write(LogLevel::kDebug, fmt::format("job {} submitted: frames {}", *id, bindings.frames));
  else
    log->write(LogLevel::kDebug, fmt::format("job refused: {}", id.status().message()));
  return id;
}

Status execute_traced(runtime::Session& session, runtime::JobBindings bindings,
                      const RunnerLog& log) {
  const auto life = std::make_shared<JobLife>();
  bindings.times = {life, &life->times};
  Status status = session.execute(bindings);
  log.write(LogLevel::kDebug, fmt::format("execute completed: {}, frames {}", life->outcome(status),
                                          bindings.frames));
  return status;
}

}  // namespace millrace::vartml
