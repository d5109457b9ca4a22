// How a C program calls the forms of nrt/detail/async_forms.h. Include nrt/nrt_async.h instead.
#ifndef NRT_DETAIL_ASYNC_FORMS_C_H
#define NRT_DETAIL_ASYNC_FORMS_C_H

#include "nrt/detail/forms.h"

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

#define NRTA_DETAIL_EXECUTE_SCHEDULE(model, input, output, queue, status, req_sequence) \
  NRTA_DETAIL_BY_STATUS(status, nrta_tracker_execute_schedule, nrta_execute_schedule)   \
  (model, input, output, queue, status, req_sequence)
#define NRTA_DETAIL_EXECUTE_OF_6() ~, NRTA_DETAIL_EXECUTE_SCHEDULE
#define nrta_execute_schedule(...)                                                          \
  NRT_DETAIL_FORM(NRT_DETAIL_ARG7(__VA_ARGS__, NRTA_DETAIL_EXECUTE_OF_6, ~, ~, ~, ~, ~, ~), \
                  nrta_execute_schedule)                                                    \
  (__VA_ARGS__)

#define NRTA_DETAIL_CC_SCHEDULE(cc_ctx, queue, status, req_sequence)        \
  NRTA_DETAIL_BY_STATUS(status, nrta_tracker_cc_schedule, nrta_cc_schedule) \
  (cc_ctx, queue, status, req_sequence)
#define NRTA_DETAIL_CC_OF_4() ~, NRTA_DETAIL_CC_SCHEDULE
#define nrta_cc_schedule(...)                                                                      \
  NRT_DETAIL_FORM(NRT_DETAIL_ARG5(__VA_ARGS__, NRTA_DETAIL_CC_OF_4, ~, ~, ~, ~), nrta_cc_schedule) \
  (__VA_ARGS__)

#endif  // NRT_DETAIL_ASYNC_FORMS_C_H
