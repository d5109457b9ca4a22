#define NRT_ASYNC_API_VERSION 228
#include "tests/nrt/calls_v2.h"

#include "nrt/nrt_async.h"

NRT_STATUS v2_read(void* buffer, nrt_tensor_t* tensor, size_t bytes, int queue, void* tracker,
                   uint64_t* sequence) {
  return nrta_tensor_read(buffer, tensor, 0, bytes, queue, tracker, sequence);
}

NRT_STATUS v2_write(nrt_tensor_t* tensor, const void* buffer, size_t bytes, int queue,
                    void* tracker, uint64_t* sequence) {
  return nrta_tensor_write(tensor, buffer, 0, bytes, queue, tracker, sequence);
}

NRT_STATUS v2_copy(nrt_tensor_t* from, nrt_tensor_t* to, size_t bytes, int queue, void* tracker,
                   uint64_t* sequence) {
  return nrta_tensor_copy(from, 0, to, 0, bytes, queue, tracker, sequence);
}

NRT_STATUS v2_execute(nrt_model_t* model, const nrt_tensor_set_t* inputs, nrt_tensor_set_t* outputs,
                      void* tracker, uint64_t* sequence) {
  return nrta_execute_schedule(model, inputs, outputs, 0, tracker, sequence);
}

NRT_STATUS v2_last_completed(uint32_t core, enum v2_unit unit, int queue, uint64_t* sequence) {
  return nrta_get_sequence(core, (nrta_xu_t)unit, queue, sequence);
}
