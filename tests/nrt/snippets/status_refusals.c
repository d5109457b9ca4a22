/* What a schedule call refuses leaves no trace: no id, no status. With status pointers, for all
   forms and for the form of 2.29. */
#include <sys/eventfd.h>

#include "tests/nrt/snippets/snippet.h"

int main(int argc, char** argv) {
  struct program program = start(argc, argv);
  NRT_STATUS ret = NRT_EXEC_OOB;
  nrta_seq_t seq = 77;
  REQUIRE(nrta_execute_schedule(program.model, program.inputs, program.outputs, 1, &ret, &seq) ==
          NRT_INVALID);
  REQUIRE(nrta_execute_schedule(program.model, program.outputs, program.outputs, 0, &ret, &seq) ==
          NRT_INVALID);
  REQUIRE(nrta_tensor_read(program.y.data, program.output, 1, program.y.size, 0, 0, &ret, &seq) ==
          NRT_INVALID);
  REQUIRE(nrta_tensor_write(program.input, program.x.data, 0, 4, 1000, 0, &ret, &seq) ==
          NRT_INVALID);
  REQUIRE(nrta_tensor_copy(program.input, 0, program.output, 0, 4, 0, 2, &ret, &seq) ==
          NRT_INVALID);
  REQUIRE(ret == NRT_EXEC_OOB && seq == 77);

  nrta_seq_t last = 1;
  SUCCEEDS(nrta_get_sequence(0, NRTA_XU_TENSOR_OP, 0, &last));
  REQUIRE(NRTA_SEQ_GET_SEQ_NUM(last) == 0);
  REQUIRE(nrta_get_sequence(0, NRTA_XU_TYPE_NUM, 0, &seq) == NRT_INVALID);
  REQUIRE(nrta_get_sequence(0, NRTA_XU_COMPUTE, 1, &seq) == NRT_INVALID);
  REQUIRE(nrta_get_sequence(1000, NRTA_XU_COMPUTE, 0, &seq) == NRT_INVALID && seq == 77);

  bool completed = true;
  REQUIRE(nrta_is_completed(last + 1, &completed) == NRT_INVALID && !completed);
  const int fd = eventfd(0, 0);
  REQUIRE(nrta_event_register_seq_id_completion(last + 1, fd) == NRT_INVALID);
  REQUIRE(nrta_event_register_xu_completion(0, NRTA_XU_COMPUTE, 1, fd) == NRT_INVALID);
  close(fd);
  return finish(&program);
}
