// FaultyCommunicator: wraps a communicator and injects faults into its collectives. Its groups
// share the same CollectiveFaults.
#pragma once

#include <memory>
#include <utility>

#include "ranks/communicator.h"
#include "ranks/faulty/collective_faults.h"

namespace millrace::ranks {

class FaultyCommunicator final : public Communicator {
 public:
  FaultyCommunicator(std::shared_ptr<Communicator> inner, std::shared_ptr<CollectiveFaults> faults)
      : inner_(std::move(inner)), faults_(std::move(faults)) {}

  uint32_t rank() const noexcept override { return inner_->rank(); }
  uint32_t size() const noexcept override { return inner_->size(); }
  Status all_reduce(std::span<const std::byte> input, std::span<std::byte> output, Element element,
                    Reduction reduction, const Limit& limit) override {
    return run(output, limit,
               [&] { return inner_->all_reduce(input, output, element, reduction, limit); });
  }
  Status reduce_scatter(const InputBlocks& inputs, std::span<std::byte> output, Element element,
                        Reduction reduction, const Limit& limit) override {
    return run(output, limit,
               [&] { return inner_->reduce_scatter(inputs, output, element, reduction, limit); });
  }
  Status all_gather(std::span<const std::byte> input, const OutputBlocks& outputs,
                    const Limit& limit) override {
    return run(outputs[0], limit, [&] { return inner_->all_gather(input, outputs, limit); });
  }
  Status broadcast(std::span<std::byte> data, uint32_t root, const Limit& limit) override {
    return run(data, limit, [&] { return inner_->broadcast(data, root, limit); });
  }
  Status all_to_all(const InputBlocks& inputs, const OutputBlocks& outputs,
                    const Limit& limit) override {
    return run(outputs[0], limit, [&] { return inner_->all_to_all(inputs, outputs, limit); });
  }
  Status permute(std::span<const std::byte> input, std::optional<uint32_t> to,
                 std::span<std::byte> output, std::optional<uint32_t> from,
                 const Limit& limit) override {
    return run(output, limit, [&] { return inner_->permute(input, to, output, from, limit); });
  }
  Status barrier(const Limit& limit) override {
    return run({}, limit, [&] { return inner_->barrier(limit); });
  }
  Result<std::shared_ptr<Communicator>> group(std::span<const uint32_t> ranks,
                                              uint32_t channel) override {
    MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<Communicator> inner, inner_->group(ranks, channel));
    return std::shared_ptr<Communicator>(
        std::make_shared<FaultyCommunicator>(std::move(inner), faults_));
  }
  Status failure() const noexcept override { return inner_->failure(); }

 private:
  template <class Operation>
  Status run(std::span<std::byte> output, const Limit& limit, Operation&& operation) {
    const uint64_t number = faults_->begin(limit);
    const Status status = operation();
    if (status.ok()) faults_->end(number, output);
    return status;
  }

  const std::shared_ptr<Communicator> inner_;
  const std::shared_ptr<CollectiveFaults> faults_;
};

}  // namespace millrace::ranks
