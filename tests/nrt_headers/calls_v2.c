#define NRT_ASYNC_API_VERSION 228
#include <nrt/nrt_async.h>
#include <stddef.h>

#include "tests/nrt_headers/doubles.h"

void calls_of_v2(void) {
  nrta_error_tracker_t* tracker = (nrta_error_tracker_t*)(void*)the_tracker;
  nrt_tensor_t* tensor = (nrt_tensor_t*)(void*)the_object;
  nrt_model_t* model = (nrt_model_t*)(void*)the_object;
  nrt_cc_context_t* context = (nrt_cc_context_t*)(void*)the_object;
  nrt_tensor_set_t* set = the_object;
  nrta_seq_t seq;
  float buf[4] = {0, 0, 0, 0};

  nrta_tensor_read(buf, tensor, 0, sizeof buf, 1, tracker, &seq);
  nrta_tensor_write(tensor, buf, 0, sizeof buf, 1, tracker, &seq);
  nrta_tensor_copy(tensor, 0, tensor, 0, 4, 1, tracker, &seq);
  nrta_execute_schedule(model, set, set, 0, tracker, &seq);
  nrta_execute_schedule(model, set, set, 0, NULL, &seq);
  nrta_cc_schedule(&context, 0, tracker, &seq);
  nrta_get_sequence(2, NRTA_XU_COMPUTE, 0, &seq);
  nrta_get_sequence(2, NRTA_XU_TENSOR_WRITE, &seq);
}
