#include "ranks/rendezvous/host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <thread>

#include "base/cancellation.h"
#include "base/log.h"
#include "ranks/rendezvous/socket.h"

namespace millrace::ranks {
namespace {

// Strangers that may be connected at a time besides the ranks; the one that came first goes.
constexpr size_t kStrangers = 64;
// For the message of a guest: its rank sends it at once.
constexpr std::chrono::seconds kPatience(10);
constexpr std::chrono::milliseconds kTick(100);
// Strangers that come again and again do not fill the log.
constexpr uint64_t kNamedRefusals = 64;

Deadline patience_from_now() {
  return std::chrono::steady_clock::now() + kPatience;
}

// Takes the same time wherever the difference is.
bool equal(const Token& a, const Token& b) noexcept {
  unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace

Result<std::unique_ptr<Meeting>> MeetingHost::open(const MeetingOptions& options,
                                                   const Token& token) {
  MILLRACE_ASSIGN_OR_RETURN(const Endpoint place, parse_endpoint(options.place));
  MILLRACE_ASSIGN_OR_RETURN(UniqueFd listener, listen_on(place));
  return std::unique_ptr<Meeting>(new MeetingHost(options, token, std::move(listener)));
}

Result<std::string> MeetingHost::own_address() const {
  return ranks::own_address(listener_.get());
}

bool MeetingHost::all_have_come() const {
  return std::ranges::count(guests_, true, &Guest::joined) + 1 == options_.ranks;
}

void MeetingHost::wait_for_guests() {
  std::vector<pollfd> entries{{listener_.get(), POLLIN, 0}};
  for (const Guest& guest : guests_) entries.push_back({guest.socket.get(), POLLIN, 0});
  const auto begun = std::chrono::steady_clock::now();
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(
      std::clamp(options_.limit.deadline, begun, begun + kTick) - begun);
  if (poll(entries.data(), entries.size(), static_cast<int>(left.count())) < 0) return;
  auto guest = guests_.begin();
  for (size_t i = 1; i < entries.size(); ++i) {
    const auto now = std::chrono::steady_clock::now();
    const bool stays =
        entries[i].revents == 0 ? guest->joined || now < guest->patience : read(*guest);
    guest = stays ? std::next(guest) : guests_.erase(guest);
  }
  if (entries[0].revents != 0) admit_guest();
}

void MeetingHost::admit_guest() {
  UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket) {
    // It has gone already; or there are no descriptors, and it would be reported again at once.
    if (errno == EMFILE || errno == ENFILE) std::this_thread::sleep_for(kTick);
    return;
  }
  if (guests_.size() >= options_.ranks + kStrangers)
    guests_.erase(std::ranges::find(guests_, false, &Guest::joined));
  guests_.push_back({std::move(socket), patience_from_now(), {}, {}, 0, false, false});
}

bool MeetingHost::read_part(Guest& guest, std::span<std::byte> whole, size_t already) {
  const std::span<std::byte> missing = whole.subspan(guest.received - already);
  const ssize_t got = recv(guest.socket.get(), missing.data(), missing.size(), 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  guest.received += static_cast<size_t>(got);
  return got > 0;
}

// Closed before, the connection would take the answer with it.
bool MeetingHost::hear_out(Guest& guest) {
  std::array<std::byte, 4096> dropped;
  const ssize_t got = recv(guest.socket.get(), dropped.data(), dropped.size(), 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  return got > 0 && std::chrono::steady_clock::now() < guest.patience;
}

bool MeetingHost::read(Guest& guest) {
  if (guest.refused) return hear_out(guest);
  if (guest.joined) return false;  // it has ended, or says what it should not
  if (guest.received < sizeof(JoinHead)) {
    if (!read_part(guest, std::as_writable_bytes(std::span(&guest.head, 1)), 0)) return false;
    return guest.received < sizeof(JoinHead) || check(guest);
  }
  const std::span<std::byte> cards = std::as_writable_bytes(std::span(guest.cards));
  if (!read_part(guest, cards, sizeof(JoinHead))) return false;
  guest.joined = guest.received == sizeof(JoinHead) + cards.size();
  return true;
}

bool MeetingHost::check(Guest& guest) {
  const JoinHead& head = guest.head;
  if (head.magic != kRendezvousMagic) return false;
  const auto says = [&](const Guest& other) {
    return &other != &guest && !other.cards.empty() && other.head.rank == head.rank;
  };
  if (!equal(head.token, token_))
    refuse(guest,
           fmt::format("rank {} has another MILLRACE_NRT_RANKS_TOKEN than rank 0", head.rank));
  else if (head.ranks != options_.ranks)
    refuse(guest, fmt::format("rank {} is one of {} ranks, rank 0 one of {}", head.rank, head.ranks,
                              options_.ranks));
  else if (head.rank == 0 || head.rank >= options_.ranks)
    refuse(guest, fmt::format("there is no other rank {} of {}", head.rank, options_.ranks));
  else if (std::ranges::any_of(guests_, says))
    refuse(guest, fmt::format("rank {} has come already", head.rank));
  else
    guest.cards.resize(options_.ranks);
  return true;
}

void MeetingHost::refuse(Guest& guest, const std::string& reason) {
  guest.refused = true;
  if (++refusals_ <= kNamedRefusals)
    log(LogLevel::kWarning, "ranks", fmt::format("{}: refused: {}", options_.place, reason));
  Answer answer;
  reason.copy(answer.reason.data(), answer.reason.size() - 1);
  // A few bytes fit in the buffer of a new connection. Who does not read them is not told.
  const Status sent = send_all(guest.socket.get(), std::as_bytes(std::span(&answer, 1)),
                               {Deadline::min(), nullptr});
  if (!sent.ok()) log(LogLevel::kDebug, "ranks", sent.message());
}

std::string MeetingHost::absent_ranks() const {
  std::vector<uint32_t> absent;
  for (uint32_t rank = 1; rank < options_.ranks; ++rank)
    if (std::ranges::none_of(
            guests_, [&](const Guest& guest) { return guest.joined && guest.head.rank == rank; }))
      absent.push_back(rank);
  return fmt::format("rank{} {} ha{} not come to {}", absent.size() == 1 ? "" : "s",
                     fmt::join(absent, ", "), absent.size() == 1 ? "s" : "ve", options_.place);
}

Roster MeetingHost::roster_of(uint32_t rank, std::span<const Card> own_cards) const {
  Roster roster;
  roster.cards.resize(options_.ranks);
  if (rank != 0) roster.cards[0] = own_cards[rank];
  for (const Guest& guest : guests_)
    if (guest.joined && guest.head.rank != rank) roster.cards[guest.head.rank] = guest.cards[rank];
  return roster;
}

Status MeetingHost::answer(std::span<const Card> own_cards, uint64_t session) {
  Answer admitted;
  admitted.session = session;
  admitted.admitted = 1;
  for (const Guest& guest : guests_) {
    if (!guest.joined) continue;
    const Roster roster = roster_of(guest.head.rank, own_cards);
    const int socket = guest.socket.get();
    const Limit limit{patience_from_now(), options_.limit.stop};
    Status sent = send_all(socket, std::as_bytes(std::span(&admitted, 1)), limit);
    if (sent.ok()) sent = send_all(socket, std::as_bytes(std::span(roster.cards)), limit);
    if (!sent.ok())
      return sent.with_context(fmt::format("telling rank {} of the others", guest.head.rank));
  }
  return {};
}

Result<Roster> MeetingHost::exchange(std::span<const Card> cards) {
  const CancellationOff whole;
  while (!all_have_come()) {
    const Status limit = check_limit(options_.limit, {});
    if (limit.code() == StatusCode::kCancelled) return limit.with_context(absent_ranks());
    if (!limit.ok()) return Status(limit.code(), absent_ranks() + " in time");
    wait_for_guests();
  }
  uint64_t session = 0;
  if (getrandom(&session, sizeof(session), 0) != sizeof(session))
    return io_error("getrandom", errno);
  listener_ = UniqueFd();
  MILLRACE_RETURN_IF_ERROR(answer(cards, session));
  Roster roster = roster_of(0, cards);
  roster.session = session;
  guests_.clear();
  return roster;
}

}  // namespace millrace::ranks
