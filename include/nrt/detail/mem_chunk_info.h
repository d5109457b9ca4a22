// The description of a piece of device memory, which the calls of nrt.h and the headers of the
// driver share.
#ifndef NRT_DETAIL_MEM_CHUNK_INFO_H
#define NRT_DETAIL_MEM_CHUNK_INFO_H

#include <stdint.h>

struct neuron_ioctl_mem_chunk_info {
  uint64_t pa;    // address
  uint64_t size;  // bytes
  uint32_t mem_type;
};

#endif  // NRT_DETAIL_MEM_CHUNK_INFO_H
