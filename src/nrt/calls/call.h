// What every call of the C API has around it: it stays out of the way of nrt_close, needs the
// runtime, and lets no exception out.
#pragma once

#include <string_view>

#include "base/status.h"
#include "nrt/process/call_gate.h"
#include "nrt/process/runtime.h"
#include "nrt/terms/status.h"
#include "nrt/trace/call_scope.h"

namespace millrace::nrt {

// The status as the caller gets it; a failure is also a line of the log, in which `call` says
// whose. A full queue is none.
NRT_STATUS report(std::string_view call, const Status& status);
// A failure that the core has no code for.
NRT_STATUS report(std::string_view call, NRT_STATUS status, std::string_view why);

// What the caller gets for the exception that is being handled.
NRT_STATUS status_of_exception(std::string_view call) noexcept;
// What a call gets where there is no runtime: it comes too early or too late. The log says so once
// per reason, since programs poll.
[[gnu::cold]] NRT_STATUS refuse_without_runtime(std::string_view call) noexcept;

// Runs `body`, which returns an NRT_STATUS.
template <class Body>
NRT_STATUS contained(std::string_view call, Body&& body) noexcept {
  try {
    return body();
  } catch (...) {
    return status_of_exception(call);
  }
}

// Runs `body(runtime)`, which whoever traces the calls sees; without a runtime, says why there is
// none.
template <class Body>
NRT_STATUS with_runtime(std::string_view call, Body&& body) noexcept {
  const InCall inside;
  Runtime* const runtime = Runtime::current();
  if (runtime == nullptr) [[unlikely]]
    return refuse_without_runtime(call);
  trace::CallScope traced(call);
  return traced.ended_with(contained(call, [&] { return body(*runtime); }));
}

}  // namespace millrace::nrt
