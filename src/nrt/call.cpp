#include "nrt/call.h"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "base/log.h"

namespace millrace::nrt {

NRT_STATUS report(std::string_view call, const Status& status) {
  NRT_STATUS code = to_nrt_status(status.code());
  // A unit refuses because nrt_close has ended it, or because the system has no thread for it.
  if (code == NRT_CLOSED && Runtime::current() != nullptr) code = NRT_RESOURCE;
  return code == NRT_SUCCESS || code == NRT_QUEUE_FULL ? code
                                                       : report(call, code, status.message());
}

NRT_STATUS report(std::string_view call, NRT_STATUS status, std::string_view why) {
  if (log_enabled(LogLevel::kError))
    log(LogLevel::kError, "nrt", fmt::format("{}: {}: {}", call, name_of(status), why));
  return status;
}

// To say why takes memory, too.
NRT_STATUS status_of_exception(std::string_view call) noexcept try {
  throw;
} catch (const std::bad_alloc&) {
  return NRT_RESOURCE;
} catch (const std::exception& error) {
  try {
    return report(call, NRT_FAILURE, error.what());
  } catch (const std::exception&) {
    return NRT_FAILURE;
  }
}

}  // namespace millrace::nrt
