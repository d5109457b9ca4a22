// Channel: a group of ranks and the messages by which they run operations, one at a time. For one
// thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "ranks/link.h"
#include "ranks/operation_wait.h"
#include "ranks/peer.h"

namespace millrace::ranks {

// The data that a rank sends to one other rank and receives from it. Either may be empty.
struct Part {
  std::span<const std::byte> send;
  std::span<std::byte> receive;
};

class Channel {
 public:
  // `ranks` are those of the transport, that of this process at `own`. `number` tells the channels
  // of the same ranks apart.
  static Result<std::unique_ptr<Channel>> open(std::shared_ptr<Link> link,
                                               std::vector<uint32_t> ranks, uint32_t own,
                                               uint32_t number);

  uint32_t rank() const noexcept { return own_; }
  uint32_t size() const noexcept { return static_cast<uint32_t>(ranks_.size()); }
  std::span<const uint32_t> ranks() const noexcept { return ranks_; }
  Link& link() const noexcept { return *link_; }
  const std::shared_ptr<Link>& shared_link() const noexcept { return link_; }

  // Compares signatures with all ranks of the group, then exchanges parts[r] with each rank r; the
  // part of this rank is ignored. Parts are as long as the signature says, or empty, and what one
  // rank sends to another, that one receives. The parts to send must not overlap those to receive,
  // unless they are short.
  Status exchange(const Signature& signature, std::span<const Part> parts, OperationWait& wait);
  // Tells the other ranks why this one ends, as far as they can be told. Nothing follows it.
  void tell_reason(const Status& reason);
  // Waits until all others have ended, too, or have said why they will, or `check` ends the wait.
  void await_ends(WaitCheck& check);
  // Exchanges more of an operation for which exchange() has compared the signatures. On both ranks
  // of a pair the parts are empty, or they are not.
  Status exchange_more(std::span<const Part> parts, OperationWait& wait) {
    return exchange_longer(parts, 0, wait);
  }

 private:
  Channel(std::shared_ptr<Link> link, std::vector<uint32_t> ranks, uint32_t own) noexcept
      : link_(std::move(link)), ranks_(std::move(ranks)), own_(own) {}

  // Calls step(peer, rank) for every other rank of the group until one fails.
  template <class Step>
  Status for_each_peer(OperationWait& wait, Step&& step);
  // Exchanges what has more bytes than `least`.
  Status exchange_longer(std::span<const Part> parts, size_t least, OperationWait& wait);
  // Why nothing can be sent to `peer`: the reason that it has left, if there is one, or `failure`.
  Status explain_end(const Signature& own, Peer& peer, uint32_t rank, const Status& failure,
                     OperationWait& wait);
  // Whether `peer` calls the same and sends here what this rank expects.
  Status compare(const Signature& own, const Peer& peer, uint32_t rank,
                 size_t expected_bytes) const;

  const std::shared_ptr<Link> link_;
  const std::vector<uint32_t> ranks_;
  const uint32_t own_;
  std::vector<std::unique_ptr<Peer>> peers_;  // by rank of the group; null for this one
};

}  // namespace millrace::ranks
