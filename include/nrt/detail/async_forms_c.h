// How a C program calls the forms of nrt/detail/async_forms.h. Include nrt/nrt_async.h instead.
#ifndef NRT_DETAIL_ASYNC_FORMS_C_H
#define NRT_DETAIL_ASYNC_FORMS_C_H

#define NRTA_DETAIL_BY_STATUS(status, with_tracker, with_ret) \
  _Generic((status), nrta_error_tracker_t * : with_tracker, default : with_ret)

#define NRTA_DETAIL_TENSOR_READ(buf, tensor, offset, size, queue, status, req_sequence) \
  NRTA_DETAIL_BY_STATUS(status, nrta_tracker_tensor_read, nrta_doc_tensor_read)         \
  (buf, tensor, offset, size, queue, status, req_sequence)

#define NRTA_DETAIL_TENSOR_WRITE(tensor, buf, offset, size, queue, status, req_sequence) \
  NRTA_DETAIL_BY_STATUS(status, nrta_tracker_tensor_write, nrta_doc_tensor_write)        \
  (tensor, buf, offset, size, queue, status, req_sequence)

#define NRTA_DETAIL_TENSOR_COPY(src, src_offset, dst, dst_offset, size, queue, status, \
                                req_sequence)                                          \
  NRTA_DETAIL_BY_STATUS(status, nrta_tracker_tensor_copy, nrta_doc_tensor_copy)        \
  (src, src_offset, dst, dst_offset, size, queue, status, req_sequence)

#define nrta_execute_schedule(model, input, output, queue, status, req_sequence)      \
  NRTA_DETAIL_BY_STATUS(status, nrta_tracker_execute_schedule, nrta_execute_schedule) \
  (model, input, output, queue, status, req_sequence)

#define nrta_cc_schedule(cc_ctx, queue, status, req_sequence)               \
  NRTA_DETAIL_BY_STATUS(status, nrta_tracker_cc_schedule, nrta_cc_schedule) \
  (cc_ctx, queue, status, req_sequence)

#endif  // NRT_DETAIL_ASYNC_FORMS_C_H
