// The descriptions of processes, and the counters of the datastore (nrt/nds/neuron_ds.h), for
// programs that watch devices. Numbers and layouts are those of the vendor. The interface by which
// the vendor's driver is driven (queues, rings, registers) is not here: there is no such hardware.
#ifndef NDL_NEURON_DRIVER_SHARED_H
#define NDL_NEURON_DRIVER_SHARED_H

#include <stddef.h>
#include <stdint.h>

#include "ndl/neuron_driver_shared_tensor_batch_op.h"
#include "nrt/detail/mem_chunk_info.h"

// ---- Processes ----

#define NEURON_MAX_PROCESS_PER_DEVICE 16
#define APP_INFO_MAX_MODELS_PER_DEVICE (4)

// The flags of ndl_get_all_apps_info.
#define APP_INFO_PID_NC_LOCK_INFO (1)
#define APP_INFO_PID_MEM_USAGE (1 << 1)
#define APP_INFO_ALL (0xF)

struct neuron_uuid {
  uint8_t value[32];
};

// A process that uses a device.
struct neuron_app_info {
  int32_t pid;
  uint8_t nc_lock_map;  // a bit for each core of the device that the process sees
  struct neuron_uuid uuid_data[APP_INFO_MAX_MODELS_PER_DEVICE];  // zeros here
  size_t host_mem_size;                                          // bytes
  size_t device_mem_size;                                        // bytes
};

// ---- Counters of a device ----

#define NDS_ND_COUNTER_RESERVED 18
enum {
  NDS_ND_COUNTER_RUNTIME_VERSION,
  NDS_ND_COUNTER_FRAMEWORK_VERSION,
  NDS_ND_COUNTER_FAL_VERSION,
  NDS_ND_COUNTER_FEATURE_BITMAP,
  NDS_ND_COUNTER_MIN_NEFF_VERSION,
  NDS_ND_COUNTER_MAX_NEFF_VERSION,
  NDS_ND_COUNTER_MEM_USAGE_CODE_HOST,
  NDS_ND_COUNTER_MEM_USAGE_TENSORS_HOST,
  NDS_ND_COUNTER_MEM_USAGE_CONSTANTS_HOST,
  NDS_ND_COUNTER_MEM_USAGE_SCRATCHPAD_HOST,
  NDS_ND_COUNTER_MEM_USAGE_MISC_HOST,
  NDS_ND_COUNTER_DYNAMIC_SYSFS_METRIC_BITMAP,
  NDS_ND_COUNTER_DEVICE_CLUSTER_ID,
  NDS_ND_COUNTER_COUNT = NDS_ND_COUNTER_DEVICE_CLUSTER_ID + NDS_ND_COUNTER_RESERVED + 1
};

// ---- Counters of a core ----

#define NDS_NC_COUNTER_RESERVED 0
enum {
  NDS_NC_COUNTER_TIME_IN_USE = 0,  // microseconds in which the core executed models
  NDS_NC_COUNTER_INFER_COMPLETED,  // executions that succeeded
  NDS_NC_COUNTER_INFER_COMPLETED_WITH_ERR,
  NDS_NC_COUNTER_INFER_COMPLETED_WITH_NUM_ERR,
  NDS_NC_COUNTER_INFER_TIMED_OUT,
  NDS_NC_COUNTER_INFER_INCORRECT_INPUT,
  NDS_NC_COUNTER_INFER_FAILED_TO_QUEUE,
  NDS_NC_COUNTER_ERR_GENERIC,
  NDS_NC_COUNTER_ERR_NUMERICAL,
  NDS_NC_COUNTER_ERR_MODEL,
  NDS_NC_COUNTER_ERR_TRANSIENT,
  NDS_NC_COUNTER_ERR_HW,
  NDS_NC_COUNTER_ERR_RT,
  NDS_NC_COUNTER_LATENCY_DEVICE,
  NDS_NC_COUNTER_LATENCY_TOTAL,
  NDS_NC_COUNTER_NC_TIME,
  NDS_NC_COUNTER_GENERIC_FAIL,
  NDS_NC_COUNTER_ERR_RESOURCE,
  NDS_NC_COUNTER_ERR_RESOURCE_NC,
  NDS_NC_COUNTER_ERR_INVALID,
  NDS_NC_COUNTER_ERR_UNSUPPORTED_NEFF_VERSION,
  NDS_NC_COUNTER_CC_TIME,
  NDS_NC_COUNTER_MEM_USAGE_CODE_DEVICE,
  NDS_NC_COUNTER_MEM_USAGE_TENSORS_DEVICE,    // bytes
  NDS_NC_COUNTER_MEM_USAGE_CONSTANTS_DEVICE,  // bytes
  NDS_NC_COUNTER_MEM_USAGE_SCRATCHPAD_DEVICE,
  NDS_NC_COUNTER_MEM_USAGE_MISC_DEVICE,
  NDS_NC_COUNTER_MODEL_LOAD_COUNT,
  NDS_NC_COUNTER_INFERENCE_COUNT,  // executions that ended, in whatever way
  NDS_NC_COUNTER_MAC_COUNT,
  NDS_NC_COUNTER_OOB,
  NDS_NC_COUNTER_COUNT = NDS_NC_COUNTER_OOB + NDS_NC_COUNTER_RESERVED + 1
};

// The counters that were added later follow those above.
#define NDS_EXT_NC_COUNTER_ADDED_RESERVED 54
enum {
  NDS_EXT_NC_COUNTER_HW_ERR_COLLECTIVES = NDS_NC_COUNTER_COUNT,
  NDS_EXT_NC_COUNTER_HW_ERR_HBM_UE,
  NDS_EXT_NC_COUNTER_HW_ERR_NC_UE,
  NDS_EXT_NC_COUNTER_HW_ERR_DMA_ABORT,
  NDS_EXT_NC_COUNTER_ERR_SW_NQ_OVERFLOW,
  NDS_EXT_NC_COUNTER_ERR_SW_SEMAPHORE_ERROR,
  NDS_EXT_NC_COUNTER_ERR_SW_EVENT_ERROR,
  NDS_EXT_NC_COUNTER_ERR_SW_PSUM_COLLISION,
  NDS_EXT_NC_COUNTER_ERR_SW_SEQUENCER_FATAL,
  NDS_EXT_NC_COUNTER_HW_ERR_REPAIRABLE_HBM_UE,
  NDS_EXT_NC_COUNTER_LAST,
  NDS_EXT_NC_COUNTER_COUNT =
      NDS_EXT_NC_COUNTER_LAST - NDS_NC_COUNTER_COUNT + NDS_EXT_NC_COUNTER_ADDED_RESERVED
};
#define NDS_TOTAL_NC_COUNTER_COUNT ((int)NDS_NC_COUNTER_COUNT + (int)NDS_EXT_NC_COUNTER_COUNT)

// The numbers of cores whose counters a datastore holds: four at first, and twelve that were added
// later.
#define NDS_MAX_NEURONCORE_COUNT (4)
#define NDS_EXT_MAX_NEURONCORE_COUNT (12)

#define NDS_INVALID_ID (-1)

#endif  // NDL_NEURON_DRIVER_SHARED_H
