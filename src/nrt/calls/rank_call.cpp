#include "nrt/calls/rank_call.h"

#include <fmt/format.h>

#include <optional>
#include <span>
#include <utility>

namespace millrace::nrt {

NRT_STATUS find_rank(std::string_view call, uint32_t rank, uint32_t ranks,
                     LaunchedRank& found) noexcept {
  return contained(call, [&] {
    found = {rank, ranks};
    if (rank == 0 && ranks == 0) {
      const Result<std::optional<LaunchedRank>> launched = rank_of_launcher();
      if (!launched.ok()) return report(call, launched.status());
      found = launched->value_or(found);
    }
    if (found.rank < found.ranks) return NRT_SUCCESS;
    return report(
        call, NRT_INVALID,
        fmt::format("rank {} does not exist: the number of ranks is {}", found.rank, found.ranks));
  });
}

NRT_STATUS find_group(std::string_view call, Runtime& runtime, const nrt_cc_comm_t& comm,
                      std::shared_ptr<RankGroup>& group) {
  if (comm.rank >= comm.rank_n)
    return report(
        call, NRT_INVALID,
        fmt::format("member {} does not exist: the group has {} members", comm.rank, comm.rank_n));
  if (comm.rank_n == 1) return NRT_SUCCESS;
  LaunchedRank own;
  NRT_STATUS status = find_rank(call, comm.ctx_device_id, comm.ctx_device_count, own);
  if (status != NRT_SUCCESS) return status;
  if (comm.rank_n > own.ranks)
    return report(call, NRT_INVALID,
                  fmt::format("the group has {} members, but the program has only {} ranks",
                              comm.rank_n, own.ranks));
  std::span<const uint32_t> members;
  if (comm.replica_group != nullptr) members = {comm.replica_group, comm.rank_n};
  const uint32_t named = members.empty() ? comm.rank : members[comm.rank];
  if (named != own.rank)
    return report(call, NRT_INVALID,
                  fmt::format("member {} of the group is rank {}, but this is rank {}", comm.rank,
                              named, own.rank));
  if (members.empty() && comm.rank_n != own.ranks)
    return report(call, NRT_INVALID,
                  "replica_group must list the members of a group that excludes some ranks");
  Result<std::shared_ptr<RankGroup>> found = runtime.ranks().group(own.rank, own.ranks, members);
  if (!found.ok()) return report_rank_failure(call, found.status());
  group = *std::move(found);
  return NRT_SUCCESS;
}

NRT_STATUS report_rank_failure(std::string_view call, const Status& status) {
  if (status.ok()) return NRT_SUCCESS;
  return report(call, code_of_rank_failure(status.code()), status.message());
}

}  // namespace millrace::nrt
