// An exchange has three phases: send a frame to every rank, receive and compare the frames of all
// ranks, and then exchange the data that do not fit into frames.
#include "ranks/channel.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstring>

namespace millrace::ranks {
namespace {

// Returns the first of a channel's two slots (Peer), a hash of its ranks and number. The
// probability that two channels get the same slots is negligible, 2^-63.
uint64_t slot_of(std::span<const uint32_t> ranks, uint32_t number) {
  return XXH3_64bits_withSeed(ranks.data(), ranks.size_bytes(), number) & ~uint64_t{1};
}

}  // namespace

Result<std::unique_ptr<Channel>> Channel::open(std::shared_ptr<Link> link,
                                               std::vector<uint32_t> ranks, uint32_t own,
                                               uint32_t number) {
  const uint64_t slot = slot_of(ranks, number);
  std::unique_ptr<Channel> channel(new Channel(std::move(link), std::move(ranks), own));
  channel->peers_.resize(channel->ranks_.size());
  for (uint32_t rank = 0; rank < channel->size(); ++rank) {
    if (rank == own) continue;
    MILLRACE_ASSIGN_OR_RETURN(channel->peers_[rank],
                              Peer::open(channel->link_->transport(), channel->ranks_[rank], slot));
  }
  return channel;
}

template <class Step>
Status Channel::for_each_peer(OperationWait& wait, Step&& step) {
  // Each rank begins with the next higher one, so that they do not all send to rank 0 first.
  for (uint32_t i = 1; i < size(); ++i) {
    const uint32_t rank = (own_ + i) % size();
    wait.set_peer(ranks_[rank]);
    MILLRACE_RETURN_IF_ERROR(step(*peers_[rank], rank));
  }
  return {};
}

Status Channel::compare(const Signature& own, const Peer& peer, uint32_t rank,
                        size_t expected_bytes) const {
  if (peer.signature() == own) {
    if (peer.announced_bytes() == expected_bytes) return {};
    return invalid_argument(fmt::format("{}: rank {} sends {} bytes to rank {}, which expects {}",
                                        describe(own), ranks_[rank], peer.announced_bytes(),
                                        ranks_[own_], expected_bytes));
  }
  if (peer.has_received_reason())
    return peer.received_reason().with_context(
        fmt::format("{}: rank {} has given up", describe(own), ranks_[rank]));
  return invalid_argument(
      fmt::format("the ranks call different operations: rank {} calls {}, rank {} {}", ranks_[own_],
                  describe(own), ranks_[rank], describe(peer.signature())));
}

Status Channel::explain_end(const Signature& own, Peer& peer, uint32_t rank, const Status& failure,
                            OperationWait& wait) {
  // The connection has ended, so receive_frame() returns at once.
  if (peer.receive_frame(wait).ok() && peer.has_received_reason())
    return compare(own, peer, rank, 0);
  return wait.explain(failure);
}

void Channel::tell_reason(const Status& reason) {
  for (const std::unique_ptr<Peer>& peer : peers_)
    if (peer != nullptr) peer->send_reason(reason);
}

void Channel::await_ends(WaitCheck& check) {
  for (const std::unique_ptr<Peer>& peer : peers_) {
    // A wait that returns at once may not call the check, so it is called here.
    if (!check.check().ok()) return;
    if (peer != nullptr) peer->await_end(check);
  }
}

Status Channel::exchange(const Signature& signature, std::span<const Part> parts,
                         OperationWait& wait) {
  const auto explain = [&](const Status& status) {
    return status.ok() ? status : wait.explain(status);
  };
  // The frame is sent to all ranks that can be reached, even if one is unreachable, so that each
  // finds out by itself which rank is missing.
  Status unreachable;
  MILLRACE_RETURN_IF_ERROR(for_each_peer(wait, [&](Peer& peer, uint32_t rank) {
    const Status sent = peer.send_frame(signature, parts[rank].send);
    if (!sent.ok() && unreachable.ok())
      unreachable = explain_end(signature, peer, rank, sent, wait);
    return Status();
  }));
  MILLRACE_RETURN_IF_ERROR(unreachable);
  MILLRACE_RETURN_IF_ERROR(for_each_peer(wait, [&](Peer& peer, uint32_t rank) {
    if (const Status received = peer.receive_frame(wait); !received.ok()) return explain(received);
    MILLRACE_RETURN_IF_ERROR(compare(signature, peer, rank, parts[rank].receive.size()));
    const std::span<std::byte> data = parts[rank].receive;
    if (!data.empty() && data.size() <= kFrameData)
      std::memcpy(data.data(), peer.frame_data(), data.size());
    peer.release_frame();
    return Status();
  }));
  MILLRACE_RETURN_IF_ERROR(for_each_peer(
      wait, [&](Peer& peer, uint32_t) { return explain(peer.end_send_frame(wait)); }));
  return exchange_longer(parts, kFrameData, wait);
}

Status Channel::exchange_longer(std::span<const Part> parts, size_t least, OperationWait& wait) {
  const auto go = [&](auto&& step) {
    const Status status = for_each_peer(wait, step);
    return status.ok() ? status : wait.explain(status);
  };
  MILLRACE_RETURN_IF_ERROR(go([&](Peer& peer, uint32_t rank) {
    return parts[rank].receive.size() <= least ? Status() : peer.begin_receive(parts[rank].receive);
  }));
  MILLRACE_RETURN_IF_ERROR(go([&](Peer& peer, uint32_t rank) {
    return parts[rank].send.size() <= least ? Status() : peer.begin_send(parts[rank].send);
  }));
  MILLRACE_RETURN_IF_ERROR(go([&](Peer& peer, uint32_t) { return peer.end_receive(wait); }));
  return go([&](Peer& peer, uint32_t) { return peer.end_send(wait); });
}

}  // namespace millrace::ranks
