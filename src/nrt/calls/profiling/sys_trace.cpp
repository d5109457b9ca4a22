// nrt_sys_trace_*: the system trace, a log of timed events, which programs fetch as JSON. These
// calls work without a running runtime, so that nrt_init and nrt_close can be recorded and the
// events fetched after nrt_close.
#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "nrt/calls/call.h"
#include "nrt/calls/out_values.h"
#include "nrt/nrt_sys_trace.h"
#include "nrt/recording/event_json.h"
#include "nrt/recording/recording.h"

struct nrt_sys_trace_config {
  millrace::nrt::trace::Capture capture;
};
struct nrt_sys_trace_fetch_options {
  uint64_t max_events = UINT64_MAX;  // per core
  std::optional<uint32_t> core;      // nullopt: all cores
};

namespace millrace::nrt {
namespace {

// The recording of the process. Never destroyed, since a program may exit while it records.
trace::Recording& recording() {
  static auto* const recording = new trace::Recording;
  return *recording;
}

NRT_STATUS is_null(const char* call) {
  return report(call, NRT_INVALID, "an argument is null");
}

template <class Object>
NRT_STATUS allocate(const char* call, Object** object) {
  return contained(call, [&] {
    if (object == nullptr) return is_null(call);
    *object = new Object;
    return NRT_SUCCESS;
  });
}

// Runs `body(options)`, which returns an NRT_STATUS; a failure is logged and has no other effect.
template <class Body>
void change_options(const char* call, nrt_sys_trace_fetch_options* options, Body&& body) noexcept {
  contained(call, [&] { return options == nullptr ? is_null(call) : body(*options); });
}

NRT_STATUS give_types(const char* call, const trace::EventTypes& types, const char*** names,
                      size_t* count) {
  if (names == nullptr || count == nullptr) return is_null(call);
  std::vector<const char*> chosen;
  for (size_t type = 0; type < trace::kEventTypes; ++type)
    if (types[type]) chosen.push_back(trace::event_type_names()[type]);
  give_names(chosen, names, count);
  return NRT_SUCCESS;
}

}  // namespace
}  // namespace millrace::nrt

using namespace millrace::nrt;

extern "C" {

NRT_STATUS nrt_sys_trace_config_allocate(nrt_sys_trace_config_t** options) {
  return allocate("nrt_sys_trace_config_allocate", options);
}
void nrt_sys_trace_config_set_defaults(nrt_sys_trace_config_t* options) {
  if (options != nullptr) *options = {};
}
void nrt_sys_trace_config_free(nrt_sys_trace_config_t* options) {
  delete options;
}

void nrt_sys_trace_config_set_max_events_per_nc(nrt_sys_trace_config_t* options,
                                                uint64_t max_events_per_nc) {
  if (options != nullptr) options->capture.max_events = max_events_per_nc;
}
void nrt_sys_trace_config_set_capture_enabled_for_nc(nrt_sys_trace_config_t* options,
                                                     uint32_t nc_idx, bool enabled) {
  if (options != nullptr && nc_idx < kMostCores) options->capture.cores[nc_idx] = enabled;
}

NRT_STATUS nrt_sys_trace_config_set_capture_enabled_for_event_type(nrt_sys_trace_config_t* options,
                                                                   const char* event_type,
                                                                   bool enabled) {
  constexpr const char* kCall = "nrt_sys_trace_config_set_capture_enabled_for_event_type";
  return contained(kCall, [&] {
    if (options == nullptr || event_type == nullptr) return is_null(kCall);
    if (options->capture.enable_type(event_type, enabled)) return NRT_SUCCESS;
    return report(kCall, NRT_INVALID, fmt::format("there is no event type \"{}\"", event_type));
  });
}

NRT_STATUS nrt_sys_trace_get_event_types(const char*** event_types, size_t* count) {
  constexpr const char* kCall = "nrt_sys_trace_get_event_types";
  return contained(
      kCall, [&] { return give_types(kCall, trace::EventTypes().set(), event_types, count); });
}
NRT_STATUS nrt_sys_trace_config_get_enabled_event_types(nrt_sys_trace_config_t* options,
                                                        const char*** event_types, size_t* count) {
  constexpr const char* kCall = "nrt_sys_trace_config_get_enabled_event_types";
  return contained(kCall, [&] {
    if (options == nullptr) return is_null(kCall);
    return give_types(kCall, options->capture.types, event_types, count);
  });
}
void nrt_sys_trace_free_event_types(const char** event_types, size_t) {
  free_names(event_types);
}

NRT_STATUS nrt_sys_trace_start(nrt_sys_trace_config_t* options) {
  constexpr const char* kCall = "nrt_sys_trace_start";
  return contained(kCall, [&] {
    return recording().start(options == nullptr ? trace::Capture() : options->capture)
               ? NRT_SUCCESS
               : report(kCall, NRT_INVALID, "the system trace has begun already");
  });
}
NRT_STATUS nrt_sys_trace_stop(void) {
  return contained("nrt_sys_trace_stop", [] {
    recording().stop();
    return NRT_SUCCESS;
  });
}

NRT_STATUS nrt_sys_trace_fetch_options_allocate(nrt_sys_trace_fetch_options_t** options) {
  return allocate("nrt_sys_trace_fetch_options_allocate", options);
}
void nrt_sys_trace_fetch_options_set_defaults(nrt_sys_trace_fetch_options_t* options) {
  change_options("nrt_sys_trace_fetch_options_set_defaults", options,
                 [](nrt_sys_trace_fetch_options& changed) {
                   changed = {};
                   return NRT_SUCCESS;
                 });
}
void nrt_sys_trace_fetch_options_free(nrt_sys_trace_fetch_options_t* options) {
  delete options;
}
void nrt_sys_trace_fetch_options_set_max_events_per_nc(nrt_sys_trace_fetch_options_t* options,
                                                       uint64_t max_events_per_nc) {
  change_options("nrt_sys_trace_fetch_options_set_max_events_per_nc", options,
                 [&](nrt_sys_trace_fetch_options& changed) {
                   changed.max_events = max_events_per_nc;
                   return NRT_SUCCESS;
                 });
}
void nrt_sys_trace_fetch_options_set_nc_idx(nrt_sys_trace_fetch_options_t* options,
                                            uint64_t nc_idx) {
  constexpr const char* kCall = "nrt_sys_trace_fetch_options_set_nc_idx";
  change_options(kCall, options, [&](nrt_sys_trace_fetch_options& changed) {
    if (nc_idx >= kMostCores)
      return report(kCall, NRT_INVALID, fmt::format("there is no core {}", nc_idx));
    changed.core = static_cast<uint32_t>(nc_idx);
    return NRT_SUCCESS;
  });
}

NRT_STATUS nrt_sys_trace_fetch_events(char** buffer, size_t* written_size,
                                      const nrt_sys_trace_fetch_options_t* options) {
  constexpr const char* kCall = "nrt_sys_trace_fetch_events";
  return contained(kCall, [&] {
    if (buffer == nullptr || written_size == nullptr) return is_null(kCall);
    const nrt_sys_trace_fetch_options chosen =
        options == nullptr ? nrt_sys_trace_fetch_options() : *options;
    const std::string text = trace::to_json(recording().take(chosen.max_events, chosen.core));
    *buffer = new char[text.size() + 1];
    std::memcpy(*buffer, text.c_str(), text.size() + 1);
    *written_size = text.size();
    return NRT_SUCCESS;
  });
}
void nrt_sys_trace_buffer_free(char* buffer) {
  delete[] buffer;
}

}  // extern "C"
