// nrt_init, nrt_close, and the queries that work without a running runtime: the numbers of cores,
// the names of statuses, the version and the kind of instance.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/cancellation.h"
#include "base/float_environment.h"
#include "check/check.h"
#include "nrt/calls/call.h"
#include "nrt/calls/out_values.h"
#include "nrt/nrt.h"
#include "nrt/nrt_version.h"
#include "nrt/process/settings.h"

namespace millrace::nrt {
namespace {

// The version of the API that is implemented: the NRT version of SDK 2.32.
constexpr uint64_t kMajor = 2, kMinor = 34;

template <size_t N>
void write_text(char (&target)[N], std::string_view text) {
  const size_t length = std::min(text.size(), N - 1);
  std::memcpy(target, text.data(), length);
}

template <class Description>
NRT_STATUS give(const char* call, const Description& description, Description* out, size_t room) {
  return contained(call, [&] {
    if (out == nullptr) return report(call, NRT_INVALID, "the result pointer is null");
    copy_out(description, out, room);
    return NRT_SUCCESS;
  });
}

template <class Count>
NRT_STATUS count_cores(const char* call, uint32_t* out, Count&& count) {
  return contained(call, [&] {
    if (out == nullptr) return report(call, NRT_INVALID, "the result pointer is null");
    const Result<uint32_t> cores = count();
    if (!cores.ok()) return report(call, cores.status());
    *out = *cores;
    return NRT_SUCCESS;
  });
}

// Returns the number of visible cores of the running runtime. Without one, the number that nrt_init
// would make visible in the present environment.
Result<uint32_t> visible_count() {
  const InCall inside;
  if (const Runtime* const runtime = Runtime::current()) return runtime->settings().cores.count;
  MILLRACE_ASSIGN_OR_RETURN(const CoreRange cores, visible_cores());
  return cores.count;
}

}  // namespace
}  // namespace millrace::nrt

using namespace millrace::nrt;

extern "C" {

NRT_STATUS nrt_init(nrt_framework_type_t, const char*, const char*) {
  const millrace::CancellationOff whole;
  const millrace::DefaultFloatEnvironment floats;
  trace::CallScope traced("nrt_init");
  return traced.ended_with(
      contained("nrt_init", [] { return report("nrt_init", Runtime::start()); }));
}

void nrt_close(void) {
  const millrace::CancellationOff whole;
  const millrace::DefaultFloatEnvironment floats;  // used for the times in traces and profiles
  const trace::CallScope traced("nrt_close");
  contained("nrt_close", [] {
    if (millrace::check::on()) [[unlikely]]
      millrace::check::note_ends_all();
    Runtime::stop();
    return NRT_SUCCESS;
  });
}

NRT_STATUS nrt_get_total_vnc_count(uint32_t* vnc_count) {
  return count_cores("nrt_get_total_vnc_count", vnc_count, total_cores);
}
NRT_STATUS nrt_get_total_nc_count(uint32_t* nc_count) {
  return count_cores("nrt_get_total_nc_count", nc_count, total_cores);
}
NRT_STATUS nrt_get_visible_vnc_count(uint32_t* vnc_count) {
  return count_cores("nrt_get_visible_vnc_count", vnc_count, visible_count);
}
NRT_STATUS nrt_get_visible_nc_count(uint32_t* nc_count) {
  return count_cores("nrt_get_visible_nc_count", nc_count, visible_count);
}

const char* nrt_get_status_as_str(NRT_STATUS status) {
  return name_of(status);
}

NRT_STATUS nrt_get_version(nrt_version_t* ver, size_t size) {
  nrt_version_t version{};
  version.rt_major = kMajor;
  version.rt_minor = kMinor;
  write_text(version.rt_detail, "Millrace " MILLRACE_VERSION ", a software NPU");
  return give("nrt_get_version", version, ver, size);
}

NRT_STATUS nrt_get_instance_info(nrt_instance_info_t* info, size_t instance_info_len) {
  nrt_instance_info_t instance{};
  instance.family = NRT_INSTANCE_UNKNOWN;
  instance.size = NRT_INSTANCE_SIZE_UNKNOWN;
  write_text(instance.arch_name, "millrace");
  write_text(instance.device_revision, "1");
  return give("nrt_get_instance_info", instance, info, instance_info_len);
}

}  // extern "C"
