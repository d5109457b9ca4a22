#include "runtime/jobs/job_table.h"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <string_view>
#include <vector>

#include "base/hooks.h"
#include "base/log.h"

namespace millrace::runtime {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kPoll{0};
constexpr nanoseconds kForever = std::chrono::minutes(5);

Job* issue(JobTable& table) {
  Job* const job = table.reserve();
  table.issue(job);
  return job;
}

void complete(JobTable& table, Job* job, const queue::Completion& completion) {
  if (table.publish(job, completion)) JobTable::log_dropped();
}

TEST(JobTable, IdsStartAtOneWithoutGaps) {
  JobTable table;
  for (SessionJobId expected = 1; expected <= 1000; ++expected)
    EXPECT_EQ(issue(table)->id, expected);
}

TEST(JobTable, IdsWrapWithoutZero) {
  JobTable table(10, {.first = 0xffffffffu});
  EXPECT_EQ(issue(table)->id, 0xffffffffu);
  EXPECT_EQ(issue(table)->id, 1u);
}

TEST(JobTable, IdsOfTwoTablesAreNeverEqual) {
  JobTable even(10, {.first = 0x7ffffffeu, .step = 2}), odd(10, {.first = 1, .step = 2});
  EXPECT_EQ(issue(even)->id, 0x7ffffffeu);
  EXPECT_EQ(issue(even)->id, 0x80000000u);
  EXPECT_EQ(issue(odd)->id, 1u);
  EXPECT_EQ(issue(odd)->id, 3u);
}

TEST(JobTable, OddAndEvenIdsWrapWithoutZero) {
  JobTable even(10, {.first = 0xfffffffeu, .step = 2}), odd(10, {.first = 0xffffffffu, .step = 2});
  EXPECT_EQ(issue(even)->id, 0xfffffffeu);
  EXPECT_EQ(issue(even)->id, 2u);
  EXPECT_EQ(issue(odd)->id, 0xffffffffu);
  EXPECT_EQ(issue(odd)->id, 1u);
}

TEST(JobTable, AfterAWrapIdsStillInUseAreLeftOut) {
  JobTable table(10);
  issue(table);
  JobTable wrapped(10, {.first = 0xffffffffu});
  Job* last = issue(wrapped);   // 0xffffffff
  Job* first = issue(wrapped);  // 1
  complete(wrapped, first, {});
  ASSERT_TRUE(wrapped.wait(1, kPoll).ok());
  EXPECT_EQ(last->id, 0xffffffffu);
  EXPECT_EQ(issue(wrapped)->id, 2u);
}

TEST(JobTable, KeepsOnlyTheLastUncollectedResults) {
  JobTable table(3);
  std::vector<SessionJobId> ids;
  for (int i = 0; i < 5; ++i) {
    Job* job = issue(table);
    ids.push_back(job->id);
    complete(table, job, {});
  }
  EXPECT_EQ(table.wait(ids[0], kPoll).code(), StatusCode::kInvalidJobId);
  EXPECT_EQ(table.wait(ids[1], kPoll).code(), StatusCode::kInvalidJobId);
  for (int i = 2; i < 5; ++i) EXPECT_TRUE(table.wait(ids[i], kPoll).ok()) << i;
}

TEST(JobTable, SaysOnceThatResultsAreDropped) {
  std::vector<std::string> lines;
  set_log_sink(
      [&](LogLevel, std::string_view, std::string_view line) { lines.emplace_back(line); });
  JobTable table(1);
  for (int i = 0; i < 5; ++i) complete(table, issue(table), {});
  set_log_sink({});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("not collected"), std::string::npos) << lines[0];
}

TEST(JobTable, CollectedResultsMakeRoom) {
  JobTable table(2);
  Job* kept = issue(table);
  const SessionJobId kept_id = kept->id;
  complete(table, kept, {0, internal_error("kept")});
  for (int i = 0; i < 100; ++i) {
    Job* job = issue(table);
    const SessionJobId id = job->id;
    complete(table, job, {});
    ASSERT_TRUE(table.wait(id, kPoll).ok());
  }
  EXPECT_EQ(table.wait(kept_id, kPoll).code(), StatusCode::kInternal);
}

TEST(JobTable, PendingJobsAreNeverDropped) {
  JobTable table(2);
  Job* pending = issue(table);
  const SessionJobId id = pending->id;
  for (int i = 0; i < 100; ++i) complete(table, issue(table), {});
  EXPECT_EQ(table.wait(id, kPoll).code(), StatusCode::kPending);
  complete(table, pending, {});
  EXPECT_TRUE(table.wait(id, kPoll).ok());
}

TEST(JobTable, AnEntryThatIsReservedAndReleasedLeavesNoGapInTheIds) {
  JobTable table;
  Job* const reserved = table.reserve();
  EXPECT_EQ(issue(table)->id, 1u);
  table.release(reserved);
  EXPECT_EQ(table.wait(2, kPoll).code(), StatusCode::kInvalidJobId);
  Job* const job = issue(table);
  EXPECT_EQ(job, reserved) << "the entry is used again";
  EXPECT_EQ(job->id, 2u);
  complete(table, job, {});
  EXPECT_TRUE(table.wait(2, kPoll).ok());
}

TEST(JobTable, KeepsTheFullNumberOfResultsByDefault) {
  JobTable table;
  const SessionJobId first = issue(table)->id;
  EXPECT_EQ(table.wait(first, kPoll).code(), StatusCode::kPending);
  std::vector<SessionJobId> ids;
  for (size_t i = 0; i < JobTable::kMaxUncollected + 1; ++i) {
    Job* job = issue(table);
    ids.push_back(job->id);
    complete(table, job, {});
  }
  EXPECT_EQ(table.wait(ids.front(), kPoll).code(), StatusCode::kInvalidJobId);
  EXPECT_TRUE(table.wait(ids[1], kPoll).ok());
  EXPECT_TRUE(table.wait(ids.back(), kPoll).ok());
}

TEST(JobTable, ReportsWhoseResultWasCollected) {
  std::vector<HookEvent> seen;
  const HookFunction record = [](void* observer, const HookEvent& event) noexcept {
    static_cast<std::vector<HookEvent>*>(observer)->push_back(event);
  };
  JobTable table;
  Job* job = issue(table);
  const SessionJobId id = job->id;
  complete(table, job, {4711, internal_error("no")});
  ASSERT_TRUE(add_hook(record, &seen));
  EXPECT_EQ(table.wait(id, kPoll).code(), StatusCode::kInternal);
  remove_hook(record, &seen);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].point, HookPoint::kWaitBegan);
  EXPECT_EQ(seen[0].subject, 4711u);
  EXPECT_EQ(seen[1].point, HookPoint::kWaited);
  EXPECT_EQ(seen[1].subject, 4711u);
  EXPECT_EQ(seen[1].detail, static_cast<uint64_t>(StatusCode::kInternal));
}

TEST(JobTable, ReportsAnUnsuccessfulWait) {
  std::vector<HookEvent> seen;
  const HookFunction record = [](void* observer, const HookEvent& event) noexcept {
    static_cast<std::vector<HookEvent>*>(observer)->push_back(event);
  };
  JobTable table;
  const SessionJobId id = issue(table)->id;
  table.note_sequence(id, 4711);
  ASSERT_TRUE(add_hook(record, &seen));
  EXPECT_EQ(table.wait(id, kPoll).code(), StatusCode::kPending);
  EXPECT_EQ(table.wait(id, std::chrono::milliseconds(1)).code(), StatusCode::kPending);
  remove_hook(record, &seen);
  ASSERT_EQ(seen.size(), 4u);
  for (size_t wait = 0; wait < 2; ++wait) {
    EXPECT_EQ(seen[2 * wait].point, HookPoint::kWaitBegan);
    const HookEvent& ended = seen[2 * wait + 1];
    EXPECT_EQ(ended.point, HookPoint::kWaited);
    EXPECT_EQ(ended.subject, 4711u);
    EXPECT_EQ(ended.detail, static_cast<uint64_t>(StatusCode::kPending));
  }
}

TEST(JobTable, WakesAWaiterOfAnotherThread) {
  JobTable table;
  Job* job = issue(table);
  const SessionJobId id = job->id;
  std::future<Status> waiter =
      std::async(std::launch::async, [&] { return table.wait(id, kForever); });
  complete(table, job, {0, internal_error("late")});
  EXPECT_EQ(waiter.get().code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace millrace::runtime
