// Bytes that strangers send where ranks meet are refused or waited out, and admit nobody who does
// not know the token; so is the answer of a stranger who listens there instead of rank 0.
#include <sys/socket.h>

#include <chrono>
#include <string>
#include <vector>

#include "ranks/rendezvous/meeting.h"
#include "ranks/rendezvous/socket.h"
#include "tests/fuzz/target.h"

namespace millrace::fuzz {
namespace {

using ranks::Card;
using ranks::Meeting;

constexpr std::string_view kToken = "secret";
constexpr std::chrono::milliseconds kPatience(5);

ranks::Limit soon() {
  return {std::chrono::steady_clock::now() + kPatience, nullptr};
}

struct Stop final : ranks::StopCheck {
  bool stop_requested() noexcept override { return true; }
};

// A port of the loopback interface that was free a moment ago.
std::string free_place() {
  const UniqueFd socket = ranks::listen_on({"127.0.0.1", "0"}).value();
  return "127.0.0.1:" + std::to_string(ranks::own_port(socket.get()).value());
}

ranks::MeetingOptions options_of(const std::string& place, uint32_t rank) {
  return {.place = place, .rank = rank, .ranks = 2, .token = std::string(kToken), .limit = soon()};
}

void say(int socket, Input input) {
  // More than the buffers take is not said.
  while (!input.empty()) {
    const ssize_t sent = ::send(socket, input.data(), input.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent <= 0) break;
    input = input.subspan(static_cast<size_t>(sent));
  }
  ::shutdown(socket, SHUT_WR);
}

// The guests say one part of the input each; every part has its length, of two bytes, before it.
void host(Input input) {
  static const std::string place = free_place();
  const auto meeting = Meeting::open(options_of(place, 0));
  if (!meeting.ok()) return expect_refusal(meeting.status(), {StatusCode::kIoError});
  std::vector<UniqueFd> guests;
  while (input.size() >= 2 && guests.size() < 80) {
    const size_t length =
        std::min(std::to_integer<size_t>(input[0]) | std::to_integer<size_t>(input[1]) << 8,
                 input.size() - 2);
    const Input said = input.subspan(2, length);
    input = input.subspan(2 + length);
    auto guest = ranks::connect_to(*ranks::parse_endpoint(place), soon());
    if (!guest.ok()) break;
    say(guest->get(), said);
    guests.push_back(*std::move(guest));
  }
  const auto met = (*meeting)->exchange(std::vector<Card>(2));
  expect(!met.ok(), "only a rank with the token is admitted");
  expect_refusal(met.status(), {StatusCode::kDeadlineExceeded, StatusCode::kIoError});
}

void guest(Input input) {
  static const UniqueFd listener = ranks::listen_on({"127.0.0.1", "0"}).value();
  static const std::string place =
      "127.0.0.1:" + std::to_string(ranks::own_port(listener.get()).value());
  Stop stop;
  ranks::MeetingOptions options = options_of(place, 1);
  options.limit.stop = &stop;
  const auto meeting = Meeting::open(options);
  if (!meeting.ok()) return expect_refusal(meeting.status(), {StatusCode::kCancelled});
  const UniqueFd stranger(::accept(listener.get(), nullptr, nullptr));
  if (!stranger) return;
  say(stranger.get(), input);
  const auto met = (*meeting)->exchange(std::vector<Card>(2));
  expect(!met.ok(), "only one with the token hosts a meeting");
  expect_refusal(met.status(),
                 {StatusCode::kCancelled, StatusCode::kCorruptData, StatusCode::kInvalidArgument});
}

}  // namespace

void fuzz_one(Input input) {
  if (input.empty()) return;
  const bool hosts = std::to_integer<int>(input[0]) % 2 == 0;
  (hosts ? host : guest)(input.subspan(1));
}

}  // namespace millrace::fuzz
