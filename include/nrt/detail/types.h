// The types of nrt.h: constants, handles and structures. Include nrt/nrt.h instead.
//
// The numbers and layouts are part of the binary interface and never change; structures that are
// passed with a size grow at the end only.
#ifndef NRT_DETAIL_TYPES_H
#define NRT_DETAIL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ndl/neuron_driver_shared_tensor_batch_op.h"

#define NRT_MAJOR_VERSION 2
#define NRT_MINOR_VERSION 0

#define NRT_TENSOR_NAME_MAX 256  // bytes, with the NUL

#ifdef __cplusplus
extern "C" {
#endif

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

// What calls nrt_init. A label only.
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

typedef enum {
  NRT_OP_ADD = 0,
  NRT_OP_FMA = 1,
  NRT_OP_MAX = 2,
  NRT_OP_MIN = 3,
  NRT_OP_INVALID = 15
} nrt_op_type_t;

typedef enum {
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

typedef enum {
  NRT_CC_ALLGATHER = 0,
  NRT_CC_ALLREDUCE = 1,
  NRT_CC_REDUCESCATTER = 2
} nrt_cc_op_type_t;

typedef enum {
  NRT_PINNED_MALLOC = 0,
  NRT_PINNED_HUGEPAGE_2M = 1,
  NRT_PINNED_HUGEPAGE_1G = 2
} nrt_pinned_alloc_type_t;

typedef enum { NRT_TENSOR_USAGE_INPUT = 0, NRT_TENSOR_USAGE_OUTPUT = 1 } nrt_tensor_usage_t;

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

// One piece of allocated device memory in nrt_dump_device_allocation_info.
struct neuron_ioctl_mem_chunk_info {
  uint64_t pa;    // address
  uint64_t size;  // bytes
  uint32_t mem_type;
};

#ifdef __cplusplus
}
#endif

#endif  // NRT_DETAIL_TYPES_H
