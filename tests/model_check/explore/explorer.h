// explore: runs a scenario in every order of its threads' operations that needs at most a given
// number of preemptions. Most defects of concurrent code show with one or two.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tests/model_check/explore/scenario.h"

namespace millrace::explore {

struct Outcome {
  uint64_t executions = 0;
  std::string failure;  // of the first execution that failed, and its steps; empty: all are good
};

// `make` gives the same scenario each time, over fresh state. Ends at the first failure.
Outcome explore(const std::function<Scenario()>& make, int preemptions);

}  // namespace millrace::explore
