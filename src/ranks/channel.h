// Channel: the message exchange of a group of ranks, by which they run collective operations, one
// at a time. Not thread-safe.
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
  // `ranks` lists the ranks of the transport that form the group; ranks[own] is this process.
  // Channels of the same ranks are distinguished by `number`.
  static Result<std::unique_ptr<Channel>> open(std::shared_ptr<Link> link,
                                               std::vector<uint32_t> ranks, uint32_t own,
                                               uint32_t number);

  uint32_t rank() const noexcept { return own_; }
  uint32_t size() const noexcept { return static_cast<uint32_t>(ranks_.size()); }
  std::span<const uint32_t> ranks() const noexcept { return ranks_; }
  Link& link() const noexcept { return *link_; }
  const std::shared_ptr<Link>& shared_link() const noexcept { return link_; }

  // Compares signatures with all ranks of the group, then exchanges parts[r] with each rank r; the
  // part of this rank is ignored. If rank a sends a part to rank b, b must receive a part of the
  // same size from a. Parts to send must not overlap parts to receive, unless they fit into a frame
  // (kFrameData), which copies them.
  Status exchange(const Signature& signature, std::span<const Part> parts, OperationWait& wait);
  // Sends the other ranks, as far as they can be reached, the reason why this one ends. Nothing may
  // be exchanged afterwards.
  void tell_reason(const Status& reason);
  // Waits until all other ranks have ended, too, or have sent the reason why they end, or `check`
  // ends the wait.
  void await_ends(WaitCheck& check);
  // Exchanges further parts of an operation whose signatures exchange() has compared. The parts of
  // a pair of ranks must be empty on both or on neither.
  Status exchange_more(std::span<const Part> parts, OperationWait& wait) {
    return exchange_longer(parts, 0, wait);
  }

 private:
  Channel(std::shared_ptr<Link> link, std::vector<uint32_t> ranks, uint32_t own) noexcept
      : link_(std::move(link)), ranks_(std::move(ranks)), own_(own) {}

  // Calls step(peer, rank) for every other rank of the group until one fails.
  template <class Step>
  Status for_each_peer(OperationWait& wait, Step&& step);
  // Exchanges the parts that have more than `least` bytes.
  Status exchange_longer(std::span<const Part> parts, size_t least, OperationWait& wait);
  // Returns why nothing can be sent to `peer`: the reason that it has sent, or else `failure`.
  Status explain_end(const Signature& own, Peer& peer, uint32_t rank, const Status& failure,
                     OperationWait& wait);
  // Checks that `peer` calls the same operation and sends as many bytes as this rank expects.
  Status compare(const Signature& own, const Peer& peer, uint32_t rank,
                 size_t expected_bytes) const;

  const std::shared_ptr<Link> link_;
  const std::vector<uint32_t> ranks_;
  const uint32_t own_;
  std::vector<std::unique_ptr<Peer>> peers_;  // by rank of the group; null for this one
};

}  // namespace millrace::ranks
