// compare(): compares Millrace and ONNX Runtime on one model. Blocks of runs of both alternate in
// one process, so that changes of the machine's speed affect both alike; the ratio is computed for
// each round.
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
  bool throughput = false;  // also measure the throughput, for more than one thread
  // With `throughput`, also measure the latency of requests that arrive at random, at these
  // percentages of Millrace's throughput.
  std::vector<uint32_t> server_percent;
  uint32_t rounds = 5;
  double seconds = 0.5;         // duration of a block of runs
  double server_seconds = 2.0;  // duration of a block of arrivals; a 99th percentile needs many
};

struct ComparisonRow {
  std::string what;  // "latency, 2 threads"
  // Medians over the rounds, of ONNX Runtime (theirs) and Millrace (ours): milliseconds per frame
  // or, for requests that arrive at random, the 99th percentile of the latency; and the ratio
  // theirs / ours.
  double theirs_ms = 0, ours_ms = 0, ratio = 0;
  // The largest difference of outputs, relative to the largest magnitude of the output.
  double difference = 0;
};

// Fails as MillraceSide and OrtSession do.
Result<std::vector<ComparisonRow>> compare(const OrtLibrary& library, const std::string& onnx,
                                           const ComparisonPlan& plan);

}  // namespace millrace::bench
