// Threads that wait run requests that no lane has begun, if jobs are short and their unit allows
// it.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

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

// Each request takes 20 us at least, so the thread can have begun no more than fit into its limit.
TEST_F(Helping, AWaitRunsNoRequestAfterItsLimit) {
  constexpr microseconds kRun{20};
  constexpr milliseconds kLimit{4};
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

TEST_F(Helping, ACloseGivesUpARequestThatHangsOnAWaitingThread) {
  for (bool hung_here = false; !hung_here;) {
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
    hung_here = place == 2;
    if (hung_here) unit->close();  // returns although the request never has
    gate.open();
    waiting.join();
  }
}

TEST_F(Helping, LongRequestsAreLeftToTheLanes) {
  const auto unit = make_unit(lanes, options());
  for (int i = 0; i < 20; ++i) {
    std::thread::id ran_on;
    const SequenceId id = *submit(*unit, [&](LaneId) {
      std::this_thread::sleep_for(milliseconds(2));
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
