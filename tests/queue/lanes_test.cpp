// Lanes: the number of their threads, which one runs what, and that no ready unit is left waiting.
#include <gmock/gmock.h>

#include <array>
#include <barrier>
#include <filesystem>
#include <thread>
#include <vector>

#include "queue/callbacks/dispatcher.h"
#include "queue/units/unit.h"
#include "tests/queue/function_task.h"
#include "tests/support/gate.h"

namespace millrace::queue {
namespace {

using std::chrono::microseconds;
using ::testing::ElementsAre;

size_t thread_count_now() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

// A joined thread is listed for an instant longer: many equal counts in a row.
size_t thread_count() {
  size_t count = thread_count_now();
  for (int equal = 0; equal < 500; std::this_thread::yield()) {
    const size_t again = thread_count_now();
    equal = again == count ? equal + 1 : 0;
    count = again;
  }
  return count;
}

TEST(Lanes, ThreadsAreLanesDispatcherAndMonitorWhateverTheNumberOfUnits) {
  std::thread([] {}).join();  // Starts what a sanitizer adds.
  const size_t before = thread_count();
  Lanes lanes({.count = 3});
  EXPECT_EQ(lanes.count(), 3u);
  std::vector<std::unique_ptr<Unit>> units;
  for (int i = 0; i < 50; ++i) units.push_back(make_unit(lanes, 2));
  for (const auto& unit : units) ASSERT_TRUE(unit->wait(*submit(*unit, nothing), kForever).ok());
  EXPECT_EQ(thread_count(), before + 4) << "lanes and monitor";
  for (const auto& unit : units)
    ASSERT_TRUE(submit(*unit, nothing, [](SequenceId, const Status&) {}).ok());
  EXPECT_EQ(thread_count(), before + 5);
}

// Ranks in one process do so: their jobs exchange data.
TEST(Lanes, UnitsWhoseRequestsWaitForEachOtherHaveALaneEach) {
  constexpr int kUnits = 3;
  Lanes lanes({.count = 1});
  std::vector<std::unique_ptr<Unit>> units;
  for (int i = 0; i < kUnits; ++i) {
    units.push_back(make_unit(lanes, 2));
    for (int twice = 0; twice < 2; ++twice) ASSERT_TRUE(units.back()->expect_waits().ok());
  }
  EXPECT_EQ(lanes.count(), 1u) << "the others add no core";
  std::barrier all(kUnits);
  std::vector<SequenceId> requests;
  for (const auto& unit : units)
    requests.push_back(*submit(*unit, [&] {
      all.arrive_and_wait();
      return Status();
    }));
  for (int i = 0; i < kUnits; ++i) EXPECT_TRUE(units[i]->wait(requests[i], kForever).ok());
}

TEST(Lanes, ThereAreNoLanesForAnyNumberOfUnitsThatWait) {
  Lanes lanes({.count = 1});
  std::vector<std::unique_ptr<Unit>> units;
  Status status;
  while (status.ok() && units.size() < 1000) {
    units.push_back(make_unit(lanes, 1));
    status = units.back()->expect_waits();
  }
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted) << status.message();
  units[0].reset();
  EXPECT_TRUE(units.back()->expect_waits().ok());
}

TEST(Lanes, OldestReadyRequestOverAllUnitsRunsFirst) {
  Lanes lanes({.count = 1});
  const auto gate_unit = make_unit(lanes, 1);
  const auto a = make_unit(lanes, 4);
  const auto b = make_unit(lanes, 4);
  test::TaskGate gate;
  ASSERT_TRUE(submit(*gate_unit, [&](LaneId) {
                gate.pass();
                return Status();
              }).ok());
  gate.await_arrivals(1);
  std::vector<std::string> order;
  const auto note = [&](std::string name) {
    return [&order, name = std::move(name)](LaneId) {
      order.push_back(name);
      return Status();
    };
  };
  ASSERT_TRUE(submit(*a, note("a1")).ok());
  ASSERT_TRUE(submit(*b, note("b1")).ok());
  ASSERT_TRUE(submit(*b, note("b2")).ok());
  const SequenceId a2 = *submit(*a, note("a2"));
  const SequenceId b3 = *submit(*b, note("b3"));
  gate.open();
  ASSERT_TRUE(a->wait(a2, kForever).ok());
  ASSERT_TRUE(b->wait(b3, kForever).ok());
  EXPECT_THAT(order, ElementsAre("a1", "b1", "b2", "a2", "b3"));
}

TEST(Lanes, LaneNumbersStayBelowTheCount) {
  Lanes lanes({.count = 2});
  const auto a = make_unit(lanes, 1);
  const auto b = make_unit(lanes, 1);
  test::ReusableBarrier barrier(2);
  std::array<LaneId, 2> lane{};
  const auto meet = [&](LaneId& mine) {
    return [&](LaneId number) {
      mine = number;
      barrier.arrive_and_wait();
      return Status();
    };
  };
  const SequenceId in_a = *submit(*a, meet(lane[0]));
  const SequenceId in_b = *submit(*b, meet(lane[1]));
  ASSERT_TRUE(a->wait(in_a, kForever).ok());
  ASSERT_TRUE(b->wait(in_b, kForever).ok());
  EXPECT_THAT(lane, ::testing::UnorderedElementsAre(0u, 1u));
}

// Each round needs as many lanes at once as there are units, or it never ends.
class ConcurrentUnits : public ::testing::TestWithParam<std::tuple<uint32_t, microseconds>> {};

TEST_P(ConcurrentUnits, RunAtTheSameTime) {
  const auto [count, spin] = GetParam();
  Lanes lanes({.count = count, .spin = spin});
  test::ReusableBarrier barrier(count);
  std::vector<std::unique_ptr<Unit>> units;
  for (uint32_t i = 0; i < count; ++i) {
    UnitOptions options = function_unit(2);
    options.wait_spin = spin;
    units.push_back(make_unit(lanes, std::move(options)));
  }
  for (int round = 0; round < 300; ++round) {
    for (const auto& unit : units)
      ASSERT_TRUE(submit(*unit, [&](LaneId) {
                    barrier.arrive_and_wait();
                    return Status();
                  }).ok());
    for (const auto& unit : units) ASSERT_TRUE(unit->wait(unit->last_submitted(), kForever).ok());
  }
}

INSTANTIATE_TEST_SUITE_P(Lanes, ConcurrentUnits,
                         ::testing::Combine(::testing::Values(2u, 3u, 5u),
                                            ::testing::Values(microseconds(0), microseconds(20))));

TEST(Lanes, BusyLaneDoesNotDelayAnotherUnit) {
  test::TaskGate gate;  // outlives the units, whose lanes may still be leaving it
  Lanes lanes({.count = 2, .spin = microseconds(0)});
  const auto slow = make_unit(lanes, 1);
  const auto quick = make_unit(lanes, 1);
  const SequenceId held = *submit(*slow, [&](LaneId) {
    gate.pass();
    return Status();
  });
  gate.await_arrivals(1);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(quick->wait(*submit(*quick, nothing), kForever).ok());
  EXPECT_FALSE(slow->is_completed(held));
  gate.open();
}

}  // namespace
}  // namespace millrace::queue
