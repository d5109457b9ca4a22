/* Write, execute, read on two units, with status pointers: polling, get_sequence with its queue,
   and eventfds for one id and for a unit. Compiled for all forms and for the form of 2.29. */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "tests/nrt/snippets/snippet.h"

static void poll_flag(nrta_seq_t seq) {
  bool completed = false;
  while (!completed) {
    SUCCEEDS(nrta_is_completed(seq, &completed));
    usleep(1);
  }
}

/* With a registration that comes as late as may be, and goes. */
static void wait_for_event(nrta_seq_t seq) {
  const int fd = eventfd(0, EFD_NONBLOCK);
  REQUIRE(fd >= 0);
  SUCCEEDS(nrta_event_register_seq_id_completion(seq, fd));
  struct pollfd readable = {fd, POLLIN, 0};
  REQUIRE(poll(&readable, 1, -1) == 1);
  eventfd_t count = 0;
  REQUIRE(eventfd_read(fd, &count) == 0 && count == 1);
  SUCCEEDS(nrta_event_register_seq_id_completion(seq, -1));
  close(fd);
}

/* One descriptor for a unit, in an epoll: after each event the sequence says how far it is. */
static void run_with_epoll(struct program* program) {
  const int fd = eventfd(0, EFD_NONBLOCK), set = epoll_create1(0);
  REQUIRE(fd >= 0 && set >= 0);
  struct epoll_event event = {EPOLLIN, {NULL}};
  REQUIRE(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0);
  SUCCEEDS(nrta_event_register_xu_completion(0, NRTA_XU_COMPUTE, 0, fd));

  NRT_STATUS rets[4];
  nrta_seq_t first = 0, seq = 0, completed = 0;
  for (int i = 0; i < 4; ++i) {
    rets[i] = NRT_FAILURE;
    SUCCEEDS(nrta_execute_schedule(program->model, program->inputs, program->outputs, 0, &rets[i],
                                   &seq));
    if (i == 0) first = seq;
    REQUIRE(seq == first + (nrta_seq_t)i); /* ids are consecutive */
  }
  while (completed < seq) {
    REQUIRE(epoll_wait(set, &event, 1, -1) == 1);
    eventfd_t count = 0;
    REQUIRE(eventfd_read(fd, &count) == 0 && count > 0);
    SUCCEEDS(nrta_get_sequence(0, NRTA_XU_COMPUTE, 0, &completed));
  }
  for (int i = 0; i < 4; ++i) REQUIRE(rets[i] == NRT_SUCCESS);
  SUCCEEDS(nrta_event_register_xu_completion(0, NRTA_XU_COMPUTE, 0, -1));
  close(set);
  close(fd);
}

int main(int argc, char** argv) {
  struct program program = start(argc, argv);
  NRT_STATUS ret = NRT_FAILURE;
  nrta_seq_t write = 0, execute = 0, read = 0, copy = 0;

  SUCCEEDS(nrta_tensor_write(program.input, program.x.data, 0, program.x.size, 0, 0, &ret, &write));
  poll_flag(write);
  REQUIRE(ret == NRT_SUCCESS);

  ret = NRT_FAILURE;
  SUCCEEDS(
      nrta_execute_schedule(program.model, program.inputs, program.outputs, 0, &ret, &execute));
  wait_for_event(execute);
  REQUIRE(ret == NRT_SUCCESS);
  run_with_epoll(&program);

  ret = NRT_FAILURE;
  SUCCEEDS(nrta_tensor_read(program.y.data, program.output, 0, program.y.size, 0, 0, &ret, &read));
  REQUIRE(read == write + 1); /* all transfers of a queue are on one unit */
  wait_for_event(read);
  wait_for_event(read); /* also when it is long complete */
  REQUIRE(ret == NRT_SUCCESS);
  require_expected(&program);

  ret = NRT_FAILURE;
  SUCCEEDS(nrta_tensor_copy(program.output, 4, program.output, 0, 4, 0, 1, &ret, &copy));
  nrta_seq_t last = 0;
  while (last < copy) SUCCEEDS(nrta_get_sequence(0, NRTA_XU_TENSOR_OP, 1, &last));
  REQUIRE(ret == NRT_SUCCESS);
  SUCCEEDS(nrt_tensor_read(program.output, program.y.data, 0, 4));
  REQUIRE(memcmp(program.y.data, program.expected.data + 4, 4) == 0);
  return finish(&program);
}
