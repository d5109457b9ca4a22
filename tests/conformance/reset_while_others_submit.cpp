// While a unit degrades and is reset, every submit either gives a job or says why not.
#include <atomic>

#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/threads.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(reset_while_others_submit, Tag::kInjects) {
  constexpr size_t kThreads = 3, kJobs = 100'000;
  Unit unit = make_unit({.depth = 4});
  faults().fail_every(3);
  std::atomic<bool> stop{false};
  auto resets = on_thread([&] {
    while (!stop.load()) EXPECT_STATUS(unit.reset(), kOk);
  });
  std::vector<JobArgs> own;
  for (size_t i = 0; i < kThreads; ++i) own.push_back(args(i));
  std::vector<std::future<uint64_t>> submitters;
  for (size_t i = 0; i < kThreads; ++i) {
    submitters.push_back(on_thread([&, i] {
      uint64_t accepted = 0;
      for (size_t job = 0; job < kJobs; ++job) {
        Result<Job> submitted = unit.submit(model(), own[i]);
        if (submitted.ok())
          ++accepted;
        else
          EXPECT_FALSE(submitted.status().ok()) << "refused with OK";
      }
      return accepted;
    }));
  }
  uint64_t accepted = 0;
  for (std::future<uint64_t>& submitter : submitters) accepted += submitter.get();
  stop.store(true);
  resets.get();
  unit.close();
  EXPECT_EQ(unit.last_submitted() & 0xffff'ffff, accepted);
  EXPECT_EQ(unit.last_completed(), unit.last_submitted());
}

}  // namespace
}  // namespace millrace::conformance
