// The datastore: counters that a process in which NRT runs keeps of its cores, and that other
// processes of the same user read.
//
// Here only the runtime writes them: what changes a datastore fails. The calls need no nrt_init and
// return 0, or another number for a failure. Threads may share an instance while none closes it.
#ifndef NRT_NDS_NEURON_DS_H
#define NRT_NDS_NEURON_DS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ndl/ndl.h"

#define OBJECT_TYPE_MODEL_NODE_INFO (0)
#define OBJECT_TYPE_PROCESS_INFO (1)
#define OBJECT_TYPE_PROCESS_INFO_EXT (2)

#define MODEL_MEM_USAGE_LOCATION_COUNT 2

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nds_instance nds_instance_t;
typedef void* nds_obj_handle_t;

enum {
  NDS_DMA_MEM_USAGE_SLOT_CODE,
  NDS_DMA_MEM_USAGE_SLOT_TENSORS,
  NDS_DMA_MEM_USAGE_SLOT_CONSTANTS,
  NDS_DMA_MEM_USAGE_SLOT_SCRATCHPAD,
  NDS_DMA_MEM_USAGE_SLOT_MISC,
  NDS_DMA_MEM_USAGE_SLOT_COUNT = 12
};

typedef enum feature_bitmap_bit_index {
  BIT_INDEX_TEST_FEATURE = 0,
  BIT_INDEX_MULTICORE_FEATURE = 1,
  BIT_INDEX_COUNT = BIT_INDEX_MULTICORE_FEATURE + 1
} feature_bitmap_bit_index_t;

typedef struct nds_mem_usage_info {
  size_t total_size;
  uint32_t chunk_count;
} nds_mem_usage_info_t;

typedef struct nds_model_node_info {
  uint32_t model_id;
  uint32_t model_node_id;
  char name[256];
  char uuid[16];
  uint8_t nc_index;
  uint8_t sg_index;
} nds_model_node_info_t;

typedef struct nds_model_node_mem_usage_info {
  nds_mem_usage_info_t model_mem_usage[MODEL_MEM_USAGE_LOCATION_COUNT]
                                      [NDS_DMA_MEM_USAGE_SLOT_COUNT];
} nds_model_node_mem_usage_info_t;

typedef struct nds_version_info {
  uint8_t major;
  uint8_t minor;
  uint32_t build;
} nds_version_info_t;

typedef struct nds_process_info {
  int8_t framework_type;
  char tag[32];
  nds_version_info_t framework_version;
  nds_version_info_t fal_version;
  nds_version_info_t runtime_version;
} nds_process_info_t;

typedef struct nds_process_info_ext {
  char tag[256];
} nds_process_info_ext_t;

#pragma GCC visibility push(default)

// Opens the datastore of a process for reading; `pid` 0 is this process. Fails if NRT does not run
// in the process, or if it is another user's. nds_close frees the instance; its counters keep their
// last values when the process ends.
int nds_open(ndl_device_t* device, pid_t pid, nds_instance_t** inst);
int nds_close(nds_instance_t* inst);

// A counter (NDS_NC_COUNTER_..., NDS_EXT_NC_COUNTER_...) of core `pnc_index` of the device.
// Counters of what does not exist here stay 0.
int nds_get_nc_counter(nds_instance_t* inst, int pnc_index, uint32_t counter_index,
                       uint64_t* value);
// A counter (NDS_ND_COUNTER_...) of the device: 0.
int nds_get_nd_counter(nds_instance_t* inst, uint32_t counter_index, uint64_t* value);

// Fail: only the runtime writes counters.
int nds_increment_nc_counter(nds_instance_t* inst, int pnc_index, uint32_t counter_index,
                             uint64_t increment);
int nds_decrement_nc_counter(nds_instance_t* inst, int pnc_index, uint32_t counter_index,
                             uint64_t decrement);
int nds_set_nc_counter(nds_instance_t* inst, int pnc_index, uint32_t counter_index,
                       uint64_t* value);
int nds_increment_nd_counter(nds_instance_t* inst, uint32_t counter_index, uint64_t increment);
int nds_decrement_nd_counter(nds_instance_t* inst, uint32_t counter_index, uint64_t decrement);
int nds_or_nd_counter(nds_instance_t* inst, uint32_t counter_index, uint64_t bit_index);
int nds_set_nd_counter(nds_instance_t* inst, uint32_t counter_index, uint64_t* value);

// Objects: descriptions of models and of the process. There are none: reading finds no models, the
// calls that return a handle or a pointer return NULL, and the others fail.
nds_obj_handle_t nds_obj_new(nds_instance_t* inst, int type);
int nds_obj_commit(nds_obj_handle_t obj);
int nds_obj_delete(nds_obj_handle_t obj);
int nds_read_all_model_nodes(nds_instance_t* inst, nds_obj_handle_t** models, size_t* count);
nds_obj_handle_t nds_read_process_info(nds_instance_t* inst);
nds_obj_handle_t nds_read_process_info_ext(nds_instance_t* inst);
nds_model_node_info_t* nds_obj_handle_to_model_node_info(nds_obj_handle_t obj);
nds_model_node_mem_usage_info_t* nds_obj_handle_to_model_node_mem_usage(nds_obj_handle_t obj);
nds_process_info_t* nds_obj_handle_to_process_info(nds_obj_handle_t obj);
nds_process_info_ext_t* nds_obj_handle_to_process_info_ext(nds_obj_handle_t obj);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif  // NRT_NDS_NEURON_DS_H
