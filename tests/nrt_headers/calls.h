/* Programs of both documentation styles in one file, which C and C++ compile: the body of
   calls_of_c and of calls_of_cxx. */
#include <nrt/nrt_async.h>
#include <stddef.h>

#include "tests/nrt_headers/doubles.h"

static void make_calls(void) {
  NRT_STATUS* ret = (NRT_STATUS*)(void*)the_ret;
  nrta_error_tracker_t* tracker = (nrta_error_tracker_t*)(void*)the_tracker;
  nrt_tensor_t* tensor = (nrt_tensor_t*)(void*)the_object;
  nrt_model_t* model = (nrt_model_t*)(void*)the_object;
  nrt_cc_context_t* context = (nrt_cc_context_t*)(void*)the_object;
  nrt_tensor_set_t* set = the_object;
  nrt_tensor_batch_t batches[1] = {{tensor, NULL, 0}};
  nrta_seq_t seq;
  float buf[4] = {0, 0, 0, 0};

  nrta_tensor_read(buf, tensor, 0, sizeof buf, 3, 1, ret, &seq);
  nrta_tensor_write(tensor, buf, 0, sizeof buf, 3, 1, ret, &seq);
  nrta_tensor_copy(tensor, 0, tensor, 0, 4, 3, 1, ret, &seq);
  nrta_execute_schedule(model, set, set, 0, ret, &seq);
  nrta_cc_schedule(&context, 0, ret, &seq);

  nrta_tensor_read(buf, tensor, 0, sizeof buf, 1, ret, &seq);
  nrta_tensor_write(tensor, buf, 0, sizeof buf, 1, ret, &seq);
  nrta_tensor_copy(tensor, 0, tensor, 0, 4, 1, ret, &seq);

  nrta_tensor_read(buf, tensor, 0, sizeof buf, 1, tracker, &seq);
  nrta_tensor_write(tensor, buf, 0, sizeof buf, 1, tracker, &seq);
  nrta_tensor_copy(tensor, 0, tensor, 0, 4, 1, tracker, &seq);
  nrta_execute_schedule(model, set, set, 0, tracker, &seq);
  nrta_cc_schedule(&context, 0, tracker, &seq);

  nrta_tensor_read(buf, tensor, 0, sizeof buf, 3, 1, NULL, NULL);
  nrta_tensor_read(buf, tensor, 0, sizeof buf, 1, NULL, NULL);
  nrta_tensor_write(tensor, buf, 0, sizeof buf, 1, 0, &seq);
  nrta_tensor_copy(tensor, 0, tensor, 0, 4, 1, NULL, &seq);
  nrta_execute_schedule(model, set, set, 0, NULL, &seq);
  nrta_execute_schedule(model, set, set, 0, 0, &seq);
  nrta_cc_schedule(&context, 0, NULL, NULL);

  nrta_get_sequence(2, NRTA_XU_COMPUTE, 0, &seq);
  nrta_get_sequence(2, NRTA_XU_TENSOR_OP, 1, &seq);
  nrta_get_sequence(2, NRTA_XU_COMPUTE, &seq);
  nrta_get_sequence(2, NRTA_XU_TENSOR_READ, &seq);

  nrt_tensor_read_batch(batches, 1);
  nrt_tensor_read_batch(batches, 1, true);
  nrt_tensor_write_batch(batches, 1);
  nrt_tensor_write_batch(batches, 1, false);

  /* Pointers to functions, and names in parentheses, are the functions themselves. */
  NRT_STATUS (*function)(uint32_t, nrta_xu_t, int, nrta_seq_t*) = &nrta_get_sequence;
  function(2, NRTA_XU_COLLECTIVES, 1, &seq);
  (nrta_execute_schedule)(model, set, set, 0, ret, &seq);
}
