// The meaning of the events of a recording.
#include "timeline/timeline.h"

#include <gmock/gmock.h>

#include <vector>

#include "base/polls.h"

namespace millrace::timeline {
namespace {

using queue::sequence_of;

constexpr ThreadId kHost = 10, kLane = 20, kMover = 30;
constexpr uint16_t kUnit = 3;

// Makes recordings whose events have the times 100, 101 and so on.
class Events {
 public:
  Events& add(HookPoint point, uint64_t subject, ThreadId thread, uint64_t detail = 0) {
    recording_.events.push_back({.time_ns = 100 + static_cast<int64_t>(recording_.events.size()),
                                 .subject = subject,
                                 .detail = detail,
                                 .thread = thread,
                                 .point = point});
    return *this;
  }
  Events& submit(uint64_t job, uint16_t unit = kUnit) {
    return add(HookPoint::kSubmitted, sequence_of(unit, job), kHost);
  }
  Events& start(uint64_t job, queue::LaneId lane = 0, uint16_t unit = kUnit,
                ThreadId thread = kLane) {
    return add(HookPoint::kStarted, sequence_of(unit, job), thread, lane);
  }
  Events& complete(uint64_t job, StatusCode status = StatusCode::kOk, uint16_t unit = kUnit) {
    return add(HookPoint::kCompleted, sequence_of(unit, job), kLane, static_cast<uint64_t>(status));
  }

  Timeline timeline(uint64_t dropped = 0) {
    recording_.dropped = dropped;
    recording_.begin_ns = 50;
    recording_.end_ns = 1000;
    recording_.threads = {{kHost, "host"}, {kLane, "millrace-lane"}, {kMover, "millrace-mover"}};
    recording_.units = {{9, "mover"}};
    return timeline_of(recording_);
  }

 private:
  Recording recording_;
};

TEST(Timeline, JobHasItsTimesThreadsLaneAndStatus) {
  const Timeline timeline =
      Events().submit(1).start(1, 4).complete(1, StatusCode::kDeviceFailed).timeline();
  ASSERT_EQ(timeline.jobs.size(), 1u);
  const Job& job = timeline.jobs[0];
  EXPECT_EQ(job.id, sequence_of(kUnit, 1));
  EXPECT_EQ(job.submitted_ns, 100);
  EXPECT_EQ(job.started_ns, 101);
  EXPECT_EQ(job.completed_ns, 102);
  EXPECT_EQ(job.submitter, kHost);
  EXPECT_EQ(job.runner, kLane);
  EXPECT_EQ(job.lane, 4u);
  EXPECT_EQ(job.status, StatusCode::kDeviceFailed);
  EXPECT_EQ(timeline.rows.at(job.row).name, "lane 4");
}

TEST(Timeline, RemovedJobNeverStarted) {
  const Timeline timeline = Events().submit(1).complete(1, StatusCode::kCancelled).timeline();
  ASSERT_EQ(timeline.jobs.size(), 1u);
  EXPECT_FALSE(timeline.jobs[0].started());
  EXPECT_TRUE(timeline.jobs[0].completed());
  EXPECT_EQ(timeline.jobs[0].status, StatusCode::kCancelled);
  EXPECT_TRUE(timeline.rows.empty());
}

TEST(Timeline, RunningJobIsPending) {
  const Timeline timeline = Events().submit(1).start(1).timeline();
  ASSERT_EQ(timeline.jobs.size(), 1u);
  EXPECT_FALSE(timeline.jobs[0].completed());
  EXPECT_EQ(timeline.jobs[0].status, StatusCode::kPending);
}

TEST(Timeline, JobWhoseSubmitWasDroppedIsKept) {
  const Timeline timeline = Events().start(1).complete(1).timeline();
  ASSERT_EQ(timeline.jobs.size(), 1u);
  EXPECT_EQ(timeline.jobs[0].submitted_ns, 0);
  EXPECT_EQ(timeline.jobs[0].status, StatusCode::kOk);
}

TEST(Timeline, JobWhoseStartWasDroppedIsNoneThatNeverRan) {
  const Timeline whole = Events().submit(1).complete(1).timeline();
  EXPECT_FALSE(whole.jobs.at(0).start_lost);
  const Timeline lossy = Events().submit(1).complete(1).submit(2).complete(2).timeline(5);
  EXPECT_TRUE(lossy.jobs.at(0).start_lost);
  EXPECT_FALSE(lossy.jobs.at(1).start_lost) << "its thread has the events since its submit";
}

TEST(Timeline, LaterUnitMayHaveTheSameIds) {
  const Timeline timeline =
      Events().submit(1).start(1).complete(1).submit(1).start(1).complete(1).timeline();
  ASSERT_EQ(timeline.jobs.size(), 2u);
  EXPECT_EQ(timeline.jobs[0].completed_ns, 102);
  EXPECT_EQ(timeline.jobs[1].submitted_ns, 103);
}

TEST(Timeline, RunsOfOneRowDoNotOverlap) {
  // Lanes of two devices have the same number.
  const Timeline timeline = Events()
                                .submit(1)
                                .start(1, 0)
                                .submit(1, 4)
                                .start(1, 0, 4)
                                .complete(1)
                                .complete(1, StatusCode::kOk, 4)
                                .submit(2)
                                .start(2, 0)
                                .complete(2)
                                .timeline();
  ASSERT_EQ(timeline.rows.size(), 2u);
  EXPECT_EQ(timeline.rows[0].name, "lane 0");
  EXPECT_EQ(timeline.rows[1].name, "lane 0 (2)");
  EXPECT_EQ(timeline.jobs[0].row, 0u);
  EXPECT_EQ(timeline.jobs[1].row, 1u);
  EXPECT_EQ(timeline.jobs[2].row, 0u);
}

TEST(Timeline, UnitWithAThreadOfItsOwnHasARowOfItsOwn) {
  const Timeline timeline =
      Events().submit(1, 9).start(1, 0, 9, kMover).complete(1, StatusCode::kOk, 9).timeline();
  ASSERT_EQ(timeline.rows.size(), 1u);
  EXPECT_EQ(timeline.rows[0].name, "unit 9, mover");
  EXPECT_EQ(name_of_unit(timeline, 4), "unit 4");
}

TEST(Timeline, PhasesFollowEachOtherUntilTheJobEnds) {
  const uint64_t job = sequence_of(kUnit, 1);
  const Timeline timeline = Events()
                                .submit(1)
                                .start(1)
                                .add(HookPoint::kPhaseBegan, job, kLane, name_id("first"))
                                .add(HookPoint::kPhaseBegan, job, kLane, name_id("second"))
                                .complete(1)
                                .timeline();
  const std::vector<Phase>& phases = timeline.jobs.at(0).phases;
  ASSERT_EQ(phases.size(), 2u);
  EXPECT_EQ(name_with(phases[0].name), "first");
  EXPECT_EQ(phases[0].begin_ns, 102);
  EXPECT_EQ(phases[0].end_ns, 103);
  EXPECT_EQ(name_with(phases[1].name), "second");
  EXPECT_EQ(phases[1].end_ns, timeline.jobs[0].completed_ns);
}

TEST(Timeline, WaitsAndCallbacksAreOfTheirThreads) {
  const uint64_t job = sequence_of(kUnit, 1);
  const Timeline timeline =
      Events()
          .add(HookPoint::kWaitBegan, job, kHost)
          .add(HookPoint::kCallbackBegan, 5, kLane)
          .add(HookPoint::kWaited, job, kHost, static_cast<uint64_t>(StatusCode::kHung))
          .add(HookPoint::kCallbackEnded, 5, kLane)
          .timeline();
  ASSERT_EQ(timeline.host.size(), 2u);
  EXPECT_EQ(timeline.host[0].work, HostWork::kWait);
  EXPECT_EQ(timeline.host[0].thread, kHost);
  EXPECT_EQ(timeline.host[0].begin_ns, 100);
  EXPECT_EQ(timeline.host[0].end_ns, 102);
  EXPECT_EQ(timeline.host[0].status, StatusCode::kHung);
  EXPECT_EQ(timeline.host[1].work, HostWork::kCallback);
  EXPECT_EQ(timeline.host[1].thread, kLane);
  EXPECT_EQ(timeline.host[1].subject, 5u);
}

TEST(Timeline, PollsAreNoWaitsInACall) {
  const uint64_t job = sequence_of(kUnit, 1);
  const Timeline timeline = Events()
                                .add(HookPoint::kWaitBegan, job, kHost, kPolled)
                                .submit(2)
                                .add(HookPoint::kWaited, job, kHost, kPolled)
                                .timeline();
  ASSERT_EQ(timeline.host.size(), 1u);
  EXPECT_EQ(timeline.host[0].work, HostWork::kPoll);
  EXPECT_EQ(timeline.host[0].begin_ns, 100);
  EXPECT_EQ(timeline.host[0].end_ns, 102);
  EXPECT_EQ(timeline.host[0].status, StatusCode::kOk);
}

TEST(Timeline, ExchangeIsOfTheJobThatItsThreadRuns) {
  const ExchangeId inside = named_number(name_id("all_reduce\nrank 1 of 0, 1"), 1);
  const ExchangeId alone = named_number(name_id("barrier\nrank 1 of 0, 1"), 2);
  const ExchangeId lost = named_number(0, 3);
  const Timeline timeline = Events()
                                .submit(1)
                                .start(1)
                                .add(HookPoint::kExchangeBegan, inside, kLane, 4096)
                                .add(HookPoint::kExchangeBegan, alone, kHost)
                                .add(HookPoint::kExchangeEnded, lost, kLane)
                                .add(HookPoint::kExchangeEnded, inside, kLane,
                                     static_cast<uint64_t>(StatusCode::kIoError))
                                .complete(1)
                                .timeline();
  ASSERT_EQ(timeline.exchanges.size(), 2u) << "one without a beginning is not shown";
  EXPECT_EQ(timeline.exchanges[0].bytes, 4096u);
  EXPECT_EQ(timeline.exchanges[0].job, sequence_of(kUnit, 1));
  EXPECT_EQ(timeline.exchanges[0].begin_ns, 102);
  EXPECT_EQ(timeline.exchanges[0].end_ns, 105);
  EXPECT_EQ(timeline.exchanges[0].status, StatusCode::kIoError);
  EXPECT_EQ(timeline.exchanges[1].job, 0u);
  EXPECT_EQ(timeline.exchanges[1].end_ns, 0) << "it still goes on";
  EXPECT_EQ(timeline.exchanges[1].status, StatusCode::kPending);
}

TEST(Timeline, OtherEventsAreMarks) {
  const Timeline timeline = Events().add(HookPoint::kInjected, 1, kLane, 6).timeline();
  ASSERT_EQ(timeline.marks.size(), 1u);
  EXPECT_EQ(timeline.marks[0].detail, 6u);
}

}  // namespace
}  // namespace millrace::timeline
