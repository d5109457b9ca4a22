// Units: order, several models on one, several jobs at once, callbacks, recovery.
#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/api/event_fd.h"
#include "tests/api/native_fixture.h"
#include "tests/support/late_calls.h"

namespace millrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class UnitTest : public NativeApi {};

TEST_F(UnitTest, RunsJobsInOrderOneAtATime) {
  Unit unit = make_unit({.depth = 3});
  Job first = submit(unit), second = submit(unit), third = submit(unit);
  EXPECT_EQ(second.id(), first.id() + 1);
  EXPECT_EQ(unit.last_submitted(), third.id());
  EXPECT_EQ(unit.in_flight(), 3u);
  faults().await_arrivals(1);
  faults().let_through(1);
  EXPECT_TRUE(first.wait().ok());
  EXPECT_EQ(unit.last_completed(), first.id());
  faults().release();
  EXPECT_TRUE(third.wait().ok());
  EXPECT_TRUE(second.is_completed());
  EXPECT_EQ(faults().most_at_once(), 1u);
}

TEST_F(UnitTest, JobsSayWhenTheyRan) {
  Unit unit = make_unit({.depth = 2});
  const auto before = std::chrono::steady_clock::now();
  JobSpan ran, never = {before, before};
  JobArgs args = memory_.args();
  args.span = &ran;
  Job running = unit.submit(model_, args).value();
  faults().await_arrivals(1);
  args.span = &never;
  Job cancelled = unit.submit(model_, args).value();
  EXPECT_TRUE(cancelled.cancel(kForever).ok());
  faults().release();
  EXPECT_TRUE(running.wait().ok());
  EXPECT_GE(ran.began, before);
  EXPECT_GE(ran.ended, ran.began);
  EXPECT_EQ(never, JobSpan());
}

TEST_F(UnitTest, CountsItsJobsByTheirOutcome) {
  Unit unit = make_unit({.depth = 4});
  faults().fail_nth(2, internal_error("the mill stopped"));
  Job running = submit(unit), failing = submit(unit), cancelled = submit(unit);
  faults().await_arrivals(1);
  EXPECT_TRUE(cancelled.cancel(kForever).ok());
  const Deadline soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
  Result<Job> late = unit.submit(model_, memory_.args({}, soon));
  EXPECT_EQ(late->wait().code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(unit.statistics().in_flight, 2u);
  Job third = submit(unit), fourth = submit(unit);
  EXPECT_EQ(unit.submit(model_, memory_.args()).status().code(), StatusCode::kQueueFull);
  faults().release();
  EXPECT_TRUE(fourth.wait().ok());
  const UnitStatistics known = unit.statistics();
  EXPECT_EQ(known.submitted, 6u);
  EXPECT_EQ(known.refused, 1u);
  EXPECT_EQ(known.in_flight, 0u);
  EXPECT_EQ(known.succeeded, 3u);
  EXPECT_EQ(known.failed, 1u);
  EXPECT_EQ(known.cancelled, 1u);
  EXPECT_EQ(known.late, 1u);
  EXPECT_EQ(known.dropped, 0u);
}

TEST_F(UnitTest, TakesJobsInDestructorsAtTheEndOfAThread) {
  faults().release();
  Unit unit = make_unit();
  int succeeded = 0;
  call_until_thread_ends([&] {
    succeeded += submit(unit).wait().ok();
    succeeded += unit.execute(model_, memory_.args()).ok();
  });
  EXPECT_EQ(succeeded, 6);
}

TEST_F(UnitTest, RunsAShortJobHereIfItIsIdle) {
  Device device = Device::open("null").value();
  const Model model = load_tiny(device);
  const JobMemory memory(model);
  Unit unit = device.create_unit().value();
  const auto offer = [&](const JobArgs& args) {
    return unit.execute_here(model, args, std::chrono::hours(1));
  };
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(unit.submit(model, memory.args())->wait().ok());
  const auto ran = [&] {
    const std::optional<Status> status = offer(memory.args());
    EXPECT_TRUE(!status || status->ok()) << status->to_string();
    return status.has_value();
  };
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!ran())  // once the lanes sleep
    ASSERT_LT(std::chrono::steady_clock::now(), limit);
  EXPECT_EQ(unit.statistics().succeeded, 101u);

  EXPECT_FALSE(offer(memory.args([](JobId, const Status&) {})));
  EXPECT_FALSE(offer(memory.args({}, std::chrono::steady_clock::now() + kForever)));
  const JobArgs nothing;
  EXPECT_FALSE(offer(nothing)) << "its tensors are missing";
  EXPECT_EQ(unit.statistics().submitted, 101u);
}

TEST_F(UnitTest, IsSharedByModels) {
  faults().release();
  const Model batch = load_tiny(device_, {.batch_size = 4});
  const JobMemory frames(batch, 3);
  Unit unit = make_unit({.depth = 4});
  std::vector<Job> jobs;
  for (int i = 0; i < 2; ++i) {
    jobs.push_back(submit(unit));
    jobs.push_back(unit.submit(batch, frames.args()).value());
  }
  for (Job& job : jobs) EXPECT_TRUE(job.wait().ok());
  EXPECT_EQ(faults().arrivals(), 2u * (1 + 3));
}

TEST_F(UnitTest, RefusesAModelOfAnotherDevice) {
  Device other = Device::open("null").value();
  Unit unit = other.create_unit().value();
  const Result<Job> job = unit.submit(model_, memory_.args());
  EXPECT_EQ(job.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(job.status().message(), HasSubstr("another device"));
  EXPECT_EQ(unit.execute(Model(), memory_.args()).code(), StatusCode::kInvalidArgument);
}

TEST_F(UnitTest, RefusesArgumentsThatDoNotFit) {
  Unit unit = make_unit();
  const auto refusal = [&](const JobArgs& args) {
    const Status status = unit.submit(model_, args).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(unit.execute(model_, args).to_string(), status.to_string());
    return status.message();
  };
  JobArgs args = memory_.args();
  args.frames = 2;
  EXPECT_THAT(refusal(args), HasSubstr("batch size of 1"));
  args = memory_.args();
  args.inputs = {};
  EXPECT_THAT(refusal(args), HasSubstr("input"));

  std::vector<float> small(3);
  JobMemory too_small(model_);
  too_small.inputs() = {TensorArg(std::span(small))};
  EXPECT_THAT(refusal(too_small.args()), HasSubstr("input \"data\" takes 192 bytes"));

  const std::vector<float> constant(model_.outputs()[0].cpu.elements);
  JobMemory read_only(model_);
  read_only.outputs() = {TensorArg(std::span(constant))};
  EXPECT_THAT(refusal(read_only.args()), HasSubstr("read-only"));
  EXPECT_EQ(unit.last_submitted() & 0xffff'ffff'ffff, 0u);
}

TEST_F(UnitTest, RefusesOptionsOutOfRange) {
  for (const uint32_t depth : {0u, Unit::kMaxDepth + 1})
    EXPECT_EQ(device_.create_unit({.depth = depth}).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(UnitTest, TakesAsManyOfSeveralJobsAsThereArePlaces) {
  Unit unit = make_unit({.depth = 4});
  Job running = submit_started(unit);
  const std::vector<JobArgs> args(5, memory_.args());
  std::array<Job, 5> jobs;
  EXPECT_EQ(unit.try_submit_n(model_, args, jobs).value(), 3u);
  EXPECT_TRUE(jobs[2]);
  EXPECT_FALSE(jobs[3]);
  EXPECT_EQ(jobs[2].id(), running.id() + 3);
  EXPECT_EQ(unit.try_submit_n(model_, args, jobs).status().code(), StatusCode::kQueueFull);
  EXPECT_EQ(unit.try_submit_n(model_, args, std::span(jobs).first(4)).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(unit.try_submit_n(model_, {}, {}).value(), 0u);
  faults().release();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(jobs[i].wait().ok());
}

TEST_F(UnitTest, TakesSeveralJobsWithCallbacks) {
  Unit unit = make_unit({.depth = 2});
  std::atomic<int> called{0};
  const std::vector<JobArgs> args(3, memory_.args([&](JobId, const Status&) { ++called; }));
  std::array<Job, 3> jobs;
  EXPECT_EQ(unit.try_submit_n(model_, args, jobs).value(), 2u);
  faults().release();
  unit.close();
  EXPECT_EQ(called, 2);
}

TEST_F(UnitTest, SubmitsSeveralJobsWaitingForPlaces) {
  faults().release();
  Unit unit = make_unit({.depth = 2});
  const std::vector<JobArgs> args(50, memory_.args());
  std::vector<Job> jobs(args.size());
  ASSERT_TRUE(unit.submit_n(model_, args, jobs).ok());
  for (Job& job : jobs) EXPECT_TRUE(job.wait().ok());
  EXPECT_EQ(faults().arrivals(), 50u);
}

TEST_F(UnitTest, SubmitsSeveralJobsUntilOneFails) {
  Unit unit = make_unit({.depth = 1});
  std::vector<JobArgs> args(2, memory_.args());
  args[1].deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
  std::array<Job, 2> jobs;
  EXPECT_EQ(unit.submit_n(model_, args, jobs).code(), StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(jobs[0]);
  EXPECT_FALSE(jobs[1]);
  faults().release();
}

TEST_F(UnitTest, ExecutesToTheEnd) {
  faults().release();
  Unit unit = make_unit();
  EXPECT_TRUE(unit.execute(model_, memory_.args()).ok());
  EXPECT_EQ(unit.in_flight(), 0u);
  faults().fail_nth(1, internal_error("the mill stopped"));
  EXPECT_EQ(unit.execute(model_, memory_.args()).code(), StatusCode::kInternal);
  std::promise<StatusCode> called;
  EXPECT_TRUE(unit.execute(model_, memory_.args([&](JobId, const Status& status) {
                    called.set_value(status.code());
                  }))
                  .ok());
  EXPECT_EQ(called.get_future().get(), StatusCode::kOk);
}

TEST_F(UnitTest, CallsBackInTheOrderOfSubmission) {
  faults().release();
  Unit unit = make_unit({.depth = 8});
  std::vector<JobId> called, submitted;
  for (int i = 0; i < 500; ++i) {
    Job job =
        unit.submit_until(kNoDeadline, model_,
                          memory_.args([&](JobId id, const Status&) { called.push_back(id); }))
            .value();
    submitted.push_back(job.id());
    job.detach();
  }
  unit.close();
  EXPECT_EQ(called, submitted);
}

TEST_F(UnitTest, ACallbackMaySubmitWaitAndThrow) {
  faults().release();
  Unit unit = make_unit({.depth = 2});
  std::promise<Status> other;
  Job job = unit.submit(model_, memory_.args([&](JobId, const Status&) {
                  other.set_value(submit(unit).wait());
                  throw std::runtime_error("no");
                }))
                .value();
  EXPECT_TRUE(job.wait().ok());
  EXPECT_TRUE(other.get_future().get().ok());
  EXPECT_TRUE(unit.execute(model_, memory_.args()).ok()) << "a callback that throws has no effect";
}

TEST_F(UnitTest, NotifiesWhenPlacesAreFree) {
  Unit unit = make_unit({.depth = 2});
  Job first = submit(unit), second = submit(unit);
  EXPECT_EQ(unit.wait_free(1, std::chrono::milliseconds(1)).code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(unit.wait_free(3, kForever).code(), StatusCode::kInvalidArgument);
  EventFd room, each;
  ASSERT_TRUE(unit.notify_free_fd(2, room.fd()).ok());
  ASSERT_TRUE(unit.notify_each_fd(each.fd()).ok());
  EXPECT_EQ(room.take(), 0u);
  faults().release();
  EXPECT_TRUE(unit.wait_free(2, kForever).ok());
  EXPECT_GE(room.await(), 1u);
  EXPECT_GE(each.await(), 1u);
  EXPECT_TRUE(first.wait().ok());
  EXPECT_TRUE(second.wait().ok());
}

TEST_F(UnitTest, IsDegradedAfterItsDeviceFailedUntilItIsReset) {
  faults().release();
  faults().fail_nth(1);
  Unit unit = make_unit();
  EXPECT_EQ(unit.execute(model_, memory_.args()).code(), StatusCode::kDeviceFailed);
  EXPECT_EQ(unit.state(), UnitState::kDegraded);
  EXPECT_FALSE(unit.failure().ok());
  EXPECT_EQ(unit.submit(model_, memory_.args()).status().code(), StatusCode::kUnitDegraded);
  const uint32_t generation = unit.generation();
  ASSERT_TRUE(unit.reset().ok());
  EXPECT_GT(unit.generation(), generation);
  EXPECT_EQ(unit.state(), UnitState::kHealthy);
  EXPECT_TRUE(unit.failure().ok());
  EXPECT_TRUE(unit.execute(model_, memory_.args()).ok());
}

TEST_F(UnitTest, GivesUpAJobThatHangsAndGoesOn) {
  faults().release();
  faults().hang_nth(1);
  Unit unit = make_unit({.watchdog = std::chrono::milliseconds(500), .auto_reset = true});
  Job hung = submit(unit), next = submit(unit);
  const Status status = hung.wait();
  EXPECT_EQ(status.code(), StatusCode::kHung);
  EXPECT_THAT(status.message(), HasSubstr("model \"tiny\""));
  EXPECT_THAT(status.message(), HasSubstr("partition 0"));
  EXPECT_TRUE(next.wait().ok());
  EXPECT_GE(unit.generation(), 1u);
  faults().end_hangs();
}

TEST_F(UnitTest, TheReportOfAJobThatHangsNamesItsPartition) {
  const Model model = load_tiny(device_, {.cpu_partition = true});
  const JobMemory memory(model);
  faults().hold_at(1);
  Unit unit = make_unit({.watchdog = std::chrono::milliseconds(500)});
  Job hung = unit.submit(model, memory.args()).value();
  EXPECT_THAT(hung.wait().message(), HasSubstr("partition 1 (CPU) of model \"tiny\""));
  faults().release();
}

TEST_F(UnitTest, AJobIsCancelledWhereItsNextPartitionBegins) {
  const Model model = load_tiny(device_, {.cpu_partition = true});
  const JobMemory memory(model);
  faults().hold_at(2);
  Unit unit = make_unit();
  Job job = unit.submit(model, memory.args()).value();
  faults().await_holds(1);
  ASSERT_TRUE(job.cancel(kForever).ok());
  EXPECT_EQ(job.wait().code(), StatusCode::kCancelled);
}

}  // namespace
}  // namespace millrace::test
