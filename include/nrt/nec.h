// Collectives: the questions about devices that the vendor's plugin for collectives asks. The
// software NPU has no such plugin, so its types for topologies are not here.
#ifndef NRT_NEC_H
#define NRT_NEC_H

#include <stdint.h>

#include "nrt/nrt_status.h"

#define NEC_MAX_CHANNELS 32
#define NEC_MAX_COMM_N 12
#define NEC_MAX_STREAM_N 4

#ifdef __cplusplus
extern "C" {
#endif

typedef enum nec_pod_type {
  NEC_POD_TYPE_NONE,
  NEC_POD_TYPE_P2P,
  NEC_POD_TYPE_SWITCH,
  NEC_POD_TYPE_INVALID
} nec_pod_type_t;

typedef enum enc_pattern { ENC_PATTERN_RING, ENC_PATTERN_MESH, ENC_PATTERN_INVALID } enc_pattern_t;

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc99-extensions"
#endif
typedef struct nec_version_info {
  uint64_t major;
  uint64_t minor;
  uint64_t patch;
  uint64_t maintenance;
  char git_hash[16];
  uint64_t compatibility_version;
  __extension__ uint8_t future_fields[];
} nec_version_info_t;
#ifdef __clang__
#pragma clang diagnostic pop
#endif

#pragma GCC visibility push(default)

// As ndl_available_devices.
int nec_get_device_count(int* available_devices_array, uint32_t array_size);

// The number of physical cores in a logical one: 1.
NRT_STATUS nec_get_virtual_core_size(uint32_t* virtual_core_size);

// The version that nrt_get_version reports.
NRT_STATUS nec_get_version_info(nec_version_info_t* version_info);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif  // NRT_NEC_H
