// Team: every chunk runs once, lanes take part in the request of another lane, none of them is
// waited for before it comes or kept from a request of its own, and none that is late is asked
// again soon.
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
  team.begin();
  team.run(
      control.lane(), count,
      [](void* work, uint32_t number) { (*static_cast<Body*>(work))(number); }, &body);
  team.end();
}

// How often each chunk of a request ran.
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

// What chunks have written is there when run() returns, without any other synchronisation.
TEST(Team, RunsAgainAndAgain) {
  Lanes lanes({.count = 4});
  const auto unit = make_unit(lanes, 1);
  EXPECT_TRUE(wait_for(*unit, submit(*unit, [&](RunControl& control) {
                for (int i = 0; i < 3000; ++i) EXPECT_THAT(counts_of(control, 4), Each(1)) << i;
                return Status();
              })).ok());
}

// Until all three lanes have taken part, or this does not end.
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
