#include "pl/kernel_run.h"

#include <algorithm>
#include <utility>

#include "base/cancellation.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/process/forked_child.h"
#include "base/process/thread.h"

namespace millrace::pl {
namespace {

void log_failure(const Status& status) {
  if (!status.ok()) log(LogLevel::kError, "pl", status.message());
}

}  // namespace

Result<std::shared_ptr<KernelRun>> KernelRun::start(KernelCall call) {
  print_errors_by_default();
  const std::shared_ptr<KernelRun> made(new KernelRun(std::move(call)));
  MILLRACE_ASSIGN_OR_RETURN(made->thread_,
                            start_thread("millrace-pl", [run = made.get()] { run->run(); }));
  return made;
}

KernelRun::~KernelRun() {
  if (!thread_.joinable()) return;
  const CancellationOff whole;
  // In a forked child the thread does not exist.
  if (is_forked_child()) {
    thread_.detach();
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    is_abandoned_ = true;
  }
  abandoned_.notify_all();
  thread_.join();
}

void KernelRun::run() {
  const auto end = std::chrono::steady_clock::now() + call_.run_time();
  Status status = call_.run();
  log_failure(status);
  std::unique_lock lock(mutex_);
  if (status.ok()) abandoned_.wait_until(lock, end, [this] { return is_abandoned_; });
  result_ = std::move(status);
  ended_.notify_all();
}

std::optional<Status> KernelRun::wait(std::chrono::milliseconds timeout) {
  // Elsewhere the thread of the kernel logs the failure when it ends; here there is no such thread.
  if (is_forked_child()) log_failure(forked_status());
  return result_until(timeout.count() > 0 ? std::optional(timeout) : std::nullopt);
}

std::optional<Status> KernelRun::result() {
  return result_until(std::chrono::milliseconds(0));
}

std::optional<Status> KernelRun::result_until(std::optional<std::chrono::milliseconds> timeout) {
  if (is_forked_child()) return forked_status();
  const CancellationOff whole;
  std::unique_lock lock(mutex_);
  const auto has_ended = [this] { return result_.has_value(); };
  if (timeout)
    ended_.wait_for(lock, std::min<std::chrono::milliseconds>(*timeout, kLongestWait), has_ended);
  else
    ended_.wait(lock, has_ended);
  return result_;
}

}  // namespace millrace::pl
