// The rendezvous: who is admitted, who is told why not, and that strangers change nothing.
#include "ranks/rendezvous/meeting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "base/settings/environment.h"
#include "ranks/rendezvous/socket.h"
#include "tests/ranks/processes.h"
#include "tests/support/log_capture.h"

namespace millrace::ranks {
namespace {

using testing::HasSubstr;
using testing::Not;

using Clock = std::chrono::steady_clock;

Limit within(std::chrono::milliseconds time) {
  return {Clock::now() + time, nullptr};
}

MeetingOptions options_of(const MeetingPlace& place, uint32_t rank, uint32_t ranks,
                          const std::string& token = "secret") {
  return {.place = place.text(),
          .rank = rank,
          .ranks = ranks,
          .token = token,
          .limit = within(std::chrono::seconds(50))};
}

Card card_from(uint32_t from, uint32_t to) {
  Card card{};
  card[0] = std::byte(from);
  card[1] = std::byte(to);
  return card;
}

Result<Roster> meet(const MeetingOptions& options) {
  std::vector<Card> cards;
  for (uint32_t to = 0; to < options.ranks; ++to) cards.push_back(card_from(options.rank, to));
  MILLRACE_ASSIGN_OR_RETURN(const std::unique_ptr<Meeting> meeting, Meeting::open(options));
  return meeting->exchange(cards);
}

// Each rank has the cards that the others made for it.
void expect_complete(const Result<Roster>& roster, uint32_t rank, uint32_t ranks) {
  ASSERT_TRUE(roster.ok()) << roster.status().message();
  ASSERT_EQ(roster->cards.size(), ranks);
  for (uint32_t from = 0; from < ranks; ++from)
    EXPECT_EQ(roster->cards[from], from == rank ? Card{} : card_from(from, rank));
}

// Sends `bytes` to the meeting, if rank 0 listens there.
void say(const MeetingPlace& place, std::span<const std::byte> bytes) {
  const Result<UniqueFd> socket =
      connect_to(*parse_endpoint(place.text()), within(std::chrono::seconds(1)));
  if (!socket.ok()) return;
  const Status sent = send_all(socket->get(), bytes, within(std::chrono::seconds(1)));
  EXPECT_TRUE(sent.ok() || sent.code() == StatusCode::kIoError) << sent.message();
}

void await_host(const MeetingPlace& place) {
  const Endpoint endpoint = *parse_endpoint(place.text());
  while (!connect_to(endpoint, within(std::chrono::milliseconds(0))).ok())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(Meeting, GivesEveryRankTheCardsOfTheOthers) {
  const MeetingPlace place;
  std::vector<std::thread> threads;
  for (uint32_t rank : {2, 1, 0})  // rank 0 comes last
    threads.emplace_back([&, rank] { expect_complete(meet(options_of(place, rank, 3)), rank, 3); });
  for (std::thread& thread : threads) thread.join();
}

TEST(Meeting, NamesTheRanksThatHaveNotCome) {
  const MeetingPlace place;
  MeetingOptions options = options_of(place, 0, 3);
  options.limit = within(std::chrono::milliseconds(200));
  const Result<Roster> roster = meet(options);
  EXPECT_EQ(roster.status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(roster.status().message(), HasSubstr("ranks 1, 2 have not come to " + place.text()));
}

TEST(Meeting, NamesThePlaceWhereNobodyListens) {
  const MeetingPlace place;
  MeetingOptions options = options_of(place, 1, 2);
  options.limit = within(std::chrono::milliseconds(200));
  EXPECT_THAT(meet(options).status().message(),
              HasSubstr("rank 1 has not been answered by rank 0 at " + place.text()));
}

TEST(Meeting, RefusesWhatMakesNoSense) {
  const MeetingPlace place;
  EXPECT_EQ(meet(options_of(place, 3, 3)).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(meet(options_of(place, 0, kMostRanks + 1)).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(meet(options_of(place, 0, 2, std::string(65, 'x'))).status().code(),
            StatusCode::kInvalidArgument);
  for (const char* text : {"", "host", "host:", ":5000", "host:0", "host:65536", "host:http"})
    EXPECT_EQ(parse_endpoint(text).status().code(), StatusCode::kInvalidArgument) << text;
  EXPECT_EQ(parse_endpoint("[::1]:5000")->host, "::1");
}

TEST(Meeting, TellsARankWhyItIsRefused) {
  const MeetingPlace place;
  std::thread host([&] { expect_complete(meet(options_of(place, 0, 2)), 0, 2); });
  EXPECT_EQ(meet(options_of(place, 1, 3)).status().message(),
            "rank 1 is one of 3 ranks, rank 0 one of 2");
  expect_complete(meet(options_of(place, 1, 2)), 1, 2);
  host.join();
}

TEST(Meeting, TellsARankThatItHasAnotherToken) {
  const MeetingPlace place;
  std::thread host([&] { expect_complete(meet(options_of(place, 0, 2)), 0, 2); });
  EXPECT_EQ(meet(options_of(place, 1, 2, "a guess")).status().message(),
            "rank 1 has another MILLRACE_NRT_RANKS_TOKEN than rank 0");
  expect_complete(meet(options_of(place, 1, 2)), 1, 2);
  host.join();
}

// An eavesdropper does not learn the token, and a host without the token is not taken for rank 0.
TEST(Meeting, DoesNotTellTheTokenAndAsksForItItself) {
  const UniqueFd listener = listen_on({"127.0.0.1", "0"}).value();
  MeetingOptions options{.place = "127.0.0.1:" + std::to_string(own_port(listener.get()).value()),
                         .rank = 1,
                         .ranks = 2,
                         .token = "the text of the token",
                         .limit = within(std::chrono::seconds(50))};
  Result<Roster> roster = Status(StatusCode::kPending, "");
  std::thread rank([&] { roster = meet(options); });
  pollfd arrival{listener.get(), POLLIN, 0};  // accept() itself does not wait
  EXPECT_EQ(poll(&arrival, 1, -1), 1);
  const UniqueFd socket(accept(listener.get(), nullptr, nullptr));
  const auto say = [&](const auto& message) {
    EXPECT_EQ(send(socket.get(), &message, sizeof(message), MSG_NOSIGNAL),
              static_cast<ssize_t>(sizeof(message)));
  };
  say(Challenge{});
  std::string heard(sizeof(JoinHead) + 2 * sizeof(Card), '\0');
  EXPECT_EQ(recv(socket.get(), heard.data(), heard.size(), MSG_WAITALL),
            static_cast<ssize_t>(heard.size()));
  EXPECT_THAT(heard, Not(HasSubstr(options.token)));
  say(Answer{.admitted = 1});
  rank.join();
  EXPECT_EQ(roster.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(roster.status().message(), HasSubstr("does not have the MILLRACE_NRT_RANKS_TOKEN"));
}

TEST(Meeting, SaysNowAndThenWhoIsMissing) {
  const MeetingPlace place;
  const test::LogCapture log;
  MeetingOptions early = options_of(place, 0, 3), late = options_of(place, 1, 3);
  early.warning_interval = late.warning_interval = std::chrono::milliseconds(1);
  std::thread guest([&] {
    log.await("WARNING ranks 1, 2 have not come to " + place.text());
    expect_complete(meet(late), 1, 3);
  });
  std::thread last([&] {
    log.await("WARNING rank 1 has not been answered by rank 0 at " + place.text());
    log.await("WARNING rank 2 has not come to " + place.text());
    expect_complete(meet(options_of(place, 2, 3)), 2, 3);
  });
  expect_complete(meet(early), 0, 3);
  guest.join();
  last.join();
}

// A rank of so many sends more than the buffers of a connection hold before it reads the refusal.
TEST(Meeting, TellsARankOfManyWhyItIsRefused) {
  const MeetingPlace place;
  std::thread host([&] { expect_complete(meet(options_of(place, 0, 2)), 0, 2); });
  EXPECT_EQ(meet(options_of(place, 1, kMostRanks)).status().message(),
            "rank 1 is one of 1024 ranks, rank 0 one of 2");
  expect_complete(meet(options_of(place, 1, 2)), 1, 2);
  host.join();
}

TEST(Meeting, EndsWhenItIsAskedToStop) {
  struct Stop : StopCheck {
    bool stop_requested() noexcept override { return true; }
  } stop;
  const MeetingPlace place, nowhere;
  MeetingOptions host = options_of(place, 0, 2), guest = options_of(nowhere, 1, 2);
  host.limit.stop = guest.limit.stop = &stop;
  const Status hosted = meet(host).status();
  EXPECT_EQ(hosted.code(), StatusCode::kCancelled);
  EXPECT_THAT(hosted.message(), HasSubstr("rank 1 has not come"));
  EXPECT_EQ(meet(guest).status().code(), StatusCode::kCancelled);
}

// It would meet the ranks of the program that listens there.
TEST(Meeting, APortThatIsTakenIsNotSoughtAtAnotherAddress) {
  const UniqueFd listener = listen_on({"127.0.0.1", "0"}).value();
  const std::string port = std::to_string(own_port(listener.get()).value());
  const Result<UniqueFd> second = listen_on({"127.0.0.1", port});
  EXPECT_EQ(second.status().code(), StatusCode::kIoError);
  EXPECT_THAT(second.status().message(), testing::HasSubstr("127.0.0.1:" + port));
}

TEST(Meeting, FindsAHostThatListensAtOneOfItsAddresses) {
  const UniqueFd listener = listen_on({"127.0.0.1", "0"}).value();
  const std::string port = std::to_string(own_port(listener.get()).value());
  // The first address of the name may be that of IPv6.
  EXPECT_TRUE(connect_to({"localhost", port}, within(std::chrono::seconds(50))).ok());
}

// The ranks meet whatever strangers say, and nobody else is admitted. MILLRACE_TEST_STRANGERS says
// how many come, instead of 300.
TEST(Meeting, DropsStrangers) {
  const MeetingPlace place;
  std::thread host([&] { expect_complete(meet(options_of(place, 0, 2)), 0, 2); });
  await_host(place);
  std::mt19937 random(1);
  const uint64_t strangers = number_variable("MILLRACE_TEST_STRANGERS", 300, 1, 1'000'000).value();
  for (uint64_t i = 0; i < strangers; ++i) {
    const JoinHead head{.rank = 1, .ranks = 2};  // without a proof
    std::vector<std::byte> bytes(sizeof(head) + 2 * sizeof(Card));
    std::memcpy(bytes.data(), &head, sizeof(head));
    if (i % 3 != 0) {
      for (int change = 0; change < 3; ++change)
        bytes[random() % 16] = static_cast<std::byte>(random());  // a malformed head
      bytes[random() % 8] ^= std::byte(1 + random() % 255);
    }
    bytes.resize(i % 5 == 0 ? random() % sizeof(head) : bytes.size());
    say(place, bytes);
  }
  expect_complete(meet(options_of(place, 1, 2)), 1, 2);
  host.join();
}

}  // namespace
}  // namespace millrace::ranks
