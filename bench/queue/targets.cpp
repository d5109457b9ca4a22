#include "bench/queue/targets.h"

#include <fmt/format.h>

#include <optional>

#include "bench/queue/report.h"

namespace millrace::bench {
namespace {

enum class Bound { kAtMost, kAtLeast };

// A target for the median of a benchmark or, if `over` names a second benchmark, for the ratio of
// the two medians.
struct Target {
  const char* promise;
  const char* benchmark;
  const char* over;
  const char* counter;
  Bound bound;
  double limit;
  double unit;  // factor from the unit of the limit to that of the counter
  const char* unit_name;
};

constexpr const char* kJobs = "items_per_second";
constexpr const char* kNs = MedianReporter::kTime;

constexpr Target kTargets[] = {
    {"submit, lane awake", "submit/millrace/depth:128", nullptr, kNs, Bound::kAtMost, 150, 1, "ns"},
    {"null jobs, 1 producer, depth 256", "jobs/millrace/producers:1/depth:256", nullptr, kJobs,
     Bound::kAtLeast, 3, 1e6, "M/s"},
    {"null jobs over asio post", "jobs/millrace/producers:1/depth:256",
     "jobs/asio/producers:1/depth:256", kJobs, Bound::kAtLeast, 1.5, 1, "x"},
    {"null jobs over condition variables", "jobs/millrace/producers:1/depth:256",
     "jobs/condvar/producers:1/depth:256", kJobs, Bound::kAtLeast, 3, 1, "x"},
    {"submit to complete, spinning", "round_trip/millrace/spinning", nullptr, kNs, Bound::kAtMost,
     0.3, 1e3, "us"},
    {"submit to complete, parked, over futex", "round_trip/millrace/parked", "round_trip/futex",
     kNs, Bound::kAtMost, 1.3, 1, "x"},
    {"execute on a unit", "execute/unit", nullptr, kNs, Bound::kAtMost, 100, 1, "ns"},
    {"execute through the native API, null device", "execute/native/null", nullptr, kNs,
     Bound::kAtMost, 100, 1, "ns"},
    {"execute on a session, null device", "execute/session/null", nullptr, kNs, Bound::kAtMost, 100,
     1, "ns"},
};

void print(const MedianReporter& report, const Target& target) {
  const auto measured = report.median(target.benchmark, target.counter);
  const auto divisor = target.over != nullptr ? report.median(target.over, target.counter)
                                              : std::optional<double>(target.unit);
  if (!measured || !divisor) return;
  const double value = *measured / *divisor;
  const bool at_most = target.bound == Bound::kAtMost;
  const bool kept = at_most ? value <= target.limit : value >= target.limit;
  fmt::print("{:<46}{:>10.2f} {:<3}{:>4} {:<5} {:<4} {}\n", target.promise, value, target.unit_name,
             at_most ? "<=" : ">=", target.limit, target.unit_name, kept ? "PASS" : "MISS");
}

}  // namespace

void print_targets(const MedianReporter& report) {
  fmt::print("\n{:<46}{:>14}   target\n", "promise", "measured");
  for (const Target& target : kTargets) print(report, target);
}

}  // namespace millrace::bench
