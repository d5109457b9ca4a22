// NRT_ASYNC_API_VERSION 0: the forms of nrt_async.h that other generations of the interface have,
// under the same names and at the same time. Include nrt/nrt_async.h instead.
//
//   an error tracker instead of `ret`, in all schedule calls
//   no `lnc_idx` in transfers: the tensor's core (the destination's for a copy), core 0 for a
//   tensor of the host
//   no `queue` in nrta_get_sequence: queue 0
//
// Transfers are on TENSOR_OP units in every form. A tracker may be NULL in C and in C++: NULL, 0
// and nullptr are taken for a `ret` that drops the result, which is the same.
//
// In C and in C++ macros distinguish calls by their number of arguments. They leave calls in the
// form of nrt_async.h unchanged, also when commas in literals or template arguments make these look
// like more arguments. Where only the tracker differs, C uses _Generic, and C++ finds a function
// that belongs to the tracker's type. So the address of each function is that of nrt_async.h, and a
// C++ program may define or wrap functions of these names and form. With overloads that every call
// sees, decltype(&nrta_tensor_write) or std::bind(nrta_tensor_write, ...) would be ambiguous.
//
// The macros do not recognise a call in another form that has such commas. Parentheses around the
// argument help; C++ does not need them in an unqualified call with a tracker. A C program that has
// members named nrta_execute_schedule or nrta_cc_schedule must choose 229 (or 228).
#ifndef NRT_DETAIL_ASYNC_FORMS_H
#define NRT_DETAIL_ASYNC_FORMS_H

#include "nrt/detail/forms.h"
#include "nrt/detail/sequence_of_queue_0.h"
#include "nrt/nrt_async.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

// With a status, without the core.
NRT_STATUS nrta_doc_tensor_read(void* buf, nrt_tensor_t* tensor, uint64_t offset, uint64_t size,
                                int queue, NRT_STATUS* ret, nrta_seq_t* req_sequence);
NRT_STATUS nrta_doc_tensor_write(nrt_tensor_t* tensor, const void* buf, uint64_t offset,
                                 uint64_t size, int queue, NRT_STATUS* ret,
                                 nrta_seq_t* req_sequence);
NRT_STATUS nrta_doc_tensor_copy(nrt_tensor_t* src, uint64_t src_offset, nrt_tensor_t* dst,
                                uint64_t dst_offset, uint64_t size, int queue, NRT_STATUS* ret,
                                nrta_seq_t* req_sequence);

// With a tracker, without the core.
NRT_STATUS nrta_tracker_tensor_read(void* buf, nrt_tensor_t* tensor, uint64_t offset, uint64_t size,
                                    int queue, nrta_error_tracker_t* error_tracker,
                                    nrta_seq_t* req_sequence);
NRT_STATUS nrta_tracker_tensor_write(nrt_tensor_t* tensor, const void* buf, uint64_t offset,
                                     uint64_t size, int queue, nrta_error_tracker_t* error_tracker,
                                     nrta_seq_t* req_sequence);
NRT_STATUS nrta_tracker_tensor_copy(nrt_tensor_t* src, uint64_t src_offset, nrt_tensor_t* dst,
                                    uint64_t dst_offset, uint64_t size, int queue,
                                    nrta_error_tracker_t* error_tracker, nrta_seq_t* req_sequence);
NRT_STATUS nrta_tracker_execute_schedule(nrt_model_t* model, const nrt_tensor_set_t* input,
                                         nrt_tensor_set_t* output, int queue,
                                         nrta_error_tracker_t* error_tracker,
                                         nrta_seq_t* req_sequence);
NRT_STATUS nrta_tracker_cc_schedule(nrt_cc_context_t** cc_ctx, int queue,
                                    nrta_error_tracker_t* error_tracker, nrta_seq_t* req_sequence);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#ifdef __cplusplus
#include "nrt/detail/async_forms_cxx.h"
#else
#include "nrt/detail/async_forms_c.h"
#endif

// A transfer has seven arguments (a copy eight) if the core is not given.
#define NRTA_DETAIL_READ_OF_7() ~, NRTA_DETAIL_TENSOR_READ
#define NRTA_DETAIL_WRITE_OF_7() ~, NRTA_DETAIL_TENSOR_WRITE
#define NRTA_DETAIL_COPY_OF_8() ~, NRTA_DETAIL_TENSOR_COPY
#define nrta_tensor_read(...)                                                               \
  NRT_DETAIL_FORM(NRT_DETAIL_ARG8(__VA_ARGS__, NRTA_DETAIL_READ_OF_7, ~, ~, ~, ~, ~, ~, ~), \
                  nrta_tensor_read)                                                         \
  (__VA_ARGS__)
#define nrta_tensor_write(...)                                                               \
  NRT_DETAIL_FORM(NRT_DETAIL_ARG8(__VA_ARGS__, NRTA_DETAIL_WRITE_OF_7, ~, ~, ~, ~, ~, ~, ~), \
                  nrta_tensor_write)                                                         \
  (__VA_ARGS__)
#define nrta_tensor_copy(...)                                                                  \
  NRT_DETAIL_FORM(NRT_DETAIL_ARG9(__VA_ARGS__, NRTA_DETAIL_COPY_OF_8, ~, ~, ~, ~, ~, ~, ~, ~), \
                  nrta_tensor_copy)                                                            \
  (__VA_ARGS__)

#endif  // NRT_DETAIL_ASYNC_FORMS_H
