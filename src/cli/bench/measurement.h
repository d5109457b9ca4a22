// The figures that a benchmark run measures. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/bench/allocation_trace.h"

namespace millrace::cli {

// The load of a run, in the terms of MLPerf Inference.
enum class Scenario : uint8_t {
  kSingleStream,  // a query is one job; the next is issued when it is done
  kMultiStream,   // a query is several jobs at once; the next is issued when all are done
  kOffline,       // all jobs are available at once: as many as allowed are always in flight
  kServer,        // jobs arrive at random times, whether the server keeps up or not
};

// Parses "single-stream" and so on. kInvalidArgument for other names.
Result<Scenario> parse_scenario(const std::string& text);
const char* name_of(Scenario scenario);

// Figures of the server scenario: the load, and the latency of an ideal queue (ideal_queue.h).
struct ServerFigures {
  double per_second = 0;  // the mean rate of arrivals
  uint64_t seed = 0;      // seed of the arrival times
  uint32_t servers = 0;   // jobs that can run at the same time
  double service_ms = 0;  // the median time for which a job ran
  double ideal_p99_ms = 0;
};

struct Query {
  int64_t issued_ns = 0;   // since the start of the run; for kServer the scheduled time
  int64_t latency_ns = 0;  // from then until the caller was notified of its end
};

struct Measurement {
  Scenario scenario = Scenario::kSingleStream;
  std::vector<Query> queries;    // in the order of issue
  uint64_t jobs = 0;             // jobs of all queries
  double seconds = 0;            // wall-clock time
  double processor_seconds = 0;  // CPU time of all threads of the process
  uint64_t bytes_copied = 0;     // between the caller's views and the device's
  std::optional<ServerFigures> server;

  std::vector<double> latencies_ms() const;
};

// Heap allocations of some jobs, by library. `libraries` is empty if there were none.
struct Allocations {
  uint64_t jobs = 0;
  std::vector<LibraryAllocations> libraries;

  // Allocations per job: by Millrace itself, and by all other libraries.
  double ours() const;
  double others() const;
};

}  // namespace millrace::cli
