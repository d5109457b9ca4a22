// MeetingHost: rank 0's side of a meeting. It accepts the other ranks until all have come, and then
// sends each of them the cards that are meant for it. Not thread-safe.
#pragma once

#include <string>
#include <vector>

#include "ranks/rendezvous/meeting.h"
#include "ranks/rendezvous/proof.h"
#include "ranks/rendezvous/reception.h"

namespace millrace::ranks {

class MeetingHost final : public Meeting, private Reception {
 public:
  static Result<std::unique_ptr<Meeting>> open(const MeetingOptions& options);

  Result<std::string> own_address() const override;
  Result<Roster> exchange(std::span<const Card> cards) override;

 private:
  MeetingHost(const MeetingOptions& options, UniqueFd listener)
      : Reception(std::move(listener), options.place, sizeof(JoinHead), options.ranks),
        options_(options),
        secret_(Secret::of_text(options.token)) {}

  Verdict hear(Guest& guest) override;
  // Returns why a guest with this head is not admitted; empty if it is.
  std::string why_not(const Guest& guest, const JoinHead& head) const;
  bool all_have_come() const;
  std::string absent_ranks() const;
  Roster roster_of(uint32_t rank, std::span<const Card> own_cards) const;
  Status answer(const Guest& guest, std::span<const Card> own_cards, const SessionKey& session,
                const Limit& limit) const;

  const MeetingOptions options_;
  const Secret secret_;
};

}  // namespace millrace::ranks
