#include "tests/model_check/explore/explorer.h"

#include "tests/model_check/explore/path.h"
#include "tests/model_check/explore/scheduler.h"

namespace millrace::explore {

Outcome explore(const std::function<Scenario()>& make, int preemptions) {
  Scheduler scheduler(static_cast<int>(make().threads.size()));
  Outcome outcome;
  Path path;
  do {
    ++outcome.executions;
    outcome.failure = scheduler.run(make, path, preemptions);
  } while (outcome.failure.empty() && path.advance());
  return outcome;
}

}  // namespace millrace::explore
