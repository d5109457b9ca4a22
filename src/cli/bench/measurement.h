// The figures that a benchmark run measures. Values only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/bench/allocation_trace.h"

namespace millrace::cli {

// How load is made; the words are those of MLPerf.
enum class Scenario : uint8_t {
  kSingleStream,  // a query is one job; the next is issued when it is done
  kMultiStream,   // a query is several jobs at once; the next is issued when all are done
  kOffline,       // all jobs are there from the start: as many as allowed are always in flight
  kServer,        // jobs come when they come, whether the server keeps up or not
};

// "single-stream" and so on; kInvalidArgument for other words.
Result<Scenario> parse_scenario(const std::string& text);
const char* name_of(Scenario scenario);

// Figures of the server scenario: the load, and the latency that an ideal queue would reach.
struct ServerFigures {
  double per_second = 0;  // the rate of arrivals
  uint64_t seed = 0;      // seed of the arrival times
  uint32_t servers = 0;   // jobs that can run at the same time
  double service_ms = 0;  // the median of the time that a job ran
  double ideal_p99_ms = 0;
};

struct Query {
  int64_t issued_ns = 0;   // since the start of the run; of a server the time that was intended
  int64_t latency_ns = 0;  // from then until the caller knew of the end
};

struct Measurement {
  Scenario scenario = Scenario::kSingleStream;
  std::vector<Query> queries;    // in the order of issue
  uint64_t jobs = 0;             // jobs of all queries
  double seconds = 0;            // by the clock
  double processor_seconds = 0;  // CPU time of all threads of the process
  uint64_t bytes_copied = 0;     // between the caller's views and the device's
  std::optional<ServerFigures> server;

  std::vector<double> latencies_ms() const;
};

// Heap allocations of some jobs, by library. `libraries` is empty if there were none.
struct Allocations {
  uint64_t jobs = 0;
  std::vector<LibraryAllocations> libraries;

  // Allocations per job: by Millrace itself, and by all libraries that it calls.
  double ours() const;
  double others() const;
};

}  // namespace millrace::cli
