// Code that the calls that name a rank have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "nrt/calls/call.h"
#include "nrt/nrt_async.h"
#include "nrt/process/launcher.h"
#include "nrt/requests/rank_group.h"

namespace millrace::nrt {

// The rank that a call names, or, where it leaves both numbers at 0 and a launcher has started the
// process, that of the launcher. NRT_INVALID, which is logged, for a rank that there is not.
NRT_STATUS find_rank(std::string_view call, uint32_t rank, uint32_t ranks,
                     LaunchedRank& found) noexcept;

// Runs `body(runtime, rank)` for a core of this process and that rank.
template <class Body>
NRT_STATUS with_rank(const char* call, int64_t core, uint32_t rank, uint32_t ranks,
                     Body&& body) noexcept {
  return with_core(call, core, [&](Runtime& runtime) {
    LaunchedRank found;
    const NRT_STATUS status = find_rank(call, rank, ranks, found);
    return status == NRT_SUCCESS ? body(runtime, found) : status;
  });
}

// The ranks that a communicator of the program's names; null for a group of one. Meets the other
// ranks, if this process has not done so. NRT_INVALID, which is logged, for a group that is none.
NRT_STATUS find_group(std::string_view call, Runtime& runtime, const nrt_cc_comm_t& comm,
                      std::shared_ptr<RankGroup>& group);

// Like report(), for a failure of ranks to meet or to run a collective.
NRT_STATUS report_rank_failure(std::string_view call, const Status& status);

}  // namespace millrace::nrt
