#include "base/hooks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace millrace {
namespace {

void record(void* observer, const HookEvent& event) noexcept {
  static_cast<std::vector<HookEvent>*>(observer)->push_back(event);
}

TEST(Hooks, ObserverSeesEventsUntilRemoved) {
  std::vector<HookEvent> seen;
  ASSERT_TRUE(add_hook(record, &seen));
  emit(HookPoint::kSubmitted, 7, 1);
  remove_hook(record, &seen);
  emit(HookPoint::kSubmitted, 8);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].subject, 7u);
  EXPECT_EQ(seen[0].detail, 1u);
  EXPECT_GT(seen[0].time_ns, 0);
}

TEST(Hooks, ObserverReceivesTheJobsThatItHasNotThinnedOut) {
  std::vector<HookEvent> thinned, all;
  ASSERT_TRUE(add_hook(record, &thinned));
  ASSERT_TRUE(thin_out_hook(record, &thinned, 3));
  for (uint64_t job = 1; job <= 8; ++job) emit(HookPoint::kStarted, job);
  EXPECT_FALSE(hooks_observe(5));
  EXPECT_TRUE(hooks_observe(7));
  ASSERT_TRUE(add_hook(record, &all));
  EXPECT_TRUE(hooks_observe(5)) << "for the other observer";
  emit(HookPoint::kStarted, 9);
  remove_hook(record, &all);
  emit(HookPoint::kStarted, 10);
  remove_hook(record, &thinned);
  EXPECT_FALSE(hooks_observed());
  ASSERT_EQ(thinned.size(), 2u);
  EXPECT_EQ(thinned[0].subject, 3u);
  EXPECT_EQ(thinned[1].subject, 7u);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].subject, 9u);
}

TEST(Hooks, FailuresAndFaultsReachEveryObserver) {
  std::vector<HookEvent> seen;
  ASSERT_TRUE(add_hook(record, &seen));
  ASSERT_TRUE(thin_out_hook(record, &seen, ~uint64_t{0}));
  emit_surely(HookPoint::kCompleted, 2, 1);
  emit(HookPoint::kInjected, 2, 1);
  emit(HookPoint::kCompleted, 4);
  remove_hook(record, &seen);
  EXPECT_EQ(seen.size(), 2u);
}

TEST(Hooks, RemovedObserverIsNotCalledAnyMore) {
  struct Observer {
    std::atomic<bool> removed{false}, called_late{false};
  };
  const auto note = [](void* object, const HookEvent&) noexcept {
    auto& observer = *static_cast<Observer*>(object);
    if (observer.removed.load()) observer.called_late.store(true);
  };
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      while (!ends.load()) emit(HookPoint::kStarted, 1);
    });
  std::vector<std::unique_ptr<Observer>> observers;
  for (int i = 0; i < 300; ++i) {
    Observer& observer = *observers.emplace_back(std::make_unique<Observer>());
    ASSERT_TRUE(add_hook(note, &observer));
    remove_hook(note, &observer);
    observer.removed.store(true);
  }
  ends.store(true);
  for (std::thread& thread : threads) thread.join();
  for (const auto& observer : observers) EXPECT_FALSE(observer->called_late.load());
}

TEST(Hooks, FullTableRefuses) {
  std::vector<std::vector<HookEvent>> observers(9);
  for (size_t i = 0; i < 8; ++i) EXPECT_TRUE(add_hook(record, &observers[i]));
  EXPECT_FALSE(add_hook(record, &observers[8]));
  for (size_t i = 0; i < 8; ++i) remove_hook(record, &observers[i]);
}

}  // namespace
}  // namespace millrace
