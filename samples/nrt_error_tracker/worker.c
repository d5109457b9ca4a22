#include "worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model.h"
#include "nrt/nrt_async.h"

enum { CORE = 0, QUEUE = 0, IN_FLIGHT = 4, MOST_FAILURES = 3 };

// All items use the same tensors, with zeros as inputs: the results are not used. A
// program that does gives each item in flight tensors of its own, like nrt_async_pipeline.
typedef struct {
  const loaded_model* loaded;
  const tensor_group* group;
  nrta_error_tracker_t* tracker;
} job;

// A run of items that were scheduled back to back; their ids are consecutive.
typedef struct {
  nrta_seq_t first;
  long accepted;
  bool unit_degraded;  // says a refused call, or a request that failed
} burst;

static bool schedule(const job* job, long wanted, burst* burst) {
  memset(burst, 0, sizeof *burst);
  while (burst->accepted < wanted) {
    nrta_seq_t id = 0;
    const NRT_STATUS status = nrta_execute_schedule(job->loaded->model, job->group->inputs,
                                                    job->group->outputs, QUEUE, job->tracker, &id);
    if (status == NRT_QUEUE_FULL && burst->accepted > 0) break;  // the rest goes with the next one
    if (status == NRT_EXEC_UNIT_UNRECOVERABLE) {
      burst->unit_degraded = true;
      break;
    }
    if (!succeeded(status, "nrta_execute_schedule")) return false;
    if (burst->accepted++ == 0) burst->first = id;
  }
  return true;
}

// Failed requests complete as well, so this ends whatever becomes of them.
static bool wait_for(nrta_seq_t last) {
  nrta_seq_t completed = 0;
  for (;; usleep(100)) {
    if (!succeeded(nrta_get_sequence(CORE, NRTA_XU_COMPUTE, &completed), "nrta_get_sequence"))
      return false;
    if (completed >= last) return true;
  }
}

// The error list is asked for after the completion: an error is in it before its request counts as
// complete. `*computed` is how many items went well before the first that failed.
static bool collect(const job* job, burst* burst, long* computed) {
  const nrta_error_t* errors = NULL;
  size_t count = 0;
  if (!succeeded(nrta_error_tracker_get_list(job->tracker, &errors, &count),
                 "nrta_error_tracker_get_list"))
    return false;
  *computed = burst->accepted;
  for (size_t i = 0; i < count; ++i) {
    const NRT_STATUS code = (NRT_STATUS)errors[i].error_code;
    const long position = (long)(errors[i].seq_id - burst->first);
    printf("  request %" PRIu64 " failed: %s\n", NRTA_SEQ_GET_SEQ_NUM(errors[i].seq_id),
           nrt_get_status_as_str(code));
    if (position < *computed) *computed = position;
    if (code == NRT_EXEC_UNIT_UNRECOVERABLE || code == NRT_HW_ERROR || code == NRT_TIMEOUT)
      burst->unit_degraded = true;
  }
  return true;
}

// Schedules a burst and waits for it; `*computed` of its items went well before the first that did
// not.
static bool run_burst(const job* job, long wanted, long* computed, burst* burst) {
  *computed = 0;
  if (!schedule(job, wanted, burst)) return false;
  if (burst->accepted == 0) return true;
  return wait_for(burst->first + (nrta_seq_t)burst->accepted - 1) && collect(job, burst, computed);
}

// Items after one that failed are computed again: they come in order.
static outcome work_on(const job* job, long items, volatile long* done) {
  int failures = 0;  // of the item that is next
  while (*done < items) {
    burst burst;
    long computed = 0;
    const long wanted = items - *done < IN_FLIGHT ? items - *done : IN_FLIGHT;
    if (!run_burst(job, wanted, &computed, &burst)) return CALL_FAILED;
    *done += computed;
    if (burst.unit_degraded) return UNIT_DEGRADED;
    if (computed > 0) failures = 0;
    if (computed < burst.accepted && ++failures == MOST_FAILURES) {
      fprintf(stderr, "Error: item %ld failed %d times\n", *done + 1, MOST_FAILURES);
      return ITEM_FAILED;
    }
  }
  return ALL_DONE;
}

outcome work(const char* model, long items, volatile long* done) {
  if (!succeeded(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), "nrt_init")) return CALL_FAILED;
  loaded_model loaded = {0};
  tensor_group group = {0};
  job job = {&loaded, &group, NULL};
  outcome result = CALL_FAILED;
  if (load_model(model, CORE, &loaded) && allocate_tensors(&loaded, CORE, &group) &&
      succeeded(nrta_error_tracker_create(CORE, &job.tracker), "nrta_error_tracker_create"))
    result = work_on(&job, items, done);
  nrta_error_tracker_destroy(job.tracker);
  free_tensors(&group);
  unload_model(&loaded);
  nrt_close();
  return result;
}
