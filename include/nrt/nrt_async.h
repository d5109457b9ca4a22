// The explicit asynchronous interface: requests are scheduled on the execution units of a core and
// complete in the background.
//
//   schedule call -> id -> queued -> running -> complete: seen by polling, eventfd, error tracker
//
// Order. A unit runs its requests one at a time, in the order of their ids. Units do not wait for
// each other: before it schedules a request on another unit that needs the result of this one, the
// program waits for this one.
//
// Schedule calls never wait for the device. Errors that they can detect they return at once. Then
// nothing was queued, no id is used, and `ret`, tracker and `*req_sequence` are unchanged:
//   NRT_INVALID     an argument, such as a queue that the unit does not have, or a range
//   NRT_QUEUE_FULL  the unit has reached its limit of requests: retry after a completion
//   NRT_EXEC_UNIT_UNRECOVERABLE  a failure degraded the unit, until nrt_close and nrt_init
//   NRT_RESOURCE    the system has no memory or no thread left for the request
// `req_sequence` receives the id; it may be NULL.
//
// The result of a request is stored once, before the request counts as complete: in `*ret`, or,
// when it failed, in the error tracker. Failed requests complete, too, and those behind them run.
// The library accesses `ret` at no other time; with NULL the result is discarded.
//
// Until a request is complete the caller keeps its host buffers and `ret` allocated, and the buffer
// of a write unchanged. Tensor sets are copied: they may be destroyed at once. Models may be
// unloaded and tensors and trackers freed: the request holds references to what it needs.
//
// Threads. All calls are thread-safe, except that only one thread at a time may read a tracker.
//
// Forms. The interface has had several. NRT_ASYNC_API_VERSION, defined before the include, chooses
// the one that a program is written for:
//   0    all of them at the same time: nrt/detail/async_forms.h. The default
//   229  the declarations below: status pointer, core of the transfer, three kinds of units
//   228  error trackers instead of status pointers, five kinds of units: nrt/detail/async_v2.h
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

#include "nrt/nrt.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Types: units, sequence ids, errors ----

// The id of a request: the unit in the upper 16 bits, its number in that unit in the lower 48. A
// unit numbers the requests that it accepts from 1 on, without gaps, so that ids of one unit
// compare as integers. Number 0 means "nothing yet" and belongs to no request.
typedef uint64_t nrta_seq_t;
typedef uint16_t nrta_xu_id_t;

#define NRTA_SEQ_NUM_MAX ((UINT64_C(1) << 48) - 1)
#define NRTA_SEQ_NUM_MASK NRTA_SEQ_NUM_MAX
#define NRTA_SEQ_GET_SEQ_NUM(seq) ((seq)&NRTA_SEQ_NUM_MASK)
#define NRTA_SEQ_GET_XU_ID(seq) ((seq) >> 48)

// The kinds of execution units. A core has one COMPUTE unit, three COLLECTIVES units and two units
// of each other kind, distinguished by the queue argument, which counts from 0.
#if NRT_ASYNC_API_VERSION == 228
typedef enum {
  NRTA_XU_TENSOR_READ = 0,
  NRTA_XU_TENSOR_WRITE = 1,
  NRTA_XU_TENSOR_OP = 2,  // copies
  NRTA_XU_COMPUTE = 3,
  NRTA_XU_COLLECTIVES = 4,
  NRTA_XU_TYPE_NUM = 5
} nrta_xu_t;
#else
typedef enum {
  NRTA_XU_TENSOR_OP = 0,  // reads, writes and copies
  NRTA_XU_COMPUTE = 1,
  NRTA_XU_COLLECTIVES = 2,
  NRTA_XU_TYPE_NUM = 3
} nrta_xu_t;
#if NRT_ASYNC_API_VERSION == 0
// Macros, not enumerators, so that a switch with a case for each enumerator has no duplicates.
#define NRTA_XU_TENSOR_READ NRTA_XU_TENSOR_OP
#define NRTA_XU_TENSOR_WRITE NRTA_XU_TENSOR_OP
#endif
#endif

// A request that failed, as nrta_error_tracker_get_list reports it.
typedef struct nrta_error {
  nrta_seq_t seq_id;
  uint64_t error_code;  // an NRT_STATUS
} nrta_error_t;

#ifdef __cplusplus
static_assert(sizeof(nrta_error_t) == 16, "nrta_error_t has a fixed layout");
#else
_Static_assert(sizeof(nrta_error_t) == 16, "nrta_error_t has a fixed layout");
#endif

// Collects the errors of the requests that are scheduled with it.
typedef struct nrta_error_tracker nrta_error_tracker_t;

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

// Like nrt_execute, whose rules for tensor sets hold. Running longer than NEURON_RT_EXEC_TIMEOUT
// seconds completes the request with NRT_TIMEOUT and degrades the unit.
NRT_STATUS nrta_execute_schedule(nrt_model_t* model, const nrt_tensor_set_t* input,
                                 nrt_tensor_set_t* output, int queue, NRT_STATUS* ret,
                                 nrta_seq_t* req_sequence);

// ---- Collectives: the COLLECTIVES units of the communicator's core, queues 0 to 2 ----
//
// The queues do not wait for each other. All ranks of a group must use the same queue for the same
// collective.

// Schedules the operation that nrta_cc_prepare prepared, and takes over the context: `*cc_ctx`
// becomes NULL. When the call fails, the caller keeps the context and may try again.
NRT_STATUS nrta_cc_schedule(nrt_cc_context_t** cc_ctx, int queue, NRT_STATUS* ret,
                            nrta_seq_t* req_sequence);

#endif  // NRT_ASYNC_API_VERSION != 228

// Prepares one collective operation over the lists of tensors, which are copied. With one rank,
// every operation copies `input` to `output`, which may be the same tensors. `op` is ADD, MAX or
// MIN for operations that reduce, whatever the number of ranks; NRT_INVALID for another. A context
// that is never scheduled is freed by nrt_close.
NRT_STATUS nrta_cc_prepare(nrt_cc_comm_t* comm, nrt_tensor_list_t* input, nrt_tensor_list_t* output,
                           nrt_dtype_t dtype, nrt_op_type_t op, nrt_cc_op_type_t cc_op,
                           nrt_cc_context_t** cc_ctx);

// ---- Completion ----
//
// Both calls are cheap and may be repeated as often as needed. A thread that learns from one of
// them that a request is complete also sees everything that the request wrote.

// Whether the request is complete, also when it failed. NRT_INVALID, and false: no such id was
// issued.
NRT_STATUS nrta_is_completed(nrta_seq_t seq, bool* is_completed);

#if NRT_ASYNC_API_VERSION != 228
// The last completed id of a unit: every request with that id or a smaller one is complete. Never
// decreases. A unit without a completion reports number 0. NRT_INVALID: no such unit exists.
NRT_STATUS nrta_get_sequence(uint32_t lnc, nrta_xu_t xu, int queue, nrta_seq_t* seq);

// Adds 1 to the eventfd `fd` when the request completes; at once if it is complete already. The
// eventfd may have any flags. The caller owns `fd` and may close it at any time: the library writes
// to a duplicate. An id has one registration: a later one replaces it, and a negative `fd` removes
// it, which always succeeds. A descriptor of another kind also gets the 1 written, as eight bytes.
// NRT_INVALID: no such id was issued, or `fd` is not open.
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

#include "nrt/detail/async_documented.h"
#if NRT_ASYNC_API_VERSION != 229
#include "nrt/detail/async_trackers.h"
#endif
#if NRT_ASYNC_API_VERSION == 228
#include "nrt/detail/async_v2.h"
#elif NRT_ASYNC_API_VERSION == 0
#include "nrt/detail/async_forms.h"
#endif

#endif  // NRT_NRT_ASYNC_H
