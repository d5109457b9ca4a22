// Many threads may execute on one unit, beside others that submit.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"
#include "tests/conformance/support/threads.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(execute_from_many_threads) {
  constexpr size_t kThreads = 4, kJobs = 100;
  HookGate starts;
  Unit unit = make_unit({.depth = 3, .when_full = WhenFull::kBlock});
  std::vector<JobArgs> own;
  for (size_t thread = 0; thread < kThreads; ++thread) own.push_back(args(thread));
  std::vector<std::future<void>> threads;
  for (size_t thread = 0; thread < kThreads; ++thread) {
    threads.push_back(on_thread([&, thread] {
      for (size_t i = 0; i < kJobs; ++i) {
        if (thread == 0)
          EXPECT_STATUS(submit(unit, own[thread]).wait(kPatience), kOk);
        else
          EXPECT_STATUS(unit.execute(model(), own[thread]), kOk);
      }
    }));
  }
  for (std::future<void>& thread : threads) thread.get();
  const std::vector<JobId> ids = starts.ids();
  EXPECT_EQ(ids.size(), kThreads * kJobs);
  EXPECT_TRUE(std::ranges::is_sorted(ids));
  EXPECT_EQ(unit.last_completed(), ids.back());
  for (size_t thread = 0; thread < kThreads; ++thread) expect_computed({thread});
}

}  // namespace
}  // namespace millrace::conformance
