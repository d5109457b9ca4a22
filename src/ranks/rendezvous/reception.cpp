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

// Limits the unauthenticated peers that are connected at a time; beyond it the oldest is dropped.
constexpr size_t kStrangers = 64;
// A guest has this long to send its message: a rank sends it at once.
constexpr std::chrono::seconds kPatience(10);
constexpr std::chrono::milliseconds kTick(100);
// Peers that are refused again and again do not fill the log.
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
    // The peer has gone already; or the process has no free descriptor, and poll would report the
    // peer again at once.
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
  // A few bytes fit in the buffer of a new connection; one that has been reset takes none.
  if (!send_all(socket.get(), std::as_bytes(std::span(&challenge, 1)), {Deadline::min(), nullptr})
           .ok())
    return static_cast<void>(note_stranger(digits, "it has gone already"));
  if (guests_.size() >= ranks_ + kStrangers) {
    const auto oldest = std::ranges::find_if(
        guests_, [](const Guest& guest) { return guest.state != Guest::State::kStays; });
    note_stranger(oldest->from, "others have come meanwhile");
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
      return !is_ready;  // true unless it has ended, or sends data that it should not
    case Guest::State::kRefused:
      return is_ready ? hear_out(guest) : Clock::now() < guest.patience;
    case Guest::State::kSpeaks:
      break;
  }
  if (is_ready) return read(guest);
  return Clock::now() < guest.patience || note_stranger(guest.from, "it says nothing");
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
      return note_stranger(guest.from, "it is no rank");
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
  // A few bytes fit in the buffer of a new connection. A peer that does not read them is not told.
  const Status sent = send_all(guest.socket.get(), answer, {Deadline::min(), nullptr});
  if (!sent.ok()) log(LogLevel::kDebug, "ranks", sent.message());
  return Verdict::kSaysMore;
}

// Logs the first refusal, the second, the fourth and so on. Returns false: the guest goes.
bool Reception::note_stranger(const std::string& from, std::string_view why) {
  if (std::has_single_bit(++strangers_))
    log(LogLevel::kWarning, "ranks",
        fmt::format("{}: a connection from {} was dropped: {}; {} so far", place_, from, why,
                    strangers_));
  return false;
}

}  // namespace millrace::ranks
