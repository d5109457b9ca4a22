/* A request fails, and those behind it run: the tracker says which, and the program launches it
   again. With error trackers, for all forms and for the form of 2.28. */
#include "tests/nrt/snippets/snippet.h"

enum { kRequests = 4 };

int main(int argc, char** argv) {
  REQUIRE(setenv("MILLRACE_DEVICE", "faulty-cpu", 1) == 0);
  REQUIRE(setenv("MILLRACE_FAULTS", "fail=2,status=INTERNAL", 1) == 0);
  REQUIRE(setenv("MILLRACE_NRT_FAULT_STATUS", "NRT_EXEC_OOB", 1) == 0);
  struct program program = start(argc, argv);
  SUCCEEDS(nrt_tensor_write(program.input, program.x.data, 0, program.x.size));
  nrta_error_tracker_t* tracker = NULL;
  SUCCEEDS(nrta_error_tracker_create(0, &tracker));

  nrta_seq_t seqs[kRequests], completed = 0;
  for (int i = 0; i < kRequests; ++i)
    SUCCEEDS(nrta_execute_schedule(program.model, program.inputs, program.outputs, 0, tracker,
                                   &seqs[i]));
  while (completed < seqs[kRequests - 1])
    SUCCEEDS(nrta_get_sequence(0, NRTA_XU_COMPUTE, &completed));

  const nrta_error_t* list = NULL;
  size_t count = 0;
  SUCCEEDS(nrta_error_tracker_get_list(tracker, &list, &count));
  REQUIRE(count == 1 && list[0].seq_id == seqs[1] && list[0].error_code == NRT_EXEC_OOB);

  nrta_seq_t again = 0;
  SUCCEEDS(
      nrta_execute_schedule(program.model, program.inputs, program.outputs, 0, tracker, &again));
  while (completed < again) SUCCEEDS(nrta_get_sequence(0, NRTA_XU_COMPUTE, &completed));
  SUCCEEDS(nrta_error_tracker_get_list(tracker, &list, &count));
  REQUIRE(count == 0); /* the earlier error is reported once */
  nrta_error_tracker_destroy(tracker);

  SUCCEEDS(nrt_tensor_read(program.output, program.y.data, 0, program.y.size));
  require_expected(&program);
  return finish(&program);
}
