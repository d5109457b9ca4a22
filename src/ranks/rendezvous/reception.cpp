// One poll() loop over the listening socket and all guests. Sockets do not block, and each guest
// has a time limit.
#include "ranks/rendezvous/reception.h"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <thread>

#include "base/files/own_descriptor.h"
#include "base/log.h"
#include "ranks/rendezvous/proof.h"
#include "ranks/rendezvous/socket.h"

namespace millrace::ranks {
namespace {

using Clock = std::chrono::steady_clock;

// The maximum number of unauthenticated peers that are connected at a time; beyond it the oldest is
// dropped.
constexpr size_t kStrangers = 64;
// The time in which a guest must send its message. A rank sends it at once.
constexpr std::chrono::seconds kPatience(10);
constexpr std::chrono::milliseconds kTick(100);
// The maximum number of refusals that are logged, so that peers cannot fill the log.
constexpr uint64_t kNamedRefusals = 64;

}  // namespace

void Reception::step(const Limit& limit) {
  std::vector<pollfd> entries{{listener_.get(), POLLIN, 0}};
  for (const Guest& guest : guests_) entries.push_back({guest.socket.get(), POLLIN, 0});
  const auto begun = Clock::now();
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(
      std::clamp(limit.deadline, begun, begun + kTick) - begun);
  if (poll(entries.data(), entries.size(), static_cast<int>(left.count())) < 0) return;
  auto guest = guests_.begin();
  for (size_t i = 1; i < entries.size(); ++i)
    guest = attend(*guest, entries[i].revents != 0) ? std::next(guest) : guests_.erase(guest);
  if (entries[0].revents != 0) take_in();
}

void Reception::take_in() {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  UniqueFd socket = own_descriptor(accept4(listener_.get(), reinterpret_cast<sockaddr*>(&address),
                                           &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket) {
    // For other errors, such as a lack of free descriptors, poll() would report the peer again at
    // once, so this waits.
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
      std::this_thread::sleep_for(kTick);
    return;
  }
  char digits[NI_MAXHOST] = "an unknown address";
  getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, digits, sizeof(digits), nullptr, 0,
              NI_NUMERICHOST);
  const Result<Nonce> nonce = make_nonce();
  if (!nonce.ok()) return log(LogLevel::kError, "ranks", nonce.status().message());
  const Challenge challenge{.nonce = *nonce};
  // A few bytes fit into the send buffer of a new connection, so this fails only if the connection
  // was reset.
  if (!send_all(socket.get(), std::as_bytes(std::span(&challenge, 1)), {Deadline::min(), nullptr})
           .ok())
    return static_cast<void>(note_stranger(digits, "it was closed at once"));
  if (guests_.size() >= ranks_ + kStrangers) {
    const auto oldest = std::ranges::find_if(
        guests_, [](const Guest& guest) { return guest.state != Guest::State::kStays; });
    note_stranger(oldest->from, "there are too many others");
    guests_.erase(oldest);
  }
  guests_.push_back({.socket = std::move(socket),
                     .from = digits,
                     .patience = Clock::now() + kPatience,
                     .asked = *nonce,
                     .message = std::vector<std::byte>(head_bytes_)});
}

bool Reception::attend(Guest& guest, bool is_ready) {
  switch (guest.state) {
    case Guest::State::kStays:
      return !is_ready;  // an event means that it has ended, or sends data that it must not send
    case Guest::State::kRefused:
      return is_ready ? hear_out(guest) : Clock::now() < guest.patience;
    case Guest::State::kSpeaks:
      break;
  }
  if (is_ready) return read(guest);
  return Clock::now() < guest.patience || note_stranger(guest.from, "it has sent nothing in time");
}

bool Reception::read(Guest& guest) {
  const std::span<std::byte> missing = std::span(guest.message).subspan(guest.received);
  const ssize_t got = recv(guest.socket.get(), missing.data(), missing.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (got <= 0) return note_stranger(guest.from, "it has ended the connection");
  guest.received += static_cast<size_t>(got);
  if (guest.received < guest.message.size()) return true;
  switch (hear(guest)) {
    case Verdict::kGoes:
      return note_stranger(guest.from, "it is not a rank of this program");
    case Verdict::kStays:
      guest.state = Guest::State::kStays;
      return true;
    case Verdict::kSaysMore:
      return true;
    case Verdict::kTaken:
      break;
  }
  return false;
}

bool Reception::hear_out(Guest& guest) {
  std::array<std::byte, 4096> dropped;
  const ssize_t got = recv(guest.socket.get(), dropped.data(), dropped.size(), 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  return got > 0 && Clock::now() < guest.patience;
}

Reception::Verdict Reception::refuse(Guest& guest, std::span<const std::byte> answer,
                                     std::string_view reason) {
  guest.state = Guest::State::kRefused;
  if (++refusals_ <= kNamedRefusals)
    log(LogLevel::kWarning, "ranks",
        fmt::format("{}: refused, from {}: {}", place_, guest.from, reason));
  // A few bytes fit into the send buffer of a new connection, so this does not wait.
  const Status sent = send_all(guest.socket.get(), answer, {Deadline::min(), nullptr});
  if (!sent.ok()) log(LogLevel::kDebug, "ranks", sent.message());
  return Verdict::kSaysMore;
}

// Counts a dropped connection, and logs the first, the second, the fourth and so on. Returns false,
// for attend().
bool Reception::note_stranger(const std::string& from, std::string_view why) {
  if (std::has_single_bit(++strangers_))
    log(LogLevel::kWarning, "ranks",
        fmt::format("{}: a connection from {} was dropped: {}; {} so far", place_, from, why,
                    strangers_));
  return false;
}

}  // namespace millrace::ranks
