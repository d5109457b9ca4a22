// A comparison of Millrace and ONNX Runtime on one model. Blocks of runs alternate in one process,
// so that both see the same machine, and the ratio is taken round by round.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "bench/peers/ort/ort_library.h"
#include "cli/model_source.h"

namespace millrace::bench {

struct ComparisonPlan {
  cli::CompileFlags flags;
  std::vector<uint32_t> threads = {1};
  bool throughput = false;  // besides the latency, with each number of threads but one
  // Then also the latency of requests that arrive at random, at these percentages of our
  // throughput.
  std::vector<uint32_t> server_percent;
  uint32_t rounds = 5;
  double seconds = 0.5;         // of a block of runs
  double server_seconds = 2.0;  // of a block of arrivals, whose 99th percentile needs many
};

struct ComparisonRow {
  std::string what;  // "latency, 2 threads"
  // Medians over the rounds: milliseconds per frame or, of requests that arrive at random, the 99th
  // percentile of their latencies; and the ratio of theirs to ours.
  double theirs_ms = 0, ours_ms = 0, ratio = 0;
  // The largest difference of an output, by its largest magnitude.
  double difference = 0;
};

// Fails as MillraceSide and OrtSession do.
Result<std::vector<ComparisonRow>> compare(const OrtLibrary& library, const std::string& onnx,
                                           const ComparisonPlan& plan);

}  // namespace millrace::bench
