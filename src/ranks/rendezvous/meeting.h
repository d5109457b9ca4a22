// Meeting: the rendezvous at which ranks that are processes find each other. Rank 0 listens at an
// address that all of them know. The others send it their cards, and when all have come, each rank
// receives the cards that are meant for it. Then rank 0 stops listening.
//
// Ranks prove to each other that they have the same token, without sending it. A peer that connects
// but cannot prove this is dropped (reception.h). Not thread-safe.
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
  std::string place;  // host:port of rank 0
  uint32_t rank = 0;
  uint32_t ranks = 1;
  std::string token;  // the same for all ranks; at most kTokenBytes, may be empty
  Limit limit{};
  // The address at which this rank listens for other ranks: an address of this host, or the name of
  // one of its network interfaces. By default its address on the network of the meeting.
  std::string interface {};
  // The interval at which the missing ranks are logged.
  std::chrono::nanoseconds warning_interval = std::chrono::seconds(30);
};

struct Roster {
  SessionKey session{};     // the same for all ranks of one meeting
  std::vector<Card> cards;  // by rank; the rank's own card is empty
};

class Meeting {
 public:
  Meeting() = default;
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;
  virtual ~Meeting() = default;

  // On rank 0, starts to listen; on other ranks, waits until rank 0 listens and connects to it.
  // kInvalidArgument for an invalid place, rank or token; kDeadlineExceeded names the place;
  // kCancelled if a stop was requested; kIoError.
  static Result<std::unique_ptr<Meeting>> open(const MeetingOptions& options);

  // Returns the numeric address of this process on the network of the meeting.
  virtual Result<std::string> own_address() const = 0;
  // Sends cards[r] to rank r, and returns when all ranks have come, with their cards for this rank.
  // kDeadlineExceeded names the missing ranks; kInvalidArgument has the reason why rank 0 refused
  // this one; kCancelled as above.
  virtual Result<Roster> exchange(std::span<const Card> cards) = 0;
};

}  // namespace millrace::ranks
