// Helpers of the calls that name a rank: checking the rank or the group of ranks that the program
// passes, and reporting failures of ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "nrt/calls/call.h"
#include "nrt/nrt_async.h"
#include "nrt/process/launcher.h"
#include "nrt/requests/rank_group.h"

namespace millrace::nrt {

// Determines the rank of a call: the one that it names or, if it passes 0 for both numbers and a
// launcher has started the process, that of the launcher. Logs the reason and returns NRT_INVALID
// when the rank is not below the number of ranks.
NRT_STATUS find_rank(std::string_view call, uint32_t rank, uint32_t ranks,
                     LaunchedRank& found) noexcept;

// Runs `body(runtime, rank)` if the core is visible and find_rank() accepts the rank.
template <class Body>
NRT_STATUS with_rank(const char* call, int64_t core, uint32_t rank, uint32_t ranks,
                     Body&& body) noexcept {
  return with_core(call, core, [&](Runtime& runtime) {
    LaunchedRank found;
    const NRT_STATUS status = find_rank(call, rank, ranks, found);
    return status == NRT_SUCCESS ? body(runtime, found) : status;
  });
}

// Sets `group` to the ranks that the program's communicator names; leaves it null for one rank.
// Connects to the other ranks of the program, unless this rank is connected already, and blocks
// meanwhile. Logs the reason and returns NRT_INVALID for an inconsistent group.
NRT_STATUS find_group(std::string_view call, Runtime& runtime, const nrt_cc_comm_t& comm,
                      std::shared_ptr<RankGroup>& group);

// Like report(), with the codes of a failure to connect to other ranks or to run a collective.
NRT_STATUS report_rank_failure(std::string_view call, const Status& status);

}  // namespace millrace::nrt
