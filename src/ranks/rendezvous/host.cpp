// A rank that connects first sends the head of its message, with its proof; memory for its cards is
// allocated only after the proof is verified. Ranks that have come stay connected until the answers
// are sent.
#include "ranks/rendezvous/host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/cancellation.h"
#include "ranks/rendezvous/socket.h"
#include "ranks/rendezvous/waiting_log.h"

namespace millrace::ranks {
namespace {

// The time in which a rank must receive the cards of the others.
constexpr std::chrono::seconds kPatience(10);

}  // namespace

Result<std::unique_ptr<Meeting>> MeetingHost::open(const MeetingOptions& options) {
  MILLRACE_ASSIGN_OR_RETURN(const Endpoint place, parse_endpoint(options.place));
  MILLRACE_ASSIGN_OR_RETURN(UniqueFd listener, listen_on(place));
  return std::unique_ptr<Meeting>(new MeetingHost(options, std::move(listener)));
}

Result<std::string> MeetingHost::own_address() const {
  return ranks::own_address(listener());
}

bool MeetingHost::all_have_come() const {
  return std::ranges::count(guests(), Guest::State::kStays, &Guest::state) + 1 == options_.ranks;
}

// Handles the head of a message, after which the cards follow, or the whole message.
Reception::Verdict MeetingHost::hear(Guest& guest) {
  if (guest.message.size() > sizeof(JoinHead)) return Verdict::kStays;
  const auto head = guest.as<JoinHead>();
  if (head.magic != kRendezvousMagic) return Verdict::kGoes;
  if (const std::string reason = why_not(guest, head); !reason.empty()) {
    Answer answer;
    reason.copy(answer.reason.data(), answer.reason.size() - 1);
    return refuse(guest, std::as_bytes(std::span(&answer, 1)), reason);
  }
  guest.rank = head.rank;
  guest.message.resize(sizeof(JoinHead) + options_.ranks * sizeof(Card));
  return Verdict::kSaysMore;
}

std::string MeetingHost::why_not(const Guest& guest, const JoinHead& head) const {
  if (!is_equal(head.proof, secret_.of_joining(guest.asked, head)))
    return fmt::format("rank {} has another MILLRACE_NRT_RANKS_TOKEN than rank 0", head.rank);
  if (head.ranks != options_.ranks)
    return fmt::format("rank {} is one of {} ranks, rank 0 one of {}", head.rank, head.ranks,
                       options_.ranks);
  if (head.rank == 0 || head.rank >= options_.ranks)
    return fmt::format("there is no other rank {} of {}", head.rank, options_.ranks);
  if (std::ranges::any_of(guests(), [&](const Guest& other) { return other.rank == head.rank; }))
    return fmt::format("rank {} has come already", head.rank);
  return {};
}

std::string MeetingHost::absent_ranks() const {
  std::vector<uint32_t> absent;
  for (uint32_t rank = 1; rank < options_.ranks; ++rank)
    if (std::ranges::none_of(guests(), [&](const Guest& guest) {
          return guest.state == Guest::State::kStays && guest.rank == rank;
        }))
      absent.push_back(rank);
  return fmt::format("rank{} {} ha{} not come to {}", absent.size() == 1 ? "" : "s",
                     fmt::join(absent, ", "), absent.size() == 1 ? "s" : "ve", options_.place);
}

Roster MeetingHost::roster_of(uint32_t rank, std::span<const Card> own_cards) const {
  Roster roster;
  roster.cards.resize(options_.ranks);
  if (rank != 0) roster.cards[0] = own_cards[rank];
  for (const Guest& guest : guests())
    if (guest.state == Guest::State::kStays && guest.rank != rank)
      std::memcpy(&roster.cards[guest.rank],
                  guest.message.data() + sizeof(JoinHead) + rank * sizeof(Card), sizeof(Card));
  return roster;
}

Status MeetingHost::answer(const Guest& guest, std::span<const Card> own_cards,
                           const SessionKey& session, const Limit& limit) const {
  Answer admitted;
  admitted.admitted = 1;
  admitted.session = session;
  admitted.proof = secret_.of_hosting(guest.asked, guest.as<JoinHead>(), session);
  const Roster roster = roster_of(guest.rank, own_cards);
  const int socket = guest.socket.get();
  MILLRACE_RETURN_IF_ERROR(send_all(socket, std::as_bytes(std::span(&admitted, 1)), limit));
  return send_all(socket, std::as_bytes(std::span(roster.cards)), limit);
}

Result<Roster> MeetingHost::exchange(std::span<const Card> cards) {
  const CancellationOff whole;
  WaitingLog waiting(options_.limit.stop, options_.warning_interval,
                     [this] { return absent_ranks(); });
  const Limit limit{options_.limit.deadline, &waiting};
  while (!all_have_come()) {
    const Status reached = check_limit(limit, {});
    if (reached.code() == StatusCode::kCancelled) return reached.with_context(absent_ranks());
    if (!reached.ok()) return Status(reached.code(), absent_ranks() + " in time");
    step(limit);
  }
  MILLRACE_ASSIGN_OR_RETURN(const SessionKey session, make_nonce());
  stop_listening();
  for (const Guest& guest : guests()) {
    if (guest.state != Guest::State::kStays) continue;
    const Limit soon{std::chrono::steady_clock::now() + kPatience, options_.limit.stop};
    if (const Status sent = answer(guest, cards, session, soon); !sent.ok())
      return sent.with_context(
          fmt::format("sending the cards of the others to rank {}", guest.rank));
  }
  Roster roster = roster_of(0, cards);
  roster.session = session;
  guests().clear();
  return roster;
}

}  // namespace millrace::ranks
