// The ring and the wait list, in every order of a few threads' steps: what a unit promises holds.
#include "tests/model_check/expect.h"
#include "tests/model_check/scenarios.h"

namespace millrace::model_check {
namespace {

TEST(ModelCheck, RequestsRunInOrderAndCellsAreUsedAgain) {
  expect_holds([] { return submitter_and_lane(1, 6); }, 2);
  expect_holds([] { return submitter_and_lane(2, 6); }, 2);
  expect_holds([] { return submitter_and_lane(1, 2); }, 4);
}

TEST(ModelCheck, SubmittersShareThePlaces) {
  expect_holds([] { return two_submitters_and_lane(1, 1); }, 3);
  expect_holds([] { return two_submitters_and_lane(1, 2); }, 1);
  expect_holds([] { return two_submitters_and_lane(2, 2); }, 2);
}

TEST(ModelCheck, RequestsOfTheOwnerRunInTurn) {
  expect_holds([] { return caller_and_submitter(1); }, 4);
  expect_holds([] { return caller_and_submitter(3); }, 2);
}

TEST(ModelCheck, RoomIsFoundWhileAnotherPlaceIsTaken) {
  expect_holds([] { return submitter_and_asker(); }, 4);
}

TEST(ModelCheck, ACellInUseIsNotClaimed) {
  expect_holds([] { return slow_submitter_and_removals(); }, 3);
  expect_holds([] { return slow_canceller_and_removals(); }, 3);
  expect_holds([] { return slow_lane_and_removals(); }, 3);
}

TEST(ModelCheck, WhoWaitsForRoomGetsIt) {
  expect_holds([] { return lane_and_submitter_without_cell(); }, 4);
  expect_holds([] { return canceller_and_submitter_without_cell(); }, 4);
}

TEST(ModelCheck, ARequestIsRunOrRemoved) {
  for (const uint64_t removed : {1, 2})
    expect_holds([=] { return lane_and_canceller(removed); }, 4);
  expect_holds([] { return lane_and_two_cancellers(1, 1); }, 2);
  expect_holds([] { return lane_and_two_cancellers(1, 2); }, 2);
  expect_holds([] { return lane_and_canceller_and_submitter(); }, 2);
}

TEST(ModelCheck, AWaiterIsWokenByCompletion) {
  for (const uint64_t waited : {1, 2})
    for (const Deadline deadline : {kNoDeadline, kSoon})
      expect_holds([=] { return lane_and_waiter(waited, deadline); }, 3);
  expect_holds([] { return lane_and_two_waiters(1, 1); }, 2);
  expect_holds([] { return lane_and_two_waiters(1, 2); }, 2);
  expect_holds([] { return submitter_and_lane_and_waiter(1); }, 2);
  expect_holds([] { return submitter_and_lane_and_waiter(2); }, 2);
}

TEST(ModelCheck, AWaiterIsWokenByRemoval) {
  expect_holds([] { return canceller_and_waiter(kNoDeadline); }, 4);
  expect_holds([] { return canceller_and_waiter(kSoon); }, 4);
  for (const uint64_t waited : {1, 2})
    expect_holds([=] { return lane_and_canceller_and_waiter(waited); }, 2);
}

TEST(ModelCheck, CompletedMeansThatTheResultIsThereAndForGood) {
  expect_holds([] { return submitter_and_lane_and_poller(1); }, 2);
  expect_holds([] { return submitter_and_lane_and_poller(2); }, 2);
  expect_holds([] { return lane_and_removals_and_poller(); }, 2);
  expect_holds([] { return caller_and_removals_and_poller(); }, 2);
  expect_holds([] { return canceller_and_poller(); }, 2);
}

TEST(ModelCheck, ARequestThatIsGivenUpCompletesOnce) {
  expect_holds([] { return lane_and_watchdog(); }, 4);
  expect_holds([] { return lane_and_watchdog_and_waiter(); }, 2);
}

TEST(ModelCheck, AClosedUnitEndsWhatItAccepted) {
  expect_holds([] { return submitter_and_closer_and_canceller(); }, 2);
}

}  // namespace
}  // namespace millrace::model_check
