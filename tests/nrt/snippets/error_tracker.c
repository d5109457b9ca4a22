/* Write, execute, read on three units, with error trackers: get_sequence without its queue, and
   completion handles. Compiled for all forms and for the form of 2.28, whose units are others. */
#include <poll.h>

#include "tests/nrt/snippets/snippet.h"

static void wait_until(nrta_xu_t xu, nrta_seq_t seq) {
  nrta_seq_t completed = 0;
  do {
    usleep(1);
    SUCCEEDS(nrta_get_sequence(0, xu, &completed));
    REQUIRE(NRTA_SEQ_GET_XU_ID(completed) == NRTA_SEQ_GET_XU_ID(seq));
  } while (completed < seq);
}

static void poll_until(nrta_seq_t seq) {
  int handle = -1;
  SUCCEEDS(nrta_get_completion_handle(seq, &handle));
  struct pollfd readable = {handle, POLLIN, 0};
  REQUIRE(poll(&readable, 1, -1) == 1 && (readable.revents & POLLIN) != 0);
  REQUIRE(poll(&readable, 1, 0) == 1); /* it stays readable */
  REQUIRE(close(handle) == 0);
  bool completed = false;
  SUCCEEDS(nrta_is_completed(seq, &completed));
  REQUIRE(completed);
}

static void require_no_errors(nrta_error_tracker_t* tracker) {
  const nrta_error_t* list = NULL;
  size_t count = 1;
  SUCCEEDS(nrta_error_tracker_get_list(tracker, &list, &count));
  REQUIRE(count == 0);
}

int main(int argc, char** argv) {
  struct program program = start(argc, argv);
  nrta_error_tracker_t* tracker = NULL;
  SUCCEEDS(nrta_error_tracker_create(0, &tracker));

  nrta_seq_t write = 0, execute = 0, read = 0;
  SUCCEEDS(nrta_tensor_write(program.input, program.x.data, 0, program.x.size, 0, tracker, &write));
  REQUIRE(NRTA_SEQ_GET_SEQ_NUM(write) == 1);
  wait_until(NRTA_XU_TENSOR_WRITE, write);
  SUCCEEDS(
      nrta_execute_schedule(program.model, program.inputs, program.outputs, 0, tracker, &execute));
  poll_until(execute);
  wait_until(NRTA_XU_COMPUTE, execute);
  SUCCEEDS(nrta_tensor_read(program.y.data, program.output, 0, program.y.size, 0, tracker, &read));
  wait_until(NRTA_XU_TENSOR_READ, read);
  poll_until(read);
  require_expected(&program);

  /* A copy of the output into another tensor, and without a tracker. */
  nrt_tensor_t* copy = NULL;
  nrta_seq_t copied = 0, again = 0;
  SUCCEEDS(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, program.y.size, NULL, &copy));
  SUCCEEDS(nrta_tensor_copy(program.output, 0, copy, 0, program.y.size, 1, tracker, &copied));
  poll_until(copied);
  memset(program.y.data, 0xff, program.y.size);
  SUCCEEDS(nrta_tensor_read(program.y.data, copy, 0, program.y.size, 0, NULL, &again));
  REQUIRE(NRTA_SEQ_GET_XU_ID(again) == NRTA_SEQ_GET_XU_ID(read) && again > read);
  poll_until(again);
  require_expected(&program);

  require_no_errors(tracker);
  nrta_error_tracker_destroy(tracker);
  nrt_tensor_free(&copy);
  return finish(&program);
}
