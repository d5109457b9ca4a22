// ModelLoad: what `millrace bench --model` says about one of several models. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace millrace::cli {

struct ModelLoad {
  std::string model;
  double per_second = 0;   // mean rate of Poisson arrivals; 0: as many jobs as fit in flight
  uint32_t priority = 0;   // jobs of higher numbers go first (precedence.h)
  uint32_t in_flight = 0;  // 0: the default of the scenario
};

// Parses FILE or FILE:KEY=VALUE,... with the keys rate, priority and in-flight. The part after the
// last colon counts as options if it begins with a word and '=', so names of files may have colons.
// kInvalidArgument for other keys and for values out of range.
Result<ModelLoad> parse_model_load(const std::string& text);

}  // namespace millrace::cli
