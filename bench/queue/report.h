// MedianReporter: one line per benchmark with the median of its repetitions, then percentiles of
// the wake-ups, then the targets. (Google Benchmark's own flags still write everything as JSON.)
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace millrace::bench {

class MedianReporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

  // The median over the repetitions of a counter, or of the time of one iteration in nanoseconds
  // (kTime). Nothing for a benchmark that did not run.
  static constexpr const char* kTime = "time";
  std::optional<double> median(const std::string& name, const std::string& counter) const;

 private:
  using Counters = std::map<std::string, std::vector<double>>;  // a value per repetition
  struct Benchmark {
    std::string name;
    std::string skipped;  // why it did not run; else empty
    Counters counters;
  };
  // Place in the order of registration: the repetitions come in random order.
  using Position = std::pair<int64_t, int64_t>;

  static void print_line(const Benchmark& benchmark);
  void print_percentiles() const;

  std::map<Position, Benchmark> benchmarks_;
};

}  // namespace millrace::bench
