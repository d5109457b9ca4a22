// The explicit asynchronous interface: requests are scheduled on the execution units of a core and
// complete in the background.
//
//   schedule call -> id -> queued -> running -> complete: polling, eventfd, error tracker say so
//
// Order. A unit runs its requests one at a time, in the order of their ids. Units do not wait for
// each other: who schedules a consumer on another unit first waits for the producer.
//
// Schedule calls never wait for the device. What they can see to be wrong, they return; then
// nothing was queued, no id is taken, and `ret`, tracker and `*req_sequence` are as they were:
//   NRT_INVALID     an argument, such as a queue that the unit does not have, or a range
//   NRT_QUEUE_FULL  the unit has as many requests as it may: retry after a completion
//   NRT_EXEC_UNIT_UNRECOVERABLE  a failure degraded the unit, until nrt_close and nrt_init
//   NRT_RESOURCE    the system has no memory or no thread left for the request
// `req_sequence` receives the id; NULL if it is of no interest.
//
// What became of a request is stored, once, before the request counts as complete: in `*ret`, or,
// when it failed, in the error tracker. Failed requests complete too, and those behind them run.
// The library does not touch `ret` before or after; NULL drops the result.
//
// Until its request is complete the caller keeps host buffers and `ret`, and leaves buffers of
// writes unchanged. Tensor sets are copied: they may be destroyed at once. A model may be unloaded,
// a tensor or tracker freed: the request keeps what it needs.
//
// Threads: any call from any thread, except that one thread at a time reads a tracker.
//
// Forms. The interface has had several, and NRT_ASYNC_API_VERSION, defined before the include, says
// which one a program is written for:
//   0    all of them, side by side: nrt/detail/async_forms.h. So it is when undefined
//   229  the declarations below: status pointer, core of the transfer, three kinds of units
//   228  error trackers in the place of status pointers, five kinds of units: nrt/detail/async_v2.h
#ifndef NRT_NRT_ASYNC_H
#define NRT_NRT_ASYNC_H

#ifndef NRT_ASYNC_API_VERSION
#define NRT_ASYNC_API_VERSION 0
#endif
#if NRT_ASYNC_API_VERSION != 0 && NRT_ASYNC_API_VERSION != 228 && NRT_ASYNC_API_VERSION != 229
#error "NRT_ASYNC_API_VERSION must be 0 (all forms), 228 or 229"
#endif

#include <stdbool.h>
#include <stdint.h>

#include "nrt/detail/async_types.h"
#include "nrt/nrt.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#if NRT_ASYNC_API_VERSION != 228

// ---- Transfers: the TENSOR_OP units of core `lnc_idx`, queue 0 or 1 ----
//
// Offsets and sizes are bytes. A range beyond the tensor is NRT_INVALID.

// Copies `size` bytes of the tensor to `buf`.
NRT_STATUS nrta_tensor_read(void* buf, nrt_tensor_t* tensor, uint64_t offset, uint64_t size,
                            int lnc_idx, int queue, NRT_STATUS* ret, nrta_seq_t* req_sequence);

// Copies `size` bytes of `buf` to the tensor. They are read when the request runs, not before.
NRT_STATUS nrta_tensor_write(nrt_tensor_t* tensor, const void* buf, uint64_t offset, uint64_t size,
                             int lnc_idx, int queue, NRT_STATUS* ret, nrta_seq_t* req_sequence);

// Between two tensors of one core, or of the host; ranges of one storage may overlap.
NRT_STATUS nrta_tensor_copy(nrt_tensor_t* src, uint64_t src_offset, nrt_tensor_t* dst,
                            uint64_t dst_offset, uint64_t size, int lnc_idx, int queue,
                            NRT_STATUS* ret, nrta_seq_t* req_sequence);

// ---- Execution: the COMPUTE unit of the model's core, queue 0 ----

// As nrt_execute, whose rules for tensor sets hold. Running longer than NEURON_RT_EXEC_TIMEOUT
// seconds completes the request with NRT_TIMEOUT and degrades the unit.
NRT_STATUS nrta_execute_schedule(nrt_model_t* model, const nrt_tensor_set_t* input,
                                 nrt_tensor_set_t* output, int queue, NRT_STATUS* ret,
                                 nrta_seq_t* req_sequence);

// ---- Collectives: the COLLECTIVES units of the communicator's core, queue 0 ----

// Schedules what nrta_cc_prepare prepared, and takes it over: `*cc_ctx` becomes NULL. When the call
// fails the context stays the caller's, for another try.
NRT_STATUS nrta_cc_schedule(nrt_cc_context_t** cc_ctx, int queue, NRT_STATUS* ret,
                            nrta_seq_t* req_sequence);

#endif  // NRT_ASYNC_API_VERSION != 228

// Prepares one collective operation over the tensors of the lists, which are copied. One rank:
// every operation is a copy from `input` to `output`, which may be the same tensors. A context that
// is never scheduled is freed by nrt_close.
NRT_STATUS nrta_cc_prepare(nrt_cc_comm_t* comm, nrt_tensor_list_t* input, nrt_tensor_list_t* output,
                           nrt_dtype_t dtype, nrt_op_type_t op, nrt_cc_op_type_t cc_op,
                           nrt_cc_context_t** cc_ctx);

// ---- Completion ----
//
// Both calls are cheap and may be repeated at any rate. What a request wrote is visible to whoever
// learned from one of them that it is complete.

// Whether the request is complete, also when it failed. NRT_INVALID, and false: no such id was
// given out.
NRT_STATUS nrta_is_completed(nrta_seq_t seq, bool* is_completed);

#if NRT_ASYNC_API_VERSION != 228
// The last completed id of a unit: every request with that id or a smaller one is complete. Never
// goes back. A unit without a completion reports place 0. NRT_INVALID: there is no such unit.
NRT_STATUS nrta_get_sequence(uint32_t lnc, nrta_xu_t xu, int queue, nrta_seq_t* seq);

// Adds 1 to the eventfd `fd` when the request completes; at once if it is complete already. Any
// flags will do. `fd` stays the caller's and may be closed at any time: the library writes to a
// duplicate. An id has one registration: the last one counts, and a negative `fd` removes it, which
// always succeeds. Any other descriptor that is open receives the eight bytes of the 1 as well.
// NRT_INVALID: no such id was given out, or `fd` is not open.
NRT_STATUS nrta_event_register_seq_id_completion(nrta_seq_t seq, int fd);

// Adds 1 to the eventfd `fd` whenever requests of the unit complete, from now on and until a
// negative `fd` removes the registration, of which a unit has one. Completions may be merged into
// one write: after each, nrta_get_sequence says how far the unit is.
NRT_STATUS nrta_event_register_xu_completion(int lnc, nrta_xu_t xu, int queue, int fd);
#endif

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#if NRT_ASYNC_API_VERSION != 229
#include "nrt/detail/async_trackers.h"
#endif
#if NRT_ASYNC_API_VERSION == 228
#include "nrt/detail/async_v2.h"
#elif NRT_ASYNC_API_VERSION == 0
#include "nrt/detail/async_forms.h"
#endif

#endif  // NRT_NRT_ASYNC_H
