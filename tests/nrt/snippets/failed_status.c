/* The device fails under a request. Its unit is degraded until the runtime starts again, which is
   what the program does. With status pointers. */
#include "tests/nrt/snippets/snippet.h"

static void execute(struct program* program, NRT_STATUS* ret) {
  nrta_seq_t seq = 0, completed = 0;
  SUCCEEDS(nrta_execute_schedule(program->model, program->inputs, program->outputs, 0, ret, &seq));
  while (completed < seq) SUCCEEDS(nrta_get_sequence(0, NRTA_XU_COMPUTE, 0, &completed));
}

int main(int argc, char** argv) {
  REQUIRE(setenv("MILLRACE_DEVICE", "faulty-cpu", 1) == 0);
  REQUIRE(setenv("MILLRACE_FAULTS", "fail=2", 1) == 0);
  struct program program = start(argc, argv);
  NRT_STATUS ret = NRT_FAILURE;
  nrta_seq_t seq = 77;
  execute(&program, &ret);
  REQUIRE(ret == NRT_SUCCESS);
  execute(&program, &ret);
  REQUIRE(ret == NRT_HW_ERROR);

  REQUIRE(nrta_execute_schedule(program.model, program.inputs, program.outputs, 0, &ret, &seq) ==
          NRT_EXEC_UNIT_UNRECOVERABLE);
  REQUIRE(ret == NRT_HW_ERROR && seq == 77);
  REQUIRE(nrt_execute(program.model, program.inputs, program.outputs) ==
          NRT_EXEC_UNIT_UNRECOVERABLE);

  /* Other units of the core work on. */
  SUCCEEDS(nrta_tensor_write(program.input, program.x.data, 0, program.x.size, 0, 0, &ret, &seq));
  nrta_seq_t completed = 0;
  while (completed < seq) SUCCEEDS(nrta_get_sequence(0, NRTA_XU_TENSOR_OP, 0, &completed));
  REQUIRE(ret == NRT_SUCCESS);
  REQUIRE(finish(&program) == 0);

  program = start(argc, argv);
  SUCCEEDS(nrt_tensor_write(program.input, program.x.data, 0, program.x.size));
  execute(&program, &ret);
  REQUIRE(ret == NRT_SUCCESS);
  SUCCEEDS(nrt_tensor_read(program.output, program.y.data, 0, program.y.size));
  require_expected(&program);
  return finish(&program);
}
