// Profiles of executions, and the inspection sessions of the developer tools.
//
// Profiles are files in the JSON form of trace viewers. Thread-safe, except that only one thread at
// a time may use an options object or a configuration. All calls but nrt_profile_start,
// nrt_profile_continuous_start and nrt_profile_continuous_save work at any time.
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

// Records the executions of `model` from start to stop, which writes them to the file `filename`.
// Several recordings may run at the same time, each for a different file. NRT_INVALID: a recording
// for the file runs already, or none runs that could be stopped. Stopping works at any time.
NRT_STATUS nrt_profile_start(nrt_model_t* model, const char* filename);
NRT_STATUS nrt_profile_stop(const char* filename);

// ---- Continuous profiles: the executions of all models ----
//
// Saving writes those of core `vnc` since the last time to profile_vnc_N.json in the directory of
// the options, which is the current one for NULL and for new options; it creates no directory. The
// caller frees options. All but nrt_profile_continuous_start and nrt_profile_continuous_save work
// at any time.

NRT_STATUS nrt_profile_continuous_options_allocate(nrt_profile_continuous_options_t** options);
NRT_STATUS nrt_profile_continuous_options_free(nrt_profile_continuous_options_t* options);
NRT_STATUS nrt_profile_continuous_options_set_output_dir(nrt_profile_continuous_options_t* options,
                                                         const char* output_dir);
// `options` may be NULL; nothing in them matters before nrt_profile_continuous_save.
NRT_STATUS nrt_profile_continuous_start(nrt_profile_continuous_options_t* options);
NRT_STATUS nrt_profile_continuous_save(uint32_t vnc, nrt_profile_continuous_options_t* options);
NRT_STATUS nrt_profile_continuous_stop(void);

// ---- Inspection sessions ----
//
// With an output directory and the activity system_profile, the end of the session writes what
// nrt_sys_trace_fetch_events gives to system_profile_N.json there, N being the session's id, and
// creates the directory. Everything else is accepted and records nothing. A session that begins
// ends the one before. All of these work at any time.

NRT_STATUS nrt_inspect_begin(void);
NRT_STATUS nrt_inspect_begin_with_options(nrt_inspect_config_t* config);
NRT_STATUS nrt_inspect_stop(void);

// Documents say only that it takes a mask of activities and writes what they have recorded. That is
// what nrt_inspect_stop does: returns NRT_FAILURE.
NRT_STATUS nrt_inspect_export(uint64_t activities);

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
// NRT_INVALID: no such activity exists.
NRT_STATUS nrt_inspect_config_set_activity(nrt_inspect_config_t* config, const char* activity_type,
                                           bool enabled);

// The names of all activities, and of those that are enabled: `count` of them, which the caller
// frees with nrt_inspect_config_free_activity_types.
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
