// The wrappers in which the calls for programs that watch devices run. These calls need no
// nrt_init. They return 0 for success, and -1 for a failure, whose reason is logged.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "base/log.h"
#include "base/status.h"
#include "nrt/calls/call.h"

namespace millrace::nrt {

inline constexpr int kDone = 0, kFailed = -1;

// Runs `body`, which returns a Status, and logs its failure.
template <class Body>
int monitor_call(std::string_view call, Body&& body) noexcept {
  return contained(call, [&] { return report(call, body()); }) == NRT_SUCCESS ? kDone : kFailed;
}

// Refuses a call for a feature that the software NPU does not have. Programs continue without it,
// so the refusal is logged at INFO.
inline int decline_monitor_call(std::string_view call, std::string_view what) noexcept {
  log_format(LogLevel::kInfo, "nrt", "{}: {}", call, what);
  return kFailed;
}

}  // namespace millrace::nrt
