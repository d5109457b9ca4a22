// Handles of jobs: waited for or detached, collectable once.
#include <gmock/gmock.h>

#include <future>
#include <set>
#include <thread>
#include <type_traits>

#include "tests/api/event_fd.h"
#include "tests/api/native_fixture.h"

namespace millrace::test {
namespace {

class JobHandle : public NativeApi {};

static_assert(!std::is_copy_constructible_v<Job> && std::is_nothrow_move_constructible_v<Job>);
static_assert(!std::is_copy_constructible_v<Unit> && std::is_nothrow_move_constructible_v<Unit>);
static_assert(!std::is_copy_constructible_v<Device> && std::is_copy_constructible_v<Model>);

TEST_F(JobHandle, IsCollectedOnce) {
  Unit unit = make_unit();
  Job job = submit_started(unit);
  faults().release();
  EXPECT_TRUE(job.wait().ok());
  EXPECT_EQ(job.wait().code(), StatusCode::kInvalidJobId);
  EXPECT_EQ(job.cancel(kPoll).status().code(), StatusCode::kInvalidJobId);
  EXPECT_TRUE(job.is_completed());
  EXPECT_NE(job.id(), 0u) << "the id stays known";
}

TEST_F(JobHandle, StaysToBeCollectedAfterATimeout) {
  Unit unit = make_unit();
  Job job = submit_started(unit);
  EXPECT_EQ(job.wait(kPoll).code(), StatusCode::kPending);
  EXPECT_EQ(job.wait(std::chrono::milliseconds(1)).code(), StatusCode::kPending);
  EXPECT_EQ(job.wait(std::chrono::nanoseconds::min()).code(), StatusCode::kPending);
  EXPECT_FALSE(job.is_completed());
  faults().release();
  EXPECT_TRUE(job.wait(kForever).ok());
}

TEST_F(JobHandle, OfTwoWaitersOneGetsTheResult) {
  Unit unit = make_unit();
  Job job = submit_started(unit);
  const auto wait = [&] { return job.wait().code(); };
  std::future<StatusCode> first = std::async(std::launch::async, wait);
  std::future<StatusCode> second = std::async(std::launch::async, wait);
  faults().release();
  const std::multiset<StatusCode> seen = {first.get(), second.get()};
  EXPECT_EQ(seen, (std::multiset<StatusCode>{StatusCode::kOk, StatusCode::kInvalidJobId}));
}

TEST_F(JobHandle, ThatIsEmptySaysSo) {
  Job job;
  EXPECT_FALSE(job);
  EXPECT_EQ(job.id(), 0u);
  EXPECT_EQ(job.wait().code(), StatusCode::kInvalidJobId);
  EXPECT_EQ(job.cancel(kPoll).status().code(), StatusCode::kInvalidJobId);
  EXPECT_EQ(job.notify_fd(0).code(), StatusCode::kInvalidJobId);
}

TEST_F(JobHandle, MovesWithItsJob) {
  Unit unit = make_unit();
  Job first = submit_started(unit);
  const JobId id = first.id();
  Job second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_EQ(second.id(), id);
  faults().release();
  EXPECT_TRUE(second.wait().ok());
  Job third = std::move(second);
  EXPECT_EQ(third.wait().code(), StatusCode::kInvalidJobId) << "collected moves along";
}

TEST_F(JobHandle, ThatGoesAwayWaitsForItsJob) {
  Unit unit = make_unit();
  std::optional<Job> job = submit_started(unit);
  const JobId id = job->id();
  std::thread releaser([&] { faults().release(); });
  job.reset();
  EXPECT_TRUE(unit.is_completed(id));
  releaser.join();
}

TEST_F(JobHandle, ThatIsAssignedToWaitsForItsJob) {
  Unit unit = make_unit();
  Job job = submit_started(unit);
  const JobId id = job.id();
  std::thread releaser([&] { faults().release(); });
  job = Job();
  EXPECT_TRUE(unit.is_completed(id));
  EXPECT_FALSE(job);
  releaser.join();
}

TEST_F(JobHandle, ThatIsDetachedWaitsForNothing) {
  Unit unit = make_unit();
  JobId id = 0;
  {
    Job job = submit_started(unit);
    id = job.id();
    job.detach();
    EXPECT_FALSE(job);
    EXPECT_EQ(job.wait().code(), StatusCode::kInvalidJobId);
  }
  EXPECT_FALSE(unit.is_completed(id)) << "it runs on";
  faults().release();
  EXPECT_TRUE(unit.wait_free(unit.depth(), kForever).ok());
  EXPECT_TRUE(unit.is_completed(id));
}

TEST_F(JobHandle, OutlivesUnitAndDevice) {
  faults().release();
  Job job;
  {
    Device device = Device::open(kGatedDevice).value();
    Unit unit = device.create_unit().value();
    job = unit.submit(model_, memory_.args()).value();
    ASSERT_TRUE(unit.wait_free(unit.depth(), kForever).ok());
  }
  EXPECT_TRUE(job.wait().ok());
}

TEST_F(JobHandle, SignalsAnEventFdOnce) {
  Unit unit = make_unit();
  Job job = submit_started(unit);
  EventFd event;
  ASSERT_TRUE(job.notify_fd(event.fd()).ok());
  EXPECT_EQ(event.take(), 0u);
  faults().release();
  EXPECT_EQ(event.await(), 1u);
  EXPECT_TRUE(job.is_completed());
  ASSERT_TRUE(job.notify_fd(event.fd()).ok());
  EXPECT_EQ(event.take(), 1u) << "at once for a job that is completed";
  EXPECT_EQ(job.notify_fd(1 << 20).code(), StatusCode::kInvalidArgument);
}

TEST_F(JobHandle, OlderThanTheResultsThatAreKeptSaysSo) {
  faults().release();
  Unit unit = make_unit({.depth = 1});
  Job old = submit(unit);
  ASSERT_TRUE(unit.wait_free(1, kForever).ok());
  for (int i = 0; i < 65'536; ++i) ASSERT_TRUE(unit.execute(model_, memory_.args()).ok());
  EXPECT_EQ(old.wait().code(), StatusCode::kInvalidJobId);
}

}  // namespace
}  // namespace millrace::test
