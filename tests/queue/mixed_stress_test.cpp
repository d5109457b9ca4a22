// Everything at once: submits, cancels, deadlines, waits and hung requests from several threads.
// Every request completes exactly once, and every waiting thread is woken.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

#include "queue/units/unit.h"
#include "tests/queue/function_task.h"
#include "tests/support/gate.h"

namespace millrace::queue {
namespace {

using namespace std::chrono_literals;

constexpr int kThreads = 4;
constexpr int kRounds = 4000;

// How often each request completed and was called back.
class CompletionCounts {
 public:
  void completed(const Completion& completion) {
    const std::lock_guard lock(mutex_);
    ++times_[completion.sequence];
    ++by_code_[static_cast<size_t>(completion.status.code())];
  }
  void called(SequenceId id) {
    const std::lock_guard lock(mutex_);
    ++calls_[id];
  }
  void expect_each_once(size_t submitted, size_t with_callback) {
    EXPECT_EQ(times_.size(), submitted);
    EXPECT_EQ(calls_.size(), with_callback);
    for (const auto& [id, times] : times_) ASSERT_EQ(times, 1) << id;
    for (const auto& [id, times] : calls_) ASSERT_EQ(times, 1) << id;
  }
  size_t count(StatusCode code) {
    const std::lock_guard lock(mutex_);
    return by_code_[static_cast<size_t>(code)];
  }

 private:
  std::mutex mutex_;
  std::unordered_map<SequenceId, int> times_, calls_;
  std::array<size_t, 64> by_code_{};
};

struct Policy {
  WhenFull when_full;
  CallbackOrder order;
};

class MixedStress : public ::testing::TestWithParam<Policy> {};

TEST_P(MixedStress, EveryRequestCompletesOnce) {
  CompletionCounts counts;
  std::atomic<size_t> submitted{0}, with_callback{0};
  {
    Lanes lanes({.count = 2});
    UnitOptions options =
        function_unit(4, [&](const Completion& completion) { counts.completed(completion); });
    options.when_full = GetParam().when_full;
    options.callback_order = GetParam().order;
    const auto unit = make_unit(lanes, std::move(options));
    const auto other = make_unit(lanes, 1);
    const auto work = [&](unsigned seed) {
      std::mt19937 random(seed);
      const auto one_in = [&](unsigned n) { return random() % n == 0; };
      for (int round = 0; round < kRounds; ++round) {
        Callback callback;
        if (one_in(3)) callback = [&](SequenceId id, const Status&) { counts.called(id); };
        const bool calls = static_cast<bool>(callback);
        Deadline deadline = kNoDeadline;
        if (one_in(4)) deadline = std::chrono::steady_clock::now() + random() % 50 * 1us;
        const bool slow = one_in(16);
        const Result<SequenceId> id = submit(
            *unit,
            [slow](RunControl& control) {
              for (int i = 0; slow && i < 100; ++i) {
                control.begin_step(static_cast<uint32_t>(i));
                if (control.stop_requested()) return control.stop_status();
                std::this_thread::yield();
              }
              return Status();
            },
            std::move(callback), deadline);
        if (!id.ok()) continue;
        ++submitted;
        if (calls) ++with_callback;
        if (one_in(3)) {
          EXPECT_TRUE(unit->cancel(*id, kForever).ok());
        }
        if (one_in(3)) {
          EXPECT_NE(unit->wait(*id, kForever).code(), StatusCode::kPending);
        }
        if (one_in(5)) (void)submit(*other, nothing);
        EXPECT_LE(unit->in_flight(), unit->depth());
      }
    };
    std::vector<std::thread> threads;
    for (unsigned seed = 0; seed < kThreads; ++seed) threads.emplace_back(work, seed);
    for (std::thread& thread : threads) thread.join();
    // Every place comes back, and the sequence passes whatever was removed.
    EXPECT_TRUE(unit->wait_free(unit->depth(), kForever).ok());
    while (unit->last_completed() != unit->last_submitted()) std::this_thread::yield();
    EXPECT_EQ(unit->in_flight(), 0u);
  }
  counts.expect_each_once(submitted, with_callback);
  EXPECT_GT(counts.count(StatusCode::kOk), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Policies, MixedStress,
    ::testing::Values(Policy{WhenFull::kFail, CallbackOrder::kSubmission},
                      Policy{WhenFull::kBlock, CallbackOrder::kCompletion},
                      Policy{WhenFull::kDropOldest, CallbackOrder::kSubmission},
                      Policy{WhenFull::kShedByDeadline, CallbackOrder::kCompletion}));

// Requests hang now and then, and come back late; the unit resets itself each time.
TEST(MixedStressRecovery, HungRequestsLoseNothing) {
  CompletionCounts counts;
  size_t submitted = 0;
  std::vector<SequenceId> hung;
  test::TaskGate gate;
  {
    Lanes lanes({.count = 1});
    UnitOptions options =
        function_unit(8, [&](const Completion& completion) { counts.completed(completion); });
    options.watchdog = 400ms;  // more than a loaded machine keeps a thread waiting
    options.auto_reset = true;
    const auto unit = make_unit(lanes, std::move(options));
    for (int i = 0; i < 20; ++i) {
      const bool hangs = i % 7 == 3;
      const Result<SequenceId> id =
          unit->submit_until(kNoDeadline, fill_with([&gate, hangs](RunControl&) {
                               if (hangs) gate.pass();
                               return Status();
                             }));
      ASSERT_TRUE(id.ok()) << id.status().to_string();
      ++submitted;
      if (hangs) hung.push_back(*id);
    }
    ASSERT_TRUE(unit->wait_free(unit->depth(), kForever).ok());
    for (const SequenceId id : hung) EXPECT_EQ(unit->wait(id, kForever).code(), StatusCode::kHung);
    EXPECT_EQ(unit->state(), UnitState::kHealthy);
    EXPECT_EQ(unit->generation(), hung.size());
    EXPECT_EQ(lanes.quarantined(), hung.size());
    EXPECT_EQ(lanes.count(), 1u);
    gate.open();
    while (lanes.quarantined() != 0) std::this_thread::yield();
  }
  counts.expect_each_once(submitted, 0);
  EXPECT_EQ(counts.count(StatusCode::kOk), submitted - hung.size());
}

}  // namespace
}  // namespace millrace::queue
