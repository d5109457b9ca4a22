// A rank first connects to the lower ranks, one after another, and then accepts the higher ones.
// That cannot deadlock, since the listening sockets are open and queue connections meanwhile.
#include "ranks/rendezvous/links.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/cancellation.h"
#include "ranks/rendezvous/proof.h"
#include "ranks/rendezvous/reception.h"
#include "ranks/rendezvous/socket.h"
#include "ranks/rendezvous/waiting_log.h"

namespace millrace::ranks {
namespace {

// The time between two attempts to reach a rank, and the time limit of one attempt.
constexpr std::chrono::milliseconds kRetryInterval(50);
constexpr std::chrono::seconds kAttempt(60);

// The options, secret and limit with which this rank makes and accepts links.
struct Self {
  const MeetingOptions& options;
  const Secret secret;
  const Limit& limit;
};

// Accepts the links from ranks with higher numbers.
class LinkReception final : private Reception {
 public:
  LinkReception(UniqueFd listener, std::string place, const Self& self,
                std::vector<UniqueFd>& linked)
      : Reception(std::move(listener), std::move(place), sizeof(LinkHead), self.options.ranks),
        self_(self),
        linked_(linked) {}

  std::vector<uint32_t> absent() const {
    std::vector<uint32_t> absent;
    for (uint32_t rank = self_.options.rank + 1; rank < self_.options.ranks; ++rank)
      if (!linked_[rank]) absent.push_back(rank);
    return absent;
  }
  using Reception::step;

 private:
  Verdict hear(Guest& guest) override {
    const auto head = guest.as<LinkHead>();
    if (head.magic != kRendezvousMagic || head.to != self_.options.rank || head.from <= head.to ||
        head.from >= self_.options.ranks || linked_[head.from] ||
        !is_equal(head.proof, self_.secret.of_linking(guest.asked, head)))
      return Verdict::kGoes;
    const LinkAnswer answer{.proof = self_.secret.of_accepting(guest.asked, head)};
    if (!send_all(guest.socket.get(), std::as_bytes(std::span(&answer, 1)),
                  {Deadline::min(), nullptr})
             .ok())
      return Verdict::kGoes;
    linked_[head.from] = std::move(guest.socket);
    return Verdict::kTaken;
  }

  const Self& self_;
  std::vector<UniqueFd>& linked_;
};

template <class Message>
Status receive(int socket, Message& message, const Limit& limit) {
  MILLRACE_RETURN_IF_ERROR(
      receive_all(socket, std::as_writable_bytes(std::span(&message, 1)), limit));
  if (message.magic == kRendezvousMagic) return {};
  return {StatusCode::kCorruptData, "another process listens at its address"};
}

// Identifies this rank on a new connection to rank `to`, and checks that rank `to` answers.
Status introduce(int socket, uint32_t to, const Self& self) {
  const Limit limit{std::min(self.limit.deadline, std::chrono::steady_clock::now() + kAttempt),
                    self.limit.stop};
  Challenge challenge;
  MILLRACE_RETURN_IF_ERROR(receive(socket, challenge, limit));
  LinkHead head{.from = self.options.rank, .to = to};
  MILLRACE_ASSIGN_OR_RETURN(head.nonce, make_nonce());
  head.proof = self.secret.of_linking(challenge.nonce, head);
  MILLRACE_RETURN_IF_ERROR(send_all(socket, std::as_bytes(std::span(&head, 1)), limit));
  LinkAnswer answer;
  MILLRACE_RETURN_IF_ERROR(receive(socket, answer, limit));
  if (is_equal(answer.proof, self.secret.of_accepting(challenge.nonce, head))) return {};
  return {StatusCode::kCorruptData, "another process listens at its address"};
}

// Connects to rank `to`. A connection that ends before both sides are identified is tried again,
// since unauthenticated peers may have displaced it. A rank that no longer listens has ended.
Result<UniqueFd> link_to(uint32_t to, const Card& card, const Self& self) {
  const auto* const text = reinterpret_cast<const char*>(card.data());
  MILLRACE_ASSIGN_OR_RETURN(const Endpoint endpoint,
                            parse_endpoint({text, strnlen(text, card.size())}));
  for (;;) {
    Result<UniqueFd> socket = connect_to(endpoint, self.limit);
    if (socket.status().code() == StatusCode::kIoError) return socket;
    const Status linked = socket.ok() ? introduce(socket->get(), to, self) : socket.status();
    if (linked.ok()) return socket;
    if (linked.code() != StatusCode::kIoError && linked.code() != StatusCode::kDeadlineExceeded)
      return linked;
    MILLRACE_RETURN_IF_ERROR(check_limit(self.limit, "it has not answered in time"));
    std::this_thread::sleep_for(kRetryInterval);
  }
}

std::string say_absent(const std::vector<uint32_t>& absent, const MeetingOptions& options) {
  return fmt::format("rank{} {} ha{} not connected to rank {}", absent.size() == 1 ? "" : "s",
                     fmt::join(absent, ", "), absent.size() == 1 ? "s" : "ve", options.rank);
}

Status await_links(LinkReception& reception, const MeetingOptions& options) {
  WaitingLog waiting(options.limit.stop, options.warning_interval,
                     [&] { return say_absent(reception.absent(), options); });
  const Limit limit{options.limit.deadline, &waiting};
  while (!reception.absent().empty()) {
    const Status reached = check_limit(limit, "in time");
    if (!reached.ok())
      return Status(reached.code(), fmt::format("{}: {}", say_absent(reception.absent(), options),
                                                reached.message()));
    reception.step(limit);
  }
  return {};
}

}  // namespace

Links::Links(UniqueFd listener, std::string place) noexcept
    : listener_(std::move(listener)), place_(std::move(place)) {
  std::memcpy(card_.data(), place_.data(), std::min(place_.size(), card_.size() - 1));
}

Result<Links> Links::open(const MeetingOptions& options, const std::string& address) {
  std::string own = address;
  if (!options.interface.empty()) {
    MILLRACE_ASSIGN_OR_RETURN(own, address_of_interface(options.interface, address));
  }
  if (is_any_address(own))
    return invalid_argument(fmt::format(
        "{} is not an address to which other ranks can connect: set NEURON_RT_ROOT_COMM_ID to an "
        "address of its host, or MILLRACE_NRT_RANKS_INTERFACE to an interface",
        own));
  MILLRACE_ASSIGN_OR_RETURN(UniqueFd listener, listen_on({own, "0"}));
  MILLRACE_ASSIGN_OR_RETURN(const uint16_t port, own_port(listener.get()));
  return Links(std::move(listener), fmt::format("{}:{}", own, port));
}

Result<std::vector<UniqueFd>> Links::connect(const MeetingOptions& options, const Roster& roster) {
  const CancellationOff whole;
  std::vector<UniqueFd> linked(options.ranks);
  uint32_t to = 0;
  WaitingLog waiting(options.limit.stop, options.warning_interval, [&] {
    return fmt::format("rank {} has not been answered by rank {}", options.rank, to);
  });
  const Limit limit{options.limit.deadline, &waiting};
  const Self self{options, Secret::of_text(options.token).of_session(roster.session), limit};
  for (; to < options.rank; ++to) {
    Result<UniqueFd> made = link_to(to, roster.cards[to], self);
    if (!made.ok()) return made.status().with_context(fmt::format("connecting to rank {}", to));
    linked[to] = *std::move(made);
  }
  LinkReception reception(std::move(listener_), place_, self, linked);
  MILLRACE_RETURN_IF_ERROR(await_links(reception, options));
  return linked;
}

}  // namespace millrace::ranks
