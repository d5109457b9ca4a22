#include "pipeline.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "nrt/nrt_async.h"

enum { CORE = 0, LONGEST_WAIT_MS = 60000 };

typedef enum { WRITE, EXECUTE, READ, STAGES, IDLE = STAGES } stage;

// One of the three units.
typedef struct {
  nrta_xu_t xu;
  int queue;
  int event;             // an eventfd: counts completions
  nrta_seq_t completed;  // all requests up to here have completed
} unit;

// State of one of the slots of the pipeline: the item in it, and its request.
typedef struct {
  const tensor_group* group;
  stage stage;
  nrta_seq_t last;       // the last request of the stage
  NRT_STATUS* statuses;  // of the stage's requests, one for each tensor; [0] for an execution
  long item;
} slot;

typedef struct {
  const loaded_model* loaded;
  unit units[STAGES];
  slot slots[MOST_IN_FLIGHT];
  int in_flight;
  long items, started, finished;
  unsigned long* hashes;
} pipeline;

static bool open_units(pipeline* p) {
  const unit units[STAGES] = {
      {NRTA_XU_TENSOR_OP, 0, -1, 0}, {NRTA_XU_COMPUTE, 0, -1, 0}, {NRTA_XU_TENSOR_OP, 1, -1, 0}};
  for (int i = 0; i < STAGES; ++i) p->units[i] = units[i];
  for (unit* u = p->units; u < p->units + STAGES; ++u) {
    u->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (u->event < 0) return perror("Error: eventfd"), false;
    // The event is registered before anything is scheduled, so that no completion is missed.
    if (!succeeded(nrta_event_register_xu_completion(CORE, u->xu, u->queue, u->event),
                   "nrta_event_register_xu_completion"))
      return false;
  }
  return true;
}

static void close_units(pipeline* p) {
  for (unit* u = p->units; u < p->units + STAGES; ++u) {
    if (u->event < 0) continue;
    nrta_event_register_xu_completion(CORE, u->xu, u->queue, -1);
    close(u->event);
  }
}

static bool schedule_transfers(const pipeline* p, slot* at) {
  const nrt_tensor_usage_t usage =
      at->stage == WRITE ? NRT_TENSOR_USAGE_INPUT : NRT_TENSOR_USAGE_OUTPUT;
  const int queue = p->units[at->stage].queue;
  for (size_t i = 0; i < at->group->count; ++i) {
    const bound_tensor* t = &at->group->tensors[i];
    at->statuses[i] = NRT_SUCCESS;
    if (t->info->usage != usage) continue;
    const NRT_STATUS status = at->stage == WRITE
                                  ? nrta_tensor_write(t->tensor, t->host, 0, t->info->size, CORE,
                                                      queue, &at->statuses[i], &at->last)
                                  : nrta_tensor_read(t->host, t->tensor, 0, t->info->size, CORE,
                                                     queue, &at->statuses[i], &at->last);
    if (!succeeded(status, at->stage == WRITE ? "nrta_tensor_write" : "nrta_tensor_read"))
      return false;
  }
  return true;
}

static bool schedule_stage(const pipeline* p, slot* at) {
  at->last = 0;  // a stage without requests is complete
  if (at->stage != EXECUTE) return schedule_transfers(p, at);
  return succeeded(nrta_execute_schedule(p->loaded->model, at->group->inputs, at->group->outputs,
                                         p->units[EXECUTE].queue, &at->statuses[0], &at->last),
                   "nrta_execute_schedule");
}

// Checks the results of the stage's requests, which have completed.
static bool check_stage(const slot* at) {
  static const char* const names[STAGES] = {"a write", "an execution", "a read"};
  const size_t count = at->stage == EXECUTE ? 1 : at->group->count;
  for (size_t i = 0; i < count; ++i)
    if (!succeeded(at->statuses[i], names[at->stage])) return false;
  return true;
}

static void finish_item(pipeline* p, slot* at) {
  p->hashes[at->item] = hash_outputs(at->group);
  ++p->finished;
  at->stage = IDLE;
}

// Advances the slot as far as is possible without waiting.
static bool advance(pipeline* p, slot* at) {
  for (;;) {
    if (at->stage == IDLE) {
      if (p->started == p->items) return true;
      at->item = p->started++;
      at->stage = WRITE;
      fill_inputs(at->group, (unsigned)at->item);
    } else {
      if (at->last > p->units[at->stage].completed) return true;
      if (!check_stage(at)) return false;
      if (at->stage == READ)
        finish_item(p, at);
      else
        ++at->stage;
      if (at->stage == IDLE) continue;
    }
    if (!schedule_stage(p, at)) return false;
  }
}

static bool wait_for_completions(pipeline* p) {
  struct pollfd events[STAGES];
  for (int i = 0; i < STAGES; ++i) events[i] = (struct pollfd){p->units[i].event, POLLIN, 0};
  const int ready = poll(events, STAGES, LONGEST_WAIT_MS);
  if (ready < 0) return errno == EINTR || (perror("Error: poll"), false);
  if (ready == 0) return succeeded(NRT_TIMEOUT, "waiting for a completion");
  for (int i = 0; i < STAGES; ++i) {
    uint64_t completions = 0;
    if (events[i].revents == 0) continue;
    // First the event, then the question: what completes in between is asked for again.
    if (read(events[i].fd, &completions, sizeof completions) < 0) continue;
    unit* u = &p->units[i];
    if (!succeeded(nrta_get_sequence(CORE, u->xu, u->queue, &u->completed), "nrta_get_sequence"))
      return false;
  }
  return true;
}

// A failure leaves requests behind that still use the groups.
static void drain(pipeline* p) {
  for (slot* at = p->slots; at < p->slots + p->in_flight; ++at)
    for (bool completed = at->stage == IDLE || at->last == 0; !completed; usleep(100))
      if (nrta_is_completed(at->last, &completed) != NRT_SUCCESS) break;
}

static bool run(pipeline* p) {
  if (!open_units(p)) return false;
  for (;;) {
    for (slot* at = p->slots; at < p->slots + p->in_flight; ++at)
      if (!advance(p, at)) return false;
    if (p->finished == p->items) return true;
    if (!wait_for_completions(p)) return false;
  }
}

bool run_pipeline(const loaded_model* loaded, const tensor_group* groups, int in_flight, long items,
                  unsigned long* hashes) {
  pipeline p = {.loaded = loaded, .in_flight = in_flight, .items = items, .hashes = hashes};
  for (int i = 0; i < STAGES; ++i) p.units[i].event = -1;
  bool ok = true;
  for (int i = 0; i < in_flight; ++i) {
    p.slots[i] = (slot){.group = &groups[i], .stage = IDLE};
    p.slots[i].statuses = calloc(groups[i].count + 1, sizeof *p.slots[i].statuses);
    ok = ok && p.slots[i].statuses != NULL;
  }
  ok = ok && run(&p);
  if (!ok) drain(&p);
  close_units(&p);
  for (int i = 0; i < in_flight; ++i) free(p.slots[i].statuses);
  return ok;
}
