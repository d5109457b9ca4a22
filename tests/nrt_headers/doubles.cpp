#include "tests/nrt_headers/doubles.h"

#include <string>

#include "tests/nrt_headers/call_log.h"

#define NRT_ASYNC_API_VERSION 229
#include <nrt/nrt_async.h>

alignas(8) char the_ret[4];
alignas(8) char the_tracker[8];
alignas(8) char the_object[8];

namespace millrace::test {

std::vector<std::string>& call_log() {
  static std::vector<std::string> log;
  return log;
}

namespace {

NRT_STATUS note(const std::string& call, const void* status, int queue) {
  const char* result = status == the_ret ? "ret" : status == the_tracker ? "tracker" : "nothing";
  call_log().push_back(call + " queue " + std::to_string(queue) + ", " + result);
  return NRT_SUCCESS;
}

std::string with_core(const std::string& call, int lnc_idx) {
  return call + " core " + std::to_string(lnc_idx);
}

NRT_STATUS note_sequence(const std::string& call, uint32_t lnc, int xu, int queue) {
  call_log().push_back(call + " core " + std::to_string(lnc) + " unit " + std::to_string(xu) +
                       " queue " + std::to_string(queue));
  return NRT_SUCCESS;
}

}  // namespace
}  // namespace millrace::test

using namespace millrace::test;

extern "C" {

NRT_STATUS nrta_tensor_read(void*, nrt_tensor_t*, uint64_t, uint64_t, int lnc_idx, int queue,
                            NRT_STATUS* ret, nrta_seq_t*) {
  return note(with_core("tensor_read", lnc_idx), ret, queue);
}
NRT_STATUS nrta_tensor_write(nrt_tensor_t*, const void*, uint64_t, uint64_t, int lnc_idx, int queue,
                             NRT_STATUS* ret, nrta_seq_t*) {
  return note(with_core("tensor_write", lnc_idx), ret, queue);
}
NRT_STATUS nrta_tensor_copy(nrt_tensor_t*, uint64_t, nrt_tensor_t*, uint64_t, uint64_t, int lnc_idx,
                            int queue, NRT_STATUS* ret, nrta_seq_t*) {
  return note(with_core("tensor_copy", lnc_idx), ret, queue);
}
NRT_STATUS nrta_execute_schedule(nrt_model_t*, const nrt_tensor_set_t*, nrt_tensor_set_t*,
                                 int queue, NRT_STATUS* ret, nrta_seq_t*) {
  return note("execute_schedule", ret, queue);
}
NRT_STATUS nrta_cc_schedule(nrt_cc_context_t**, int queue, NRT_STATUS* ret, nrta_seq_t*) {
  return note("cc_schedule", ret, queue);
}
NRT_STATUS nrta_get_sequence(uint32_t lnc, nrta_xu_t xu, int queue, nrta_seq_t*) {
  return note_sequence("get_sequence", lnc, xu, queue);
}
NRT_STATUS nrta_v2_get_sequence(uint32_t lnc, int xu, int queue, nrta_seq_t*);
NRT_STATUS nrta_v2_get_sequence(uint32_t lnc, int xu, int queue, nrta_seq_t*) {
  return note_sequence("v2_get_sequence", lnc, xu, queue);
}
NRT_STATUS(nrt_tensor_read_batch)(const nrt_tensor_batch_t*, uint64_t num_batches) {
  call_log().push_back("tensor_read_batch " + std::to_string(num_batches));
  return NRT_SUCCESS;
}
NRT_STATUS(nrt_tensor_write_batch)(const nrt_tensor_batch_t*, uint64_t num_batches) {
  call_log().push_back("tensor_write_batch " + std::to_string(num_batches));
  return NRT_SUCCESS;
}

// The transfers without a core, and all calls with a tracker.
#define WITHOUT_CORE(family)                                                                  \
  NRT_STATUS nrta_##family##_tensor_read(void*, nrt_tensor_t*, uint64_t, uint64_t, int queue, \
                                         void* status, nrta_seq_t*) {                         \
    return note(#family "_tensor_read", status, queue);                                       \
  }                                                                                           \
  NRT_STATUS nrta_##family##_tensor_write(nrt_tensor_t*, const void*, uint64_t, uint64_t,     \
                                          int queue, void* status, nrta_seq_t*) {             \
    return note(#family "_tensor_write", status, queue);                                      \
  }                                                                                           \
  NRT_STATUS nrta_##family##_tensor_copy(nrt_tensor_t*, uint64_t, nrt_tensor_t*, uint64_t,    \
                                         uint64_t, int queue, void* status, nrta_seq_t*) {    \
    return note(#family "_tensor_copy", status, queue);                                       \
  }
#define WITH_TRACKER(family)                                                              \
  NRT_STATUS nrta_##family##_execute_schedule(nrt_model_t*, const nrt_tensor_set_t*,      \
                                              nrt_tensor_set_t*, int queue, void* status, \
                                              nrta_seq_t*) {                              \
    return note(#family "_execute_schedule", status, queue);                              \
  }                                                                                       \
  NRT_STATUS nrta_##family##_cc_schedule(nrt_cc_context_t**, int queue, void* status,     \
                                         nrta_seq_t*) {                                   \
    return note(#family "_cc_schedule", status, queue);                                   \
  }
WITHOUT_CORE(doc)
WITHOUT_CORE(tracker)
WITH_TRACKER(tracker)
WITHOUT_CORE(v2)
WITH_TRACKER(v2)

}  // extern "C"
