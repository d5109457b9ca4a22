// Each rank of the process is a Member with its own mutex, which is held while it connects, so that
// several ranks of one process can meet each other.
#include "nrt/process/rank_world.h"

#include <fmt/format.h>

#include <numeric>
#include <thread>

#include "base/contained.h"
#include "base/log.h"
#include "base/process/thread.h"
#include "ranks/connect.h"
#include "ranks/faulty/faulty_communicator.h"

namespace millrace::nrt {
namespace {

// How long a rank waits in nrt_close for the other ranks to call nrt_close as well.
constexpr std::chrono::seconds kLeavePatience(2);

Deadline deadline_after(std::chrono::nanoseconds timeout) {
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<Deadline::duration>(timeout);
}

std::vector<uint32_t> all_ranks(uint32_t ranks) {
  std::vector<uint32_t> all(ranks);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

Result<RankWorld::Member*> RankWorld::member(uint32_t rank, uint32_t ranks) {
  if (settings_.place.empty())
    return unsupported(fmt::format(
        "{} ranks need a rendezvous address: set NEURON_RT_ROOT_COMM_ID to host:port of rank 0",
        ranks));
  const std::lock_guard lock(mutex_);
  if (ranks_ != 0 && ranks_ != ranks)
    return invalid_argument(
        fmt::format("the number of ranks is {}, but was {} in an earlier call", ranks, ranks_));
  ranks_ = ranks;
  std::unique_ptr<Member>& member = members_[rank];
  if (member == nullptr) member = std::make_unique<Member>();
  return member.get();
}

Status RankWorld::join_locked(Member& member, uint32_t rank, uint32_t ranks) {
  if (member.world != nullptr) return {};
  member.all = all_ranks(ranks);
  if (closing_.stop_requested()) return {StatusCode::kCancelled, "nrt_close has ended the runtime"};
  MILLRACE_ASSIGN_OR_RETURN(member.world,
                            ranks::connect({.place = settings_.place,
                                            .rank = rank,
                                            .ranks = ranks,
                                            .token = settings_.token,
                                            .limit = {deadline_after(settings_.timeout), &closing_},
                                            .interface = settings_.interface},
                                           settings_.timeout));
  member.communicator = member.world;
  if (settings_.faults.any_for(rank))
    member.communicator = std::make_shared<ranks::FaultyCommunicator>(
        member.world, std::make_shared<ranks::CollectiveFaults>(
                          settings_.faults, [weak = std::weak_ptr(member.world)](Status cause) {
                            if (const auto world = weak.lock()) world->abandon(cause);
                          }));
  log(LogLevel::kInfo, "nrt",
      fmt::format("rank {} of {} is connected to the others, by the rendezvous at {}", rank, ranks,
                  settings_.place));
  return {};
}

Status RankWorld::join(uint32_t rank, uint32_t ranks) {
  MILLRACE_ASSIGN_OR_RETURN(Member* const own, member(rank, ranks));
  const std::lock_guard lock(own->mutex);
  return join_locked(*own, rank, ranks);
}

Result<std::shared_ptr<RankGroup>> RankWorld::group(uint32_t rank, uint32_t ranks,
                                                    std::span<const uint32_t> members) {
  MILLRACE_ASSIGN_OR_RETURN(Member* const own, member(rank, ranks));
  const std::lock_guard lock(own->mutex);
  MILLRACE_RETURN_IF_ERROR(join_locked(*own, rank, ranks));
  if (members.empty()) members = own->all;
  if (const auto known = own->groups.find(members); known != own->groups.end())
    return known->second;
  std::vector<uint32_t> list(members.begin(), members.end());
  auto made = std::make_shared<RankGroup>(own->communicator, list);
  MILLRACE_RETURN_IF_ERROR(made->channel(0).status());
  return own->groups.emplace(std::move(list), std::move(made)).first->second;
}

Result<std::shared_ptr<ranks::Communicator>> RankWorld::communicator(uint32_t rank, uint32_t ranks,
                                                                     Channel channel) {
  MILLRACE_ASSIGN_OR_RETURN(Member* const own, member(rank, ranks));
  const std::lock_guard lock(own->mutex);
  MILLRACE_RETURN_IF_ERROR(join_locked(*own, rank, ranks));
  std::shared_ptr<ranks::Communicator>& made = own->channels[channel];
  if (made == nullptr) {
    MILLRACE_ASSIGN_OR_RETURN(
        made, own->communicator->group(all_ranks(ranks), static_cast<uint32_t>(channel)));
  }
  return made;
}

Result<std::shared_ptr<ranks::Communicator>> RankWorld::communicator_of_model(uint32_t rank,
                                                                              uint32_t ranks) {
  MILLRACE_ASSIGN_OR_RETURN(Member* const own, member(rank, ranks));
  const std::lock_guard lock(own->mutex);
  MILLRACE_RETURN_IF_ERROR(join_locked(*own, rank, ranks));
  if (!own->unused.empty()) {
    std::shared_ptr<ranks::Communicator> first = std::move(own->unused.front());
    own->unused.erase(own->unused.begin());
    return first;
  }
  constexpr auto kBefore = static_cast<uint32_t>(Channel::kCalls);
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<ranks::Communicator> made,
                            own->communicator->group(all_ranks(ranks), kBefore + own->models + 1));
  ++own->models;
  return made;
}

void RankWorld::return_unused(uint32_t rank, std::shared_ptr<ranks::Communicator> communicator) {
  Member* own = nullptr;
  {
    const std::lock_guard lock(mutex_);
    own = members_.at(rank).get();
  }
  const std::lock_guard lock(own->mutex);
  own->unused.push_back(std::move(communicator));
}

// The ranks of one process leave on a thread each, since each waits for the others.
void RankWorld::leave() noexcept {
  std::vector<std::thread> leaving;
  for (const auto& [rank, member] : members_) {
    if (member->world == nullptr) continue;
    const auto leave = [&world = *member->world] {
      const Status left = contained([&] {
        world.leave(kLeavePatience);
        return Status();
      });
      if (!left.ok()) log(LogLevel::kDebug, "nrt", left.message());
    };
    Result<std::thread> thread = start_thread("millrace-leave", leave);
    if (thread.ok())
      leaving.push_back(*std::move(thread));
    else
      leave();
  }
  for (std::thread& thread : leaving) thread.join();
  members_.clear();
}

}  // namespace millrace::nrt
