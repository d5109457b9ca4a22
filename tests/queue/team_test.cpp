// Team: every chunk runs once, lanes take part in the request of another lane, none of them is
// waited for before it comes or kept from a request of its own, none that is late is asked again
// soon, and those that hang are set aside with their leader.
#include "queue/lanes/team.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "queue/lanes/lanes_impl.h"
#include "tests/queue/function_task.h"
#include "tests/support/gate.h"

namespace millrace::queue {
namespace {

using ::testing::Each;

// Runs `body` for the chunks 0 to `count` - 1, as the request of `control`.
template <class Body>
void run_chunks(RunControl& control, uint32_t count, Body& body) {
  Team& team = *control.team();
  team.begin(control.lane(), count - 1);
  team.run(
      control.lane(), count,
      [](void* work, uint32_t number) { (*static_cast<Body*>(work))(number); }, &body);
  team.end();
}

// Returns how often each chunk of a request ran.
std::vector<int> counts_of(RunControl& control, uint32_t count) {
  std::vector<int> counts(count);
  auto body = [&](uint32_t number) { ++counts[number]; };  // a data race where one runs twice
  run_chunks(control, count, body);
  return counts;
}

Status wait_for(Unit& unit, Result<SequenceId> id) {
  return id.ok() ? unit.wait(*id, kForever) : id.status();
}

TEST(Team, RunsEveryChunkOnce) {
  for (const uint32_t lane_count : {2u, 4u}) {
    Lanes lanes({.count = lane_count});
    const auto unit = make_unit(lanes, 1);
    for (const uint32_t count : {1u, 2u, 3u, 64u, 5000u, Team::kMaxChunks})
      EXPECT_TRUE(wait_for(*unit, submit(*unit, [&](RunControl& control) {
                    EXPECT_THAT(counts_of(control, count), Each(1)) << count;
                    return Status();
                  })).ok());
  }
}

// Data that chunks have written is there when run() returns, without other synchronisation.
TEST(Team, RunsAgainAndAgain) {
  Lanes lanes({.count = 4});
  const auto unit = make_unit(lanes, 1);
  EXPECT_TRUE(wait_for(*unit, submit(*unit, [&](RunControl& control) {
                for (int i = 0; i < 3000; ++i) EXPECT_THAT(counts_of(control, 4), Each(1)) << i;
                return Status();
              })).ok());
}

// Does not end before all three lanes have taken part.
TEST(Team, LanesTakePart) {
  Lanes lanes({.count = 3});
  const auto unit = make_unit(lanes, 1);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  EXPECT_TRUE(wait_for(*unit, submit(*unit, [&](RunControl& control) {
                auto body = [&](uint32_t) {
                  const std::lock_guard lock(mutex);
                  threads.insert(std::this_thread::get_id());
                };
                while (threads.size() < 3) run_chunks(control, 30, body);
                return Status();
              })).ok());
}

TEST(Team, ALaneIsLeaderAndHelperByTurns) {
  Lanes lanes({.count = 2});
  const auto a = make_unit(lanes, 8), b = make_unit(lanes, 8);
  std::atomic<int> ran{0};
  std::vector<std::pair<Unit*, SequenceId>> requests;
  for (int i = 0; i < 200; ++i)
    for (Unit* unit : {a.get(), b.get()}) {
      Result<SequenceId> id = unit->submit(fill_with([&](RunControl& control) {
        for (int region = 0; region < 20; ++region) EXPECT_THAT(counts_of(control, 5), Each(1));
        ran.fetch_add(1, std::memory_order_relaxed);
        return Status();
      }));
      if (id.ok()) requests.emplace_back(unit, *id);
    }
  for (const auto& [unit, id] : requests) EXPECT_TRUE(unit->wait(id, kForever).ok());
  EXPECT_EQ(ran, static_cast<int>(requests.size()));
}

TEST(Team, TheLeaderDoesAllWhileLanesAreBusy) {
  Lanes lanes({.count = 2});
  const auto busy = make_unit(lanes, 1), unit = make_unit(lanes, 1);
  test::TaskGate gate;
  ASSERT_TRUE(submit(*busy, [&](LaneId) {
                gate.pass();
                return Status();
              }).ok());
  gate.await_arrivals(1);
  EXPECT_TRUE(wait_for(*unit, submit(*unit, [](RunControl& control) {
                for (int i = 0; i < 3; ++i) EXPECT_THAT(counts_of(control, 50), Each(1));
                return Status();
              })).ok());
  gate.open();
}

// A helper leaves between two chunks when a request is ready: the leader, which waits for that
// request in its second last chunk, would not get to the last one otherwise.
TEST(Team, AHelperLeavesForARequest) {
  Lanes lanes({.count = 2});
  const auto unit = make_unit(lanes, 1), other = make_unit(lanes, 1);
  EXPECT_TRUE(wait_for(*unit, submit(*unit, [&](RunControl& control) {
                const std::thread::id leader = std::this_thread::get_id();
                std::atomic<bool> helped{false}, other_ran{false};
                auto body = [&](uint32_t) {
                  if (std::this_thread::get_id() != leader) {
                    helped = true;
                  } else if (helped && !other_ran) {
                    EXPECT_TRUE(wait_for(*other, submit(*other, [&] {
                                  other_ran = true;
                                  return Status();
                                })).ok());
                  }
                };
                while (!other_ran) run_chunks(control, 1000, body);
                return Status();
              })).ok());
}

// A helper that is late by half a second costs it the next eight.
TEST(Team, ALeaderThatHasWaitedLongGoesOnAlone) {
  Lanes lanes({.count = 2});
  const auto unit = make_unit(lanes, 1);
  EXPECT_TRUE(wait_for(*unit, submit(*unit, [&](RunControl& control) {
                const std::thread::id leader = std::this_thread::get_id();
                std::atomic<int> helped{0};
                auto body = [&](uint32_t) {
                  if (std::this_thread::get_id() == leader) return;
                  helped.fetch_add(1);
                  std::this_thread::sleep_for(std::chrono::milliseconds(500));
                };
                while (helped == 0) run_chunks(control, 100, body);
                const int before = helped;
                for (int i = 0; i < 100; ++i) run_chunks(control, 100, body);
                EXPECT_EQ(helped, before);
                return Status();
              })).ok());
}

// This way a leader always knows how long a chunk takes, and a library finds the calling thread
// among those of its parallel region.
TEST(Team, TheFirstChunkIsTheLeaders) {
  Lanes lanes({.count = 3});
  const auto unit = make_unit(lanes, 1);
  EXPECT_TRUE(wait_for(*unit, submit(*unit, [&](RunControl& control) {
                const std::thread::id leader = std::this_thread::get_id();
                std::atomic<int> helped{0};
                auto body = [&](uint32_t number) {
                  if (std::this_thread::get_id() == leader) return;
                  helped.fetch_add(1);
                  EXPECT_NE(number, 0u);
                };
                while (helped < 100) run_chunks(control, 3, body);
                return Status();
              })).ok());
}

// A unit whose close gives a request up at once.
std::unique_ptr<Unit> impatient_unit(Lanes& lanes) {
  UnitOptions options = function_unit(1);
  options.close_patience = std::chrono::milliseconds(1);
  return make_unit(lanes, std::move(options));
}

// Whether two requests run at the same time, or this does not end.
void expect_two_lanes(Lanes& lanes) {
  test::ReusableBarrier both(2);
  const auto meet = [&] {
    both.arrive_and_wait();
    return Status();
  };
  const auto a = make_unit(lanes, 1), b = make_unit(lanes, 1);
  const Result<SequenceId> first = submit(*a, meet), second = submit(*b, meet);
  EXPECT_TRUE(wait_for(*a, first).ok());
  EXPECT_TRUE(wait_for(*b, second).ok());
}

// Submits a request whose helper hangs at the gate, and returns when it does. Meanwhile the leader
// waits for the chunk. After the gate nothing of the test's is used.
void submit_with_helper_that_hangs(Unit& unit, test::TaskGate& gate) {
  ASSERT_TRUE(submit(unit, [&gate](RunControl& control) {
                const std::thread::id leader = std::this_thread::get_id();
                std::atomic<bool> helped{false};
                auto body = [&](uint32_t) {
                  if (std::this_thread::get_id() == leader) return;
                  helped = true;
                  gate.pass();
                };
                for (uint32_t step = 0; !helped; ++step) {
                  control.begin_step(step);
                  run_chunks(control, 100, body);
                }
                return Status();
              }).ok());
  gate.await_arrivals(1);
}

void await_all_back(Lanes::Impl& lanes) {
  while (lanes.quarantined() != 0) std::this_thread::yield();
}

TEST(HungTeam, OtherThreadsTakeTheLanesOfLeaderAndHelper) {
  test::TaskGate gate;
  Lanes lanes({.count = 2});
  auto unit = impatient_unit(lanes);
  submit_with_helper_that_hangs(*unit, gate);
  unit.reset();
  EXPECT_EQ(lanes.quarantined(), 2u);
  EXPECT_EQ(lanes.count(), 2u);
  expect_two_lanes(lanes);
  gate.open();
  await_all_back(*lanes.impl());
  EXPECT_EQ(lanes.count(), 2u);
  expect_two_lanes(lanes);
}

TEST(HungTeam, TheEndOfTheLanesDoesNotWaitForAHelper) {
  test::TaskGate gate;
  auto lanes = std::make_unique<Lanes>(LanesOptions{.count = 2});
  const std::shared_ptr<Lanes::Impl> impl = lanes->impl();
  auto unit = impatient_unit(*lanes);
  submit_with_helper_that_hangs(*unit, gate);
  unit.reset();
  lanes.reset();
  gate.open();
  await_all_back(*impl);
}

// The lanes that help a leader may be more than there are threads to replace them.
TEST(HungTeam, ComesBackAsAWhole) {
  constexpr uint32_t kHelpers = Lanes::kMaxQuarantined + 2;
  test::TaskGate gate;
  Lanes lanes({.count = kHelpers + 1});
  const auto other = make_unit(lanes, 1);
  auto unit = impatient_unit(lanes);
  ASSERT_TRUE(submit(*unit, [&](RunControl& control) {
                const std::thread::id leader = std::this_thread::get_id();
                std::atomic<uint32_t> helpers{0};
                auto body = [&](uint32_t number) {
                  if (std::this_thread::get_id() != leader) {
                    helpers.fetch_add(1);
                    gate.pass();
                  }
                  // A lane that comes for a request sees the chunks, too.
                  while (number == 0 && helpers < kHelpers)
                    EXPECT_TRUE(wait_for(*other, submit(*other, nothing)).ok());
                };
                run_chunks(control, 100, body);
                return Status();
              }).ok());
  gate.await_arrivals(kHelpers);
  unit.reset();
  EXPECT_EQ(lanes.quarantined(), kHelpers + 1);
  EXPECT_EQ(lanes.count(), Lanes::kMaxQuarantined);
  expect_two_lanes(lanes);
  gate.open();
  await_all_back(*lanes.impl());
  EXPECT_EQ(lanes.count(), kHelpers + 1);
}

// The calling thread leads with a lane that it borrows, whose own thread is not set aside.
TEST(HungTeam, TheLeaderMayBeACaller) {
  test::TaskGate gate;
  Lanes lanes({.count = 2});
  auto unit = impatient_unit(lanes);
  std::thread caller([&] {
    EXPECT_EQ(unit->execute(fill_with([&gate](RunControl& control) {
                    const std::thread::id leader = std::this_thread::get_id();
                    auto body = [&](uint32_t) {
                      if (std::this_thread::get_id() != leader) gate.pass();
                    };
                    while (!control.stop_requested()) run_chunks(control, 100, body);
                    return Status();
                  }))
                  .code(),
              StatusCode::kHung);
  });
  gate.await_arrivals(1);
  unit->close();
  EXPECT_EQ(lanes.count(), 2u);
  expect_two_lanes(lanes);
  gate.open();
  caller.join();
  await_all_back(*lanes.impl());
  expect_two_lanes(lanes);
}

// A leader that hangs with chunks left: a lane that has nothing to do later does not take them, and
// so does not hang there, too.
TEST(HungTeam, NoLaneComesToALeaderThatWasGivenUp) {
  test::TaskGate gate, busy_gate;
  Lanes lanes({.count = 2});
  const auto busy = make_unit(lanes, 1);
  auto unit = impatient_unit(lanes);
  ASSERT_TRUE(submit(*busy, [&] {
                busy_gate.pass();
                return Status();
              }).ok());
  busy_gate.await_arrivals(1);
  const auto helped = std::make_shared<std::atomic<bool>>(false);
  ASSERT_TRUE(submit(*unit, [&gate, helped](RunControl& control) {
                const std::thread::id leader = std::this_thread::get_id();
                auto body = [&](uint32_t number) {
                  if (std::this_thread::get_id() != leader) *helped = true;
                  if (number == 0) gate.pass();
                };
                run_chunks(control, 100, body);
                return Status();
              }).ok());
  gate.await_arrivals(1);
  unit.reset();
  EXPECT_EQ(lanes.quarantined(), 1u);
  busy_gate.open();
  for (int i = 0; i < 10; ++i) expect_two_lanes(lanes);
  gate.open();
  await_all_back(*lanes.impl());
  EXPECT_FALSE(*helped);
}

// Three lanes sleep; the fourth is the leader.
TEST(Team, ARequestWakesAsManyLanesAsItCanUse) {
  Sleepers sleepers(4);
  Team team(sleepers, 4, 3);
  for (const LaneId lane : {1, 2, 3}) sleepers.give_back(lane, [] { return false; });
  team.begin(0, 2);
  const LaneId asleep = sleepers.borrow();
  EXPECT_NE(asleep, kNoLane);
  EXPECT_EQ(sleepers.borrow(), kNoLane);
  team.end();
}

// A lane that was woken as the request began may sleep again by then.
TEST(Team, TheFirstOperatorWakesLanesHoweverSoonItComes) {
  Sleepers sleepers(4);
  Team team(sleepers, 4, 3);
  for (const LaneId lane : {1, 2, 3}) sleepers.give_back(lane, [] { return false; });
  team.begin(0, 1);
  team.run(
      0, 4, [](void*, uint32_t) {}, nullptr);
  EXPECT_EQ(sleepers.borrow(), kNoLane);
  team.end();
}

// A lane that sleeps until it is woken, and how long that has taken is known.
class SleepingLane {
 public:
  SleepingLane() : thread_([this] { sleep_again_and_again(); }) {
    wait_until_asleep();
    sleepers.wake_one();
    wait_until_woken(0);
    wait_until_asleep();
  }
  ~SleepingLane() {
    sleepers.stop();
    thread_.join();
  }

  // Returns once the lane has been woken `times` times since it was made.
  void wait_until_woken(int times) const {
    while (woken_ < 1 + times) std::this_thread::yield();
  }

  Sleepers sleepers{2};

 private:
  void sleep_again_and_again() {
    sleepers.begin_search();
    while (sleepers.park(1, [] { return false; })) ++woken_;
  }
  void wait_until_asleep() const {
    while (!sleepers.any_parked() || sleepers.searching() != 0) std::this_thread::yield();
  }

  std::atomic<int> woken_{0};
  std::thread thread_;
};

TEST(Team, NoLaneIsWokenForARequestThatEndsBeforeItIsAwake) {
  SleepingLane lane;
  Team team(lane.sleepers, 2, 1);
  team.expect(0, 1);
  team.begin(0, 1);
  EXPECT_TRUE(lane.sleepers.any_parked());
  team.end();
}

TEST(Team, ALaneIsWokenIfNobodyKnowsHowLongARequestTakes) {
  SleepingLane lane;
  Team team(lane.sleepers, 2, 1);
  team.expect(0, 0);
  team.begin(0, 1);
  lane.wait_until_woken(1);
  team.end();
}

TEST(Team, ALaneIsWokenForARequestThatTakesLongerThanExpected) {
  SleepingLane lane;
  Team team(lane.sleepers, 2, 1);
  team.expect(0, 1);
  team.begin(0, 1);
  std::this_thread::sleep_for(std::chrono::nanoseconds(3 * lane.sleepers.wake_ns()));
  auto until_woken = [&](uint32_t number) { lane.wait_until_woken(number); };
  team.run(
      0, 2,
      [](void* work, uint32_t number) { (*static_cast<decltype(until_woken)*>(work))(number); },
      &until_woken);
  team.end();
}

TEST(Team, OneLaneAndPinnedLanesHaveNone) {
  for (const LanesOptions& options :
       {LanesOptions{.count = 1}, LanesOptions{.count = 2, .core = 0}}) {
    Lanes lanes(options);
    EXPECT_EQ(lanes.impl()->team(), nullptr);
  }
}

// The thread that calls execute() leads with the id of the lane that it borrows.
TEST(Team, ABorrowedLaneLeads) {
  Lanes lanes({.count = 3});
  const auto unit = make_unit(lanes, 1);
  for (int i = 0; i < 50; ++i)
    EXPECT_TRUE(unit->execute(fill_with([](RunControl& control) {
                      EXPECT_THAT(counts_of(control, 7), Each(1));
                      return Status();
                    }))
                    .ok());
}

}  // namespace
}  // namespace millrace::queue
