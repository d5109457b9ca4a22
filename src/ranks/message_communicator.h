// MessageCommunicator: the collective operations over a transport. Every rank exchanges data with
// every other directly and reduces the received operands itself, so the order of a sum does not
// depend on the order in which messages arrive.
//
// all_reduce of short data sends all of it to every rank, in one step. For longer data it is a
// reduce-scatter followed by an all-gather: each rank reduces one piece and sends the result to
// all. So a rank sends and receives about twice the size of the data, as in a ring all-reduce, but
// in two steps.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ranks/channel.h"
#include "ranks/communicator.h"

namespace millrace::ranks {

class MessageCommunicator final : public Communicator {
 public:
  // Creates the communicator of all ranks of the transport. An operation fails if it takes longer
  // than `timeout`; zero means no limit.
  static Result<std::shared_ptr<MessageCommunicator>> make(std::unique_ptr<Transport> transport,
                                                           std::chrono::nanoseconds timeout);

  // Ends the connections of this rank, with that reason: operations of other ranks that wait for it
  // fail.
  void abandon(const Status& cause) noexcept;
  // Tells the other ranks that this one will call no further operation, and waits until they have
  // all called leave(), for `patience` at most: closing a connection earlier may discard data that
  // another rank has not received yet. Operations of others that wait for this rank fail, with that
  // reason. For the communicator of all ranks, before it is destroyed.
  void leave(std::chrono::nanoseconds patience);

  uint32_t rank() const noexcept override { return channel_->rank(); }
  uint32_t size() const noexcept override { return channel_->size(); }
  Status all_reduce(std::span<const std::byte> input, std::span<std::byte> output, Element element,
                    Reduction reduction, const Limit& limit) override;
  Status reduce_scatter(const InputBlocks& inputs, std::span<std::byte> output, Element element,
                        Reduction reduction, const Limit& limit) override;
  Status all_gather(std::span<const std::byte> input, const OutputBlocks& outputs,
                    const Limit& limit) override;
  Status broadcast(std::span<std::byte> data, uint32_t root, const Limit& limit) override;
  Status all_to_all(const InputBlocks& inputs, const OutputBlocks& outputs,
                    const Limit& limit) override;
  Status permute(std::span<const std::byte> input, std::optional<uint32_t> to,
                 std::span<std::byte> output, std::optional<uint32_t> from,
                 const Limit& limit) override;
  Status barrier(const Limit& limit) override;
  Result<std::shared_ptr<Communicator>> group(std::span<const uint32_t> ranks,
                                              uint32_t channel) override;
  Status failure() const noexcept override { return channel_->link().failure(); }

 private:
  MessageCommunicator(std::unique_ptr<Channel> channel, std::chrono::nanoseconds timeout);

  // Returns the number that rank `rank` of this group has among all ranks.
  uint32_t number_of(uint64_t rank) const noexcept { return channel_->ranks()[rank]; }
  // Runs one operation: calls body(signature, wait) with the operation's number in the signature.
  // If it fails, tells the other ranks why and fails the link. Events call it `name` or, if that is
  // empty, as the operation is called.
  template <class Body>
  Status run(Signature signature, const Limit& limit, Body&& body, std::string_view name = {});
  Status exchange_once(const Signature& signature, const Limit& limit, std::string_view name = {});
  // Returns at least `bytes` of memory, which is valid until the next operation.
  std::byte* scratch(size_t bytes);
  // Returns the first element of a rank's piece, if `count` elements are divided into size()
  // contiguous pieces of about equal length.
  size_t piece_begin(uint32_t rank, size_t count) const noexcept;
  Status reduce_whole(const Signature& signature, std::span<const std::byte> input,
                      std::span<std::byte> output, OperationWait& wait);
  Status reduce_in_pieces(const Signature& signature, std::span<const std::byte> input,
                          std::span<std::byte> output, OperationWait& wait);
  // Reduces `own` with the operands of the other ranks, which are in the scratch memory, `stride`
  // bytes apart, by rank.
  void reduce_scratch(std::span<const std::byte> own, size_t stride, std::byte* output,
                      const Signature& signature) noexcept;

  std::mutex mutex_;  // held during an operation; guards the members below
  const std::unique_ptr<Channel> channel_;
  const std::chrono::nanoseconds timeout_;
  const std::string names_;  // of the ranks, for events
  uint64_t operations_ = 0;
  std::vector<Part> parts_;                 // by rank
  std::vector<const std::byte*> operands_;  // by rank
  std::vector<std::byte> scratch_;
};

}  // namespace millrace::ranks
