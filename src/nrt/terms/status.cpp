#include "nrt/terms/status.h"

#include <algorithm>
#include <array>

#include "base/settings/environment.h"

namespace millrace::nrt {
namespace {

struct Named {
  NRT_STATUS status;
  const char* name;
};

constexpr std::array kStatuses = {
#define MILLRACE_X(status) \
  Named {                  \
    status, #status        \
  }
    MILLRACE_X(NRT_SUCCESS),
    MILLRACE_X(NRT_FAILURE),
    MILLRACE_X(NRT_INVALID),
    MILLRACE_X(NRT_INVALID_HANDLE),
    MILLRACE_X(NRT_RESOURCE),
    MILLRACE_X(NRT_TIMEOUT),
    MILLRACE_X(NRT_HW_ERROR),
    MILLRACE_X(NRT_QUEUE_FULL),
    MILLRACE_X(NRT_LOAD_NOT_ENOUGH_NC),
    MILLRACE_X(NRT_UNSUPPORTED_NEFF_VERSION),
    MILLRACE_X(NRT_FAIL_HOST_MEM_ALLOC),
    MILLRACE_X(NRT_UNINITIALIZED),
    MILLRACE_X(NRT_CLOSED),
    MILLRACE_X(NRT_QUEUE_EMPTY),
    MILLRACE_X(NRT_EXEC_UNIT_UNRECOVERABLE),
    MILLRACE_X(NRT_EXEC_BAD_INPUT),
    MILLRACE_X(NRT_EXEC_COMPLETED_WITH_NUM_ERR),
    MILLRACE_X(NRT_EXEC_COMPLETED_WITH_ERR),
    MILLRACE_X(NRT_EXEC_NC_BUSY),
    MILLRACE_X(NRT_EXEC_OOB),
    MILLRACE_X(NRT_COLL_PENDING),
    MILLRACE_X(NRT_EXEC_HW_ERR_COLLECTIVES),
    MILLRACE_X(NRT_EXEC_HW_ERR_HBM_UE),
    MILLRACE_X(NRT_EXEC_HW_ERR_NC_UE),
    MILLRACE_X(NRT_EXEC_HW_ERR_DMA_ABORT),
    MILLRACE_X(NRT_EXEC_SW_NQ_OVERFLOW),
    MILLRACE_X(NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE),
    MILLRACE_X(NRT_NETWORK_PROXY_FAILURE),
#undef MILLRACE_X
};

}  // namespace

const char* name_of(NRT_STATUS status) noexcept {
  const auto* const found = std::ranges::find(kStatuses, status, &Named::status);
  return found == kStatuses.end() ? "NRT_STATUS_UNKNOWN" : found->name;
}

std::optional<NRT_STATUS> parse_status(std::string_view text) {
  const Result<uint64_t> number = parse_number(text);
  for (const Named& known : kStatuses) {
    if (text == known.name || (number.ok() && *number == static_cast<uint64_t>(known.status)))
      return known.status;
  }
  return std::nullopt;
}

NRT_STATUS to_nrt_status(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::kOk:
      return NRT_SUCCESS;
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotFound:
    case StatusCode::kInvalidJobId:
    case StatusCode::kCorruptData:
    case StatusCode::kUnsupported:  // for a model, nrt_load returns NRT_UNSUPPORTED_NEFF_VERSION
      return NRT_INVALID;
    case StatusCode::kQueueFull:
      return NRT_QUEUE_FULL;
    case StatusCode::kOutOfMemory:
    case StatusCode::kResourceExhausted:
    case StatusCode::kNoLane:
      return NRT_RESOURCE;
    case StatusCode::kBusy:
      return NRT_EXEC_NC_BUSY;
    case StatusCode::kHung:
    case StatusCode::kDeadlineExceeded:
      return NRT_TIMEOUT;
    case StatusCode::kDeviceFailed:
      return NRT_HW_ERROR;
    case StatusCode::kUnitDegraded:
      return NRT_EXEC_UNIT_UNRECOVERABLE;
    case StatusCode::kCancelled:  // only nrt_close cancels requests
    case StatusCode::kClosed:     // nrt_close has closed the unit
      return NRT_CLOSED;
    case StatusCode::kInternal:
      return NRT_EXEC_COMPLETED_WITH_ERR;
    case StatusCode::kPending:
    case StatusCode::kIoError:
    case StatusCode::kDropped:
    case StatusCode::kForked:
      break;
  }
  return NRT_FAILURE;
}

NRT_STATUS code_of_rank_failure(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::kIoError:  // a rank has terminated
    case StatusCode::kInternal:
      return NRT_EXEC_HW_ERR_COLLECTIVES;
    case StatusCode::kUnsupported:  // there is no rendezvous address, or no plugin for ranks
    case StatusCode::kNotFound:
      return NRT_FAILURE;
    default:
      return to_nrt_status(code);
  }
}

}  // namespace millrace::nrt
