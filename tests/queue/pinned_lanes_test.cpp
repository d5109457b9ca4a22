// Lanes that are pinned to a core: where requests run, and what happens when they cannot.
#include <gmock/gmock.h>
#include <sched.h>

#include <string>
#include <thread>
#include <vector>

#include "base/process/topology.h"
#include "queue/units/unit.h"
#include "tests/queue/function_task.h"
#include "tests/support/gate.h"
#include "tests/support/log_capture.h"
#include "tests/support/run_log.h"

namespace millrace::queue {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(PinnedLanes, RequestsRunOnThatCoreOnly) {
  const test::RunLog log;
  for (const int core : topology().cores) {
    Lanes lanes({.count = 1, .core = core});
    const auto unit = make_unit(lanes, 1);
    ASSERT_TRUE(unit->wait(*submit(*unit, nothing), kForever).ok());
    EXPECT_THAT(log.cores().back(), ElementsAre(core));
  }
}

TEST(PinnedLanes, ExecuteLeavesTheWorkToThem) {
  const test::RunLog log;
  Lanes lanes({.count = 1, .spin = std::chrono::microseconds(0), .core = topology().cores[0]});
  const auto unit = make_unit(lanes, 1);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(unit->execute(fill_with(nothing)).ok());
  EXPECT_THAT(log.threads(), Not(Contains(std::this_thread::get_id())));
  EXPECT_THAT(log.cores(), Each(ElementsAre(topology().cores[0])));
}

TEST(PinnedLanes, ALaneInThePlaceOfOneThatHungIsPinnedToo) {
  const test::RunLog log;
  test::TaskGate gate;
  Lanes lanes({.count = 1, .core = topology().cores[0]});
  UnitOptions options = function_unit(1);
  options.watchdog = std::chrono::milliseconds(1);
  options.auto_reset = true;
  const auto unit = make_unit(lanes, std::move(options));
  const SequenceId hung = *submit(*unit, [&] {
    gate.pass();
    return Status();
  });
  ASSERT_EQ(unit->wait(hung, kForever).code(), StatusCode::kHung);
  // On a busy machine this one may be given up, too; it has started all the same.
  EXPECT_NE(unit->wait(*submit(*unit, nothing), kForever).code(), StatusCode::kPending);
  gate.open();
  while (lanes.quarantined() != 0) std::this_thread::yield();
  ASSERT_EQ(log.threads().size(), 2u);
  EXPECT_NE(log.threads()[0], log.threads()[1]);
  EXPECT_THAT(log.cores(), Each(ElementsAre(topology().cores[0])));
}

TEST(PinnedLanes, RunAnywhereWhenTheSystemRefusesAndSaySo) {
  constexpr int kNoSuchCore = CPU_SETSIZE - 1;
  ASSERT_THAT(topology().cores, Not(Contains(kNoSuchCore)));
  const test::LogCapture lines;
  {
    const test::RunLog log;
    Lanes lanes({.count = 1, .core = kNoSuchCore});
    const auto unit = make_unit(lanes, 1);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(unit->wait(*submit(*unit, nothing), kForever).ok());
    EXPECT_THAT(log.cores(), Each(test::cores_of_this_thread()));
  }
  EXPECT_THAT(lines.lines(), ElementsAre(HasSubstr(std::to_string(kNoSuchCore))));
}

}  // namespace
}  // namespace millrace::queue
