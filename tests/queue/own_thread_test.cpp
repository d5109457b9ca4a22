// Units whose requests may block on something else have a thread of their own.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "queue/units/unit.h"
#include "tests/queue/function_task.h"
#include "tests/support/gate.h"
#include "tests/support/library_threads.h"

namespace millrace::queue {
namespace {

UnitOptions blocking_unit(uint32_t depth) {
  UnitOptions options = function_unit(depth);
  options.own_thread = true;
  return options;
}

TEST(OwnThread, BlockedRequestTakesNoLane) {
  test::TaskGate gate;
  Lanes lanes({.count = 1});
  const auto blocking = make_unit(lanes, blocking_unit(2));
  const auto compute = make_unit(lanes, 2);
  const SequenceId held = *submit(*blocking, [&] {
    gate.pass();
    return Status();
  });
  gate.await_arrivals(1);
  EXPECT_TRUE(compute->wait(*submit(*compute, nothing), kForever).ok());
  EXPECT_FALSE(blocking->is_completed(held));
  gate.open();
  EXPECT_TRUE(blocking->wait(held, kForever).ok());
}

TEST(OwnThread, ThreadsAreLanesBlockingUnitsInUseDispatcherAndMonitor) {
  test::await_library_threads(0);
  Lanes lanes({.count = 2});
  std::vector<std::unique_ptr<Unit>> units;
  for (int i = 0; i < 20; ++i) units.push_back(make_unit(lanes, 2));
  const auto used = make_unit(lanes, blocking_unit(2));
  const auto unused = make_unit(lanes, blocking_unit(2));
  test::await_library_threads(3);  // lanes and monitor
  EXPECT_TRUE(used->wait(*submit(*used, nothing), kForever).ok());
  test::await_library_threads(4);
  const auto callback = [](SequenceId, const Status&) {};
  for (const auto& unit : units)
    EXPECT_TRUE(unit->wait(*submit(*unit, nothing, callback), kForever).ok());
  test::await_library_threads(5);
}

TEST(OwnThread, EndsWithItsUnit) {
  Lanes lanes({.count = 1});
  auto unit = make_unit(lanes, blocking_unit(2));
  EXPECT_TRUE(unit->wait(*submit(*unit, nothing), kForever).ok());
  test::await_library_threads(2);
  unit.reset();
  test::await_library_threads(1);
}

}  // namespace
}  // namespace millrace::queue
