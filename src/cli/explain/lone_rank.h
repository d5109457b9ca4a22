// LoneRank: a communicator of which only rank 0 exists, for a program that is loaded to be
// explained and not run. Every operation fails with kUnsupported. Thread-safe.
#pragma once

#include <cstdint>

#include "ranks/communicator.h"

namespace millrace::cli {

class LoneRank final : public ranks::Communicator {
 public:
  explicit LoneRank(uint32_t ranks) noexcept : ranks_(ranks) {}

  uint32_t rank() const noexcept override { return 0; }
  uint32_t size() const noexcept override { return ranks_; }
  Status all_reduce(std::span<const std::byte>, std::span<std::byte>, ranks::Element,
                    ranks::Reduction, const ranks::Limit&) override {
    return alone();
  }
  Status reduce_scatter(const ranks::InputBlocks&, std::span<std::byte>, ranks::Element,
                        ranks::Reduction, const ranks::Limit&) override {
    return alone();
  }
  Status all_gather(std::span<const std::byte>, const ranks::OutputBlocks&,
                    const ranks::Limit&) override {
    return alone();
  }
  Status broadcast(std::span<std::byte>, uint32_t, const ranks::Limit&) override { return alone(); }
  Status all_to_all(const ranks::InputBlocks&, const ranks::OutputBlocks&,
                    const ranks::Limit&) override {
    return alone();
  }
  Status permute(std::span<const std::byte>, std::optional<uint32_t>, std::span<std::byte>,
                 std::optional<uint32_t>, const ranks::Limit&) override {
    return alone();
  }
  Status barrier(const ranks::Limit&) override { return alone(); }
  Result<std::shared_ptr<ranks::Communicator>> group(std::span<const uint32_t>, uint32_t) override {
    return alone();
  }

 private:
  static Status alone() { return unsupported("the other ranks do not exist"); }

  const uint32_t ranks_;
};

}  // namespace millrace::cli
