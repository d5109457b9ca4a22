// Links are the connections between each two ranks, made once the ranks know of each other. Each
// rank listens until all with higher numbers have connected, and connects to all with lower ones.
// Both ends prove that they are ranks of the meeting. For one thread.
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
  // Listens at that address, or at the address of the network interface that the options name, on a
  // port that the system chooses. kInvalidArgument for an interface that does not exist, or an
  // address at which no other host can connect; kIoError.
  static Result<Links> open(const MeetingOptions& options, const std::string& address);

  // Returns the card for every other rank.
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
