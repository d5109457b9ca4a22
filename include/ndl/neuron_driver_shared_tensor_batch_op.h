// One transfer of a batch: a stretch of a tensor, and the host memory it comes from or goes to.
#ifndef NDL_NEURON_DRIVER_SHARED_TENSOR_BATCH_OP_H
#define NDL_NEURON_DRIVER_SHARED_TENSOR_BATCH_OP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t nrt_tensor_batch_offset_t;  // bytes from the start of the tensor
typedef uint64_t nrt_tensor_batch_size_t;    // bytes

typedef struct nrt_tensor_batch_op {
  nrt_tensor_batch_offset_t offset;
  nrt_tensor_batch_size_t size;
  void* buffer;  // host memory of at least `size` bytes, the caller's; a write only reads it
} nrt_tensor_batch_op_t;

#ifdef __cplusplus
}
#endif

#endif  // NDL_NEURON_DRIVER_SHARED_TENSOR_BATCH_OP_H
