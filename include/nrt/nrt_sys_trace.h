// Records what the runtime does and when (calls, submissions, executions) as JSON. Works also
// before nrt_init and after nrt_close.
//
// Thread-safe, except that only one thread at a time may use a configuration or an options object.
#ifndef NRT_NRT_SYS_TRACE_H
#define NRT_NRT_SYS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nrt/nrt_status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nrt_sys_trace_config nrt_sys_trace_config_t;
typedef struct nrt_sys_trace_fetch_options nrt_sys_trace_fetch_options_t;

#pragma GCC visibility push(default)

// ---- What to record ----
//
// A new configuration records every type of event on every core. The caller frees it; NULL is
// accepted there.

NRT_STATUS nrt_sys_trace_config_allocate(nrt_sys_trace_config_t** options);
void nrt_sys_trace_config_set_defaults(nrt_sys_trace_config_t* options);
void nrt_sys_trace_config_free(nrt_sys_trace_config_t* options);

// How many events each core keeps until they are fetched; beyond that the oldest are dropped. The
// start and the stop of something are two events that are kept or dropped together, so an odd
// number is rounded down.
void nrt_sys_trace_config_set_max_events_per_nc(nrt_sys_trace_config_t* options,
                                                uint64_t max_events_per_nc);
void nrt_sys_trace_config_set_capture_enabled_for_nc(nrt_sys_trace_config_t* options,
                                                     uint32_t nc_idx, bool enabled);
// NRT_INVALID: no such type exists.
NRT_STATUS nrt_sys_trace_config_set_capture_enabled_for_event_type(nrt_sys_trace_config_t* options,
                                                                   const char* event_type,
                                                                   bool enabled);

// The names of all types of events, and of those that a configuration records: `count` of them,
// which the caller frees with nrt_sys_trace_free_event_types.
NRT_STATUS nrt_sys_trace_get_event_types(const char*** event_types, size_t* count);
NRT_STATUS nrt_sys_trace_config_get_enabled_event_types(nrt_sys_trace_config_t* options,
                                                        const char*** event_types, size_t* count);
void nrt_sys_trace_free_event_types(const char** event_types, size_t count);

// ---- Recording ----

// Starts recording; the configuration is copied, NULL means defaults. Events of an earlier
// recording are dropped. NRT_INVALID: it is recording already. After stopping, the events are kept
// for nrt_sys_trace_fetch_events. Something is recorded if it ends while recording is on.
NRT_STATUS nrt_sys_trace_start(nrt_sys_trace_config_t* options);
NRT_STATUS nrt_sys_trace_stop(void);

// ---- What was recorded ----
//
// New options fetch all events of all cores. The caller frees them. NULL has no effect but a
// line in the log, nor has a core that no machine has.

NRT_STATUS nrt_sys_trace_fetch_options_allocate(nrt_sys_trace_fetch_options_t** options);
void nrt_sys_trace_fetch_options_set_defaults(nrt_sys_trace_fetch_options_t* options);
void nrt_sys_trace_fetch_options_free(nrt_sys_trace_fetch_options_t* options);
void nrt_sys_trace_fetch_options_set_max_events_per_nc(nrt_sys_trace_fetch_options_t* options,
                                                       uint64_t max_events_per_nc);
void nrt_sys_trace_fetch_options_set_nc_idx(nrt_sys_trace_fetch_options_t* options,
                                            uint64_t nc_idx);

// Takes the recorded events out, as JSON text that ends in NUL: an object whose array "events" has
// objects with "event_type", "phase" ("start" or "stop"), "tracking_id" (the same for the two of a
// pair), "timestamp_ns" (CLOCK_MONOTONIC), "thread_id", "nc_idx" (the core; missing where there is
// none) and "data": "sequence_id" of an asynchronous request, "status" of a stop, and of
// "nc_exec_running", when a core computes, "nc_timestamp_ns" and "model". `*written_size` is its
// length without the NUL. The caller frees the text with nrt_sys_trace_buffer_free. NULL options:
// defaults.
NRT_STATUS nrt_sys_trace_fetch_events(char** buffer, size_t* written_size,
                                      const nrt_sys_trace_fetch_options_t* options);
void nrt_sys_trace_buffer_free(char* buffer);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif  // NRT_NRT_SYS_TRACE_H
