// Collects the repetitions of each benchmark from Google Benchmark and prints their medians.
#include "bench/queue/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <string_view>
#include <utility>

#include "bench/queue/targets.h"

namespace millrace::bench {
namespace {

constexpr const char* kItemsPerSecond = "items_per_second";
constexpr const char* kPercentiles[] = {"p50", "p99", "p99.9"};

// Returns the name without the suffixes that Google Benchmark adds about the measurement.
std::string short_name(const benchmark::BenchmarkName& name) {
  return name.args.empty() ? name.function_name : name.function_name + "/" + name.args;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string time_text(double ns) {
  return ns < 1000 ? fmt::format("{:.1f} ns", ns) : fmt::format("{:.2f} us", ns * 1e-3);
}

std::string value_text(std::string_view counter, double value) {
  return counter == kItemsPerSecond ? fmt::format("{:.2f} M/s", value * 1e-6) : time_text(value);
}

// Returns why a run was skipped; empty if it was not. Google Benchmark 1.8 renamed the members.
template <class Run>
std::optional<std::string> reason_skipped(const Run& run) {
  if constexpr (requires { run.error_occurred; })
    return run.error_occurred ? std::optional(run.error_message) : std::nullopt;
  else
    return run.skipped ? std::optional(run.skip_message) : std::nullopt;
}

}  // namespace

bool MedianReporter::ReportContext(const Context& context) {
  PrintBasicContext(&std::cerr, context);
  return true;
}

void MedianReporter::ReportRuns(const std::vector<Run>& runs) {
  const Run& first = runs.front();
  if (first.run_type != Run::RT_Iteration) return;
  Benchmark& benchmark = benchmarks_[{first.family_index, first.per_family_instance_index}];
  benchmark.name = short_name(first.run_name);
  for (const Run& run : runs) {
    benchmark.skipped = reason_skipped(run);
    if (benchmark.skipped) return;
    const auto iterations = static_cast<double>(run.iterations);
    benchmark.counters[kTime].push_back(run.real_accumulated_time / iterations * 1e9);
    for (const auto& [name, counter] : run.counters)
      benchmark.counters[name].push_back(counter.value);
  }
}

void MedianReporter::Finalize() {
  fmt::print("{:<46}{:>14}{:>12}\n", "benchmark", "median", "spread");
  for (const auto& [position, benchmark] : benchmarks_) print_line(benchmark);
  print_percentiles();
  print_targets(*this);
}

std::optional<double> MedianReporter::median(const std::string& name,
                                             const std::string& counter) const {
  for (const auto& [position, benchmark] : benchmarks_) {
    if (benchmark.name != name || benchmark.skipped) continue;
    const auto found = benchmark.counters.find(counter);
    if (found != benchmark.counters.end()) return median_of(found->second);
  }
  return std::nullopt;
}

// Prints jobs per second if the benchmark counts jobs, otherwise the time of one iteration. The
// spread is the difference between largest and smallest value, relative to the median.
void MedianReporter::print_line(const Benchmark& benchmark) {
  if (benchmark.skipped) {
    fmt::print("{:<46}{:>14}  {}\n", benchmark.name, "skipped", *benchmark.skipped);
    return;
  }
  const char* shown = benchmark.counters.contains(kItemsPerSecond) ? kItemsPerSecond : kTime;
  const std::vector<double>& values = benchmark.counters.at(shown);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double median = median_of(values);
  fmt::print("{:<46}{:>14}{:>10.0f} %\n", benchmark.name, value_text(shown, median),
             100 * (*most - *least) / median);
}

void MedianReporter::print_percentiles() const {
  bool first = true;
  for (const auto& [position, benchmark] : benchmarks_) {
    if (!benchmark.counters.contains(kPercentiles[0])) continue;
    if (std::exchange(first, false))
      fmt::print("\n{:<46}{:>14}{:>14}{:>14}\n", "submit until known, by percentile", "p50", "p99",
                 "p99.9");
    fmt::print("{:<46}", benchmark.name);
    for (const char* percentile : kPercentiles)
      fmt::print("{:>14}", time_text(median_of(benchmark.counters.at(percentile))));
    fmt::print("\n");
  }
}

}  // namespace millrace::bench
