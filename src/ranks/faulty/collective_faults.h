// CollectiveFaults: what goes wrong in the collectives of one rank, and when, so that programs can
// be tried against ranks that are late or lost. Collectives are counted from 1, over all groups and
// channels, in the order in which this rank begins them.
//
// Every injected fault is a line of the log and HookPoint::kInjected, whose detail is the number of
// the collective. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "ranks/communicator.h"

namespace millrace::ranks {

// Numbers are those of collectives; 0 is none.
struct CollectiveFaultSettings {
  uint64_t delay = 0;  // that one begins so much later
  std::chrono::nanoseconds delay_for = std::chrono::seconds(1);
  std::chrono::nanoseconds slow{0};  // each takes so much longer
  uint64_t drop = 0;                 // at that one this rank ends its connections
  uint64_t corrupt = 0;              // a bit of what this rank receives in that one is wrong
  std::optional<uint64_t> rank;      // of the program, which alone has the faults; all, if none

  bool any_for(uint32_t own_rank) const noexcept {
    return (delay != 0 || slow.count() != 0 || drop != 0 || corrupt != 0) &&
           rank.value_or(own_rank) == own_rank;
  }
};

class CollectiveFaults {
 public:
  // "drop=3,rank=1"; docs/devices.md lists the keys. Empty text is no faults. kInvalidArgument
  // names the word that makes no sense.
  static Result<CollectiveFaultSettings> parse(std::string_view text);

  // `drop` ends the connections of this rank, for the reason that it is given.
  CollectiveFaults(const CollectiveFaultSettings& settings, std::function<void(Status)> drop)
      : settings_(settings), drop_(std::move(drop)) {}

  // The number of a collective that begins. Blocks for a delay, unless the limit ends it.
  uint64_t begin(const Limit& limit);
  // It has ended well; `output` is what it has received.
  void end(uint64_t number, std::span<std::byte> output);

 private:
  const CollectiveFaultSettings settings_;
  const std::function<void(Status)> drop_;
  std::atomic<uint64_t> begun_{0};
};

}  // namespace millrace::ranks
