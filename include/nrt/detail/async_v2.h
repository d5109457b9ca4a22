// NRT_ASYNC_API_VERSION 228: the calls with an error tracker, which may be NULL, and with units of
// their own for reads and for writes. Include nrt/nrt_async.h instead.
//
// Each name stands for the library's nrta_v2_ function, also where a program defines it, as tests
// do that replace the library by a test double.
#ifndef NRT_DETAIL_ASYNC_V2_H
#define NRT_DETAIL_ASYNC_V2_H

#include "nrt/detail/sequence_of_queue_0.h"
#include "nrt/nrt_async.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

// On a TENSOR_READ unit of the tensor's core, of core 0 for a tensor of the host.
NRT_STATUS nrta_tensor_read(void* buf, nrt_tensor_t* tensor, uint64_t offset, uint64_t size,
                            int queue, nrta_error_tracker_t* error_tracker,
                            nrta_seq_t* req_sequence) __asm__("nrta_v2_tensor_read");

// On a TENSOR_WRITE unit of the tensor's core, of core 0 for a tensor of the host.
NRT_STATUS nrta_tensor_write(nrt_tensor_t* tensor, const void* buf, uint64_t offset, uint64_t size,
                             int queue, nrta_error_tracker_t* error_tracker,
                             nrta_seq_t* req_sequence) __asm__("nrta_v2_tensor_write");

// On a TENSOR_OP unit of the core of `dst`, of core 0 for a tensor of the host.
NRT_STATUS nrta_tensor_copy(nrt_tensor_t* src, uint64_t src_offset, nrt_tensor_t* dst,
                            uint64_t dst_offset, uint64_t size, int queue,
                            nrta_error_tracker_t* error_tracker,
                            nrta_seq_t* req_sequence) __asm__("nrta_v2_tensor_copy");

NRT_STATUS nrta_execute_schedule(nrt_model_t* model, const nrt_tensor_set_t* input,
                                 nrt_tensor_set_t* output, int queue,
                                 nrta_error_tracker_t* error_tracker,
                                 nrta_seq_t* req_sequence) __asm__("nrta_v2_execute_schedule");

NRT_STATUS nrta_cc_schedule(nrt_cc_context_t** cc_ctx, int queue,
                            nrta_error_tracker_t* error_tracker,
                            nrta_seq_t* req_sequence) __asm__("nrta_v2_cc_schedule");

// The last completed id of a unit: every request with that id or a smaller one is complete. Never
// decreases. A unit without a completion reports number 0. NRT_INVALID: no such unit exists.
NRT_STATUS nrta_get_sequence(uint32_t lnc, nrta_xu_t xu, int queue,
                             nrta_seq_t* seq) __asm__("nrta_v2_get_sequence");

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif  // NRT_DETAIL_ASYNC_V2_H
