// The wrappers in which the functions of the C API run. They ensure that nrt_close waits for calls
// in progress, that a call which needs the runtime is refused without it, and that no exception
// crosses the C boundary. They also log failures and record calls for traces. Thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"
#include "nrt/process/call_gate.h"
#include "nrt/process/runtime.h"
#include "nrt/terms/status.h"
#include "nrt/trace/call_scope.h"

namespace millrace::nrt {

// Returns the NRT_STATUS of a status. A failure is also logged, with the name of the call; a full
// queue is not logged, since callers usually retry.
NRT_STATUS report(std::string_view call, const Status& status);
// Logs a failure for which the core has no status code, and returns it.
NRT_STATUS report(std::string_view call, NRT_STATUS status, std::string_view why);

// Messages that several calls log.
inline constexpr std::string_view kNoModel = "the model is null or was unloaded";
inline constexpr std::string_view kNoTensor = "the tensor is null or was freed";

// Returns the status for the exception that is being handled. Requirement: called in a catch block.
NRT_STATUS status_of_exception(std::string_view call) noexcept;
// Returns the status of a call without a runtime: before nrt_init, after nrt_close, or in a forked
// child. Each of the first two reasons is logged only once, since programs poll.
[[gnu::cold]] NRT_STATUS refuse_without_runtime(std::string_view call) noexcept;

// Runs `body`, which returns an NRT_STATUS, and turns an exception into one.
template <class Body>
NRT_STATUS contained(std::string_view call, Body&& body) noexcept {
  try {
    return body();
  } catch (...) {
    return status_of_exception(call);
  }
}

// Runs `body(runtime)` as a call that nrt_close waits for and that traces record. Refuses the call
// when there is no runtime.
template <class Body>
NRT_STATUS with_runtime(std::string_view call, Body&& body) noexcept {
  const InCall inside;
  Runtime* const runtime = Runtime::current();
  if (runtime == nullptr) [[unlikely]]
    return refuse_without_runtime(call);
  trace::CallScope traced(call);
  return traced.ended_with(contained(call, [&] { return body(*runtime); }));
}

// Like with_runtime(), for a call that names a core: refuses one that is not visible.
template <class Body>
NRT_STATUS with_core(std::string_view call, int64_t core, Body&& body) noexcept {
  return with_runtime(call, [&](Runtime& runtime) {
    if (const Status status = runtime.check_core(core); !status.ok()) return report(call, status);
    return body(runtime);
  });
}

}  // namespace millrace::nrt
