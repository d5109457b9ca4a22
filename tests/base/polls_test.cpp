// Polls: a stretch of calls that ask for requests is one wait.
#include "base/polls.h"

#include <gmock/gmock.h>

#include <tuple>
#include <vector>

#include "base/status.h"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Seen = std::tuple<HookPoint, uint64_t, uint64_t>;

constexpr uint64_t kDone = kPolled | static_cast<uint64_t>(StatusCode::kOk);
constexpr uint64_t kOpen = kPolled | static_cast<uint64_t>(StatusCode::kPending);

class Polls : public testing::Test {
 protected:
  Polls() { add_hook(keep, &seen_); }
  ~Polls() override {
    for (int i = 0; i < 2; ++i) note_poll(1, false);
    note_poll(1, true);  // ends what goes on
    remove_hook(keep, &seen_);
  }
  static void keep(void* seen, const HookEvent& event) noexcept {
    static_cast<std::vector<Seen>*>(seen)->emplace_back(event.point, event.subject, event.detail);
  }

  std::vector<Seen> seen_;
};

TEST_F(Polls, AreOneWaitHoweverManyThereAre) {
  for (int i = 0; i < 1000; ++i) note_poll(7, false);
  note_poll(7, true);
  note_poll(7, true);
  EXPECT_THAT(seen_, ElementsAre(Seen{HookPoint::kWaitBegan, 7, kPolled},
                                 Seen{HookPoint::kWaited, 7, kDone}));
}

TEST_F(Polls, OfACompleteRequestAreNoWait) {
  note_poll(7, true);
  EXPECT_THAT(seen_, IsEmpty());
}

TEST_F(Polls, OfSeveralRequestsInTurnEndWithTheFirstThatIsComplete) {
  for (int i = 0; i < 10; ++i)
    for (const uint64_t request : {7, 8, 9}) note_poll(request, false);
  note_poll(8, true);
  EXPECT_THAT(seen_,
              ElementsAre(Seen{HookPoint::kWaitBegan, 7, kPolled},
                          Seen{HookPoint::kWaited, 7, kOpen}, Seen{HookPoint::kWaited, 8, kDone}));
}

TEST_F(Polls, OfARequestThatIsNoLongerAskedForDoNotHideLaterOnes) {
  note_poll(7, false);
  for (int i = 0; i < 3; ++i) note_poll(8, false);
  note_poll(8, true);
  EXPECT_THAT(seen_, ElementsAre(Seen{HookPoint::kWaitBegan, 7, kPolled},
                                 Seen{HookPoint::kWaitBegan, 8, kPolled},
                                 Seen{HookPoint::kWaited, 8, kDone}));
}

// As of a program that asks once, waits in a call, and goes on to the next request.
TEST_F(Polls, AreNoWaitForARequestThatWasAskedForOnce) {
  for (uint64_t request = 7; request < 10; ++request) {
    note_poll(request, false);
    note_poll(request + 100, true);
  }
  note_poll(10, false);
  note_poll(10, true);
  EXPECT_THAT(
      seen_,
      ElementsAre(Seen{HookPoint::kWaitBegan, 7, kPolled}, Seen{HookPoint::kWaitBegan, 8, kPolled},
                  Seen{HookPoint::kWaitBegan, 9, kPolled}, Seen{HookPoint::kWaitBegan, 10, kPolled},
                  Seen{HookPoint::kWaited, 10, kDone}));
}

TEST_F(Polls, GoOnWhereAnotherRequestIsFoundComplete) {
  note_poll(7, false);
  note_poll(6, true);
  note_poll(7, true);
  EXPECT_THAT(seen_, ElementsAre(Seen{HookPoint::kWaitBegan, 7, kPolled},
                                 Seen{HookPoint::kWaited, 7, kDone}));
}

TEST_F(Polls, EndWhereARangeOfRequestsIsComplete) {
  note_poll(7, false);
  note_poll_of_range(1, 6);
  EXPECT_EQ(seen_.size(), 1u);
  note_poll_of_range(1, 7);
  note_poll_of_range(1, 8);
  EXPECT_THAT(seen_, ElementsAre(Seen{HookPoint::kWaitBegan, 7, kPolled},
                                 Seen{HookPoint::kWaited, 7, kDone}));
}

}  // namespace
}  // namespace millrace
