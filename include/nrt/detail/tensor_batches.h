// The forms of the batch calls of nrt.h. Include nrt/nrt.h instead.
//
// Earlier headers had a third argument, `bool unsafe`, which means nothing here. Programs may pass
// it or not; NRT_TENSOR_BATCH_UNSAFE_ARG 1 or 0 declares the functions with it or without, and
// nothing else. NRT_ASYNC_API_VERSION 228 implies 1.
#ifndef NRT_DETAIL_TENSOR_BATCHES_H
#define NRT_DETAIL_TENSOR_BATCHES_H

#include "nrt/detail/forms.h"
#include "nrt/nrt.h"

#ifndef NRT_TENSOR_BATCH_UNSAFE_ARG
// Calls that have more than two arguments for the preprocessor come here, where the compiler sees
// whether they have two or three. C has no default arguments, but initializers may be missing.
#ifdef __cplusplus
extern "C++" {
inline NRT_STATUS nrt_detail_read_batch(const nrt_tensor_batch_t* batches, uint64_t num_batches,
                                        bool /*unsafe*/ = false) {
  return nrt_tensor_read_batch(batches, num_batches);
}
inline NRT_STATUS nrt_detail_write_batch(const nrt_tensor_batch_t* batches, uint64_t num_batches,
                                         bool /*unsafe*/ = false) {
  return nrt_tensor_write_batch(batches, num_batches);
}
}
#define NRT_DETAIL_READ_BATCH nrt_detail_read_batch
#define NRT_DETAIL_WRITE_BATCH nrt_detail_write_batch
#else
struct nrt_detail_batch_call {
  const nrt_tensor_batch_t* batches;
  uint64_t num_batches;
  bool unsafe;
  bool end;
};
static inline NRT_STATUS nrt_detail_read_batch(struct nrt_detail_batch_call call) {
  return nrt_tensor_read_batch(call.batches, call.num_batches);
}
static inline NRT_STATUS nrt_detail_write_batch(struct nrt_detail_batch_call call) {
  return nrt_tensor_write_batch(call.batches, call.num_batches);
}
#define NRT_DETAIL_BATCH_CALL(...) ((struct nrt_detail_batch_call){__VA_ARGS__, .end = false})
#define NRT_DETAIL_READ_BATCH(...) nrt_detail_read_batch(NRT_DETAIL_BATCH_CALL(__VA_ARGS__))
#define NRT_DETAIL_WRITE_BATCH(...) nrt_detail_write_batch(NRT_DETAIL_BATCH_CALL(__VA_ARGS__))
#endif

// With two arguments, members and methods of these names work as well.
#define NRT_DETAIL_READ_BATCH_OF_2() ~, nrt_tensor_read_batch
#define NRT_DETAIL_WRITE_BATCH_OF_2() ~, nrt_tensor_write_batch
#define nrt_tensor_read_batch(...)                                                             \
  NRT_DETAIL_FORM(                                                                             \
      NRT_DETAIL_ARG3(__VA_ARGS__, NRT_DETAIL_READ_BATCH_OF_2, NRT_DETAIL_READ_BATCH_OF_2, ~), \
      NRT_DETAIL_READ_BATCH)                                                                   \
  (__VA_ARGS__)
#define nrt_tensor_write_batch(...)                                                              \
  NRT_DETAIL_FORM(                                                                               \
      NRT_DETAIL_ARG3(__VA_ARGS__, NRT_DETAIL_WRITE_BATCH_OF_2, NRT_DETAIL_WRITE_BATCH_OF_2, ~), \
      NRT_DETAIL_WRITE_BATCH)                                                                    \
  (__VA_ARGS__)
#endif

#endif  // NRT_DETAIL_TENSOR_BATCHES_H
