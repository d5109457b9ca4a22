// nrt_inspect_*: the inspection sessions of developer tools. Of the activities that a session may
// request, only the system profile is implemented: a file with the JSON text that
// nrt_sys_trace_fetch_events returns. The others are accepted and have no effect.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include "nrt/calls/call.h"
#include "nrt/calls/out_values.h"
#include "nrt/nrt_profile.h"
#include "nrt/recording/inspection.h"

namespace millrace::nrt {
namespace {

// The names of activities; "all" stands for all the others.
constexpr std::array kActivities = {"system_profile", "device_profile", "host_memory", "cpu_util",
                                    "all"};
constexpr size_t kSystemProfile = 0, kAll = 4;

}  // namespace
}  // namespace millrace::nrt

struct nrt_inspect_config {
  bool enabled = true;
  int session_id = 0;
  std::string output_dir;  // empty: nothing is written
  std::bitset<millrace::nrt::kAll> activities;
  millrace::nrt::trace::Capture capture;

  bool wants_system_profile() const {
    return enabled && !output_dir.empty() && activities[millrace::nrt::kSystemProfile];
  }
};

namespace millrace::nrt {
namespace {

NRT_STATUS begin(const char* call, const nrt_inspect_config& config) {
  trace::Inspection& inspection = trace::Inspection::of_process();
  if (!config.wants_system_profile()) return report(call, inspection.end());
  return report(call, inspection.begin(trace::system_profile_in(config.output_dir,
                                                                std::to_string(config.session_id)),
                                       config.capture));
}

// Runs `body(config)`, which returns an NRT_STATUS; NRT_INVALID for a null configuration.
template <class Body>
NRT_STATUS with_config(const char* call, nrt_inspect_config* config, Body&& body) noexcept {
  return contained(call, [&] {
    if (config == nullptr) return report(call, NRT_INVALID, "the configuration is null");
    return body(*config);
  });
}

// Accepts a setting that has no effect on the software NPU.
NRT_STATUS accept(const char* call, nrt_inspect_config* config) noexcept {
  return with_config(call, config, [](const nrt_inspect_config&) { return NRT_SUCCESS; });
}

}  // namespace
}  // namespace millrace::nrt

using namespace millrace::nrt;

extern "C" {

NRT_STATUS nrt_inspect_begin(void) {
  return contained("nrt_inspect_begin", [] { return begin("nrt_inspect_begin", {}); });
}
NRT_STATUS nrt_inspect_begin_with_options(nrt_inspect_config_t* config) {
  constexpr const char* kCall = "nrt_inspect_begin_with_options";
  return with_config(kCall, config,
                     [&](const nrt_inspect_config& chosen) { return begin(kCall, chosen); });
}
NRT_STATUS nrt_inspect_stop(void) {
  return contained("nrt_inspect_stop", [] {
    return report("nrt_inspect_stop", trace::Inspection::of_process().end());
  });
}

NRT_STATUS nrt_inspect_config_allocate(nrt_inspect_config_t** config) {
  constexpr const char* kCall = "nrt_inspect_config_allocate";
  return contained(kCall, [&] {
    if (config == nullptr) return report(kCall, NRT_INVALID, "the result pointer is null");
    *config = new nrt_inspect_config;
    return NRT_SUCCESS;
  });
}
NRT_STATUS nrt_inspect_config_free(nrt_inspect_config_t* config) {
  delete config;
  return NRT_SUCCESS;
}
NRT_STATUS nrt_inspect_config_set_defaults(nrt_inspect_config_t* config) {
  return with_config("nrt_inspect_config_set_defaults", config, [](nrt_inspect_config& changed) {
    changed = {};
    return NRT_SUCCESS;
  });
}

NRT_STATUS nrt_inspect_config_set_session_id(nrt_inspect_config_t* config, int session_id) {
  return with_config("nrt_inspect_config_set_session_id", config, [&](nrt_inspect_config& changed) {
    changed.session_id = session_id;
    return NRT_SUCCESS;
  });
}
NRT_STATUS nrt_inspect_config_set_output_dir(nrt_inspect_config_t* config, const char* output_dir) {
  constexpr const char* kCall = "nrt_inspect_config_set_output_dir";
  return with_config(kCall, config, [&](nrt_inspect_config& changed) {
    if (output_dir == nullptr || *output_dir == '\0')
      return report(kCall, NRT_INVALID, "the directory is null or empty");
    changed.output_dir = output_dir;
    return NRT_SUCCESS;
  });
}
NRT_STATUS nrt_inspect_config_set_sys_trace_max_events_per_nc(nrt_inspect_config_t* config,
                                                              uint64_t max_events_per_nc) {
  return with_config("nrt_inspect_config_set_sys_trace_max_events_per_nc", config,
                     [&](nrt_inspect_config& changed) {
                       changed.capture.max_events = max_events_per_nc;
                       return NRT_SUCCESS;
                     });
}
NRT_STATUS nrt_inspect_config_set_capture_enabled_for_nc(nrt_inspect_config_t* config,
                                                         uint32_t nc_idx, bool enabled) {
  constexpr const char* kCall = "nrt_inspect_config_set_capture_enabled_for_nc";
  return with_config(kCall, config, [&](nrt_inspect_config& changed) {
    if (nc_idx >= kMostCores)
      return report(kCall, NRT_INVALID, fmt::format("there is no core {}", nc_idx));
    changed.capture.cores[nc_idx] = enabled;
    return NRT_SUCCESS;
  });
}
NRT_STATUS nrt_inspect_config_set_capture_enabled_for_event_type_string(
    nrt_inspect_config_t* config, const char* event_type, bool enabled) {
  constexpr const char* kCall = "nrt_inspect_config_set_capture_enabled_for_event_type_string";
  return with_config(kCall, config, [&](nrt_inspect_config& changed) {
    if (event_type == nullptr) return report(kCall, NRT_INVALID, "the event type is null");
    if (changed.capture.enable_type(event_type, enabled)) return NRT_SUCCESS;
    return report(kCall, NRT_INVALID, fmt::format("there is no event type \"{}\"", event_type));
  });
}
NRT_STATUS nrt_inspect_config_set_enable_inspect(nrt_inspect_config_t* config, bool enable) {
  return with_config("nrt_inspect_config_set_enable_inspect", config,
                     [&](nrt_inspect_config& changed) {
                       changed.enabled = enable;
                       return NRT_SUCCESS;
                     });
}
NRT_STATUS nrt_inspect_config_set_enable_inspect_on_fail(nrt_inspect_config_t* config, bool) {
  return accept("nrt_inspect_config_set_enable_inspect_on_fail", config);
}
NRT_STATUS nrt_inspect_config_set_inspect_device_profile_mode(nrt_inspect_config_t* config,
                                                              nrt_inspect_device_profile_mode_t) {
  return accept("nrt_inspect_config_set_inspect_device_profile_mode", config);
}

NRT_STATUS nrt_inspect_config_set_activity(nrt_inspect_config_t* config, const char* activity_type,
                                           bool enabled) {
  constexpr const char* kCall = "nrt_inspect_config_set_activity";
  return with_config(kCall, config, [&](nrt_inspect_config& changed) {
    if (activity_type == nullptr) return report(kCall, NRT_INVALID, "the activity is null");
    const auto* const found = std::ranges::find(kActivities, std::string_view(activity_type));
    if (found == kActivities.end())
      return report(kCall, NRT_INVALID, fmt::format("there is no activity \"{}\"", activity_type));
    const auto activity = static_cast<size_t>(found - kActivities.begin());
    for (size_t i = 0; i < kAll; ++i)
      if (activity == kAll || activity == i) changed.activities[i] = enabled;
    return NRT_SUCCESS;
  });
}

NRT_STATUS nrt_inspect_config_get_all_activity_types(const char*** activity_types, size_t* count) {
  constexpr const char* kCall = "nrt_inspect_config_get_all_activity_types";
  return contained(kCall, [&] {
    if (activity_types == nullptr || count == nullptr)
      return report(kCall, NRT_INVALID, "a result pointer is null");
    give_names(kActivities, activity_types, count);
    return NRT_SUCCESS;
  });
}
NRT_STATUS nrt_inspect_config_get_enabled_activity_types(nrt_inspect_config_t* config,
                                                         const char*** activity_types,
                                                         size_t* count) {
  constexpr const char* kCall = "nrt_inspect_config_get_enabled_activity_types";
  return with_config(kCall, config, [&](const nrt_inspect_config& asked) {
    if (activity_types == nullptr || count == nullptr)
      return report(kCall, NRT_INVALID, "a result pointer is null");
    std::vector<const char*> enabled;
    for (size_t i = 0; i < kAll; ++i)
      if (asked.activities[i]) enabled.push_back(kActivities[i]);
    give_names(enabled, activity_types, count);
    return NRT_SUCCESS;
  });
}
void nrt_inspect_config_free_activity_types(const char** activity_types, size_t) {
  free_names(activity_types);
}

}  // extern "C"
