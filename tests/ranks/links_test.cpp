// Tests connections between ranks: which peers are accepted, and where ranks listen.
#include "ranks/rendezvous/links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "ranks/rendezvous/proof.h"
#include "tests/support/log_capture.h"

namespace millrace::ranks {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

MeetingOptions options_of(uint32_t rank, uint32_t ranks) {
  return {.place = "",
          .rank = rank,
          .ranks = ranks,
          .token = "",
          .limit = {std::chrono::steady_clock::now() + std::chrono::seconds(50), nullptr}};
}

std::string place_of(const Links& links) {
  return reinterpret_cast<const char*>(links.card().data());
}

TEST(Links, ListenAtTheAddressOrInterfaceThatIsAskedFor) {
  MeetingOptions options = options_of(0, 2);
  EXPECT_THAT(place_of(Links::open(options, "127.0.0.1").value()), StartsWith("127.0.0.1:"));
  options.interface = "lo";
  EXPECT_THAT(place_of(Links::open(options, "10.1.2.3").value()), StartsWith("127.0.0.1:"));
  options.interface = "127.0.0.2";
  EXPECT_THAT(place_of(Links::open(options, "127.0.0.1").value()), StartsWith("127.0.0.2:"));
  options.interface = "no such interface";
  const Status unknown = Links::open(options, "127.0.0.1").status();
  EXPECT_EQ(unknown.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(unknown.message(), HasSubstr("\"no such interface\" is not a network interface"));
}

TEST(Links, AskForAnAddressByWhichOthersFindTheRank) {
  for (const char* address : {"0.0.0.0", "::"}) {
    const Status open = Links::open(options_of(0, 2), address).status();
    EXPECT_EQ(open.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(open.message(), HasSubstr("MILLRACE_NRT_RANKS_INTERFACE"));
  }
}

TEST(Links, AreOfRanksOfTheSameMeetingAlone) {
  Links first = Links::open(options_of(0, 2), "127.0.0.1").value();
  Roster roster{make_nonce().value(), {Card{}, Card{}}}, other = roster;
  other.cards[0] = first.card();
  other.session = make_nonce().value();
  const test::LogCapture log;
  Result<std::vector<UniqueFd>> linked = Status(StatusCode::kPending, "");
  std::thread host([&] { linked = first.connect(options_of(0, 2), roster); });
  MeetingOptions soon = options_of(1, 2);
  soon.limit.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  const Status stranger = Links::open(soon, "127.0.0.1").value().connect(soon, other).status();
  EXPECT_THAT(stranger.message(), HasSubstr("connecting to rank 0"));
  EXPECT_GE(log.count("a connection from 127.0.0.1 was dropped: it is not a rank"), 1u);
  other.session = roster.session;
  EXPECT_TRUE(
      Links::open(options_of(1, 2), "127.0.0.1").value().connect(options_of(1, 2), other).ok());
  host.join();
  ASSERT_TRUE(linked.ok()) << linked.status().message();
  EXPECT_TRUE((*linked)[1]);
}

TEST(Links, NameTheRanksThatHaveNotConnected) {
  MeetingOptions options = options_of(0, 3);
  options.limit.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  options.warning_interval = std::chrono::milliseconds(1);
  const test::LogCapture log;
  const Status status = Links::open(options, "127.0.0.1")
                            .value()
                            .connect(options, {SessionKey{}, std::vector<Card>(3)})
                            .status();
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(status.message(), HasSubstr("ranks 1, 2 have not connected to rank 0"));
  EXPECT_GE(log.count("WARNING ranks 1, 2 have not connected to rank 0"), 1u);
}

TEST(Proofs, DependOnEverythingThatIsClaimed) {
  const Secret secret = Secret::of_text("secret");
  const Nonce asked = make_nonce().value();
  const JoinHead head{.rank = 1, .ranks = 2, .nonce = make_nonce().value()};
  const Proof proof = secret.of_joining(asked, head);
  EXPECT_TRUE(is_equal(proof, secret.of_joining(asked, head)));
  EXPECT_FALSE(is_equal(proof, Secret::of_text("secrets").of_joining(asked, head)));
  EXPECT_FALSE(is_equal(proof, secret.of_joining(make_nonce().value(), head)));
  EXPECT_FALSE(is_equal(proof, secret.of_hosting(asked, head, {})));
  JoinHead other = head;
  other.rank = 0;
  EXPECT_FALSE(is_equal(proof, secret.of_joining(asked, other)));
}

}  // namespace
}  // namespace millrace::ranks
