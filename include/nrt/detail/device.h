// The calls of nrt.h about the device and its memory. Include nrt/nrt.h instead.
#ifndef NRT_DETAIL_DEVICE_H
#define NRT_DETAIL_DEVICE_H

#include "nrt/nrt.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

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

// The device of core `lnc`: 0, the only one.
NRT_STATUS nrt_get_device_id(int lnc, int* device_id);

// The host's number for a device, and the table from host numbers to routing numbers: `*count` says
// how many entries there is room for, and receives how many were written. There is device 0 only.
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

#endif  // NRT_DETAIL_DEVICE_H
