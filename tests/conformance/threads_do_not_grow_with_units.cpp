// Any number of units has the same threads: the lanes, one for callbacks, one for the clock.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/threads.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(threads_do_not_grow_with_units) {
  CallbackLog log;
  EXPECT_EQ(device().lanes(), kLanes);
  const auto ours = [] {
    return threads_called("millrace-lane") + threads_called("millrace-calls") +
           threads_called("millrace-clock");
  };
  // Threads of earlier cases may still be on their way out.
  EXPECT_TRUE(eventually([&] { return ours() == kLanes; })) << ours();
  std::vector<Unit> units;
  for (size_t i = 0; i < 20; ++i) units.push_back(make_unit({.watchdog = kPatience}));
  size_t before = 0;
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < units.size(); ++i) {
      JobArgs job = args(i);
      job.callback = log.callback();
      job.deadline = std::chrono::steady_clock::now() + kPatience;
      EXPECT_STATUS(submit(units[i], job).wait(kPatience), kOk);
    }
    if (round == 0) before = thread_names().size();
  }
  EXPECT_TRUE(log.await(3 * units.size()));
  // A thread that was started gets its name a moment later.
  EXPECT_TRUE(eventually([&] { return ours() == kLanes + 2; })) << ours();
  EXPECT_EQ(threads_called("millrace-lane"), kLanes);
  EXPECT_EQ(threads_called("millrace-calls"), 1u);
  EXPECT_EQ(threads_called("millrace-clock"), 1u);
  EXPECT_EQ(thread_names().size(), before);
}

}  // namespace
}  // namespace millrace::conformance
