// Calls that the interface does not promise to keep.
#ifndef NRT_NRT_EXPERIMENTAL_H
#define NRT_NRT_EXPERIMENTAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nrt/nrt.h"

#ifdef __cplusplus
extern "C" {
#endif

// Never called: it is meant for executions that nrt_execute leaves in the background, and
// nrt_execute leaves none.
typedef void (*NRT_ASYNC_EXEC_STATUS_CALLBACK)(void* params, uint32_t model_id, uint32_t vnc,
                                               uint64_t job_id, NRT_STATUS status);

typedef struct nrt_ucode_img {
  uint8_t* bin;
  size_t size;  // bytes
} nrt_ucode_img;

typedef struct nrt_ucode_info {
  nrt_ucode_img iram;
  nrt_ucode_img dram;
} nrt_ucode_info;

#pragma GCC visibility push(default)

// Accepts a callback, which is never called: nrt_execute always blocks.
NRT_STATUS nrt_register_async_exec_callback(NRT_ASYNC_EXEC_STATUS_CALLBACK callback, void* params);

// Waits until the COMPUTE unit of core `vnc` is idle.
NRT_STATUS nrt_async_drain_queued_execs(int32_t vnc);

// How many instances of the model run at the same time: 1 or more. For old programs.
NRT_STATUS nrt_get_model_instance_count(nrt_model_t* model, uint32_t* instance_count);

// Copies `size` bytes to an address in the storage of a tensor (nrt_tensor_get_va).
NRT_STATUS nrt_memcpy_to_device(void* dest, const void* src, size_t size);

// Waits for all ranks. One rank: returns at once.
NRT_STATUS nrt_barrier(int32_t vnc, uint32_t g_device_id, uint32_t g_device_count);

// Gathers `rank_input_size` bytes of host memory from each rank into `output`, in the order of the
// ranks. One rank: a copy.
NRT_STATUS nrt_all_gather(int32_t vnc, uint32_t g_device_id, uint32_t g_device_count,
                          uint32_t rank_input_size, void* input, void* output);

// Begin and end a trace of calls and executions, which goes to a file in the JSON form of trace
// viewers; `trace_mem`: with the calls that allocate and free tensors. NRT_INVALID: begun already,
// or not begun; NRT_FAILURE: the file cannot be written. Both work at any time.
NRT_STATUS nrt_trace_start(bool trace_mem);
NRT_STATUS nrt_trace_stop(const char* filename);

// The network plugin for collectives. There is none: NULL, with NRT_FAILURE in `err` and the reason
// in `err_msg`, which has room for `err_msg_size` bytes. Works at any time.
void* nrt_get_libnccl_net(int* err, char* err_msg, size_t err_msg_size);

// Accepted and ignored: the software NPU has no microcode. Works at any time.
NRT_STATUS nrt_set_pool_eng_ucode(const nrt_ucode_info* ucode_info);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif  // NRT_NRT_EXPERIMENTAL_H
