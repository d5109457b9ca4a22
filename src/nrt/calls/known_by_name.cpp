// Calls whose names are known but whose parameters were never published. They exist so that
// programs which look up all symbols when they load the library find them. All but nrta_start_next
// fail and name the call to use instead.
#include <fmt/format.h>

#include <string_view>

#include "nrt/calls/call.h"
#include "nrt/nrt_async.h"
#include "nrt/nrt_profile.h"

namespace millrace::nrt {
namespace {

NRT_STATUS not_published(const char* call, std::string_view instead) noexcept {
  return contained(call, [&] {
    return report(call, NRT_FAILURE,
                  fmt::format("the parameters of this call were never published; {}", instead));
  });
}

constexpr std::string_view kOneByOne = "prepare the collectives one by one";
constexpr std::string_view kUseInspect = "nrt_inspect_begin_with_options begins a session";

}  // namespace
}  // namespace millrace::nrt

using namespace millrace::nrt;

extern "C" {

NRT_STATUS nrt_cc_prepare_coalesced(nrt_cc_comm_t*, ...) {
  return not_published("nrt_cc_prepare_coalesced", kOneByOne);
}
NRT_STATUS nrta_cc_prepare_coalesced(nrt_cc_comm_t*, ...) {
  return not_published("nrta_cc_prepare_coalesced", kOneByOne);
}
NRT_STATUS nrt_inspect_export(uint64_t) {
  return not_published("nrt_inspect_export", "nrt_inspect_stop writes what was recorded");
}

NRT_STATUS nrta_start_next(nrta_xuq_t) {
  return with_runtime("nrta_start_next", [](Runtime&) { return NRT_SUCCESS; });
}

// No header declares the following calls, since their parameters are unknown.
#pragma GCC visibility push(default)

NRT_STATUS nrt_inspect_get_instance_output_dir(void) {
  return not_published("nrt_inspect_get_instance_output_dir", kUseInspect);
}
NRT_STATUS nrt_profile_session_start(void) {
  return not_published("nrt_profile_session_start", kUseInspect);
}
NRT_STATUS nrt_profile_session_stop(void) {
  return not_published("nrt_profile_session_stop", kUseInspect);
}
NRT_STATUS nrt_profile_session_serialize(void) {
  return not_published("nrt_profile_session_serialize", kUseInspect);
}
NRT_STATUS nrt_profile_session_drop(void) {
  return not_published("nrt_profile_session_drop", kUseInspect);
}
NRT_STATUS nrt_profile_session_drop_all(void) {
  return not_published("nrt_profile_session_drop_all", kUseInspect);
}

#pragma GCC visibility pop

}  // extern "C"
