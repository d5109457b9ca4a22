// Meeting: how ranks that are processes find each other. Rank 0 listens at an address that all of
// them know, the others tell it their cards, and when all have come each rank gets the cards that
// are meant for it. Then rank 0 stops listening there.
//
// Ranks prove to each other that they have the same token, without sending it. A peer that connects
// but cannot prove this is dropped (reception.h). For one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "ranks/communicator.h"
#include "ranks/rendezvous/messages.h"

namespace millrace::ranks {

struct MeetingOptions {
  std::string place;  // host:port, of rank 0
  uint32_t rank = 0;
  uint32_t ranks = 1;
  std::string token;  // that all ranks must have; up to kTokenBytes, may be empty
  Limit limit{};
  // This rank listens for other ranks here: an address of this host, or the name of one of its
  // network interfaces. Empty: its address on the network of the meeting.
  std::string interface {};
  // The log names the missing ranks at this interval.
  std::chrono::nanoseconds warning_interval = std::chrono::seconds(30);
};

struct Roster {
  SessionKey session{};     // the same for all ranks of one meeting
  std::vector<Card> cards;  // by rank; that of the rank itself is empty
};

class Meeting {
 public:
  Meeting() = default;
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;
  virtual ~Meeting() = default;

  // Rank 0 listens, the others wait until it does. kInvalidArgument for a place, rank or token that
  // makes no sense; kDeadlineExceeded names the place; kCancelled when it was asked to stop;
  // kIoError.
  static Result<std::unique_ptr<Meeting>> open(const MeetingOptions& options);

  // The address, in digits, on which this process is on the network of the meeting.
  virtual Result<std::string> own_address() const = 0;
  // Gives cards[r] to rank r, and returns when all ranks have come. kDeadlineExceeded names those
  // that have not; kInvalidArgument says why rank 0 has refused this one; kCancelled as above.
  virtual Result<Roster> exchange(std::span<const Card> cards) = 0;
};

}  // namespace millrace::ranks
