#include "cli/bench/remote/outcome.h"

namespace millrace::cli {

bool timed_out(const Result<RemoteAnswer>& answer) {
  return !answer.ok() && answer.status().code() == StatusCode::kDeadlineExceeded;
}

Outcome outcome_of(const Result<RemoteAnswer>& answer) {
  const unsigned status = answer.ok() ? answer->status : 0;
  if (status == 200) return Outcome::kServed;
  if (status == 429 || status == 503) return Outcome::kRefused;
  return status == 504 || timed_out(answer) ? Outcome::kLate : Outcome::kFailed;
}

bool may_change(const Result<RemoteAnswer>& answer) {
  if (!answer.ok()) return answer.status().code() == StatusCode::kIoError;
  return answer->status == 502 || outcome_of(answer) == Outcome::kRefused;
}

}  // namespace millrace::cli
