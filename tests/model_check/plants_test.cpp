// Mistakes built in on purpose: the exploration finds each of them.
#include "tests/model_check/expect.h"
#include "tests/model_check/scenarios.h"

namespace millrace::model_check {
namespace {

constexpr const char* kLostWakeUp = "a wake-up was lost";

using RelaxedSync = explore::BasicShimSync<explore::Orders::kRelaxed>;

TEST(ModelCheckFinds, AWaiterThatParksWithoutLookingAgain) {
  expect_found([] { return lane_and_waiter(1, kNoDeadline, Plant::kParksWithoutRecheck); }, 1,
               kLostWakeUp);
  expect_found([] { return canceller_and_waiter(kNoDeadline, Plant::kParksWithoutRecheck); }, 1,
               kLostWakeUp);
}

TEST(ModelCheckFinds, AWakeUpBeforePublication) {
  expect_found([] { return lane_and_waiter(2, kNoDeadline, Plant::kWakesBeforeComplete); }, 1,
               kLostWakeUp);
  expect_found([] { return canceller_and_waiter(kNoDeadline, Plant::kWakesBeforeRemoved); }, 1,
               kLostWakeUp);
}

TEST(ModelCheckFinds, AResultRecordedAfterPublication) {
  expect_found([] { return lane_and_waiter(1, kNoDeadline, Plant::kRecordsAfterComplete); }, 1);
  expect_found([] { return canceller_and_waiter(kNoDeadline, Plant::kRecordsAfterRemoved); }, 1);
}

TEST(ModelCheckFinds, ASlotReusedBeforeItsReferencesAreDropped) {
  expect_found([] { return slow_lane_and_removals(Plant::kStartsBeforeRelease); }, 1);
  expect_found([] { return slow_canceller_and_removals(Plant::kVacatesBeforeRelease); }, 1);
}

TEST(ModelCheckFinds, ACellThatBecomesVacantSilently) {
  expect_found([] { return lane_and_submitter_without_cell(Plant::kStartsSilently); }, 1,
               kLostWakeUp);
  expect_found([] { return canceller_and_submitter_without_cell(Plant::kVacatesSilently); }, 1,
               kLostWakeUp);
}

TEST(ModelCheckFinds, ARequestOfTheOwnerThatRunsOutOfTurn) {
  expect_found([] { return caller_and_submitter(1, Plant::kRunsOutOfTurn); }, 1);
}

TEST(ModelCheckFinds, ARequestPassedBeforeItIsRemoved) {
  expect_found([] { return lane_and_canceller(1, Plant::kPassesBeforeRemoved); }, 1);
}

TEST(ModelCheckFinds, ARequestCompletedByTheThreadThatLostIt) {
  expect_found([] { return lane_and_watchdog(Plant::kCompletesWithoutFinish); }, 1);
}

TEST(ModelCheckFinds, ARequestReleasedWhileItIsGivenUp) {
  expect_found([] { return lane_and_watchdog(Plant::kReleasesDuringGiveUp); }, 2);
}

TEST(ModelCheckFinds, AWaiterThatLeavesTheListWithoutSaying) {
  expect_found([] { return lane_and_waiter(1, kSoon, Plant::kLeavesWithoutRemove); }, 1,
               "that is gone");
}

TEST(ModelCheckFinds, OrdersThatAreTooWeak) {
  expect_found([] { return submitter_and_lane<RelaxedSync>(1, 1); }, 0, "nothing orders them");
  expect_found([] { return lane_and_waiter<RelaxedSync>(1, kNoDeadline); }, 0,
               "nothing orders them");
}

}  // namespace
}  // namespace millrace::model_check
