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
//
// Types. Numbers and layouts are part of the binary interface and never change; structures that are
// passed with a size grow at the end only.
//
// Clients read the enumerations out of the text of this file, and generators of bindings take the
// functions of this file only. So both stand here and not in files that it includes.
#ifndef NRT_NRT_H
#define NRT_NRT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ndl/neuron_driver_shared_tensor_batch_op.h"
#include "nrt/detail/mem_chunk_info.h"
#include "nrt/nrt_status.h"

#define NRT_MAJOR_VERSION 2
#define NRT_MINOR_VERSION 0

#define NRT_TENSOR_NAME_MAX 256  // bytes, with the NUL

// The batch calls of SDK 2.28 have a third argument.
#if !defined(NRT_TENSOR_BATCH_UNSAFE_ARG) && defined(NRT_ASYNC_API_VERSION)
#if NRT_ASYNC_API_VERSION == 228
#define NRT_TENSOR_BATCH_UNSAFE_ARG 1
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ---- Types ----

// Handles of objects that the library owns; the comments of the calls say how each ends.
typedef struct nrt_model nrt_model_t;
typedef struct nrt_tensor nrt_tensor_t;
typedef struct nrt_cc_context nrt_cc_context_t;
typedef void nrt_tensor_set_t;

typedef enum {
  NRT_TENSOR_PLACEMENT_DEVICE = 0,
  NRT_TENSOR_PLACEMENT_HOST = 1,
  NRT_TENSOR_PLACEMENT_VIRTUAL = 2  // for old programs; as HOST
} nrt_tensor_placement_t;

// The framework that calls nrt_init. A label only.
typedef enum {
  NRT_FRAMEWORK_TYPE_INVALID = 0,
  NRT_FRAMEWORK_TYPE_NO_FW = 1,
  NRT_FRAMEWORK_TYPE_TENSORFLOW = 2,
  NRT_FRAMEWORK_TYPE_PYTORCH = 3,
  NRT_FRAMEWORK_TYPE_MXNET = 4,
  NRT_FRAMEWORK_TYPE_PRECHECK = 5
} nrt_framework_type_t;

// Values of nrt_instance_info_t.family.
enum {
  NRT_INSTANCE_UNKNOWN = 0,
  NRT_INSTANCE_INF1 = 1,
  NRT_INSTANCE_TRN1 = 2,
  NRT_INSTANCE_TRN1N = 3,
  NRT_INSTANCE_INF2 = 4,
  NRT_INSTANCE_TRN2 = 5,
  NRT_INSTANCE_TRN2N = 6,
  NRT_INSTANCE_INF2E = 7,
  NRT_INSTANCE_TRN2P = 8,
  NRT_INSTANCE_TRN2U = 9,
  NRT_INSTANCE_TRN2E = 10,
  NRT_INSTANCE_TRN2EU = 11,
  NRT_INSTANCE_TRN2AC = 12,
  NRT_INSTANCE_TRN2UAC = 13,
  NRT_INSTANCE_TRN3 = 14,
  NRT_INSTANCE_TRN3PDS98 = 15,
  NRT_INSTANCE_TRN2EN = 16,
  NRT_INSTANCE_TRN3E = 17
};

// Values of nrt_instance_info_t.size.
enum {
  NRT_INSTANCE_SIZE_1XL = 0,
  NRT_INSTANCE_SIZE_2XL = 1,
  NRT_INSTANCE_SIZE_4XL = 2,
  NRT_INSTANCE_SIZE_6XL = 3,
  NRT_INSTANCE_SIZE_8XL = 4,
  NRT_INSTANCE_SIZE_24XL = 5,
  NRT_INSTANCE_SIZE_32XL = 6,
  NRT_INSTANCE_SIZE_48XL = 7,
  NRT_INSTANCE_SIZE_3XL = 8,
  NRT_INSTANCE_SIZE_UNKNOWN = 9,
  NRT_INSTANCE_SIZE_NUM = NRT_INSTANCE_SIZE_UNKNOWN
};

typedef struct nrt_instance_info {
  uint32_t family;
  uint32_t size;
  char arch_name[16];       // ends in NUL
  char device_revision[8];  // ends in NUL
} nrt_instance_info_t;

typedef enum nrt_op_type {
  NRT_OP_ADD = 0,
  NRT_OP_FMA = 1,
  NRT_OP_MAX = 2,
  NRT_OP_MIN = 3,
  NRT_OP_INVALID = 15
} nrt_op_type_t;

typedef enum nrt_dtype {
  NRT_DTYPE_UNKNOWN = 0,
  NRT_DTYPE_INVALID = 0,
  NRT_DTYPE_UINT64 = 1,
  NRT_DTYPE_INT8 = 2,
  NRT_DTYPE_UINT8 = 3,
  NRT_DTYPE_INT16 = 4,
  NRT_DTYPE_UINT16 = 5,
  NRT_DTYPE_BFLOAT16 = 6,
  NRT_DTYPE_FLOAT16 = 7,
  NRT_DTYPE_INT32 = 8,
  NRT_DTYPE_UINT32 = 9,
  NRT_DTYPE_FLOAT32 = 10,
  NRT_DTYPE_FP32R = 11,
  NRT_DTYPE_INT64 = 12,
  NRT_DTYPE_FP8_E3 = 13,
  NRT_DTYPE_FP8_E4 = 14,
  NRT_DTYPE_FP8_E5 = 15
} nrt_dtype_t;

typedef enum nrt_cc_op_type {
  NRT_CC_ALLGATHER = 0,
  NRT_CC_ALLREDUCE = 1,
  NRT_CC_REDUCESCATTER = 2
} nrt_cc_op_type_t;

typedef enum {
  NRT_PINNED_MALLOC = 0,
  NRT_PINNED_HUGEPAGE_2M = 1,
  NRT_PINNED_HUGEPAGE_1G = 2
} nrt_pinned_alloc_type_t;

typedef enum nrt_tensor_usage {
  NRT_TENSOR_USAGE_INPUT = 0,
  NRT_TENSOR_USAGE_OUTPUT = 1
} nrt_tensor_usage_t;

// One input or output of a model.
typedef struct nrt_tensor_info {
  char name[NRT_TENSOR_NAME_MAX];  // the key in tensor sets; ends in NUL
  nrt_tensor_usage_t usage;
  size_t size;  // bytes
  nrt_dtype_t dtype;
  uint32_t* shape;  // `ndim` extents, outermost first
  uint32_t ndim;
} nrt_tensor_info_t;

// C++ has arrays of open length as an extension only.
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc99-extensions"
#endif
typedef struct nrt_tensor_info_array {
  uint64_t tensor_count;
  __extension__ nrt_tensor_info_t tensor_array[];  // inputs first, each kind in the model's order
} nrt_tensor_info_array_t;
#ifdef __clang__
#pragma clang diagnostic pop
#endif

typedef struct nrt_model_info {
  uint32_t vnc;  // the core on which the model is loaded
} nrt_model_info_t;

// The transfers of one tensor in nrt_tensor_read_batch and nrt_tensor_write_batch.
typedef struct nrt_tensor_batch {
  const nrt_tensor_t* tensor;
  const nrt_tensor_batch_op_t* ops;
  uint32_t num_ops;
} nrt_tensor_batch_t;

typedef struct nrt_tensor_device_allocation_info {
  uint64_t physical_address;
  size_t size;  // bytes, rounded up as they were allocated
  int hbm_index;
} nrt_tensor_device_allocation_info_t;

typedef struct nrt_vnc_memory_stats {
  size_t bytes_used;
  size_t bytes_limit;
} nrt_vnc_memory_stats_t;

// The ranks that take part in a collective, and which of them this one is.
typedef struct nrt_cc_comm {
  uint32_t* replica_group;  // `rank_n` global ids, the caller's
  uint32_t rank;            // this one's index in the group
  uint32_t rank_n;
  uint32_t ctx_device_id;  // this one's global id
  uint32_t ctx_device_count;
  uint32_t vnc;  // the core of this process that takes part
} nrt_cc_comm_t;

typedef struct nrt_tensor_list {
  nrt_tensor_t** tensors;
  size_t num_tensors;
} nrt_tensor_list_t;

typedef struct nrt_cc_param {
  uint32_t num_ops;
} nrt_cc_param_t;

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
// copies what it keeps: the bytes may be freed at once. `vnc_count`, the number of cores, is -1
// or 1. Blocks. The same bytes may be loaded several times, on several cores, by several threads;
// weights are shared.
//   NRT_UNSUPPORTED_NEFF_VERSION  a container of another kind or version, such as a NEFF, whose
//                                 device code cannot run here; the log names it
//   NRT_INVALID                   damaged bytes, or bytes of no known kind
//   NRT_LOAD_NOT_ENOUGH_NC        `vnc` is none of the visible cores, or `vnc_count` is above 1: a
//                                 model runs on one core
//   NRT_RESOURCE                  out of memory
NRT_STATUS nrt_load(const void* neff_bytes, size_t size, int32_t vnc, int32_t vnc_count,
                    nrt_model_t** model);

// nrt_load as rank `ctx_device_id` of `ctx_device_count`.
NRT_STATUS nrt_load_collectives(const void* neff_bytes, size_t size, int32_t vnc, int32_t vnc_count,
                                uint32_t ctx_device_id, uint32_t ctx_device_count,
                                nrt_model_t** model);

// Ends the handle. Pending requests of the model still run; its memory is freed after the last one.
NRT_STATUS nrt_unload(nrt_model_t* model);

// The number of cores that the model takes: 1. Both exist for old programs.
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

// ---- Tensors ----
//
// A tensor is a handle to a range of storage, which slices and pending requests share: it is freed
// with the last of them. Offsets and sizes are in bytes; for a range that goes beyond the tensor
// the result is NRT_INVALID, and nothing is copied. The copies here block, but do not wait for
// pending requests: a read before the writing request is complete gets stale bytes.

// Allocates `size` bytes of zeros for core `vnc`; -1 is allowed for HOST. Size 0 is NRT_INVALID.
// The name is copied and may be NULL. NRT_RESOURCE: out of memory; may succeed after other tensors
// have been freed.
NRT_STATUS nrt_tensor_allocate(nrt_tensor_placement_t tensor_placement, int vnc, size_t size,
                               const char* name, nrt_tensor_t** tensor);

// Makes a tensor without storage: nrt_tensor_attach_buffer gives it some.
NRT_STATUS nrt_tensor_allocate_empty(const char* name, nrt_tensor_t** tensor);

// Replaces the storage by the caller's `size` bytes. The caller keeps them allocated for as long as
// the tensor is used, and frees them. Nothing is copied, now or later.
NRT_STATUS nrt_tensor_attach_buffer(nrt_tensor_t* tensor, void* buffer, size_t size);

// Makes a tensor of a part of `tensor_source`. It keeps the storage alive, also when the source is
// freed.
NRT_STATUS nrt_tensor_allocate_slice(const nrt_tensor_t* tensor_source, size_t offset, size_t size,
                                     const char* name, nrt_tensor_t** tensor_slice);

// Ends the handle and stores NULL. Accepts NULL.
void nrt_tensor_free(nrt_tensor_t** tensor);

NRT_STATUS nrt_tensor_read(const nrt_tensor_t* tensor, void* buf, size_t offset, size_t size);
NRT_STATUS nrt_tensor_write(nrt_tensor_t* tensor, const void* buf, size_t offset, size_t size);

// Between two tensors of one core, or of the host; ranges of one storage may overlap.
NRT_STATUS nrt_tensor_copy(const nrt_tensor_t* src, size_t src_offset, nrt_tensor_t* dst,
                           size_t dst_offset, size_t size);

// Fills with the low byte of `value`.
NRT_STATUS nrt_tensor_memset(nrt_tensor_t* tensor, uint64_t offset, int value, size_t size);

size_t nrt_tensor_get_size(const nrt_tensor_t* tensor);  // bytes; 0 for NULL

// The first byte of the storage, which is ordinary memory; NULL for a tensor without storage. Live
// tensors that are not slices have disjoint storage.
void* nrt_tensor_get_va(const nrt_tensor_t* tensor);

// The core of the tensor; -1 for one of the host.
NRT_STATUS nrt_tensor_get_lnc_index(const nrt_tensor_t* tensor, int* lnc_index);

// The device address of the storage. It identifies the storage and has no other use on the software
// NPU.
NRT_STATUS nrt_tensor_get_device_allocation_info(const nrt_tensor_t* tensor,
                                                 nrt_tensor_device_allocation_info_t* alloc_info);

// Each execution that writes the tensor as an output adds one to the tensor's counter when it
// completes. Waits until the counter reaches `expected_completion_count`, at most `timeout_us`
// microseconds (NRT_TIMEOUT); negative: for ever, with a warning in the log after 30 seconds.
// A tensor that is NULL is NRT_INVALID here.
NRT_STATUS nrt_tensor_check_output_completion(const nrt_tensor_t* output_tensor, int64_t timeout_us,
                                              uint64_t expected_completion_count);
NRT_STATUS nrt_tensor_reset_output_completion(nrt_tensor_t* output_tensor);

// Many transfers in one call, in the given order. All ranges are checked before any bytes are
// copied. nrt/detail/tensor_batches.h says how a call may still have the third argument of earlier
// headers, which means nothing here.
#if defined(NRT_TENSOR_BATCH_UNSAFE_ARG) && NRT_TENSOR_BATCH_UNSAFE_ARG
NRT_STATUS nrt_tensor_read_batch(const nrt_tensor_batch_t* batches, uint64_t num_batches,
                                 bool unsafe);
NRT_STATUS nrt_tensor_write_batch(const nrt_tensor_batch_t* batches, uint64_t num_batches,
                                  bool unsafe);
#else
NRT_STATUS nrt_tensor_read_batch(const nrt_tensor_batch_t* batches, uint64_t num_batches);
NRT_STATUS nrt_tensor_write_batch(const nrt_tensor_batch_t* batches, uint64_t num_batches);
#endif

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
// behind the requests that are pending there. Every input of the model must be in `input_set`;
// outputs missing in `output_set` are discarded; names that the model does not have are ignored. Of
// a tensor that is larger than the model's the first bytes are used. A tensor may be input and
// output at once.
//   NRT_INVALID       a tensor is missing or too small
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

// Several collectives in one. What it takes was never published, so it accepts any arguments and
// returns NRT_FAILURE.
NRT_STATUS nrt_cc_prepare_coalesced(nrt_cc_comm_t* comm, ...);

// Makes the stream `stream_id` of collectives, from 0 to 2. NRT_RESOURCE: no other stream exists.
NRT_STATUS nrt_cc_create_stream(uint32_t stream_id);

// ---- Device and memory ----

// Host memory of `size` bytes, page-aligned, in huge pages where available. NULL: out of memory.
// Both work at any time; freeing NULL has no effect.
void* nrt_pinned_malloc(size_t size, nrt_pinned_alloc_type_t type);
void nrt_pinned_free(void* ptr);

// The bytes that the tensors and the weights of the models of core `vnc` take, and their limit
// (MILLRACE_NRT_MEMORY). A model that is loaded several times on a core takes them once.
// Writes the first `stats_size_in` bytes of the statistics, at most all of them, and stores their
// number in `stats_size_out`.
NRT_STATUS nrt_get_vnc_memory_stats(uint32_t vnc, nrt_vnc_memory_stats_t* stats,
                                    size_t stats_size_in, size_t* stats_size_out);

// A DMA-BUF for `size` bytes of device memory at `va`. The software NPU has none: NRT_INVALID,
// after which programs copy through the host.
NRT_STATUS nrt_get_dmabuf_fd(uint64_t va, uint64_t size, int* fd);
NRT_STATUS nrt_get_dmabuf_fd_v2(uint64_t va, uint64_t size, int* fd, uint64_t* offset);

// The mapping of a memory bank. The software NPU has none: NRT_INVALID.
NRT_STATUS nrt_get_hbm_mmap_va(int device_id, int hbm_idx, void** addr, size_t* size);

// The device of core `lnc`. A device stands for up to eight cores (ndl/ndl.h).
NRT_STATUS nrt_get_device_id(int lnc, int* device_id);

// The host's number for a device, and the table from host numbers to routing numbers: `*count` says
// how many entries there is room for, and receives how many were written. Here all these numbers
// are those that ndl_available_devices lists.
NRT_STATUS nrt_host_device_id_get(int neuron_dev, uint32_t* host_device_id);
NRT_STATUS nrt_host_device_id_rid_map_get(uint32_t* count, uint32_t* host_did_to_rid_map);

// The PCI address of the network adapter nearest to the memory at `va`, into `len` bytes. The
// software NPU has no adapter: NRT_INVALID.
NRT_STATUS nrt_get_attached_efa_bdf(const void* va, char* efa_bdf, size_t* len);

// The pieces of memory of the live tensors of core `lnc`, largest first: at most `*num_entries` of
// them, and stores how many were written.
NRT_STATUS nrt_dump_device_allocation_info(int lnc, struct neuron_ioctl_mem_chunk_info* data,
                                           uint32_t* num_entries);

// Logs what uses the memory of core `lnc`.
NRT_STATUS nrt_debug_log_oom_report(int lnc);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#include "nrt/detail/tensor_batches.h"

#endif  // NRT_NRT_H
