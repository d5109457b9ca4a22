#include "nrt/call.h"

#include <fmt/format.h>

#include "base/log.h"

namespace millrace::nrt {

NRT_STATUS report(std::string_view call, const Status& status) {
  const NRT_STATUS code = to_nrt_status(status.code());
  return code == NRT_SUCCESS || code == NRT_QUEUE_FULL ? code
                                                       : report(call, code, status.message());
}

NRT_STATUS report(std::string_view call, NRT_STATUS status, std::string_view why) {
  if (log_enabled(LogLevel::kError))
    log(LogLevel::kError, "nrt", fmt::format("{}: {}: {}", call, name_of(status), why));
  return status;
}

}  // namespace millrace::nrt
