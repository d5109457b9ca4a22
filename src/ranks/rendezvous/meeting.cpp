// The side of all ranks except 0. A rank connects to the place again and again until it has an
// answer from rank 0 or the deadline passes.
#include "ranks/rendezvous/meeting.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/cancellation.h"
#include "base/unique_fd.h"
#include "ranks/rendezvous/host.h"
#include "ranks/rendezvous/proof.h"
#include "ranks/rendezvous/socket.h"
#include "ranks/rendezvous/waiting_log.h"

namespace millrace::ranks {
namespace {

// The time between two attempts to reach rank 0.
constexpr std::chrono::milliseconds kRetryInterval(50);

// The meeting of any rank except 0.
class MeetingGuest final : public Meeting {
 public:
  static Result<std::unique_ptr<Meeting>> open(const MeetingOptions& options) {
    MILLRACE_ASSIGN_OR_RETURN(Endpoint place, parse_endpoint(options.place));
    std::unique_ptr<MeetingGuest> guest(new MeetingGuest(options, std::move(place)));
    MILLRACE_RETURN_IF_ERROR(guest->connect());
    return std::unique_ptr<Meeting>(std::move(guest));
  }

  Result<std::string> own_address() const override { return ranks::own_address(socket_.get()); }

  Result<Roster> exchange(std::span<const Card> cards) override {
    // If the connection fails, it may have been to rank 0 of an earlier meeting, which has ended.
    for (;;) {
      Result<Roster> roster = try_exchange(cards);
      if (roster.status().code() != StatusCode::kIoError) return roster;
      MILLRACE_RETURN_IF_ERROR(wait_to_retry(roster.status()));
      MILLRACE_RETURN_IF_ERROR(connect());
    }
  }

 private:
  MeetingGuest(const MeetingOptions& options, Endpoint place)
      : options_(options),
        secret_(Secret::of_text(options.token)),
        place_(std::move(place)),
        waiting_(options.limit.stop, options.warning_interval,
                 [this] {
                   return fmt::format("rank {} has not been answered by rank 0 at {}",
                                      options_.rank, options_.place);
                 }),
        limit_{options.limit.deadline, &waiting_} {}

  Status connect() {
    for (;;) {
      Result<UniqueFd> socket = connect_to(place_, limit_);
      if (socket.ok()) {
        socket_ = *std::move(socket);
        return {};
      }
      MILLRACE_RETURN_IF_ERROR(wait_to_retry(socket.status()));
    }
  }

  // Waits before another attempt. Fails, with that reason, if there is no time for one.
  Status wait_to_retry(const Status& reason) {
    const CancellationOff whole;
    Status limit = check_limit(limit_, {});
    if (limit.code() == StatusCode::kCancelled) return limit;
    if (!limit.ok()) return late(reason);
    std::this_thread::sleep_for(kRetryInterval);
    return {};
  }
  Status late(const Status& reason) const {
    return {StatusCode::kDeadlineExceeded,
            fmt::format("rank {} has not been answered by rank 0 at {} in time: {}", options_.rank,
                        options_.place, reason.message())};
  }

  Result<Roster> try_exchange(std::span<const Card> cards) {
    Challenge challenge;
    MILLRACE_RETURN_IF_ERROR(receive(challenge));
    JoinHead head{.rank = options_.rank, .ranks = options_.ranks};
    MILLRACE_ASSIGN_OR_RETURN(head.nonce, make_nonce());
    head.proof = secret_.of_joining(challenge.nonce, head);
    MILLRACE_RETURN_IF_ERROR(send_all(socket_.get(), std::as_bytes(std::span(&head, 1)), limit_));
    MILLRACE_RETURN_IF_ERROR(send_all(socket_.get(), std::as_bytes(cards), limit_));
    Answer answer;
    MILLRACE_RETURN_IF_ERROR(receive(answer));
    if (answer.admitted != 1) return invalid_argument(reason_of(answer));
    if (!is_equal(answer.proof, secret_.of_hosting(challenge.nonce, head, answer.session)))
      return invalid_argument(
          fmt::format("the process at {} does not have the MILLRACE_NRT_RANKS_TOKEN of rank {}",
                      options_.place, options_.rank));
    Roster roster{answer.session, std::vector<Card>(options_.ranks)};
    MILLRACE_RETURN_IF_ERROR(
        receive_all(socket_.get(), std::as_writable_bytes(std::span(roster.cards)), limit_));
    return roster;
  }

  template <class Message>
  Status receive(Message& message) {
    const Status received =
        receive_all(socket_.get(), std::as_writable_bytes(std::span(&message, 1)), limit_);
    if (received.code() == StatusCode::kDeadlineExceeded) return late(received);
    MILLRACE_RETURN_IF_ERROR(received);
    if (message.magic == kRendezvousMagic) return {};
    return {StatusCode::kCorruptData,
            fmt::format("the process at {} is not a rank of this program", options_.place)};
  }

  // Returns the reason as printable text. The sender may be an unauthenticated peer, so control
  // characters, which could forge log lines, are replaced.
  static std::string reason_of(const Answer& answer) {
    std::string reason(answer.reason.data(), strnlen(answer.reason.data(), answer.reason.size()));
    std::ranges::replace_if(
        reason, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
    return reason.empty() ? "rank 0 has refused this rank without a reason" : reason;
  }

  const MeetingOptions options_;
  const Secret secret_;
  const Endpoint place_;
  WaitingLog waiting_;
  const Limit limit_;
  UniqueFd socket_;
};

}  // namespace

Result<std::unique_ptr<Meeting>> Meeting::open(const MeetingOptions& options) {
  if (options.ranks > kMostRanks || options.rank >= options.ranks)
    return invalid_argument(fmt::format("there is no rank {} of {}: there may be up to {} ranks",
                                        options.rank, options.ranks, kMostRanks));
  if (options.token.size() > kTokenBytes)
    return invalid_argument(fmt::format("the token of the ranks has {} bytes, more than {}",
                                        options.token.size(), kTokenBytes));
  return options.rank == 0 ? MeetingHost::open(options) : MeetingGuest::open(options);
}

}  // namespace millrace::ranks
