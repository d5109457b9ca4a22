// RankWorld: the ranks of the program, of which this process is one or several, and the connections
// to the others. Thread-safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "nrt/requests/rank_group.h"
#include "ranks/faulty/collective_faults.h"
#include "ranks/message_communicator.h"

namespace millrace::nrt {

struct RankSettings {
  std::string place;      // host:port where the ranks meet; empty if unset
  std::string token;      // all ranks must have the same token
  std::string interface;  // where this process listens for ranks; empty: automatic
  // Time that the ranks wait for each other, when they meet and in each operation.
  std::chrono::nanoseconds timeout{0};
  ranks::CollectiveFaultSettings faults;
};

class RankWorld {
 public:
  explicit RankWorld(RankSettings settings) : settings_(std::move(settings)) {}

  // Meets the other ranks, unless that rank of this process has done so: blocks until all have
  // come. kUnsupported without a place, kInvalidArgument for another number of ranks than before;
  // fails as ranks::connect. After a failure another call tries again.
  Status join(uint32_t rank, uint32_t ranks);

  // The ranks `members` of the program for that rank; all of them when the list is empty. Joins.
  Result<std::shared_ptr<RankGroup>> group(uint32_t rank, uint32_t ranks,
                                           std::span<const uint32_t> members);
  // The communicator of all ranks for that one, on a channel of its own. Joins.
  enum class Channel : uint32_t { kCalls = 3 };  // behind those of the queues
  Result<std::shared_ptr<ranks::Communicator>> communicator(uint32_t rank, uint32_t ranks,
                                                            Channel channel);
  // A communicator of all ranks for the next model of that one, on a channel of its own, so that
  // models on several cores do not wait for each other. The first model of one rank meets the first
  // of the others. Joins.
  Result<std::shared_ptr<ranks::Communicator>> communicator_of_model(uint32_t rank, uint32_t ranks);
  // The model that it was for is not loaded: it is for the next one. Otherwise that would meet
  // another model of the other ranks, which have loaded it. Requirement: the rank has joined.
  void return_unused(uint32_t rank, std::shared_ptr<ranks::Communicator> communicator);

  // Ends meetings, and collectives that wait for other ranks: they fail with kCancelled.
  void stop_waiting() noexcept { closing_.begun.store(true, std::memory_order_relaxed); }
  // The check by which collectives learn that stop_waiting() was called.
  ranks::StopCheck& closing() noexcept { return closing_; }
  // Takes leave of the other ranks.
  void leave() noexcept;

 private:
  struct Closing final : ranks::StopCheck {
    bool stop_requested() noexcept override { return begun.load(std::memory_order_relaxed); }
    std::atomic<bool> begun{false};
  };
  // Lists of ranks are looked up by a span, too, which needs no memory.
  struct InOrder {
    using is_transparent = void;
    bool operator()(std::span<const uint32_t> a, std::span<const uint32_t> b) const noexcept {
      return std::ranges::lexicographical_compare(a, b);
    }
  };
  // One of the ranks that this process is.
  struct Member {
    std::mutex mutex;           // held while it meets the others
    std::vector<uint32_t> all;  // the ranks of the program, once it has met them
    std::shared_ptr<ranks::MessageCommunicator> world;
    std::shared_ptr<ranks::Communicator> communicator;  // the world, or with faults in front of it
    std::map<std::vector<uint32_t>, std::shared_ptr<RankGroup>, InOrder> groups;
    std::map<Channel, std::shared_ptr<ranks::Communicator>> channels;
    uint32_t models = 0;                                       // that have a channel
    std::vector<std::shared_ptr<ranks::Communicator>> unused;  // of models that were not loaded
  };

  Result<Member*> member(uint32_t rank, uint32_t ranks);
  Status join_locked(Member& member, uint32_t rank, uint32_t ranks);

  const RankSettings settings_;
  Closing closing_;
  std::mutex mutex_;
  uint32_t ranks_ = 0;  // of the program; 0 until a call says
  std::map<uint32_t, std::unique_ptr<Member>> members_;
};

}  // namespace millrace::nrt
