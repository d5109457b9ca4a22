// Loads a server with requests as a scenario says, and counts what becomes of each. Blocks.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/bench/measurement.h"
#include "cli/bench/remote/connection.h"

namespace millrace::cli {

struct RemoteLoad {
  Scenario scenario = Scenario::kServer;  // any but multi-stream
  uint32_t connections = 1;               // and so requests in flight at most
  uint64_t jobs = 0;                      // 0: as many as the duration has
  int64_t duration_ns = 0;                // 0: until the jobs are done
  double per_second = 0;                  // with kServer
  uint64_t seed = 1;
  const std::atomic<bool>* ended = nullptr;  // set when the user wants the run to end
};

// Counts what became of the requests. Each request is counted once.
struct RemoteRun {
  std::vector<Query> served;  // in no order
  uint64_t refused = 0;       // answered by 429 or 503
  uint64_t late = 0;          // answered by 504, or not in time; or not sent in time
  uint64_t failed = 0;        // any other
  std::string first_failure;  // its message
  double seconds = 0;         // until the last answer, if there is one

  uint64_t requests() const { return served.size() + refused + late + failed; }
};

// Sends one request before it starts; if that has no answer, or the server finds it wrong, nothing
// is measured. The latency of a request of the server scenario counts from its scheduled arrival,
// also if all connections are busy then, so there is no coordinated omission. Errors: those of
// connecting to the server; kInvalidArgument if there would be too many requests.
Result<RemoteRun> run_remote_load(const RemoteServer& server, const std::string& request,
                                  const RemoteLoad& load);

}  // namespace millrace::cli
