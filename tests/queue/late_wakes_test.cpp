#include "queue/waiting/late_wakes.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/queue/function_task.h"
#include "tests/support/gate.h"
#include "tests/support/stop_process.h"

namespace millrace::queue {
namespace {

using namespace std::chrono_literals;

constexpr Deadline kStart{1000s};

TEST(LateWakes, AreNoneWhereAThreadWakesInTimeOrEarly) {
  LateWakes wakes;
  EXPECT_EQ(wakes.total(kStart), 0ns);
  wakes.sleeps_until(kStart + 1s);
  wakes.woke(kStart + 500ms);
  EXPECT_EQ(wakes.total(kStart + 5s), 0ns);
}

TEST(LateWakes, AddUp) {
  LateWakes wakes;
  wakes.sleeps_until(kStart + 1s);
  wakes.woke(kStart + 3s);
  wakes.sleeps_until(kStart + 4s);
  wakes.woke(kStart + 9s);
  EXPECT_EQ(wakes.noticed(), 7s);
  EXPECT_EQ(wakes.total(kStart + 20s), 7s);
}

TEST(LateWakes, CountASleepThatShouldHaveEnded) {
  LateWakes wakes;
  wakes.sleeps_until(kStart + 1s);
  EXPECT_EQ(wakes.total(kStart + 4s), 3s);
  EXPECT_EQ(wakes.noticed(), 0s);
}

// A request that runs until the gate opens.
SequenceId submit_gated(Unit& unit, test::TaskGate& gate) {
  const SequenceId id = *submit(unit, [&gate] {
    gate.pass();
    return Status();
  });
  gate.await_arrivals(1);
  return id;
}

TEST(StoppedProcess, IsNoHang) {
  test::TaskGate gate;
  Lanes lanes({.count = 1});
  UnitOptions options = function_unit(1);
  options.watchdog = 1s;
  const auto unit = make_unit(lanes, options);
  const SequenceId id = submit_gated(*unit, gate);
  test::stop_this_process_for(1500ms);
  gate.open();
  EXPECT_TRUE(unit->wait(id, kForever).ok());
}

TEST(StoppedProcess, IsNoHangForACloseEither) {
  test::TaskGate gate;
  Lanes lanes({.count = 1});
  UnitOptions options = function_unit(1);
  options.close_patience = 1s;
  const auto unit = make_unit(lanes, options);
  const SequenceId id = submit_gated(*unit, gate);
  std::thread closing([&] { unit->close(); });
  while (submit(*unit, nothing).status().code() != StatusCode::kClosed) std::this_thread::yield();
  test::stop_this_process_for(1500ms);
  gate.open();
  closing.join();
  EXPECT_TRUE(unit->wait(id, kForever).ok());
}

}  // namespace
}  // namespace millrace::queue
