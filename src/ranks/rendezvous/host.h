// MeetingHost: rank 0 at a meeting. For one thread.
#pragma once

#include <list>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "ranks/rendezvous/meeting.h"

namespace millrace::ranks {

class MeetingHost final : public Meeting {
 public:
  static Result<std::unique_ptr<Meeting>> open(const MeetingOptions& options, const Token& token);

  Result<std::string> own_address() const override;
  Result<Roster> exchange(std::span<const Card> cards) override;

 private:
  // One who has connected, and what has been received of its message.
  struct Guest {
    UniqueFd socket;
    Deadline patience;  // for its message
    JoinHead head;
    std::vector<Card> cards;  // allocated once the head is known to be that of a rank
    size_t received = 0;
    bool joined = false;
    bool refused = false;  // and may still be speaking
  };

  MeetingHost(const MeetingOptions& options, const Token& token, UniqueFd listener)
      : options_(options), token_(token), listener_(std::move(listener)) {}

  bool all_have_come() const;
  // Waits until something has happened, and admits and reads.
  void wait_for_guests();
  void admit_guest();
  // These return false when the guest is to be dropped.
  bool read(Guest& guest);
  bool read_part(Guest& guest, std::span<std::byte> whole, size_t already);
  bool check(Guest& guest);
  void refuse(Guest& guest, const std::string& reason);
  // Whether a guest that was refused may still be speaking. What it says is dropped.
  static bool hear_out(Guest& guest);
  std::string absent_ranks() const;
  Roster roster_of(uint32_t rank, std::span<const Card> own_cards) const;
  Status answer(std::span<const Card> own_cards, uint64_t session);

  const MeetingOptions options_;
  const Token token_;
  UniqueFd listener_;
  std::list<Guest> guests_;  // in the order of their arrival
  uint64_t refusals_ = 0;
};

}  // namespace millrace::ranks
