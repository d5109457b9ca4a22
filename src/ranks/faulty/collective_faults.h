// CollectiveFaults: fault injection for the collectives of one rank, to test programs with ranks
// that are late or lost. Collectives are numbered from 1, over all groups and channels, in the
// order in which this rank begins them.
//
// Every injected fault is logged and emits HookPoint::kInjected, whose detail has the number of the
// collective and the kind of the fault: "slow", "delay", "drop" or "corrupt". Thread-safe.
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

// delay, drop and corrupt are numbers of collectives; 0 means none.
struct CollectiveFaultSettings {
  uint64_t delay = 0;  // this collective begins `delay_for` later
  std::chrono::nanoseconds delay_for = std::chrono::seconds(1);
  std::chrono::nanoseconds slow{0};  // every collective begins this much later
  uint64_t drop = 0;                 // at this collective this rank ends its connections
  uint64_t corrupt = 0;              // one bit that this rank receives in this collective is wrong
  std::optional<uint64_t> rank;      // the only rank of the program with faults; by default all

  bool any_for(uint32_t own_rank) const noexcept {
    return (delay != 0 || slow.count() != 0 || drop != 0 || corrupt != 0) &&
           rank.value_or(own_rank) == own_rank;
  }
};

class CollectiveFaults {
 public:
  // Parses settings such as "drop=3,rank=1"; docs/faults.md lists the keys. An empty text means no
  // faults. kInvalidArgument names the setting that cannot be parsed.
  static Result<CollectiveFaultSettings> parse(std::string_view text);

  // `drop` ends the connections of this rank, with the reason that is passed to it.
  CollectiveFaults(const CollectiveFaultSettings& settings, std::function<void(Status)> drop)
      : settings_(settings), drop_(std::move(drop)) {}

  // Call when a collective begins: injects delays and drops, and returns its number. Blocks for a
  // delay, unless the limit ends it.
  uint64_t begin(const Limit& limit);
  // Call when a collective has succeeded: may corrupt `output`, the data that it has received.
  void end(uint64_t number, std::span<std::byte> output);

 private:
  const CollectiveFaultSettings settings_;
  const std::function<void(Status)> drop_;
  std::atomic<uint64_t> begun_{0};
};

}  // namespace millrace::ranks
