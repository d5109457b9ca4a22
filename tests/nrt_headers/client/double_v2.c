// A test suite that replaces the library by doubles, in the form with error trackers.
#define NRT_ASYNC_API_VERSION 228
#include <nrt/nrt_async.h>

struct nrta_error_tracker {
  nrta_error_t error;
};
static nrta_error_tracker_t the_tracker;

#ifdef __cplusplus
extern "C" {
#endif

NRT_STATUS nrta_error_tracker_create(uint32_t lnc_idx, nrta_error_tracker_t** error_tracker) {
  *error_tracker = &the_tracker;
  return lnc_idx == 0 ? NRT_SUCCESS : NRT_INVALID;
}

NRT_STATUS nrta_error_tracker_get_list(nrta_error_tracker_t* error_tracker,
                                       const nrta_error_t** error_list, size_t* error_count) {
  *error_list = &error_tracker->error;
  *error_count = 1;
  return NRT_SUCCESS;
}

void nrta_error_tracker_destroy(nrta_error_tracker_t* error_tracker) {
  error_tracker->error.seq_id = 0;
}

NRT_STATUS nrta_execute_schedule(nrt_model_t* model, const nrt_tensor_set_t* input,
                                 nrt_tensor_set_t* output, int queue,
                                 nrta_error_tracker_t* error_tracker, nrta_seq_t* req_sequence) {
  error_tracker->error.seq_id = *req_sequence = 7;
  return model && input && output && queue == 0 ? NRT_SUCCESS : NRT_INVALID;
}

NRT_STATUS nrta_tensor_read(void* buf, nrt_tensor_t* tensor, uint64_t offset, uint64_t size,
                            int queue, nrta_error_tracker_t* error_tracker,
                            nrta_seq_t* req_sequence) {
  error_tracker->error.seq_id = *req_sequence = 8;
  return buf && tensor && offset < size && queue == 0 ? NRT_SUCCESS : NRT_INVALID;
}

NRT_STATUS nrta_tensor_write(nrt_tensor_t* tensor, const void* buf, uint64_t offset, uint64_t size,
                             int queue, nrta_error_tracker_t* error_tracker,
                             nrta_seq_t* req_sequence) {
  error_tracker->error.seq_id = *req_sequence = 9;
  return buf && tensor && offset < size && queue == 0 ? NRT_SUCCESS : NRT_INVALID;
}

NRT_STATUS nrta_tensor_copy(nrt_tensor_t* src, uint64_t src_offset, nrt_tensor_t* dst,
                            uint64_t dst_offset, uint64_t size, int queue,
                            nrta_error_tracker_t* error_tracker, nrta_seq_t* req_sequence) {
  error_tracker->error.seq_id = *req_sequence = 10;
  return src && dst && src_offset + dst_offset < size && queue == 0 ? NRT_SUCCESS : NRT_INVALID;
}

NRT_STATUS nrta_cc_schedule(nrt_cc_context_t** cc_ctx, int queue,
                            nrta_error_tracker_t* error_tracker, nrta_seq_t* req_sequence) {
  error_tracker->error.seq_id = *req_sequence = 11;
  return cc_ctx && queue == 0 ? NRT_SUCCESS : NRT_INVALID;
}

NRT_STATUS nrta_get_sequence(uint32_t lnc, nrta_xu_t xu, int queue, nrta_seq_t* seq) {
  *seq = lnc + (uint64_t)queue;
  switch (xu) {  // every unit has a number of its own
    case NRTA_XU_TENSOR_READ:
    case NRTA_XU_TENSOR_WRITE:
    case NRTA_XU_TENSOR_OP:
    case NRTA_XU_COMPUTE:
    case NRTA_XU_COLLECTIVES:
      return NRT_SUCCESS;
    case NRTA_XU_TYPE_NUM:
      break;
  }
  return NRT_INVALID;
}

NRT_STATUS nrta_is_completed(nrta_seq_t seq, bool* is_completed) {
  *is_completed = seq != 0;
  return NRT_SUCCESS;
}

NRT_STATUS nrt_tensor_read_batch(const nrt_tensor_batch_t* batches, uint64_t num_batches,
                                 bool unsafe) {
  return batches && num_batches && !unsafe ? NRT_SUCCESS : NRT_INVALID;
}

#ifdef __cplusplus
}
#endif
