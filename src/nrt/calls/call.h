// The frame around every call of the C API: nrt_close waits for the calls that are inside, most
// calls need the runtime, and no exception leaves a call.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"
#include "nrt/process/call_gate.h"
#include "nrt/process/runtime.h"
#include "nrt/terms/status.h"
#include "nrt/trace/call_scope.h"

namespace millrace::nrt {

// The status as the caller gets it. A failure is also logged, as one of `call`; a full queue is not
// logged, since a caller may simply try again.
NRT_STATUS report(std::string_view call, const Status& status);
// The same for a failure that the core has no code for.
NRT_STATUS report(std::string_view call, NRT_STATUS status, std::string_view why);

// Reasons that several calls give.
inline constexpr std::string_view kNoModel = "the model is null or was unloaded";
inline constexpr std::string_view kNoTensor = "the tensor is null or was freed";

// The status to return for the exception that is being handled.
NRT_STATUS status_of_exception(std::string_view call) noexcept;
// The status to return when there is no runtime, because the call comes before nrt_init or after
// nrt_close. Each of the two reasons is logged once only, since programs poll.
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

// Runs `body(runtime)` as a call that traces show; refuses when there is no runtime.
template <class Body>
NRT_STATUS with_runtime(std::string_view call, Body&& body) noexcept {
  const InCall inside;
  Runtime* const runtime = Runtime::current();
  if (runtime == nullptr) [[unlikely]]
    return refuse_without_runtime(call);
  trace::CallScope traced(call);
  return traced.ended_with(contained(call, [&] { return body(*runtime); }));
}

// The same, for a visible core only.
template <class Body>
NRT_STATUS with_core(std::string_view call, int64_t core, Body&& body) noexcept {
  return with_runtime(call, [&](Runtime& runtime) {
    if (const Status status = runtime.check_core(core); !status.ok()) return report(call, status);
    return body(runtime);
  });
}

}  // namespace millrace::nrt
