// Links: establishes the connections between each two ranks, after the ranks have met. Each rank
// connects to all ranks with lower numbers, and accepts the connections of those with higher ones.
// Both ends prove that they are ranks of the meeting. Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"
#include "ranks/rendezvous/meeting.h"

namespace millrace::ranks {

class Links {
 public:
  // Listens at `address`, or at the address of the network interface that the options name, on a
  // port that the system chooses. kInvalidArgument for an interface that does not exist, or for an
  // address such as 0.0.0.0 to which no other rank can connect; kIoError.
  static Result<Links> open(const MeetingOptions& options, const std::string& address);

  // Returns the card to send to every other rank: the address on which this one listens.
  const Card& card() const noexcept { return card_; }
  // Makes all connections, stops listening, and returns them by rank (empty for this one). Blocks.
  // kDeadlineExceeded and kIoError name the ranks that are missing or have ended; kCancelled.
  Result<std::vector<UniqueFd>> connect(const MeetingOptions& options, const Roster& roster);

 private:
  Links(UniqueFd listener, std::string place) noexcept;

  UniqueFd listener_;
  std::string place_;
  Card card_{};
};

}  // namespace millrace::ranks
