// The recorder: what it keeps of the hooks' events, thread by thread.
#include "timeline/recorder.h"

#include <gmock/gmock.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace millrace::timeline {
namespace {

class Recorded : public testing::Test {
 protected:
  ~Recorded() override {
    if (is_recording()) stop_recording();
  }

  static void emit_some(uint64_t first, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) emit(HookPoint::kBufferMade, first + i, 7);
  }
};

TEST_F(Recorded, HoldsTheEventsBetweenStartAndStop) {
  emit_some(1, 1);
  ASSERT_TRUE(start_recording().ok());
  emit_some(2, 3);
  stop_recording();
  emit_some(5, 1);
  const Recording recording = current_recording();
  ASSERT_EQ(recording.events.size(), 3u);
  EXPECT_EQ(recording.dropped, 0u);
  const Event& first = recording.events.front();
  EXPECT_EQ(first.subject, 2u);
  EXPECT_EQ(first.detail, 7u);
  EXPECT_EQ(first.point, HookPoint::kBufferMade);
  EXPECT_EQ(first.thread, static_cast<ThreadId>(::gettid()));
  EXPECT_GE(first.time_ns, recording.begin_ns);
  EXPECT_LE(recording.events.back().time_ns, recording.end_ns);
}

TEST_F(Recorded, BeginsAnewWithEachStart) {
  ASSERT_TRUE(start_recording().ok());
  emit_some(1, 3);
  stop_recording();
  ASSERT_TRUE(start_recording().ok());
  emit_some(4, 1);
  stop_recording();
  const Recording recording = current_recording();
  ASSERT_EQ(recording.events.size(), 1u);
  EXPECT_EQ(recording.events[0].subject, 4u);
}

TEST_F(Recorded, RefusesTwoRecordingsAtATime) {
  ASSERT_TRUE(start_recording().ok());
  EXPECT_EQ(start_recording().code(), StatusCode::kInvalidArgument);
}

TEST_F(Recorded, MergesThreadsByTime) {
  ASSERT_TRUE(start_recording().ok());
  constexpr uint64_t kEach = 500;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 3; ++t)
    threads.emplace_back([t] {
      pthread_setname_np(pthread_self(), "emitter");
      emit_some(t * kEach, kEach);
    });
  for (std::thread& thread : threads) thread.join();
  stop_recording();
  const Recording recording = current_recording();
  EXPECT_EQ(recording.events.size(), 3 * kEach);
  EXPECT_EQ(recording.dropped, 0u);
  EXPECT_TRUE(std::ranges::is_sorted(recording.events, {}, &Event::time_ns));
  for (const Event& event : recording.events)
    EXPECT_EQ(recording.threads.at(event.thread), "emitter");
}

TEST_F(Recorded, KeepsTheLastEventsAndCountsTheOthers) {
  ASSERT_TRUE(start_recording(16).ok());
  // A thread of its own gets a new ring.
  constexpr uint64_t kEvents = 100;
  std::thread([] { emit_some(0, kEvents); }).join();
  stop_recording();
  const Recording recording = current_recording();
  EXPECT_EQ(recording.events.size(), 15u);
  EXPECT_EQ(recording.dropped, kEvents - 15);
  EXPECT_EQ(recording.events.back().subject, kEvents - 1);
}

TEST_F(Recorded, HoldsTheEventsOfManyThreadsThatHaveEnded) {
  ASSERT_TRUE(start_recording().ok());
  constexpr uint64_t kThreads = 1500;  // more than there can be rings
  for (uint64_t t = 0; t < kThreads; ++t) std::thread([t] { emit_some(t, 1); }).join();
  stop_recording();
  const Recording recording = current_recording();
  ASSERT_EQ(recording.events.size(), kThreads);
  for (uint64_t t = 0; t < kThreads; ++t) EXPECT_EQ(recording.events[t].subject, t);
}

// Jobs that come faster than a thread may record them: some are kept, whole.
TEST_F(Recorded, KeepsWholeJobsOfThoseThatComeFast) {
  ASSERT_TRUE(start_recording(kUsualRoom, Detail::kAffordable).ok());
  constexpr uint64_t kJobs = 20'000;
  const int64_t begin_ns = now_ns();
  for (uint64_t job = 1; job <= kJobs; ++job) {
    emit(HookPoint::kStarted, job, 0);
    emit(HookPoint::kBufferSynced, job);
    emit(HookPoint::kCompleted, job, 0);
  }
  // Events that are this slow, as with a sanitizer, are all within what a thread may record.
  constexpr int64_t kFastNs = 1'000;  // for each event
  const bool are_fast = now_ns() - begin_ns < static_cast<int64_t>(3 * kJobs) * kFastNs;
  emit_surely(HookPoint::kCompleted, kJobs + 2, 1);
  stop_recording();
  const Recording recording = current_recording();
  if (are_fast) {
    EXPECT_LT(recording.events.size(), kJobs) << "fewer than all";
  }
  EXPECT_GT(recording.events.size(), 100u);
  EXPECT_EQ(recording.events.back().subject, kJobs + 2) << "failures are kept";
  std::map<uint64_t, int> started, completed;
  for (const Event& event : recording.events) {
    EXPECT_NE(event.point, HookPoint::kBufferSynced);
    ++(event.point == HookPoint::kStarted ? started : completed)[event.subject];
  }
  completed.erase(kJobs + 2);
  // The level changes between two events, so a completion may be missing, which is known.
  for (const auto& [job, count] : started)
    if (!completed.contains(job)) {
      EXPECT_TRUE(recording.may_lack(job, recording.begin_ns)) << job;
    }
}

TEST_F(Recorded, KeepsAllJobsThatComeSlowly) {
  ASSERT_TRUE(start_recording(kUsualRoom, Detail::kAffordable).ok());
  for (uint64_t job = 1; job <= 20; ++job) emit(HookPoint::kStarted, job, 0);
  stop_recording();
  const Recording recording = current_recording();
  EXPECT_EQ(recording.events.size(), 20u);
  for (uint64_t job = 1; job <= 20; ++job) EXPECT_FALSE(recording.may_lack(job, 0));
}

// An event after the end of the ring's thread-specific data, as a destructor may cause it.
TEST_F(Recorded, HoldsEventsOfTheEndOfAThread) {
  static pthread_key_t key;
  ASSERT_EQ(pthread_key_create(&key, [](void*) { emit_some(2, 1); }), 0);
  ASSERT_TRUE(start_recording().ok());
  std::thread([] {
    emit_some(1, 1);
    pthread_setspecific(key, &key);
  }).join();
  stop_recording();
  pthread_key_delete(key);
  const Recording recording = current_recording();
  ASSERT_EQ(recording.events.size(), 2u);
  EXPECT_EQ(recording.events[1].subject, 2u);
}

}  // namespace
}  // namespace millrace::timeline
