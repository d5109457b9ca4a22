// A program that is written for one form says so, and finds no macro under the names of functions.
#define NRT_ASYNC_API_VERSION 229
#define NRT_TENSOR_BATCH_UNSAFE_ARG 0
#include <nrt/nrt_async.h>

#if defined(nrta_tensor_read) || defined(nrta_tensor_write) || defined(nrta_tensor_copy) ||      \
    defined(nrta_execute_schedule) || defined(nrta_cc_schedule) || defined(nrta_get_sequence) || \
    defined(nrt_tensor_read_batch) || defined(NRTA_XU_TENSOR_READ)
#error "a macro in the form of one version"
#endif

struct runtime {
  NRT_STATUS(*nrta_execute_schedule)
  (nrt_model_t*, const nrt_tensor_set_t*, nrt_tensor_set_t*, int, NRT_STATUS*, nrta_seq_t*);
};
NRT_STATUS submit(const struct runtime* runtime, nrt_model_t* model, void* set, nrta_seq_t* seq);
NRT_STATUS submit(const struct runtime* runtime, nrt_model_t* model, void* set, nrta_seq_t* seq) {
  return runtime->nrta_execute_schedule(model, set, set, 0, NULL, seq);
}
