// Loads a server with requests as a scenario says, and counts what becomes of each. Blocks.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
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
  uint32_t servers = 0;  // requests that the server runs at once, for the ideal queue; 0: unknown
  uint32_t retries = 0;  // how often a request is sent again that was refused or got no answer
  const std::atomic<bool>* ended = nullptr;  // set when the user wants the run to end
};

// Counts what became of the requests. Each request is counted once.
struct RemoteRun {
  std::vector<Query> served;       // in no order
  uint64_t refused = 0;            // answered by 429 or 503
  std::vector<double> refusal_ms;  // how long that took, each, from when the request was sent
  uint64_t late = 0;               // answered by 504, or not in time; or not sent in time
  uint64_t failed = 0;             // any other
  std::string first_failure;       // its message
  uint64_t retried = 0;            // how many times requests were sent again
  // With kServer, if `servers` are known: an ideal queue, which the same requests reach, and whose
  // services take as long as requests that are sent alone, before the others.
  std::optional<ServerFigures> ideal;
  double seconds = 0;  // until the last answer, if there is one

  uint64_t requests() const { return served.size() + refused + late + failed; }
};

// Sends the requests in turn. Sends one before it starts; if that has no answer, or the server
// finds it wrong, nothing is measured. With `servers` it sends some more, for a second at most, one
// after another. The latency of a request of the server scenario counts from its scheduled arrival,
// also if all connections are busy then, so there is no coordinated omission; and that of one that
// is sent again includes what came before. Errors: those of connecting to the server;
// kInvalidArgument if there would be too many requests. Requirement: there is at least one text of
// a request.
Result<RemoteRun> run_remote_load(const RemoteServer& server, std::span<const std::string> requests,
                                  const RemoteLoad& load);

}  // namespace millrace::cli
