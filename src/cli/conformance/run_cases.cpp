#include "cli/conformance/run_cases.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cli/supervision/supervised.h"

namespace millrace::cli {
namespace {

struct RunningCase {
  size_t index = 0;
  int64_t started_ns = 0;
  SupervisedChild child;
};

// Returns the time to the earliest deadline in milliseconds, as poll() takes it: -1 if there is
// none.
int time_left(const std::vector<RunningCase>& running) {
  int64_t earliest = INT64_MAX;
  for (const RunningCase& one : running)
    if (one.child.deadline_ns() != 0) earliest = std::min(earliest, one.child.deadline_ns());
  if (earliest == INT64_MAX) return -1;
  const int64_t left = std::max<int64_t>(earliest - now_ns(), 0);
  return static_cast<int>(std::min<int64_t>(left / 1'000'000 + 1, INT_MAX));
}

bool is_late(const RunningCase& running) {
  return running.child.deadline_ns() != 0 && now_ns() >= running.child.deadline_ns();
}

// Waits until a case sends its outcome, ends, or reaches its deadline. Returns its index in
// `running`.
Result<size_t> wait_for_one(const std::vector<RunningCase>& running) {
  std::vector<pollfd> channels;
  for (const RunningCase& one : running) channels.push_back({one.child.channel(), POLLIN, 0});
  for (;;) {
    if (::poll(channels.data(), channels.size(), time_left(running)) < 0) {
      if (errno == EINTR) continue;
      return Status(StatusCode::kIoError, fmt::format("poll: {}", std::strerror(errno)));
    }
    for (size_t i = 0; i < running.size(); ++i)
      if (channels[i].revents != 0 || is_late(running[i])) return i;
  }
}

// Waits for the end of the case and returns its outcome, which is a failure if it sent none.
Outcome outcome_of(RunningCase& running) {
  Result<Outcome> told = Status(StatusCode::kInternal, "the child process sent no outcome");
  const Status status =
      running.child.finish([&](const std::string&, std::span<const std::byte> bytes) {
        told = decode_outcome(bytes);
        return told.status();
      });
  Outcome outcome;
  if (!status.ok())
    outcome.reason = status.message();
  else if (!told.ok())
    outcome.reason = told.status().message();
  else
    outcome = *std::move(told);
  outcome.seconds = static_cast<double>(now_ns() - running.started_ns) * 1e-9;
  return outcome;
}

}  // namespace

Status run_cases(std::span<const TestCase> cases, const CaseLimits& limits,
                 const std::function<Outcome(const TestCase&)>& run,
                 const std::function<void(size_t index, Outcome outcome)>& done) {
  const Supervision supervision{.time_limit = limits.time_limit};
  std::vector<RunningCase> running;
  size_t next = 0;
  while (next < cases.size() || !running.empty()) {
    if (next < cases.size() && running.size() < limits.jobs) {
      const TestCase& test = cases[next];
      MILLRACE_ASSIGN_OR_RETURN(SupervisedChild child,
                                SupervisedChild::start(supervision, [&](const OutputSink& outputs) {
                                  return outputs("outcome.bin", encode_outcome(run(test)));
                                }));
      running.push_back({next++, now_ns(), std::move(child)});
      continue;
    }
    MILLRACE_ASSIGN_OR_RETURN(const size_t ended, wait_for_one(running));
    RunningCase one = std::move(running[ended]);
    running.erase(running.begin() + static_cast<ptrdiff_t>(ended));
    done(one.index, outcome_of(one));
  }
  return {};
}

}  // namespace millrace::cli
