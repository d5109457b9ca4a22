// The callbacks of all units run on one thread, as long as they return soon. It is neither a lane
// nor the caller's.
#include <set>

#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(callbacks_on_one_thread) {
  CallbackLog log;
  HookGate starts;
  std::vector<Unit> units;
  std::set<std::thread::id> others = {std::this_thread::get_id()};
  for (size_t i = 0; i < 4; ++i) {
    units.push_back(make_unit());
    JobArgs job = args(i);
    job.callback = log.callback();
    Job submitted = submit(units.back(), job);
    EXPECT_STATUS(submitted.wait(kPatience), kOk);
    others.insert(starts.thread_of(units.back().last_submitted()));
  }
  EXPECT_TRUE(log.await(4));
  std::set<std::thread::id> threads;
  for (const CallbackLog::Entry& entry : log.entries()) threads.insert(entry.thread);
  EXPECT_EQ(threads.size(), 1u);
  EXPECT_FALSE(others.contains(*threads.begin()));
}

}  // namespace
}  // namespace millrace::conformance
