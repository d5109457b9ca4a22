// Profiles of executions, and the inspection sessions of the developer tools.
//
// nrt_profile_start and nrt_profile_stop write a trace. Continuous profiles and inspection sessions
// are accepted and record nothing: programs that switch them on run unchanged.
#ifndef NRT_NRT_PROFILE_H
#define NRT_NRT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nrt/nrt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nrt_profile_continuous_options nrt_profile_continuous_options_t;
typedef struct nrt_inspect_config nrt_inspect_config_t;

typedef enum { NRT_INSPECT_DEVICE_PROFILE_MODE_SESSION = 1 } nrt_inspect_device_profile_mode_t;

#pragma GCC visibility push(default)

// Records the executions of `model` from start to stop, which writes them to the file `filename` in
// the JSON form of trace viewers.
NRT_STATUS nrt_profile_start(nrt_model_t* model, const char* filename);
NRT_STATUS nrt_profile_stop(const char* filename);

// ---- Continuous profiles: accepted ----

NRT_STATUS nrt_profile_continuous_options_allocate(nrt_profile_continuous_options_t** options);
NRT_STATUS nrt_profile_continuous_options_free(nrt_profile_continuous_options_t* options);
NRT_STATUS nrt_profile_continuous_options_set_output_dir(nrt_profile_continuous_options_t* options,
                                                         const char* output_dir);
NRT_STATUS nrt_profile_continuous_start(void);
NRT_STATUS nrt_profile_continuous_save(uint32_t vnc, nrt_profile_continuous_options_t* options);
NRT_STATUS nrt_profile_continuous_stop(void);

// ---- Inspection sessions: accepted ----

NRT_STATUS nrt_inspect_begin(void);
NRT_STATUS nrt_inspect_begin_with_options(nrt_inspect_config_t* config);
NRT_STATUS nrt_inspect_stop(void);

// The caller frees a configuration.
NRT_STATUS nrt_inspect_config_allocate(nrt_inspect_config_t** config);
NRT_STATUS nrt_inspect_config_free(nrt_inspect_config_t* config);
NRT_STATUS nrt_inspect_config_set_defaults(nrt_inspect_config_t* config);

NRT_STATUS nrt_inspect_config_set_session_id(nrt_inspect_config_t* config, int session_id);
// The text is copied. NRT_INVALID: it is empty.
NRT_STATUS nrt_inspect_config_set_output_dir(nrt_inspect_config_t* config, const char* output_dir);
NRT_STATUS nrt_inspect_config_set_sys_trace_max_events_per_nc(nrt_inspect_config_t* config,
                                                              uint64_t max_events_per_nc);
NRT_STATUS nrt_inspect_config_set_capture_enabled_for_nc(nrt_inspect_config_t* config,
                                                         uint32_t nc_idx, bool enabled);
NRT_STATUS nrt_inspect_config_set_capture_enabled_for_event_type_string(
    nrt_inspect_config_t* config, const char* event_type, bool enabled);
NRT_STATUS nrt_inspect_config_set_enable_inspect(nrt_inspect_config_t* config, bool enable);
NRT_STATUS nrt_inspect_config_set_enable_inspect_on_fail(nrt_inspect_config_t* config, bool enable);
NRT_STATUS nrt_inspect_config_set_inspect_device_profile_mode(
    nrt_inspect_config_t* config, nrt_inspect_device_profile_mode_t mode);

// Activities: system_profile, device_profile, host_memory, cpu_util, and all for all of these.
// NRT_INVALID: there is no such activity.
NRT_STATUS nrt_inspect_config_set_activity(nrt_inspect_config_t* config, const char* activity_type,
                                           bool enabled);

// The names of all activities, and of those that are enabled: `count` of them, the caller's to free
// with nrt_inspect_config_free_activity_types.
NRT_STATUS nrt_inspect_config_get_all_activity_types(const char*** activity_types, size_t* count);
NRT_STATUS nrt_inspect_config_get_enabled_activity_types(nrt_inspect_config_t* config,
                                                         const char*** activity_types,
                                                         size_t* count);
void nrt_inspect_config_free_activity_types(const char** activity_types, size_t count);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif  // NRT_NRT_PROFILE_H
