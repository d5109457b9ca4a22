// Several threads submit to one unit: no job is lost, none completes twice.
#include <set>

#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/threads.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(several_producers) {
  constexpr size_t kThreads = 4, kJobs = 200;
  CallbackLog log;
  Unit unit = make_unit({.depth = 8, .when_full = WhenFull::kBlock});
  JobArgs shared = args();
  shared.callback = log.callback();
  std::vector<std::future<void>> producers;
  for (size_t thread = 0; thread < kThreads; ++thread) {
    producers.push_back(on_thread([&] {
      for (size_t i = 0; i < kJobs; ++i) EXPECT_STATUS(submit(unit, shared).wait(kPatience), kOk);
    }));
  }
  for (std::future<void>& producer : producers) producer.get();
  EXPECT_TRUE(log.await(kThreads * kJobs));
  const std::vector<JobId> ids = log.ids();
  EXPECT_EQ(ids.size(), kThreads * kJobs);
  EXPECT_EQ(std::set<JobId>(ids.begin(), ids.end()).size(), kThreads * kJobs);
  EXPECT_TRUE(std::ranges::is_sorted(ids));
  EXPECT_EQ(unit.in_flight(), 0u);
}

}  // namespace
}  // namespace millrace::conformance
