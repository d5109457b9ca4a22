// MedianReporter: prints one line per benchmark with the median of its repetitions, then the
// percentiles of the wake-ups, then the targets. (Google Benchmark's flags can still write JSON.)
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

  // Returns the median over the repetitions of a counter, or of the time of one iteration in
  // nanoseconds (kTime); nothing for a benchmark that did not run.
  static constexpr const char* kTime = "time";
  std::optional<double> median(const std::string& name, const std::string& counter) const;

 private:
  using Counters = std::map<std::string, std::vector<double>>;  // a value per repetition
  struct Benchmark {
    std::string name;
    std::optional<std::string> skipped;  // why it did not run; empty if it did
    Counters counters;
  };
  // The position in the order of registration, since repetitions run in random order.
  using Position = std::pair<int64_t, int64_t>;

  static void print_line(const Benchmark& benchmark);
  void print_percentiles() const;

  std::map<Position, Benchmark> benchmarks_;
};

}  // namespace millrace::bench
