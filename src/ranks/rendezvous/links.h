// Links: the connections between each two ranks, once they know of each other. Each rank listens
// until all with higher numbers have connected, and connects to all with lower ones. Both ends
// prove that they are ranks of the meeting. For one thread.
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
  // Listens at that address, or at that of the interface of the options where they name one, on a
  // port that the system chooses. kInvalidArgument for an interface that there is not, or an
  // address by which nobody can be found; kIoError.
  static Result<Links> open(const MeetingOptions& options, const std::string& address);

  // For every other rank.
  const Card& card() const noexcept { return card_; }
  // The connections by rank, none for this one. Blocks until all are made, and ends the listening.
  // kDeadlineExceeded and kIoError name the ranks that have not come or have ended; kCancelled.
  Result<std::vector<UniqueFd>> connect(const MeetingOptions& options, const Roster& roster);

 private:
  Links(UniqueFd listener, std::string place) noexcept;

  UniqueFd listener_;
  std::string place_;
  Card card_{};
};

}  // namespace millrace::ranks
