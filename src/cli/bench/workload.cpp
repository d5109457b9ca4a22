#include "cli/bench/workload.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>

#include "base/clock.h"

namespace millrace::cli {
namespace {

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

bool Workload::complete(uint64_t issued, int64_t elapsed_ns) const {
  if (issued > 0 && ended != nullptr && *ended) return true;
  if (duration.count() == 0) return issued >= jobs;
  return issued > 0 && elapsed_ns >= duration.count();
}

bool Workload::is_warm(uint64_t issued, int64_t elapsed_ns) const {
  return issued >= warmup || (issued > 0 && elapsed_ns >= kWarmUpTime.count()) ||
         (ended != nullptr && *ended);
}

bool Workload::may_issue() const {
  return precedence == nullptr || precedence->is_open(priority);
}

void Workload::enter(int64_t start_ns) const {
  if (precedence != nullptr) precedence->enter(priority, start_ns + duration.count());
}

void Workload::leave() const {
  if (precedence != nullptr) precedence->leave(priority);
}

uint32_t default_in_flight(Scenario scenario, uint32_t lanes) {
  switch (scenario) {
    case Scenario::kSingleStream:
      return 1;
    case Scenario::kMultiStream:
      return 8;  // as in MLPerf
    case Scenario::kOffline:
      return 2 * lanes;
    case Scenario::kServer:
      break;
  }
  return std::max(8U, 4 * lanes);
}

Status failed_in(Scenario scenario, uint64_t job, const Status& status) {
  return status.with_context(fmt::format("{}, job {}", name_of(scenario), job));
}

Meter::Meter(const Workload& workload)
    : session_(workload.session),
      copied_before_(session_.conversions().bytes),
      processor_before_(processor_seconds()),
      start_ns_(now_ns()) {}

int64_t Meter::elapsed_ns() const {
  return now_ns() - start_ns_;
}

void Meter::read(Measurement& measurement) const {
  measurement.seconds = static_cast<double>(elapsed_ns()) * 1e-9;
  measurement.processor_seconds = processor_seconds() - processor_before_;
  measurement.bytes_copied = session_.conversions().bytes - copied_before_;
}

}  // namespace millrace::cli
