// Sorts the answers to requests. Thread-safe.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "cli/bench/remote/connection.h"

namespace millrace::cli {

enum class Outcome : uint8_t {
  kServed,   // 200
  kRefused,  // 429 or 503
  kLate,     // 504, or no answer within the time limit
  kFailed,   // any other answer, or none
};

Outcome outcome_of(const Result<RemoteAnswer>& answer);

// Whether there was no answer within the time limit.
bool timed_out(const Result<RemoteAnswer>& answer);

// Whether the same request may be served when it is sent again: it was refused, the connection was
// lost, or a proxy lost the server (502). Inference changes nothing, so it can be sent twice.
bool may_change(const Result<RemoteAnswer>& answer);

}  // namespace millrace::cli
