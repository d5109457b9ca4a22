/* Submits faster than the unit runs: a call that is refused is repeated until it succeeds, and the
   accepted ones have consecutive ids. */
#include "tests/nrt/snippets/snippet.h"

enum { kRequests = 300 };

int main(int argc, char** argv) {
  REQUIRE(setenv("MILLRACE_NRT_COMPUTE_DEPTH", "1", 1) == 0);
  struct program program = start(argc, argv);
  SUCCEEDS(nrt_tensor_write(program.input, program.x.data, 0, program.x.size));
  NRT_STATUS rets[kRequests];
  nrta_seq_t first = 0, seq = 0, completed = 0;
  int refused = 0;
  for (int i = 0; i < kRequests; ++i) {
    rets[i] = NRT_FAILURE;
    for (;;) {
      const NRT_STATUS status =
          nrta_execute_schedule(program.model, program.inputs, program.outputs, 0, &rets[i], &seq);
      if (status == NRT_SUCCESS) break;
      REQUIRE(status == NRT_QUEUE_FULL);
      ++refused;
      usleep(1);
    }
    if (i == 0) first = seq;
    REQUIRE(seq == first + (nrta_seq_t)i);
  }
  while (completed < seq) SUCCEEDS(nrta_get_sequence(0, NRTA_XU_COMPUTE, 0, &completed));
  REQUIRE(completed == seq);
  for (int i = 0; i < kRequests; ++i) REQUIRE(rets[i] == NRT_SUCCESS);
  REQUIRE(refused > 0);
  SUCCEEDS(nrt_tensor_read(program.output, program.y.data, 0, program.y.size));
  require_expected(&program);
  return finish(&program);
}
