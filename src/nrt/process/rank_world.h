// RankWorld: the connections of this process to the ranks of the program, as in MPI_COMM_WORLD. A
// process may be several ranks, and each of them connects separately, at its first call that needs
// the others. Thread-safe.
//
// Below, "joins" means that a function first connects the rank to the others as join() does, and
// that it may block and fail like join().
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
  std::string place;      // host:port of the rendezvous; empty if unset
  std::string token;      // all ranks must have the same token
  std::string interface;  // where this process listens for ranks; empty: automatic
  // How long ranks wait for each other, at the rendezvous and in each collective.
  std::chrono::nanoseconds timeout{0};
  ranks::CollectiveFaultSettings faults;
};

class RankWorld {
 public:
  explicit RankWorld(RankSettings settings) : settings_(std::move(settings)) {}

  // Connects `rank` to the other ranks, unless it is connected already: blocks until all have
  // arrived at the rendezvous or the timeout has passed. kUnsupported without a rendezvous address,
  // kInvalidArgument when `ranks` differs from an earlier call; otherwise fails as ranks::connect.
  // After a failure a further call tries again.
  Status join(uint32_t rank, uint32_t ranks);

  // Returns the group of the ranks `members`, as seen by `rank`; an empty list means all ranks.
  // Calls with equal lists return the same group. Joins.
  Result<std::shared_ptr<RankGroup>> group(uint32_t rank, uint32_t ranks,
                                           std::span<const uint32_t> members);
  // Returns the communicator of all ranks for `rank` on the given channel. Joins.
  enum class Channel : uint32_t { kCalls = 3 };  // 0 to 2 are the queues of collectives
  Result<std::shared_ptr<ranks::Communicator>> communicator(uint32_t rank, uint32_t ranks,
                                                            Channel channel);
  // Returns a communicator of all ranks for the next model that `rank` loads. Each has its own
  // channel, so that models on several cores do not wait for each other. The n-th communicator of
  // one rank is connected to the n-th of every other rank, so all ranks must load their models in
  // the same order. Joins.
  Result<std::shared_ptr<ranks::Communicator>> communicator_of_model(uint32_t rank, uint32_t ranks);
  // Returns the communicator of a model that could not be loaded. The next model gets it, since it
  // would otherwise be connected to the wrong model of the other ranks. Requirement: the rank has
  // joined.
  void return_unused(uint32_t rank, std::shared_ptr<ranks::Communicator> communicator);

  // Makes everything that waits for other ranks, at the rendezvous or in a collective, fail with
  // kCancelled.
  void stop_waiting() noexcept { closing_.begun.store(true, std::memory_order_relaxed); }
  // The check by which collectives learn that stop_waiting() was called.
  ranks::StopCheck& closing() noexcept { return closing_; }
  // Ends the connections, after telling the other ranks so. Blocks for up to two seconds, until
  // they leave as well. Requirement: no other function is running or is called later.
  void leave() noexcept;

 private:
  struct Closing final : ranks::StopCheck {
    bool stop_requested() noexcept override { return begun.load(std::memory_order_relaxed); }
    std::atomic<bool> begun{false};
  };
  // Compares lists of ranks. It is transparent, so that looking up a span allocates nothing.
  struct InOrder {
    using is_transparent = void;
    bool operator()(std::span<const uint32_t> a, std::span<const uint32_t> b) const noexcept {
      return std::ranges::lexicographical_compare(a, b);
    }
  };
  // One rank of this process.
  struct Member {
    std::mutex mutex;           // held while it connects to the others
    std::vector<uint32_t> all;  // all ranks of the program: 0, 1, 2 ...
    std::shared_ptr<ranks::MessageCommunicator> world;
    std::shared_ptr<ranks::Communicator> communicator;  // world, wrapped if faults are injected
    std::map<std::vector<uint32_t>, std::shared_ptr<RankGroup>, InOrder> groups;
    std::map<Channel, std::shared_ptr<ranks::Communicator>> channels;
    uint32_t models = 0;                                       // number of channels for models
    std::vector<std::shared_ptr<ranks::Communicator>> unused;  // given to return_unused()
  };

  Result<Member*> member(uint32_t rank, uint32_t ranks);
  Status join_locked(Member& member, uint32_t rank, uint32_t ranks);

  const RankSettings settings_;
  Closing closing_;
  std::mutex mutex_;
  uint32_t ranks_ = 0;  // the number of ranks of the program; 0 before the first call
  std::map<uint32_t, std::unique_ptr<Member>> members_;
};

}  // namespace millrace::nrt
