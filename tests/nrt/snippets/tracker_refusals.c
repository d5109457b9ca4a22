/* What a schedule call refuses leaves no trace: no id, nothing in the tracker. With error trackers,
   for all forms and for the form of 2.28. */
#include "tests/nrt/snippets/snippet.h"

int main(int argc, char** argv) {
  struct program program = start(argc, argv);
  nrta_error_tracker_t* tracker = NULL;
  REQUIRE(nrta_error_tracker_create(1000, &tracker) == NRT_INVALID && tracker == NULL);
  SUCCEEDS(nrta_error_tracker_create(0, &tracker));

  nrta_seq_t seq = 77;
  REQUIRE(nrta_execute_schedule(program.model, program.inputs, program.outputs, 1, tracker, &seq) ==
          NRT_INVALID);
  REQUIRE(nrta_execute_schedule(program.model, program.outputs, program.outputs, 0, tracker,
                                &seq) == NRT_INVALID);
  REQUIRE(nrta_tensor_read(program.y.data, program.output, 1, program.y.size, 0, tracker, &seq) ==
          NRT_INVALID);
  REQUIRE(nrta_tensor_write(program.input, program.x.data, 0, program.x.size + 1, 0, tracker,
                            &seq) == NRT_INVALID);
  REQUIRE(nrta_tensor_copy(program.input, 0, program.output, 0, 4, -1, tracker, &seq) ==
          NRT_INVALID);
  REQUIRE(nrta_tensor_copy(program.input, 0, program.output, 0, 4, 2, tracker, &seq) ==
          NRT_INVALID);
  REQUIRE(seq == 77);

  nrta_seq_t last = 1;
  SUCCEEDS(nrta_get_sequence(0, NRTA_XU_COMPUTE, &last));
  REQUIRE(NRTA_SEQ_GET_SEQ_NUM(last) == 0);
  bool completed = true;
  REQUIRE(nrta_is_completed(last + 1, &completed) == NRT_INVALID && !completed);
  int handle = -7;
  REQUIRE(nrta_get_completion_handle(last + 1, &handle) == NRT_INVALID && handle == -7);

  const nrta_error_t* list = NULL;
  size_t count = 1;
  SUCCEEDS(nrta_error_tracker_get_list(tracker, &list, &count));
  REQUIRE(count == 0);
  nrta_error_tracker_destroy(tracker);
  nrta_error_tracker_destroy(NULL);
  return finish(&program);
}
