#include "nrt/requests/request_task.h"

#include <exception>

#include "base/log.h"
#include "device/faulty/failure_names.h"
#include "nrt/terms/status.h"

namespace millrace::nrt {
namespace {

// True if the request itself failed. False for consequences of an earlier failure of the unit or of
// nrt_close, which are not logged for each request.
bool is_cause(const Status& status) noexcept {
  return !status.ok() && status.code() != StatusCode::kUnitDegraded &&
         status.code() != StatusCode::kCancelled;
}

}  // namespace

void RequestTask::write_status(const queue::Completion& completion) noexcept {
  unit_.releases->begin();
  const NRT_STATUS code = code_of(completion.status);
  if (target_.ret != nullptr) *target_.ret = code;
  if (code != NRT_SUCCESS && target_.tracker != nullptr)
    target_.tracker->record(outward(completion.sequence), code);
  if (is_cause(completion.status)) log_failure(completion, code);
  on_status_written(completion);
}

void RequestTask::log_failure(const queue::Completion& completion, NRT_STATUS code) const noexcept {
  if (!log_enabled(LogLevel::kError)) return;
  try {
    log_format(LogLevel::kError, "nrt", "job {}:{} of {} (request {:#x}) failed with {}: {}",
               queue::unit_of(completion.sequence), queue::counter_of(completion.sequence),
               name_of(address_with(unit_.number)), outward(completion.sequence), name_of(code),
               completion.status.message());
  } catch (const std::exception&) {
    log(LogLevel::kError, "nrt", completion.status.message());
  }
}

void RequestTask::release() noexcept {
  target_ = {};
  drop_references();
  unit_.releases->end();
}

NRT_STATUS RequestTask::code_of(const Status& status) const noexcept {
  if (status.ok()) return NRT_SUCCESS;
  if (const std::optional<uint32_t> named = device::named_nrt_status(status))
    return static_cast<NRT_STATUS>(*named);
  if (const std::optional<NRT_STATUS> own = own_code(status)) return *own;
  switch (status.code()) {
    case StatusCode::kDeviceFailed:
    case StatusCode::kInternal:
      return unit_.fault_status.value_or(to_nrt_status(status.code()));
    case StatusCode::kInvalidArgument:  // not an argument of the call: an index within the model
      return NRT_EXEC_OOB;
    case StatusCode::kCorruptData:
      return NRT_EXEC_COMPLETED_WITH_NUM_ERR;
    default:
      return to_nrt_status(status.code());
  }
}

}  // namespace millrace::nrt
