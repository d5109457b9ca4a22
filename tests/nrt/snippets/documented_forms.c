/* Both documentation styles in one program: a status pointer without a core, and next to it an
   error tracker, on the same units. */
#include "tests/nrt/snippets/snippet.h"

static void wait_until(nrta_xu_t xu, nrta_seq_t seq) {
  nrta_seq_t completed = 0;
  while (completed < seq) SUCCEEDS(nrta_get_sequence(0, xu, &completed));
}

int main(int argc, char** argv) {
  struct program program = start(argc, argv);
  nrta_error_tracker_t* tracker = NULL;
  SUCCEEDS(nrta_error_tracker_create(0, &tracker));
  NRT_STATUS ret = NRT_FAILURE;
  nrta_seq_t write = 0, rewrite = 0, execute = 0, repeat = 0, read = 0, copy = 0;

  SUCCEEDS(nrta_tensor_write(program.input, program.y.data, 0, 4, 0, tracker, &write));
  SUCCEEDS(nrta_tensor_write(program.input, program.x.data, 0, program.x.size, 0, &ret, &rewrite));
  REQUIRE(rewrite == write + 1);
  wait_until(NRTA_XU_TENSOR_OP, rewrite);
  REQUIRE(ret == NRT_SUCCESS);

  ret = NRT_FAILURE;
  SUCCEEDS(
      nrta_execute_schedule(program.model, program.inputs, program.outputs, 0, tracker, &execute));
  SUCCEEDS(nrta_execute_schedule(program.model, program.inputs, program.outputs, 0, &ret, &repeat));
  REQUIRE(repeat == execute + 1);
  wait_until(NRTA_XU_COMPUTE, repeat);
  REQUIRE(ret == NRT_SUCCESS);

  /* One unit runs in order: the read sees what the copy in front of it wrote. */
  ret = NRT_FAILURE;
  SUCCEEDS(
      nrta_tensor_copy(program.output, 0, program.output, program.y.size - 4, 4, 0, &ret, &copy));
  SUCCEEDS(nrta_tensor_read(program.y.data, program.output, 0, program.y.size, 0, NULL, &read));
  wait_until(NRTA_XU_TENSOR_OP, read);
  REQUIRE(ret == NRT_SUCCESS);
  memcpy(program.expected.data + program.y.size - 4, program.expected.data, 4);
  require_expected(&program);

  const nrta_error_t* list = NULL;
  size_t count = 1;
  SUCCEEDS(nrta_error_tracker_get_list(tracker, &list, &count));
  REQUIRE(count == 0);
  nrta_error_tracker_destroy(tracker);
  return finish(&program);
}
