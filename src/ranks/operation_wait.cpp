#include "ranks/operation_wait.h"

#include <fmt/format.h>

#include "base/log.h"

namespace millrace::ranks {
namespace {

// The time between two warnings. A rank may normally be this late, for example because it loads a
// larger model.
constexpr std::chrono::seconds kWarningInterval(30);

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

OperationWait::OperationWait(const Signature& signature, const Limit& limit,
                             std::chrono::nanoseconds timeout)
    : signature_(signature),
      limit_(limit),
      timeout_(timeout),
      next_warning_(began_ + kWarningInterval) {}

Status OperationWait::check() noexcept {
  if (limit_.stop != nullptr && limit_.stop->stop_requested())
    return {StatusCode::kCancelled, "a stop was requested"};
  const Clock::time_point now = Clock::now();
  if (now >= limit_.deadline) return {StatusCode::kDeadlineExceeded, "the deadline has passed"};
  if (timeout_ > timeout_.zero() && now - began_ >= timeout_)
    return {StatusCode::kDeadlineExceeded,
            fmt::format("it has not answered within {} s", seconds(timeout_))};
  if (now >= next_warning_) {
    next_warning_ = now + kWarningInterval;
    log(LogLevel::kWarning, "ranks",
        fmt::format("{} has waited for rank {} for {:.0f} s", describe(signature_), peer_,
                    seconds(now - began_)));
  }
  return {};
}

Status OperationWait::explain(const Status& failure) const {
  return {failure.code(), fmt::format("{}: waiting for rank {}: {}", describe(signature_), peer_,
                                      failure.message())};
}

}  // namespace millrace::ranks
