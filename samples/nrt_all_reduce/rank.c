#include "rank.h"

#include <nrt/nrt.h>
#include <nrt/nrt_async.h>
#include <nrt/nrt_experimental.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "options.h"
#include "processes.h"

static bool succeeded(const char* call, NRT_STATUS status) {
  if (status == NRT_SUCCESS) return true;
  fprintf(stderr, "Error: %s: %s\n", call, nrt_get_status_as_str(status));
  return false;
}

// Waits until the request has completed. Meanwhile the program could compute.
static bool wait_for(nrta_seq_t request) {
  const int completed = eventfd(0, EFD_CLOEXEC);
  if (completed < 0) return false;
  bool done = succeeded("nrta_event_register_seq_id_completion",
                        nrta_event_register_seq_id_completion(request, completed));
  uint64_t times = 0;
  done = done && read_whole(completed, &times, sizeof(times));
  close(completed);
  return done && nrta_is_completed(request, &done) == NRT_SUCCESS && done;
}

// A context is used up by the request that runs it, so each sum has one of its own.
static bool all_reduce(const rank_task* task, nrt_tensor_t* from, nrt_tensor_t* to) {
  nrt_cc_comm_t everybody = {.rank = task->rank,
                             .rank_n = task->ranks,
                             .ctx_device_id = task->rank,
                             .ctx_device_count = task->ranks};
  nrt_tensor_list_t inputs = {&from, 1}, outputs = {&to, 1};
  nrt_cc_context_t* context = NULL;
  if (!succeeded("nrta_cc_prepare",
                 nrta_cc_prepare(&everybody, &inputs, &outputs, NRT_DTYPE_FLOAT32, NRT_OP_ADD,
                                 NRT_CC_ALLREDUCE, &context)))
    return false;
  NRT_STATUS status = NRT_FAILURE;
  nrta_seq_t request = 0;
  return succeeded("nrta_cc_schedule", nrta_cc_schedule(&context, 0, &status, &request)) &&
         wait_for(request) && succeeded("all-reduce", status);
}

// Rank r has the numbers r + 1, r + 2, ...: their sums are known.
static bool is_sum(const rank_task* task, const float* numbers) {
  const float ranks = (float)task->ranks;
  for (long i = 0; i < task->numbers; ++i)
    if (numbers[i] != ranks * (ranks + 1) / 2 + ranks * (float)(i % 100)) return false;
  return true;
}

static bool sum_up(const rank_task* task, nrt_tensor_t* from, nrt_tensor_t* to, float* numbers) {
  const size_t bytes = (size_t)task->numbers * sizeof(float);
  for (long i = 0; i < task->numbers; ++i) numbers[i] = (float)(task->rank + 1) + (float)(i % 100);
  if (!succeeded("nrt_tensor_write", nrt_tensor_write(from, numbers, 0, bytes)) ||
      !succeeded("nrt_barrier", nrt_barrier(0, task->rank, task->ranks)))
    return false;
  const double began = milliseconds_now();
  for (long i = 0; i < task->times; ++i)
    if (!all_reduce(task, from, to)) return false;
  const double each = (milliseconds_now() - began) / (double)task->times;
  if (!succeeded("nrt_tensor_read", nrt_tensor_read(to, numbers, 0, bytes))) return false;
  if (!is_sum(task, numbers)) {
    fprintf(stderr, "Error: rank %u has wrong sums\n", task->rank);
    return false;
  }
  if (task->rank == 0)
    printf("%u ranks, %ld numbers: %ld sums are right, %.3f ms each\n", task->ranks, task->numbers,
           task->times, each);
  return true;
}

bool run_rank(const rank_task* task) {
  const size_t bytes = (size_t)task->numbers * sizeof(float);
  float* const numbers = malloc(bytes);
  nrt_tensor_t *from = NULL, *to = NULL;
  const nrt_tensor_placement_t device = NRT_TENSOR_PLACEMENT_DEVICE;
  const bool right =
      numbers != NULL && succeeded("nrt_init", nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "")) &&
      succeeded("nrt_cc_global_comm_init", nrt_cc_global_comm_init(0, task->rank, task->ranks)) &&
      succeeded("nrt_tensor_allocate", nrt_tensor_allocate(device, 0, bytes, "from", &from)) &&
      succeeded("nrt_tensor_allocate", nrt_tensor_allocate(device, 0, bytes, "to", &to)) &&
      sum_up(task, from, to, numbers);
  nrt_tensor_free(&from);
  nrt_tensor_free(&to);
  nrt_close();
  free(numbers);
  return right;
}
