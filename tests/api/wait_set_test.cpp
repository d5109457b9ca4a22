// Waiting for several jobs at once, also of several units.
#include <gmock/gmock.h>

#include <array>
#include <future>
#include <vector>

#include "tests/api/native_fixture.h"

namespace millrace::test {
namespace {

class WaitSet : public NativeApi {
 protected:
  Unit first_unit_ = make_unit();
  Unit second_unit_ = make_unit();
};

TEST_F(WaitSet, AnyGivesTheOneThatIsCompleted) {
  Job first = submit_started(first_unit_, 1);
  Job second = submit_started(second_unit_, 2);
  const std::array<Job*, 2> jobs = {&first, &second};
  EXPECT_EQ(wait_any(jobs, kPoll).status().code(), StatusCode::kPending);
  EXPECT_EQ(wait_any(jobs, std::chrono::milliseconds(1)).status().code(), StatusCode::kPending);
  std::future<Result<size_t>> waiter =
      std::async(std::launch::async, [&] { return wait_any(jobs, kForever); });
  faults().let_through(1);
  const Result<size_t> index = waiter.get();
  ASSERT_TRUE(index.ok()) << index.status().to_string();
  EXPECT_TRUE(jobs[*index]->is_completed());
  EXPECT_TRUE(jobs[*index]->wait(kPoll).ok()) << "it is still to be collected";
  EXPECT_FALSE(jobs[1 - *index]->is_completed());
  faults().release();
}

TEST_F(WaitSet, AllWaitsForEveryOne) {
  Job first = submit_started(first_unit_, 1);
  Job second = submit_started(second_unit_, 2);
  const std::array<Job*, 2> jobs = {&first, &second};
  faults().let_through(1);
  ASSERT_TRUE(wait_any(jobs, kForever).ok());
  EXPECT_EQ(wait_all(jobs, kPoll).code(), StatusCode::kPending);
  faults().release();
  EXPECT_TRUE(wait_all(jobs, kForever).ok());
  EXPECT_TRUE(first.wait(kPoll).ok());
  EXPECT_TRUE(second.wait(kPoll).ok());
}

TEST_F(WaitSet, AllIsContentWithJobsThatFailed) {
  faults().fail_nth(1, internal_error("the mill stopped"));
  faults().release();
  Job job = submit(first_unit_);
  const std::array<Job*, 1> jobs = {&job};
  EXPECT_TRUE(wait_all(jobs, kForever).ok());
  EXPECT_EQ(job.wait().code(), StatusCode::kInternal);
}

TEST_F(WaitSet, TakesManyJobs) {
  faults().release();
  Unit unit = make_unit({.depth = 100});
  std::vector<Job> jobs;
  std::vector<Job*> pointers;
  for (int i = 0; i < 100; ++i) jobs.push_back(submit(unit));
  for (Job& job : jobs) pointers.push_back(&job);
  EXPECT_TRUE(wait_all(pointers, kForever).ok());
  EXPECT_EQ(wait_any(pointers, kForever).value(), 0u);
}

TEST_F(WaitSet, RefusesWhatCannotBeWaitedFor) {
  faults().release();
  Job collected = submit(first_unit_), empty;
  EXPECT_TRUE(collected.wait().ok());
  for (Job* job : {&collected, &empty}) {
    const std::array<Job*, 1> jobs = {job};
    EXPECT_EQ(wait_any(jobs, kPoll).status().code(), StatusCode::kInvalidJobId);
    EXPECT_EQ(wait_all(jobs, kPoll).code(), StatusCode::kInvalidJobId);
  }
  EXPECT_EQ(wait_any({}, kPoll).status().code(), StatusCode::kInvalidArgument);
  const std::array<Job*, 1> null = {nullptr};
  EXPECT_EQ(wait_all(null, kPoll).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace millrace::test
