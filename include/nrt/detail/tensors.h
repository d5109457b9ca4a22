// The tensors of nrt.h. Include nrt/nrt.h instead.
//
// A tensor is a handle to a range of storage, which slices and pending requests share: it is freed
// with the last of them. Offsets and sizes are in bytes; for a range that goes beyond the tensor
// the result is NRT_INVALID, and nothing is copied. The copies here block, but do not wait for
// pending requests: a read before the writing request is complete gets stale bytes.
#ifndef NRT_DETAIL_TENSORS_H
#define NRT_DETAIL_TENSORS_H

#include "nrt/nrt.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

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

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif  // NRT_DETAIL_TENSORS_H
