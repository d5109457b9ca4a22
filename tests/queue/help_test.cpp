// Threads that wait run requests that no lane has begun, if jobs are short and their unit allows
// it.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "queue/lanes/caller_credit.h"
#include "queue/units/unit.h"
#include "tests/queue/function_task.h"
#include "tests/support/gate.h"

namespace millrace::queue {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Two lanes that sleep whenever they have nothing to do, so that each request has to wake one.
class Helping : public ::testing::Test {
 protected:
  static UnitOptions options(CallerHelps helps = CallerHelps::kAuto) {
    UnitOptions options = function_unit(8);
    options.caller_helps = helps;
    return options;
  }

  // Submits a request that notes its thread.
  SequenceId submit_noting(Unit& unit, std::thread::id& ran_on) {
    return *submit(unit, [&](LaneId) {
      ran_on = std::this_thread::get_id();
      return Status();
    });
  }

  // How many of `count` requests ran on this thread, which waits for each before the next.
  int run_here(Unit& unit, int count, std::chrono::nanoseconds timeout = kForever) {
    int here = 0;
    for (int i = 0; i < count; ++i) {
      std::thread::id ran_on;
      EXPECT_TRUE(unit.wait(submit_noting(unit, ran_on), timeout).ok());
      here += ran_on == std::this_thread::get_id();
    }
    return here;
  }

  // Offers requests until one has run on this thread; false if none of them did. None may run
  // elsewhere.
  bool runs_one_here(Unit& unit, std::chrono::nanoseconds longest = kForever) {
    for (int i = 0; i < 2'000; ++i) {
      std::thread::id ran_on;
      const auto fill = [&](Task& task) {
        fill_with([&] {
          ran_on = std::this_thread::get_id();
          return Status(StatusCode::kCancelled, "the request's own status");
        })(task);
      };
      const std::optional<Status> status = unit.execute_here(longest, fill, fill);
      EXPECT_EQ(ran_on, status ? std::this_thread::get_id() : std::thread::id());
      if (!status) continue;
      EXPECT_EQ(status->code(), StatusCode::kCancelled) << "the status is that of the request";
      return true;
    }
    return false;
  }

  Lanes lanes{{.count = 2, .spin = microseconds(0)}};
};

TEST_F(Helping, AWaitRunsShortRequestsItself) {
  const auto unit = make_unit(lanes, options());
  EXPECT_GT(run_here(*unit, 2'000), 0);
}

TEST_F(Helping, RequestsRunInTheirOrderUpToTheOneThatIsWaitedFor) {
  const auto unit = make_unit(lanes, options());
  run_here(*unit, 100);
  for (int round = 0; round < 500; ++round) {
    std::vector<int> order;
    std::vector<SequenceId> ids;
    for (int i = 0; i < 4; ++i)
      ids.push_back(*submit(*unit, [&order, i](LaneId) {
        order.push_back(i);
        return Status();
      }));
    ASSERT_TRUE(unit->wait(ids[2], kForever).ok());
    ASSERT_TRUE(unit->wait(ids[3], kForever).ok());
    ASSERT_EQ(order, (std::vector{0, 1, 2, 3}));
  }
}

TEST_F(Helping, NeverMeansNever) {
  const auto unit = make_unit(lanes, options(CallerHelps::kNever));
  EXPECT_EQ(run_here(*unit, 500), 0);
  EXPECT_FALSE(runs_one_here(*unit));
}

TEST_F(Helping, AnIdleUnitRunsAShortRequestHere) {
  const auto unit = make_unit(lanes, options());
  EXPECT_FALSE(runs_one_here(*unit)) << "how long its requests take is not known yet";
  run_here(*unit, 100);
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  bool ran = false;  // once the lanes sleep
  while (!ran && std::chrono::steady_clock::now() < limit) ran = runs_one_here(*unit);
  EXPECT_TRUE(ran);
  EXPECT_FALSE(runs_one_here(*unit, std::chrono::nanoseconds(0))) << "none is so short";
  test::TaskGate gate;
  const SequenceId held = *submit(*unit, [&](LaneId) {
    gate.pass();
    return Status();
  });
  EXPECT_FALSE(runs_one_here(*unit)) << "another request is in flight";
  gate.open();
  EXPECT_TRUE(unit->wait(held, kForever).ok());
}

TEST_F(Helping, AUnitWithAWatchdogKeepsItsRequestsOnLanes) {
  UnitOptions watched = options();
  watched.watchdog = std::chrono::minutes(1);
  const auto unit = make_unit(lanes, std::move(watched));
  EXPECT_EQ(run_here(*unit, 500), 0);
}

// A wait could not return at its limit while it runs a request.
TEST_F(Helping, AWaitWithAShortLimitRunsNone) {
  const auto unit = make_unit(lanes, options());
  for (int i = 0; i < 500; ++i) {
    std::thread::id ran_on;
    const SequenceId id = *submit(*unit, [&](LaneId) {
      for (const auto end = std::chrono::steady_clock::now() + microseconds(2);
           std::chrono::steady_clock::now() < end;) {
      }
      ran_on = std::this_thread::get_id();
      return Status();
    });
    while (unit->wait(id, microseconds(100)).code() == StatusCode::kPending) {
    }
    ASSERT_NE(ran_on, std::this_thread::get_id());
  }
}

// Each request takes 100 us at least, so the thread can have begun no more than fit into its limit.
TEST_F(Helping, AWaitRunsNoRequestAfterItsLimit) {
  constexpr microseconds kRun{100};
  constexpr milliseconds kLimit{60};
  UnitOptions deep = options();
  deep.depth = 1'000;
  const auto unit = make_unit(lanes, std::move(deep));
  std::atomic<int> here{0};
  const auto work = [&, self = std::this_thread::get_id()](LaneId) {
    here += std::this_thread::get_id() == self;
    for (const auto end = std::chrono::steady_clock::now() + kRun;
         std::chrono::steady_clock::now() < end;) {
    }
    return Status();
  };
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(unit->wait(*submit(*unit, work), kForever).ok());
  here = 0;
  SequenceId last = 0;
  for (int i = 0; i < 1'000; ++i) last = *submit(*unit, work);
  static_cast<void>(unit->wait(last, kLimit));
  EXPECT_LE(here.load(), kLimit / kRun + 1);
  EXPECT_TRUE(unit->wait(last, kForever).ok());
}

// The borrowed lane has a replacement while its request hangs, and is one itself later: lanes do
// not run out, however often this happens.
TEST_F(Helping, ACloseGivesUpARequestThatHangsOnAWaitingThread) {
  constexpr uint32_t kTimes = Lanes::kMaxQuarantined + 3;
  for (uint32_t hung_here = 0; hung_here < kTimes;) {
    UnitOptions impatient = options();
    impatient.close_patience = milliseconds(1);
    const auto unit = make_unit(lanes, std::move(impatient));
    run_here(*unit, 50);
    test::TaskGate gate;
    std::atomic<int> place{0};  // 1: on a lane, 2: on the thread that waits
    std::thread waiting([&] {
      const SequenceId id = *submit(*unit, [&, self = std::this_thread::get_id()](LaneId) {
        place = std::this_thread::get_id() == self ? 2 : 1;
        place.notify_all();
        gate.pass();
        return Status();
      });
      const StatusCode code = unit->wait(id, kForever).code();
      EXPECT_EQ(code, place == 2 ? StatusCode::kHung : StatusCode::kOk);
    });
    place.wait(0);
    if (place == 2) {
      ++hung_here;
      unit->close();  // returns although the request never has
      EXPECT_EQ(lanes.count(), 2U);
    }
    gate.open();
    waiting.join();
  }
}

// A thread that waits while a lane has its unit runs requests of other units that are ready.
TEST_F(Helping, AWaitRunsShortRequestsOfOtherUnits) {
  const auto first = make_unit(lanes, options()), second = make_unit(lanes, options());
  bool helped = false;
  for (int round = 0; round < 2'000 && !helped; ++round) {
    run_here(*first, 100);
    run_here(*second, 100);
    std::thread::id ran_on;
    std::atomic<bool> begun{false}, may_end{false};
    const SequenceId waited_for = *submit(*first, [&, self = std::this_thread::get_id()](LaneId) {
      begun = true;
      // On the waiting thread nobody would set it.
      while (!may_end && std::this_thread::get_id() != self) std::this_thread::yield();
      return Status();
    });
    while (!begun) std::this_thread::yield();
    const SequenceId other = *submit(*second, [&](LaneId) {
      ran_on = std::this_thread::get_id();
      may_end = true;
      return Status();
    });
    ASSERT_TRUE(first->wait(waited_for, kForever).ok());
    ASSERT_TRUE(second->wait(other, kForever).ok());
    helped = ran_on == std::this_thread::get_id();
  }
  // The other lane sleeps, and is not woken while one of two lanes and this thread are at work.
  EXPECT_TRUE(helped);
}

// Ready requests may be left to waiting threads, so that no lane is woken for them. If no thread
// waits, and the lane that is awake takes unexpectedly long, another one has to run them.
TEST_F(Helping, RequestsThatNoThreadWaitsForRunBesideALongOne) {
  const auto first = make_unit(lanes, options()), second = make_unit(lanes, options());
  for (int round = 0; round < 10; ++round) {
    run_here(*first, 100);
    run_here(*second, 100);
    test::TaskGate gate;
    std::atomic<bool> begun{false};
    const SequenceId held = *submit(*first, [&](LaneId) {
      begun = true;
      gate.pass();
      return Status();
    });
    while (!begun) std::this_thread::yield();
    SequenceId last = 0;
    for (int i = 0; i < 5; ++i) last = *submit(*second, nothing);
    while (!second->is_completed(last)) std::this_thread::yield();
    EXPECT_FALSE(first->is_completed(held));
    gate.open();
    ASSERT_TRUE(first->wait(held, kForever).ok());
  }
}

// Lanes that spin, and threads that wait for requests of both units.
TEST_F(Helping, EachRequestRunsOnceWhoeverTakesIt) {
  Lanes spinning{{.count = 2, .spin = microseconds(50)}};
  const std::array units{make_unit(spinning, options()), make_unit(spinning, options())};
  const auto use = [&] {
    for (int round = 0; round < 1'000; ++round) {
      std::array<std::atomic<int>, 4> runs{};
      std::array<SequenceId, 4> ids{};
      for (size_t i = 0; i < 4; ++i)
        ids[i] = *units[i % 2]->submit_until(kNoDeadline, fill_with([&runs, i](LaneId) {
                                               ++runs[i];
                                               return Status();
                                             }));
      for (size_t i = 0; i < 4; ++i) ASSERT_TRUE(units[i % 2]->wait(ids[i], kForever).ok());
      for (const std::atomic<int>& count : runs) ASSERT_EQ(count, 1);
    }
  };
  std::thread another(use);
  use();
  another.join();
}

TEST(CallerCredit, GrowsByRequestsOfCallersAndIsUsedUpByLanes) {
  CallerCredit credit;
  EXPECT_FALSE(credit.any());
  credit.lane_took();
  credit.caller_ran();
  EXPECT_TRUE(credit.any());
  for (int i = 0; i < 1'000 && credit.any(); ++i) credit.lane_took();
  EXPECT_FALSE(credit.any());
  credit.caller_waits();
  EXPECT_TRUE(credit.any());
  credit.forbid();
  credit.caller_ran();
  credit.caller_waits();
  EXPECT_FALSE(credit.any());
}

TEST_F(Helping, LongRequestsAreLeftToTheLanes) {
  const auto unit = make_unit(lanes, options());
  for (int i = 0; i < 10; ++i) {
    std::thread::id ran_on;
    const SequenceId id = *submit(*unit, [&](LaneId) {
      std::this_thread::sleep_for(milliseconds(8));
      ran_on = std::this_thread::get_id();
      return Status();
    });
    ASSERT_TRUE(unit->wait(id, kForever).ok());
    ASSERT_NE(ran_on, std::this_thread::get_id());
  }
}

TEST_F(Helping, CallbacksDoNotRunRequests) {
  const auto unit = make_unit(lanes, options());
  run_here(*unit, 100);
  std::atomic<int> done{0};
  std::atomic<int> here{0};
  for (int i = 0; i < 200; ++i) {
    const auto waits_for_another = [&](SequenceId, const Status&) {
      here += run_here(*unit, 1);
      done.fetch_add(1);
      done.notify_all();
    };
    ASSERT_TRUE(submit(*unit, nothing, waits_for_another).ok());
    for (int seen = done.load(); seen <= i; seen = done.load()) done.wait(seen);
  }
  EXPECT_EQ(here.load(), 0);
}

TEST_F(Helping, ACloseMeanwhileCancelsWhatHasNotBegun) {
  for (int round = 0; round < 200; ++round) {
    const auto unit = make_unit(lanes, options());
    run_here(*unit, 5);
    std::vector<SequenceId> ids;
    for (int i = 0; i < 6; ++i) ids.push_back(*submit(*unit, nothing));
    std::thread closing([&] { unit->close(); });
    for (const SequenceId id : ids) {
      const StatusCode code = unit->wait(id, kForever).code();
      EXPECT_TRUE(code == StatusCode::kOk || code == StatusCode::kCancelled);
    }
    closing.join();
  }
}

}  // namespace
}  // namespace millrace::queue
