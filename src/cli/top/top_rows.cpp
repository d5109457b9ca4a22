#include "cli/top/top_rows.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace millrace::cli {
namespace {

using live::ShownProcess;
using live::ShownUnit;
using queue::RunTimes;

// The p99 is that of the jobs since the last look if at least this number of them was measured, and
// otherwise that of all jobs of the unit.
constexpr uint64_t kEnoughForPercentile = 100;

const ShownProcess* find(const std::vector<ShownProcess>& processes, pid_t pid) {
  const auto found = std::ranges::find(processes, pid, &ShownProcess::pid);
  return found == processes.end() ? nullptr : &*found;
}

const ShownUnit* find(const ShownProcess* process, const ShownUnit& unit) {
  if (process == nullptr) return nullptr;
  const auto found = std::ranges::find(process->units, unit.made, &ShownUnit::made);
  return found == process->units.end() ? nullptr : &*found;
}

uint64_t total(const RunTimes::Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

RunTimes::Counts difference(const RunTimes::Counts& now, const RunTimes::Counts& before) {
  RunTimes::Counts counts{};
  // The counts wrap around, and so does their difference.
  for (size_t i = 0; i < counts.size(); ++i) counts[i] = now[i] - before[i];
  return counts;
}

// Returns the end of the class in which the percentile lies.
std::optional<double> p99_of(const RunTimes::Counts& counts) {
  const uint64_t all = total(counts);
  if (all == 0) return std::nullopt;
  const uint64_t above = all / 100;
  uint64_t seen = 0;
  size_t number = counts.size();
  while (number > 0 && seen <= above) seen += counts[--number];
  return static_cast<double>(RunTimes::end_of(number));
}

UnitRow row_of(const ShownUnit& unit, const ShownUnit* before, double seconds) {
  UnitRow row{.unit = unit, .jobs_per_second = {}, .mean_ns = {}, .p99_ns = p99_of(unit.run_times)};
  if (unit.mean_run_ns > 0) row.mean_ns = static_cast<double>(unit.mean_run_ns);
  if (before == nullptr || seconds <= 0) return row;
  const uint64_t done = unit.completed() - std::min(before->completed(), unit.completed());
  row.jobs_per_second = static_cast<double>(done) / seconds;
  const RunTimes::Counts recent = difference(unit.run_times, before->run_times);
  if (total(recent) >= kEnoughForPercentile) row.p99_ns = p99_of(recent);
  return row;
}

ProcessRows rows_of(const ShownProcess* before, ShownProcess now) {
  ProcessRows rows;
  const double seconds = before == nullptr ? 0
                                           : static_cast<double>(now.time_ns) / 1e9 -
                                                 static_cast<double>(before->time_ns) / 1e9;
  for (const ShownUnit& unit : now.units)
    rows.units.push_back(row_of(unit, find(before, unit), seconds));
  now.units.clear();
  rows.process = std::move(now);
  return rows;
}

}  // namespace

std::vector<ProcessRows> rows_of(const std::vector<ShownProcess>& before,
                                 std::vector<ShownProcess> now) {
  std::vector<ProcessRows> rows;
  for (ShownProcess& process : now)
    rows.push_back(rows_of(find(before, process.pid), std::move(process)));
  return rows;
}

}  // namespace millrace::cli
