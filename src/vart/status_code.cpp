#include "vart/status_code.h"

namespace millrace::vartml {

::vart::StatusCode to_status_code(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::kOk:
      return ::vart::StatusCode::SUCCESS;
    case StatusCode::kPending:
      return ::vart::StatusCode::JOB_PENDING;
    case StatusCode::kInvalidArgument:
      return ::vart::StatusCode::INVALID_INPUT;
    case StatusCode::kInvalidJobId:
      return ::vart::StatusCode::INVALID_JOB_ID;
    case StatusCode::kQueueFull:
      return ::vart::StatusCode::RESOURCE_UNAVAILABLE;
    case StatusCode::kOutOfMemory:
      return ::vart::StatusCode::OUT_OF_MEMORY;
    case StatusCode::kCancelled:
    case StatusCode::kDeadlineExceeded:
    case StatusCode::kClosed:
      return ::vart::StatusCode::FAILURE;
    case StatusCode::kNotFound:
    case StatusCode::kUnsupported:
    case StatusCode::kCorruptData:
    case StatusCode::kIoError:
    case StatusCode::kHung:
    case StatusCode::kDeviceFailed:
    case StatusCode::kUnitDegraded:
    case StatusCode::kDropped:
    case StatusCode::kNoLane:
    case StatusCode::kBusy:
    case StatusCode::kResourceExhausted:
    case StatusCode::kForked:
    case StatusCode::kInternal:
      break;
  }
  return ::vart::StatusCode::RUNTIME_ERROR;
}

}  // namespace millrace::vartml
