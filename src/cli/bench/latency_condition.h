// LatencyCondition: a bound on the latency of a run, such as 'p99<20ms'. Plain data; thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "cli/bench/percentiles.h"

namespace millrace::cli {

struct LatencyCondition {
  double Distribution::*statistic = &Distribution::p99;
  double below_ms = 0;
  uint32_t least_queries = 100;  // with fewer, the statistic is the greatest latency

  // Whether the latencies, in ms, meet the condition.
  bool holds(const Distribution& latency_ms) const { return latency_ms.*statistic < below_ms; }
};

// Parses a statistic (median, mean, p90, p95, p99, p99.9 or max), '<' and a time such as 20ms.
// kInvalidArgument for anything else.
Result<LatencyCondition> parse_condition(const std::string& text);

}  // namespace millrace::cli
