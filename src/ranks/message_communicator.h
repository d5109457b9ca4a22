// MessageCommunicator: the collective operations over a transport. Every rank exchanges data with
// every other directly, and reduces what it has of them, which keeps the order of sums apart from
// the order in which messages arrive. Of long data each rank reduces one piece and sends the result
// to all; so a rank sends and receives twice the size of the data, as on a ring, in two steps.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "ranks/channel.h"
#include "ranks/communicator.h"

namespace millrace::ranks {

class MessageCommunicator final : public Communicator {
 public:
  // Makes the communicator of all ranks of the transport. An operation fails if it takes longer
  // than `timeout`; zero is no limit.
  static Result<std::shared_ptr<MessageCommunicator>> make(std::unique_ptr<Transport> transport,
                                                           std::chrono::nanoseconds timeout);

  // Ends the connections of this rank for that reason: what the others wait for fails.
  void abandon(const Status& cause) noexcept;
  // Tells the other ranks that this one will call nothing more, and waits until they have said so,
  // too, or for `patience`: a connection that is closed earlier may take with it what another rank
  // has not received yet. Operations of others that wait for this rank fail, and say why. For the
  // communicator of all ranks, before it is destroyed.
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

  // Runs one operation: body(signature, wait) with the number of the operation in the signature.
  template <class Body>
  Status run(Signature signature, const Limit& limit, Body&& body);
  Status exchange_once(const Signature& signature, const Limit& limit);
  // At least `bytes` of memory that lives until the next operation.
  std::byte* scratch(size_t bytes);
  // First element of a rank's piece, of `size()` pieces of `count` elements that follow each other.
  size_t piece_begin(uint32_t rank, size_t count) const noexcept;
  Status reduce_whole(const Signature& signature, std::span<const std::byte> input,
                      std::span<std::byte> output, OperationWait& wait);
  Status reduce_in_pieces(const Signature& signature, std::span<const std::byte> input,
                          std::span<std::byte> output, OperationWait& wait);
  // Reduces `own` with the blocks of `stride` bytes in the scratch memory of the other ranks.
  void reduce_scratch(std::span<const std::byte> own, size_t stride, std::byte* output,
                      const Signature& signature) noexcept;

  std::mutex mutex_;  // of everything below
  const std::unique_ptr<Channel> channel_;
  const std::chrono::nanoseconds timeout_;
  uint64_t operations_ = 0;
  std::vector<Part> parts_;                 // by rank
  std::vector<const std::byte*> operands_;  // by rank
  std::vector<std::byte> scratch_;
};

}  // namespace millrace::ranks
