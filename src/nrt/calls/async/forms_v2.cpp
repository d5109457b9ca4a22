// The asynchronous calls with the signatures of SDK 2.28: failures go to an error tracker, a
// transfer runs on the core of its tensor, and reads, writes and copies have separate units.
//
// Programs built against that SDK reference the published names at the version node NRT_2.0.0, to
// which the .symver directives below bind these functions. Sources that are compiled today against
// the 2.28 interface call the nrta_v2_ names.
#include "nrt/calls/async/poll.h"
#include "nrt/calls/async/schedule.h"
#include "nrt/calls/call.h"
#include "nrt/nrt_async.h"

#define MILLRACE_AS_OF_228(own_name, published_name) \
  __asm__(".symver " #own_name ", " #published_name "@NRT_2.0.0")

#pragma GCC visibility push(default)

using namespace millrace::nrt;

extern "C" {

NRT_STATUS nrta_v2_tensor_read(void* buf, nrt_tensor_t* tensor, uint64_t offset, uint64_t size,
                               int queue, nrta_error_tracker_t* error_tracker,
                               nrta_seq_t* req_sequence) {
  return schedule_read({"nrta_tensor_read", UnitKind::kRead, kCoreOfObject, queue, req_sequence},
                       buf, tensor, offset, size, to(error_tracker));
}
MILLRACE_AS_OF_228(nrta_v2_tensor_read, nrta_tensor_read);

NRT_STATUS nrta_v2_tensor_write(nrt_tensor_t* tensor, const void* buf, uint64_t offset,
                                uint64_t size, int queue, nrta_error_tracker_t* error_tracker,
                                nrta_seq_t* req_sequence) {
  return schedule_write({"nrta_tensor_write", UnitKind::kWrite, kCoreOfObject, queue, req_sequence},
                        tensor, buf, offset, size, to(error_tracker));
}
MILLRACE_AS_OF_228(nrta_v2_tensor_write, nrta_tensor_write);

NRT_STATUS nrta_v2_tensor_copy(nrt_tensor_t* src, uint64_t src_offset, nrt_tensor_t* dst,
                               uint64_t dst_offset, uint64_t size, int queue,
                               nrta_error_tracker_t* error_tracker, nrta_seq_t* req_sequence) {
  return schedule_copy({"nrta_tensor_copy", UnitKind::kOp, kCoreOfObject, queue, req_sequence}, src,
                       src_offset, dst, dst_offset, size, to(error_tracker));
}
MILLRACE_AS_OF_228(nrta_v2_tensor_copy, nrta_tensor_copy);

NRT_STATUS nrta_v2_execute_schedule(nrt_model_t* model, const nrt_tensor_set_t* input,
                                    nrt_tensor_set_t* output, int queue,
                                    nrta_error_tracker_t* error_tracker, nrta_seq_t* req_sequence) {
  return nrta_tracker_execute_schedule(model, input, output, queue, error_tracker, req_sequence);
}
MILLRACE_AS_OF_228(nrta_v2_execute_schedule, nrta_execute_schedule);

NRT_STATUS nrta_v2_cc_schedule(nrt_cc_context_t** cc_ctx, int queue,
                               nrta_error_tracker_t* error_tracker, nrta_seq_t* req_sequence) {
  return nrta_tracker_cc_schedule(cc_ctx, queue, error_tracker, req_sequence);
}
MILLRACE_AS_OF_228(nrta_v2_cc_schedule, nrta_cc_schedule);

NRT_STATUS nrta_v2_get_sequence(uint32_t lnc, int xu, int queue, nrta_seq_t* seq) {
  return last_completed(kKindsOf228, lnc, static_cast<uint32_t>(xu), queue, seq);
}
MILLRACE_AS_OF_228(nrta_v2_get_sequence, nrta_get_sequence);

// Two calls whose signatures have not changed are exported at both version nodes.

NRT_STATUS nrta_v2_is_completed(nrta_seq_t seq, bool* is_completed) {
  return nrta_is_completed(seq, is_completed);
}
MILLRACE_AS_OF_228(nrta_v2_is_completed, nrta_is_completed);

NRT_STATUS nrta_v2_cc_prepare(nrt_cc_comm_t* comm, nrt_tensor_list_t* input,
                              nrt_tensor_list_t* output, nrt_dtype_t dtype, nrt_op_type_t op,
                              nrt_cc_op_type_t cc_op, nrt_cc_context_t** cc_ctx) {
  return nrta_cc_prepare(comm, input, output, dtype, op, cc_op, cc_ctx);
}
MILLRACE_AS_OF_228(nrta_v2_cc_prepare, nrta_cc_prepare);

}  // extern "C"
