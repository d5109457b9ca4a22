/* The collectives of one rank: each is a copy. Both styles. */
#include "tests/nrt/snippets/snippet.h"

static nrt_cc_context_t* prepare(nrt_tensor_t** from, nrt_tensor_t** to) {
  uint32_t group[1] = {0};
  nrt_cc_comm_t comm;
  memset(&comm, 0, sizeof comm);
  comm.replica_group = group;
  comm.rank_n = 1;
  comm.ctx_device_count = 1;
  nrt_tensor_list_t input = {from, 1}, output = {to, 1};
  nrt_cc_context_t* context = NULL;
  SUCCEEDS(nrta_cc_prepare(&comm, &input, &output, NRT_DTYPE_FLOAT32, NRT_OP_ADD, NRT_CC_ALLGATHER,
                           &context));
  REQUIRE(context != NULL);
  return context;
}

static void wait_until(nrta_seq_t seq) {
  nrta_seq_t completed = 0;
  while (completed < seq) SUCCEEDS(nrta_get_sequence(0, NRTA_XU_COLLECTIVES, 0, &completed));
}

int main(int argc, char** argv) {
  struct program program = start(argc, argv);
  nrt_tensor_t* copy = NULL;
  SUCCEEDS(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, program.x.size, "copy", &copy));
  SUCCEEDS(nrt_tensor_write(program.input, program.x.data, 0, program.x.size));

  nrt_cc_context_t* context = prepare(&program.input, &copy);
  nrta_seq_t seq = 0, next = 0;
#if NRT_ASYNC_API_VERSION != 228
  NRT_STATUS ret = NRT_FAILURE;
  SUCCEEDS(nrta_cc_schedule(&context, 0, &ret, &seq));
  REQUIRE(context == NULL);
  wait_until(seq);
  REQUIRE(ret == NRT_SUCCESS);
  memset(program.y.data, 0, program.x.size);
  SUCCEEDS(nrt_tensor_read(copy, program.y.data, 0, program.x.size));
  REQUIRE(memcmp(program.y.data, program.x.data, program.x.size) == 0);
  context = prepare(&copy, &copy);
#endif
#if NRT_ASYNC_API_VERSION != 229
  nrta_error_tracker_t* tracker = NULL;
  SUCCEEDS(nrta_error_tracker_create(0, &tracker));
  SUCCEEDS(nrta_cc_schedule(&context, 0, tracker, &next));
  wait_until(next);
  const nrta_error_t* list = NULL;
  size_t count = 1;
  SUCCEEDS(nrta_error_tracker_get_list(tracker, &list, &count));
  REQUIRE(count == 0 && next > seq);
  nrta_error_tracker_destroy(tracker);
#else
  SUCCEEDS(nrta_cc_schedule(&context, 0, NULL, &next));
  wait_until(next);
#endif
  SUCCEEDS(nrt_tensor_read(copy, program.y.data, 0, program.x.size));
  REQUIRE(memcmp(program.y.data, program.x.data, program.x.size) == 0);
  nrt_tensor_free(&copy);
  return finish(&program);
}
