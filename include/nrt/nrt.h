// The synchronous interface: life cycle, models, tensors, tensor sets, execution.
//
// Cores. "NC", "VNC" and "LNC" all mean a logical core of this process, counted from 0 in the set
// that NEURON_RT_VISIBLE_CORES or NEURON_RT_NUM_CORES leaves visible. MILLRACE_NRT_CORES sets the
// total number.
//
// Threads. After nrt_init all calls are thread-safe, and threads may share handles. The caller
// ensures that no thread uses a handle while another thread frees it.
//
// Errors. Calls return NRT_UNINITIALIZED before nrt_init and NRT_CLOSED after nrt_close, unless
// their comment says that they work at any time; NRT_INVALID for a NULL where a pointer is needed,
// and NRT_INVALID_HANDLE where that pointer is a handle. A call that fails changes nothing, its
// out-parameters included. The reason is also logged (NEURON_RT_LOG_LEVEL), except where
// programs poll or ask: in nrta_is_completed, and for NRT_QUEUE_FULL, NRT_QUEUE_EMPTY, a timeout of
// nrt_tensor_check_output_completion and a name that a tensor set does not have.
#ifndef NRT_NRT_H
#define NRT_NRT_H

#include "nrt/detail/types.h"
#include "nrt/nrt_status.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

// ---- Life cycle ----

// Reads the environment and starts the runtime on the visible cores; it does not reserve them.
// `framework` and the two texts, which may be empty or NULL, only label the program. While
// initialized, a further call succeeds and changes nothing; after nrt_close it starts a fresh
// runtime and reads the environment again.
//   NRT_INVALID  an environment variable, which the log names, has an invalid value
//   NRT_FAILURE  in a forked child of a process that had started it
NRT_STATUS nrt_init(nrt_framework_type_t framework, const char* fw_version,
                    const char* fal_version);

// Completes queued requests with NRT_CLOSED, waits for running ones, at most for the execution
// timeout, joins the threads and releases everything, including objects that the program did not
// free: their handles become invalid. Has no effect without nrt_init.
void nrt_close(void);

// The number of logical cores, visible or not. Works at any time. The nc form is the earlier name.
NRT_STATUS nrt_get_total_nc_count(uint32_t* nc_count);
NRT_STATUS nrt_get_total_vnc_count(uint32_t* vnc_count);

// The number of cores that this process sees: according to the environment as nrt_init read it, or,
// before nrt_init, as it is now. Works at any time. The nc form is the earlier name.
NRT_STATUS nrt_get_visible_nc_count(uint32_t* nc_count);
NRT_STATUS nrt_get_visible_vnc_count(uint32_t* vnc_count);

// Writes the first `instance_info_len` bytes of the description, at most all of it. Works at any
// time.
NRT_STATUS nrt_get_instance_info(nrt_instance_info_t* info, size_t instance_info_len);

// ---- Models ----

// Loads the `size` bytes of a `.rai` archive onto the core `vnc` (-1: the library chooses), and
// copies what it keeps: the bytes may be freed at once. `vnc_count` is -1 or 1. Blocks. The same
// bytes may be loaded several times, on several cores, by several threads; weights are shared.
//   NRT_UNSUPPORTED_NEFF_VERSION  a container of another kind or version, such as a NEFF, whose
//                                 device code cannot run here; the log names it
//   NRT_INVALID                   damaged bytes, or bytes of no known kind
//   NRT_LOAD_NOT_ENOUGH_NC        `vnc` is none of the visible cores
//   NRT_RESOURCE                  out of memory
NRT_STATUS nrt_load(const void* neff_bytes, size_t size, int32_t vnc, int32_t vnc_count,
                    nrt_model_t** model);

// nrt_load as rank `ctx_device_id` of `ctx_device_count`.
NRT_STATUS nrt_load_collectives(const void* neff_bytes, size_t size, int32_t vnc, int32_t vnc_count,
                                uint32_t ctx_device_id, uint32_t ctx_device_count,
                                nrt_model_t** model);

// Ends the handle. Pending requests of the model still run; its memory is freed after the last one.
NRT_STATUS nrt_unload(nrt_model_t* model);

// How many cores the model takes: 1. Both exist for old programs.
NRT_STATUS nrt_get_model_nc_count(const nrt_model_t* model, uint32_t* nc_count);
NRT_STATUS nrt_get_model_vnc_count(const nrt_model_t* model, uint32_t* vnc_count);

// Writes the first `info_size_in` bytes of the description, at most all of it, and stores their
// number in `info_size_out`.
NRT_STATUS nrt_get_model_info(const nrt_model_t* model, nrt_model_info_t* info, size_t info_size_in,
                              size_t* info_size_out);

// Describes the inputs and outputs in one block, which the caller frees with
// nrt_free_model_tensor_info, at any time, also after nrt_unload. That call accepts NULL.
NRT_STATUS nrt_get_model_tensor_info(nrt_model_t* model, nrt_tensor_info_array_t** tensor_info);
NRT_STATUS nrt_free_model_tensor_info(nrt_tensor_info_array_t* tensor_info);

// ---- Tensor sets ----
//
// A set maps names to tensors, which it borrows: they must live while the set is used, but may be
// freed before it is destroyed. Several threads may use one set as long as none changes it.

NRT_STATUS nrt_allocate_tensor_set(nrt_tensor_set_t** result);

// Frees the set, not its tensors, and stores NULL. Accepts NULL. Allowed while requests that were
// scheduled with the set are pending.
void nrt_destroy_tensor_set(nrt_tensor_set_t** tensor_set);

// Adds `tensor` under `tensor_name`, which is copied; replaces a tensor of the same name.
NRT_STATUS nrt_add_tensor_to_tensor_set(nrt_tensor_set_t* tensor_set, const char* tensor_name,
                                        nrt_tensor_t* tensor);

// NRT_FAILURE: the set has no tensor of that name.
NRT_STATUS nrt_get_tensor_from_tensor_set(nrt_tensor_set_t* tensor_set, const char* tensor_name,
                                          nrt_tensor_t** tensor);

// ---- Execution ----

// Runs the model and blocks until the outputs are written. Queued on the core's COMPUTE unit,
// behind the requests that are pending there. Every input of the model must be in `input_set` with
// its exact size; outputs missing in `output_set` are discarded; names that the model does not have
// are ignored. A tensor may be input and output at once.
//   NRT_INVALID       a tensor is missing or has another size
//   NRT_TIMEOUT       ran longer than NEURON_RT_EXEC_TIMEOUT seconds; the unit is degraded
//   NRT_EXEC_UNIT_UNRECOVERABLE  the unit was degraded by an earlier failure
NRT_STATUS nrt_execute(nrt_model_t* model, const nrt_tensor_set_t* input_set,
                       nrt_tensor_set_t* output_set);

// nrt_execute `repeat_count` times; an output is the input of the same name in the next round.
NRT_STATUS nrt_execute_repeat(nrt_model_t* model, const nrt_tensor_set_t* input_set,
                              nrt_tensor_set_t* output_set, int repeat_count);

// ---- Collectives ----

// Make core `vnc` rank `g_device_id` of `g_device_count`. One rank always succeeds; NRT_FAILURE for
// more.
NRT_STATUS nrt_build_global_comm(int32_t vnc, uint32_t g_device_id, uint32_t g_device_count);
NRT_STATUS nrt_cc_global_comm_init(uint32_t vnc, uint32_t g_device_id, uint32_t g_device_count);

// Makes the stream `stream_id` of collectives, from 0 to 2. NRT_RESOURCE: no other stream exists.
NRT_STATUS nrt_cc_create_stream(uint32_t stream_id);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#include "nrt/detail/device.h"
#include "nrt/detail/tensor_batches.h"
#include "nrt/detail/tensors.h"

#endif  // NRT_NRT_H
