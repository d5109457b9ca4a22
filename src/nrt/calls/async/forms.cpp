// The explicit asynchronous calls (nrta_*) in all published signatures of the current SDK, each of
// which forwards to schedule.h; forms_v2.cpp has those of SDK 2.28. Also nrta_cc_prepare, which
// prepares a collective for nrta_cc_schedule.
//
// The macros of the public header select a signature, so names in parentheses suppress them here.
#include <fmt/format.h>

#include "nrt/calls/async/schedule.h"
#include "nrt/calls/call.h"
#include "nrt/calls/rank_call.h"
#include "nrt/nrt_async.h"

using namespace millrace::nrt;

extern "C" {

// The current signatures: the status goes to `ret`, and transfers name the core that runs them.

NRT_STATUS(nrta_tensor_read)
(void* buf, nrt_tensor_t* tensor, uint64_t offset, uint64_t size, int lnc_idx, int queue,
 NRT_STATUS* ret, nrta_seq_t* req_sequence) {
  return schedule_read({"nrta_tensor_read", UnitKind::kOp, lnc_idx, queue, req_sequence}, buf,
                       tensor, offset, size, to(ret));
}
NRT_STATUS(nrta_tensor_write)
(nrt_tensor_t* tensor, const void* buf, uint64_t offset, uint64_t size, int lnc_idx, int queue,
 NRT_STATUS* ret, nrta_seq_t* req_sequence) {
  return schedule_write({"nrta_tensor_write", UnitKind::kOp, lnc_idx, queue, req_sequence}, tensor,
                        buf, offset, size, to(ret));
}
NRT_STATUS(nrta_tensor_copy)
(nrt_tensor_t* src, uint64_t src_offset, nrt_tensor_t* dst, uint64_t dst_offset, uint64_t size,
 int lnc_idx, int queue, NRT_STATUS* ret, nrta_seq_t* req_sequence) {
  return schedule_copy({"nrta_tensor_copy", UnitKind::kOp, lnc_idx, queue, req_sequence}, src,
                       src_offset, dst, dst_offset, size, to(ret));
}
NRT_STATUS(nrta_execute_schedule)
(nrt_model_t* model, const nrt_tensor_set_t* input, nrt_tensor_set_t* output, int queue,
 NRT_STATUS* ret, nrta_seq_t* req_sequence) {
  return schedule_execution(
      {"nrta_execute_schedule", UnitKind::kCompute, kCoreOfObject, queue, req_sequence}, model,
      input, output, to(ret));
}
NRT_STATUS(nrta_cc_schedule)
(nrt_cc_context_t** cc_ctx, int queue, NRT_STATUS* ret, nrta_seq_t* req_sequence) {
  return schedule_collective(
      {"nrta_cc_schedule", UnitKind::kCollectives, kCoreOfObject, queue, req_sequence}, cc_ctx,
      to(ret));
}

// Signatures with a status pointer and no core: the request runs on the core of the tensor.

NRT_STATUS nrta_doc_tensor_read(void* buf, nrt_tensor_t* tensor, uint64_t offset, uint64_t size,
                                int queue, NRT_STATUS* ret, nrta_seq_t* req_sequence) {
  return schedule_read({"nrta_tensor_read", UnitKind::kOp, kCoreOfObject, queue, req_sequence}, buf,
                       tensor, offset, size, to(ret));
}
NRT_STATUS nrta_doc_tensor_write(nrt_tensor_t* tensor, const void* buf, uint64_t offset,
                                 uint64_t size, int queue, NRT_STATUS* ret,
                                 nrta_seq_t* req_sequence) {
  return schedule_write({"nrta_tensor_write", UnitKind::kOp, kCoreOfObject, queue, req_sequence},
                        tensor, buf, offset, size, to(ret));
}
NRT_STATUS nrta_doc_tensor_copy(nrt_tensor_t* src, uint64_t src_offset, nrt_tensor_t* dst,
                                uint64_t dst_offset, uint64_t size, int queue, NRT_STATUS* ret,
                                nrta_seq_t* req_sequence) {
  return schedule_copy({"nrta_tensor_copy", UnitKind::kOp, kCoreOfObject, queue, req_sequence}, src,
                       src_offset, dst, dst_offset, size, to(ret));
}

// Signatures with an error tracker instead of a status pointer, with the current kinds of units.

NRT_STATUS nrta_tracker_tensor_read(void* buf, nrt_tensor_t* tensor, uint64_t offset, uint64_t size,
                                    int queue, nrta_error_tracker_t* error_tracker,
                                    nrta_seq_t* req_sequence) {
  return schedule_read({"nrta_tensor_read", UnitKind::kOp, kCoreOfObject, queue, req_sequence}, buf,
                       tensor, offset, size, to(error_tracker));
}
NRT_STATUS nrta_tracker_tensor_write(nrt_tensor_t* tensor, const void* buf, uint64_t offset,
                                     uint64_t size, int queue, nrta_error_tracker_t* error_tracker,
                                     nrta_seq_t* req_sequence) {
  return schedule_write({"nrta_tensor_write", UnitKind::kOp, kCoreOfObject, queue, req_sequence},
                        tensor, buf, offset, size, to(error_tracker));
}
NRT_STATUS nrta_tracker_tensor_copy(nrt_tensor_t* src, uint64_t src_offset, nrt_tensor_t* dst,
                                    uint64_t dst_offset, uint64_t size, int queue,
                                    nrta_error_tracker_t* error_tracker, nrta_seq_t* req_sequence) {
  return schedule_copy({"nrta_tensor_copy", UnitKind::kOp, kCoreOfObject, queue, req_sequence}, src,
                       src_offset, dst, dst_offset, size, to(error_tracker));
}
NRT_STATUS nrta_tracker_execute_schedule(nrt_model_t* model, const nrt_tensor_set_t* input,
                                         nrt_tensor_set_t* output, int queue,
                                         nrta_error_tracker_t* error_tracker,
                                         nrta_seq_t* req_sequence) {
  return schedule_execution(
      {"nrta_execute_schedule", UnitKind::kCompute, kCoreOfObject, queue, req_sequence}, model,
      input, output, to(error_tracker));
}
NRT_STATUS nrta_tracker_cc_schedule(nrt_cc_context_t** cc_ctx, int queue,
                                    nrta_error_tracker_t* error_tracker, nrta_seq_t* req_sequence) {
  return schedule_collective(
      {"nrta_cc_schedule", UnitKind::kCollectives, kCoreOfObject, queue, req_sequence}, cc_ctx,
      to(error_tracker));
}

NRT_STATUS nrta_cc_prepare(nrt_cc_comm_t* comm, nrt_tensor_list_t* input, nrt_tensor_list_t* output,
                           nrt_dtype_t dtype, nrt_op_type_t op, nrt_cc_op_type_t cc_op,
                           nrt_cc_context_t** cc_ctx) {
  constexpr const char* kCall = "nrta_cc_prepare";
  return with_runtime(kCall, [&](Runtime& runtime) {
    if (comm == nullptr || input == nullptr || output == nullptr || cc_ctx == nullptr)
      return report(kCall, NRT_INVALID, "an argument is null");
    if (const millrace::Status core = runtime.check_core(comm->vnc); !core.ok())
      return report(kCall, core);
    const Operation operation{cc_op, op, dtype};
    // Checked first, since the search for the group blocks until the other ranks have come.
    if (const millrace::Status checked = Collective::check(operation); !checked.ok())
      return report(kCall, checked);
    std::shared_ptr<RankGroup> group;
    if (const NRT_STATUS found = find_group(kCall, runtime, *comm, group); found != NRT_SUCCESS)
      return found;
    millrace::Result<std::shared_ptr<Collective>> made =
        Collective::prepare(*comm, *input, *output, operation, std::move(group));
    if (!made.ok()) return report(kCall, made.status());
    *cc_ctx = CollectiveHandles::of_process().make(*std::move(made));
    return NRT_SUCCESS;
  });
}

}  // extern "C"
