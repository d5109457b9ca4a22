// RankGroup: a group of ranks of the program, with one channel (an independent communicator) for
// each queue of collectives, so that queues do not wait for each other. Thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/status.h"
#include "nrt/terms/unit_address.h"
#include "ranks/communicator.h"

namespace millrace::nrt {

class RankGroup {
 public:
  RankGroup(std::shared_ptr<ranks::Communicator> world, std::vector<uint32_t> members) noexcept
      : world_(std::move(world)), members_(std::move(members)) {}

  uint32_t size() const noexcept { return static_cast<uint32_t>(members_.size()); }
  // Returns the communicator for a queue, which is created at the first use. Fails as
  // ranks::Communicator::group.
  Result<std::shared_ptr<ranks::Communicator>> channel(uint32_t queue) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<ranks::Communicator>& channel = channels_[queue];
    if (channel == nullptr) {
      MILLRACE_ASSIGN_OR_RETURN(channel, world_->group(members_, queue));
    }
    return channel;
  }

 private:
  const std::shared_ptr<ranks::Communicator> world_;
  const std::vector<uint32_t> members_;
  std::mutex mutex_;
  std::array<std::shared_ptr<ranks::Communicator>, queues_of(UnitKind::kCollectives)> channels_;
};

}  // namespace millrace::nrt
