#include "ranks/rendezvous/meeting.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/cancellation.h"
#include "base/unique_fd.h"
#include "ranks/rendezvous/host.h"
#include "ranks/rendezvous/socket.h"

namespace millrace::ranks {
namespace {

// Between two attempts to reach rank 0.
constexpr std::chrono::milliseconds kRetryInterval(50);

// Any rank but 0.
class MeetingGuest final : public Meeting {
 public:
  static Result<std::unique_ptr<Meeting>> open(const MeetingOptions& options, const Token& token) {
    MILLRACE_ASSIGN_OR_RETURN(Endpoint place, parse_endpoint(options.place));
    std::unique_ptr<MeetingGuest> guest(new MeetingGuest(options, token, std::move(place)));
    MILLRACE_RETURN_IF_ERROR(guest->connect());
    return std::unique_ptr<Meeting>(std::move(guest));
  }

  Result<std::string> own_address() const override { return ranks::own_address(socket_.get()); }

  Result<Roster> exchange(std::span<const Card> cards) override {
    // Rank 0 may have been the one of an earlier meeting, which ends: then there is another one.
    for (;;) {
      Result<Roster> roster = try_exchange(cards);
      if (roster.status().code() != StatusCode::kIoError) return roster;
      MILLRACE_RETURN_IF_ERROR(wait_to_retry(roster.status()));
      MILLRACE_RETURN_IF_ERROR(connect());
    }
  }

 private:
  MeetingGuest(const MeetingOptions& options, const Token& token, Endpoint place)
      : options_(options), token_(token), place_(std::move(place)) {}

  Status connect() {
    for (;;) {
      Result<UniqueFd> socket = connect_to(place_, options_.limit);
      if (socket.ok()) {
        socket_ = *std::move(socket);
        return {};
      }
      MILLRACE_RETURN_IF_ERROR(wait_to_retry(socket.status()));
    }
  }

  // A failure, for that reason, when there is no time for another attempt.
  Status wait_to_retry(const Status& reason) const {
    const CancellationOff whole;
    Status limit = check_limit(options_.limit, {});
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
    const JoinHead head{.rank = options_.rank, .ranks = options_.ranks, .token = token_};
    const int socket = socket_.get();
    const Limit& limit = options_.limit;
    MILLRACE_RETURN_IF_ERROR(send_all(socket, std::as_bytes(std::span(&head, 1)), limit));
    MILLRACE_RETURN_IF_ERROR(send_all(socket, std::as_bytes(cards), limit));
    Answer answer;
    const Status answered =
        receive_all(socket, std::as_writable_bytes(std::span(&answer, 1)), limit);
    if (answered.code() == StatusCode::kDeadlineExceeded) return late(answered);
    MILLRACE_RETURN_IF_ERROR(answered);
    if (answer.magic != kRendezvousMagic)
      return Status(StatusCode::kCorruptData,
                    fmt::format("who listens at {} is no rank of this program", options_.place));
    answer.reason.back() = '\0';
    if (answer.admitted != 1)
      return invalid_argument(answer.reason.front() == '\0' ? "rank 0 gives no reason to refuse it"
                                                            : answer.reason.data());
    Roster roster{answer.session, std::vector<Card>(options_.ranks)};
    MILLRACE_RETURN_IF_ERROR(
        receive_all(socket, std::as_writable_bytes(std::span(roster.cards)), limit));
    return roster;
  }

  const MeetingOptions options_;
  const Token token_;
  const Endpoint place_;
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
  Token token{};
  std::ranges::copy(options.token, token.begin());
  return options.rank == 0 ? MeetingHost::open(options, token) : MeetingGuest::open(options, token);
}

}  // namespace millrace::ranks
