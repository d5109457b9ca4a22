// How a C++ program calls the forms of nrt/detail/async_forms.h. Include nrt/nrt_async.h instead.
#ifndef NRT_DETAIL_ASYNC_FORMS_CXX_H
#define NRT_DETAIL_ASYNC_FORMS_CXX_H

#define NRTA_DETAIL_TENSOR_READ nrta_doc_tensor_read
#define NRTA_DETAIL_TENSOR_WRITE nrta_doc_tensor_write
#define NRTA_DETAIL_TENSOR_COPY nrta_doc_tensor_copy

// Needed where the program includes the header inside its own extern "C".
extern "C++" {

// Only a call with a tracker among its arguments finds these functions, so that they do not
// overload the name for other code. The library's trackers are objects of another type.
struct nrta_error_tracker {
  friend inline NRT_STATUS nrta_doc_tensor_read(void* buf, nrt_tensor_t* tensor, uint64_t offset,
                                                uint64_t size, int queue,
                                                nrta_error_tracker* error_tracker,
                                                nrta_seq_t* req_sequence) {
    return nrta_tracker_tensor_read(buf, tensor, offset, size, queue, error_tracker, req_sequence);
  }

  friend inline NRT_STATUS nrta_doc_tensor_write(nrt_tensor_t* tensor, const void* buf,
                                                 uint64_t offset, uint64_t size, int queue,
                                                 nrta_error_tracker* error_tracker,
                                                 nrta_seq_t* req_sequence) {
    return nrta_tracker_tensor_write(tensor, buf, offset, size, queue, error_tracker, req_sequence);
  }

  friend inline NRT_STATUS nrta_doc_tensor_copy(nrt_tensor_t* src, uint64_t src_offset,
                                                nrt_tensor_t* dst, uint64_t dst_offset,
                                                uint64_t size, int queue,
                                                nrta_error_tracker* error_tracker,
                                                nrta_seq_t* req_sequence) {
    return nrta_tracker_tensor_copy(src, src_offset, dst, dst_offset, size, queue, error_tracker,
                                    req_sequence);
  }

  // For calls whose form the macros cannot recognise because of commas in the arguments.
  friend inline NRT_STATUS nrta_tensor_read(void* buf, nrt_tensor_t* tensor, uint64_t offset,
                                            uint64_t size, int queue,
                                            nrta_error_tracker* error_tracker,
                                            nrta_seq_t* req_sequence) {
    return nrta_tracker_tensor_read(buf, tensor, offset, size, queue, error_tracker, req_sequence);
  }

  friend inline NRT_STATUS nrta_tensor_write(nrt_tensor_t* tensor, const void* buf, uint64_t offset,
                                             uint64_t size, int queue,
                                             nrta_error_tracker* error_tracker,
                                             nrta_seq_t* req_sequence) {
    return nrta_tracker_tensor_write(tensor, buf, offset, size, queue, error_tracker, req_sequence);
  }

  friend inline NRT_STATUS nrta_tensor_copy(nrt_tensor_t* src, uint64_t src_offset,
                                            nrt_tensor_t* dst, uint64_t dst_offset, uint64_t size,
                                            int queue, nrta_error_tracker* error_tracker,
                                            nrta_seq_t* req_sequence) {
    return nrta_tracker_tensor_copy(src, src_offset, dst, dst_offset, size, queue, error_tracker,
                                    req_sequence);
  }

  friend inline NRT_STATUS nrta_execute_schedule(nrt_model_t* model, const nrt_tensor_set_t* input,
                                                 nrt_tensor_set_t* output, int queue,
                                                 nrta_error_tracker* error_tracker,
                                                 nrta_seq_t* req_sequence) {
    return nrta_tracker_execute_schedule(model, input, output, queue, error_tracker, req_sequence);
  }

  friend inline NRT_STATUS nrta_cc_schedule(nrt_cc_context_t** cc_ctx, int queue,
                                            nrta_error_tracker* error_tracker,
                                            nrta_seq_t* req_sequence) {
    return nrta_tracker_cc_schedule(cc_ctx, queue, error_tracker, req_sequence);
  }
};

}  // extern "C++"

#endif  // NRT_DETAIL_ASYNC_FORMS_CXX_H
