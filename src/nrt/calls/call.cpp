#include "nrt/calls/call.h"

#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <new>

#include "base/log.h"
#include "nrt/process/log_setup.h"

namespace millrace::nrt {
namespace {

NRT_STATUS refuse(std::string_view call, NRT_STATUS status, std::string_view why,
                  std::atomic<bool>& reported) noexcept {
  if (reported.load(std::memory_order_relaxed) || reported.exchange(true)) return status;
  return contained(call,
                   [&] { return report(call, status, fmt::format("{} (logged once)", why)); });
}

}  // namespace

NRT_STATUS report(std::string_view call, const Status& status) {
  const NRT_STATUS code = to_nrt_status(status.code());
  return code == NRT_SUCCESS || code == NRT_QUEUE_FULL ? code
                                                       : report(call, code, status.message());
}

NRT_STATUS report(std::string_view call, NRT_STATUS status, std::string_view why) {
  set_up_log_once();
  if (log_enabled(LogLevel::kError))
    log(LogLevel::kError, "nrt", fmt::format("{}: {}: {}", call, name_of(status), why));
  return status;
}

// Logging the reason may itself fail when memory is exhausted.
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

NRT_STATUS refuse_without_runtime(std::string_view call) noexcept {
  static std::atomic<bool> reported_early{false}, reported_late{false};
  switch (Runtime::absence()) {
    case Absence::kNotStarted:
      return refuse(call, NRT_UNINITIALIZED, "nrt_init has not been called", reported_early);
    case Absence::kClosed:
      return refuse(call, NRT_CLOSED, "nrt_close has ended the runtime", reported_late);
    case Absence::kForked:  // the log may be locked by a thread that does not exist in this process
      break;
  }
  return NRT_UNINITIALIZED;
}

}  // namespace millrace::nrt
