// A C++ test suite that replaces the library by doubles, with all forms in sight.
#include <nrt/nrt_async.h>

struct Runtime {
  virtual ~Runtime() = default;
  virtual NRT_STATUS nrta_tensor_read(void* buf, nrt_tensor_t* tensor, uint64_t offset,
                                      uint64_t size, int lnc_idx, int queue, NRT_STATUS* ret,
                                      nrta_seq_t* req_sequence) = 0;
  virtual NRT_STATUS nrta_execute_schedule(nrt_model_t* model, const nrt_tensor_set_t* input,
                                           nrt_tensor_set_t* output, int queue, NRT_STATUS* ret,
                                           nrta_seq_t* req_sequence) = 0;
  virtual NRT_STATUS nrt_tensor_write_batch(const nrt_tensor_batch_t* batches,
                                            uint64_t num_batches) = 0;
  virtual NRT_STATUS nrta_get_sequence(uint32_t lnc, nrta_xu_t xu, int queue, nrta_seq_t* seq) = 0;
};
Runtime* runtime = nullptr;

extern "C" NRT_STATUS nrta_tensor_read(void* buf, nrt_tensor_t* tensor, uint64_t offset,
                                       uint64_t size, int lnc_idx, int queue, NRT_STATUS* ret,
                                       nrta_seq_t* req_sequence) {
  return runtime->nrta_tensor_read(buf, tensor, offset, size, lnc_idx, queue, ret, req_sequence);
}

extern "C" NRT_STATUS nrta_execute_schedule(nrt_model_t* model, const nrt_tensor_set_t* input,
                                            nrt_tensor_set_t* output, int queue, NRT_STATUS* ret,
                                            nrta_seq_t* req_sequence) {
  return runtime->nrta_execute_schedule(model, input, output, queue, ret, req_sequence);
}

NRT_STATUS nrta_get_sequence(uint32_t lnc, nrta_xu_t xu, int queue, nrta_seq_t* seq) {
  return runtime->nrta_get_sequence(lnc, xu, queue, seq);
}

NRT_STATUS nrt_tensor_write_batch(const nrt_tensor_batch_t* batches, uint64_t num_batches) {
  return runtime->nrt_tensor_write_batch(batches, num_batches);
}
