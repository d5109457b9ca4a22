// The publication point: what is visible when, and the hooks that observers see.
#include <gmock/gmock.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

#include "base/hooks.h"
#include "queue/units/unit.h"
#include "tests/queue/function_task.h"
#include "tests/queue/sleeping_thread.h"
#include "tests/support/gate.h"

namespace millrace::queue {
namespace {

using ::testing::ElementsAre;

TEST(Completion, OutputsAreVisibleToWhoSeesTheSequenceCompleted) {
  Lanes lanes({.count = 1});
  const auto unit = make_unit(lanes, 1);
  int output = 0;  // Not atomic: the sequence orders it.
  for (int i = 1; i <= 1000; ++i) {
    const SequenceId id = *submit(*unit, [&output, i](LaneId) {
      output = i;
      return Status();
    });
    while (!unit->is_completed(id)) std::this_thread::yield();
    ASSERT_EQ(output, i);
  }
}

TEST(Completion, StatusOfAFailureReachesPollerListenerAndCallback) {
  Lanes lanes({.count = 1});
  Status listened;
  Status called;
  UnitOptions options =
      function_unit(1, [&](const Completion& completion) { listened = completion.status; });
  Status waited;
  {
    const auto unit = make_unit(lanes, std::move(options));
    const SequenceId id = *submit(
        *unit, [](LaneId) { return Status(StatusCode::kCorruptData, "why it failed"); },
        [&](SequenceId, const Status& status) { called = status; });
    waited = unit->wait(id, kForever);
  }
  for (const Status& status : {waited, listened, called})
    EXPECT_EQ(status.to_string(), "CORRUPT_DATA: why it failed");
}

TEST(Completion, ListenerSeesTheSequenceAndRunsBeforeWaitersWake) {
  Lanes lanes({.count = 1});
  test::TaskGate in_task;
  test::TaskGate in_listener;
  std::unique_ptr<Unit> unit;
  std::atomic<bool> woken{false};
  std::atomic<bool> woken_before_listener_returned{false};
  UnitOptions options = function_unit(1, [&](const Completion& completion) {
    EXPECT_TRUE(unit->is_completed(completion.sequence));
    EXPECT_EQ(unit->in_flight(), 0u);
    in_listener.pass();
    woken_before_listener_returned = woken.load();
  });
  options.wait_spin = options.wait_spin.zero();
  unit = make_unit(lanes, std::move(options));
  const SequenceId id = *submit(*unit, [&](LaneId) {
    in_task.pass();
    return Status();
  });
  SleepingThread waiter([&] {
    EXPECT_TRUE(unit->wait(id, kForever).ok());
    woken = true;
  });
  waiter.await_sleep();
  in_task.open();
  in_listener.await_arrivals(1);
  // The waiter is parked and was not woken; only by running could it fail this.
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();
  in_listener.open();
  waiter.join();
  EXPECT_FALSE(woken_before_listener_returned);
}

class HookRecorder {
 public:
  HookRecorder() { EXPECT_TRUE(add_hook(record, this)); }
  ~HookRecorder() { remove_hook(record, this); }

  std::vector<std::pair<HookPoint, uint64_t>> of(SequenceId id) {
    const std::lock_guard lock(mutex_);
    std::vector<std::pair<HookPoint, uint64_t>> found;
    for (const HookEvent& event : events_)
      if (event.subject == id) found.emplace_back(event.point, event.detail);
    return found;
  }

 private:
  static void record(void* self, const HookEvent& event) noexcept {
    auto& recorder = *static_cast<HookRecorder*>(self);
    const std::lock_guard lock(recorder.mutex_);
    recorder.events_.push_back(event);
  }

  std::mutex mutex_;
  std::vector<HookEvent> events_;
};

TEST(Completion, RequestThatHasDoneItsWorkSucceedsHoweverLate) {
  using std::chrono::steady_clock;
  Lanes lanes({.count = 1});
  const auto unit = make_unit(lanes, 1);
  bool started = false;
  // Again, with more time, where a loaded machine let the deadline pass before the start.
  for (std::chrono::milliseconds time(5); !started; time *= 2) {
    const Deadline deadline = steady_clock::now() + time;
    const SequenceId id = *submit(
        *unit,
        [&] {
          started = true;
          while (steady_clock::now() <= deadline) std::this_thread::yield();
          return Status();
        },
        {}, deadline);
    const StatusCode code = unit->wait(id, kForever).code();
    EXPECT_EQ(code, started ? StatusCode::kOk : StatusCode::kDeadlineExceeded);
  }
}

TEST(Completion, ObserversSeeTheStepsOfARequestInOrder) {
  const auto code = [](StatusCode value) { return static_cast<uint64_t>(value); };
  HookRecorder recorder;
  Lanes lanes({.count = 1});
  const auto unit = make_unit(lanes, 1);
  test::TaskGate gate;
  const SequenceId id = *submit(*unit, [&](LaneId) {
    gate.pass();
    return Status(StatusCode::kIoError, "x");
  });
  EXPECT_EQ(unit->wait(id, std::chrono::nanoseconds(0)).code(), StatusCode::kPending);
  gate.await_arrivals(1);
  gate.open();
  EXPECT_EQ(unit->wait(id, kForever).code(), StatusCode::kIoError);
  auto events = recorder.of(id);
  const auto begins = [](const auto& event) { return event.first == HookPoint::kWaitBegan; };
  EXPECT_EQ(std::erase_if(events, begins), 2u);
  // Only the order of the first wait and the start is left to chance.
  const auto pending = std::pair{HookPoint::kWaited, code(StatusCode::kPending)};
  const auto found = std::find(events.begin(), events.end(), pending);
  ASSERT_NE(found, events.end());
  events.erase(found);
  EXPECT_THAT(events, ElementsAre(std::pair{HookPoint::kSubmitted, uint64_t{0}},
                                  std::pair{HookPoint::kStarted, uint64_t{0}},
                                  std::pair{HookPoint::kCompleted, code(StatusCode::kIoError)},
                                  std::pair{HookPoint::kWaited, code(StatusCode::kIoError)}));
}

}  // namespace
}  // namespace millrace::queue
