// SharedLoop: every iteration runs once, lanes take part, and the caller never waits for a busy
// one.
#include "queue/lanes/shared_loop.h"

#include <gmock/gmock.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/queue/function_task.h"
#include "tests/support/gate.h"

namespace millrace::queue {
namespace {

using ::testing::Each;

std::unique_ptr<SharedLoop> make_loop(Lanes& lanes) {
  Result<std::unique_ptr<SharedLoop>> loop = SharedLoop::create(lanes);
  EXPECT_TRUE(loop.ok()) << loop.status().to_string();
  return *std::move(loop);
}

// How often each iteration of a loop ran.
std::vector<int> counts_of(SharedLoop& loop, uint32_t count) {
  std::vector<int> counts(count);
  loop.run(count, [&](uint32_t first, uint32_t last) {
    for (uint32_t i = first; i < last; ++i) ++counts[i];  // a data race where two overlap
  });
  return counts;
}

TEST(SharedLoop, RunsEveryIterationOnce) {
  for (const uint32_t lane_count : {1u, 2u, 4u}) {
    Lanes lanes({.count = lane_count});
    const auto loop = make_loop(lanes);
    for (const uint32_t count : {0u, 1u, 2u, 7u, 224u, 1000u})
      EXPECT_THAT(counts_of(*loop, count), Each(1)) << count << " on " << lane_count << " lanes";
  }
}

TEST(SharedLoop, RunsAgainAndAgain) {
  Lanes lanes({.count = 3});
  const auto loop = make_loop(lanes);
  for (int i = 0; i < 2000; ++i) ASSERT_THAT(counts_of(*loop, 24), Each(1));
}

// The caller and both other places are inside at the same time, or this does not end.
TEST(SharedLoop, LanesTakePart) {
  Lanes lanes({.count = 3});
  const auto loop = make_loop(lanes);
  test::ReusableBarrier all(3);
  thread_local bool arrived = false;
  arrived = false;
  loop->run(100, [&](uint32_t, uint32_t) {
    if (!std::exchange(arrived, true)) all.arrive_and_wait();
  });
}

TEST(SharedLoop, TheCallerDoesAllWhileLanesAreBusy) {
  Lanes lanes({.count = 2});
  const auto a = make_unit(lanes, 1), b = make_unit(lanes, 1);
  const auto loop = make_loop(lanes);
  test::TaskGate gate;
  for (Unit* unit : {a.get(), b.get()})
    ASSERT_TRUE(submit(*unit, [&](LaneId) {
                  gate.pass();
                  return Status();
                }).ok());
  gate.await_arrivals(2);
  for (int i = 0; i < 3; ++i) EXPECT_THAT(counts_of(*loop, 50), Each(1));
  gate.open();
}

TEST(SharedLoop, RequestsRunWhileLoopsDo) {
  Lanes lanes({.count = 2});
  const auto unit = make_unit(lanes, 4);
  const auto loop = make_loop(lanes);
  for (int i = 0; i < 200; ++i) {
    const auto id = submit(*unit, nothing);
    ASSERT_TRUE(id.ok());
    EXPECT_THAT(counts_of(*loop, 16), Each(1));
    EXPECT_TRUE(unit->wait(*id, kForever).ok());
  }
}

TEST(SharedLoop, ThreadsMayRunLoopsAtTheSameTime) {
  Lanes lanes({.count = 3});
  const auto loop = make_loop(lanes);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) ASSERT_THAT(counts_of(*loop, 30), Each(1));
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(SharedLoop, WhatAPieceThrowsReachesTheCaller) {
  Lanes lanes({.count = 3});
  const auto loop = make_loop(lanes);
  for (const uint32_t wrong : {0u, 50u, 99u})
    EXPECT_THROW(loop->run(100,
                           [&](uint32_t first, uint32_t last) {
                             if (first <= wrong && wrong < last) throw std::runtime_error("wrong");
                           }),
                 std::runtime_error);
  EXPECT_THAT(counts_of(*loop, 100), Each(1)) << "the next loop is a new one";
}

TEST(SharedLoop, ALoopMayEndWhileLanesAreBusy) {
  Lanes lanes({.count = 2});
  const auto unit = make_unit(lanes, 1);
  test::TaskGate gate;
  ASSERT_TRUE(submit(*unit, [&](LaneId) {
                gate.pass();
                return Status();
              }).ok());
  gate.await_arrivals(1);
  for (int i = 0; i < 20; ++i) {
    const auto loop = make_loop(lanes);
    EXPECT_THAT(counts_of(*loop, 10), Each(1));
  }
  gate.open();
}

}  // namespace
}  // namespace millrace::queue
