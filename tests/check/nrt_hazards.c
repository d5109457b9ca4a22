// The programs of docs/hazards.md in the NRT API: `nrt_hazards MODEL.rai HAZARD_wrong` makes one
// mistake, HAZARD_right does the same work as it should be done. The page shows the bodies of the
// functions. The device must be slow enough for requests to be in flight meanwhile.
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nrt/nrt.h"
#include "nrt/nrt_async.h"

// The model has one input and one output.
static nrt_model_t* model;
static nrt_tensor_t *picture, *scores, *other_scores;
static nrt_tensor_set_t *inputs, *outputs, *other_outputs;
static size_t picture_bytes, scores_bytes;
static char pixels[4096], result[4096];
static NRT_STATUS status[8];

static void check(NRT_STATUS code) {
  if (code == NRT_SUCCESS) return;
  fprintf(stderr, "failed: %s\n", nrt_get_status_as_str(code));
  exit(1);
}

static nrta_seq_t execute(nrt_tensor_set_t* to, NRT_STATUS* code) {
  nrta_seq_t request;
  check(nrta_execute_schedule(model, inputs, to, 0, code, &request));
  return request;
}

static nrta_seq_t write_picture(NRT_STATUS* code) {
  nrta_seq_t request;
  check(nrta_tensor_write(picture, pixels, 0, picture_bytes, 0, 0, code, &request));
  return request;
}

static void wait_for(nrta_seq_t request) {
  const struct timespec pause = {.tv_nsec = 500000};
  bool completed = false;
  while (nrta_is_completed(request, &completed) == NRT_SUCCESS && !completed)
    nanosleep(&pause, NULL);
}

static void shared_output_wrong(void) {
  execute(outputs, &status[0]);
  wait_for(execute(outputs, &status[1]));
}
static void shared_output_right(void) {
  execute(outputs, &status[0]);
  wait_for(execute(other_outputs, &status[1]));
}

static void unordered_use_wrong(void) {
  const nrta_seq_t written = write_picture(&status[0]);  // a transfer unit
  wait_for(execute(outputs, &status[1]));                // the compute unit
  wait_for(written);
}
static void unordered_use_right(void) {
  wait_for(write_picture(&status[0]));
  wait_for(execute(outputs, &status[1]));
}

static void input_written_wrong(void) {
  const nrta_seq_t written = write_picture(&status[0]);
  pixels[0] = 1;  // the next picture
  wait_for(written);
}
static void input_written_right(void) {
  wait_for(write_picture(&status[0]));
  pixels[0] = 1;  // the next picture
}

static void early_access_wrong(void) {
  const nrta_seq_t computed = execute(outputs, &status[0]);
  check(nrt_tensor_read(scores, result, 0, scores_bytes));
  wait_for(computed);
}
static void early_access_right(void) {
  wait_for(execute(outputs, &status[0]));
  check(nrt_tensor_read(scores, result, 0, scores_bytes));
}

static void freed_in_flight_wrong(void) {
  const nrta_seq_t computed = execute(outputs, &status[0]);
  nrt_tensor_free(&scores);
  wait_for(computed);
}
static void freed_in_flight_right(void) {
  wait_for(execute(outputs, &status[0]));
  nrt_tensor_free(&scores);
}

static void freed_in_flight_model_wrong(void) {
  const nrta_seq_t computed = execute(outputs, &status[0]);
  check(nrt_unload(model));
  wait_for(computed);
}
static void freed_in_flight_model_right(void) {
  wait_for(execute(outputs, &status[0]));
  check(nrt_unload(model));
}

static void never_waited_wrong(void) {
  execute(outputs, &status[0]);
  const struct timespec long_enough = {.tv_nsec = 400000000};
  nanosleep(&long_enough, NULL);
}
static void never_waited_right(void) {
  wait_for(execute(outputs, &status[0]));
}

/* Not on the page: nrt_close() writes the statuses of what it ends. */
static void closed_in_flight(void) {
  execute(outputs, &status[0]);
  nrt_close();
  if (status[0] != NRT_SUCCESS && status[0] != NRT_CLOSED) exit(1);
}

static void busy_polling_wrong(void) {
  const nrta_seq_t computed = execute(outputs, &status[0]);
  bool completed = false;
  while (!completed) check(nrta_is_completed(computed, &completed));
}
static void busy_polling_right(void) {
  const struct timespec pause = {.tv_nsec = 500000};
  const nrta_seq_t computed = execute(outputs, &status[0]);
  bool completed = false;
  while (!completed) {
    check(nrta_is_completed(computed, &completed));
    nanosleep(&pause, NULL);
  }
}

static const struct {
  const char* name;
  void (*run)(void);
} programs[] = {
    {"shared_output_wrong", shared_output_wrong},
    {"shared_output_right", shared_output_right},
    {"unordered_use_wrong", unordered_use_wrong},
    {"unordered_use_right", unordered_use_right},
    {"input_written_wrong", input_written_wrong},
    {"input_written_right", input_written_right},
    {"early_access_wrong", early_access_wrong},
    {"early_access_right", early_access_right},
    {"freed_in_flight_wrong", freed_in_flight_wrong},
    {"freed_in_flight_right", freed_in_flight_right},
    {"freed_in_flight_model_wrong", freed_in_flight_model_wrong},
    {"freed_in_flight_model_right", freed_in_flight_model_right},
    {"never_waited_wrong", never_waited_wrong},
    {"never_waited_right", never_waited_right},
    {"closed_in_flight", closed_in_flight},
    {"busy_polling_wrong", busy_polling_wrong},
    {"busy_polling_right", busy_polling_right},
};

static void load(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) exit(1);
  static char bytes[1 << 20];
  const size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  check(nrt_load(bytes, size, 0, 1, &model));
}

static void add_tensor(nrt_tensor_set_t** set, const nrt_tensor_info_t* info,
                       nrt_tensor_t** tensor) {
  check(nrt_allocate_tensor_set(set));
  check(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, info->size, info->name, tensor));
  check(nrt_add_tensor_to_tensor_set(*set, info->name, *tensor));
}

static void allocate(void) {
  nrt_tensor_info_array_t* infos = NULL;
  check(nrt_get_model_tensor_info(model, &infos));
  for (uint64_t i = 0; i < infos->tensor_count; ++i) {
    const nrt_tensor_info_t* info = &infos->tensor_array[i];
    if (info->usage == NRT_TENSOR_USAGE_INPUT) {
      picture_bytes = info->size;
      add_tensor(&inputs, info, &picture);
    } else {
      scores_bytes = info->size;
      add_tensor(&outputs, info, &scores);
      add_tensor(&other_outputs, info, &other_scores);
    }
  }
  check(nrt_free_model_tensor_info(infos));
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  check(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  load(argv[1]);
  allocate();
  for (size_t i = 0; i < sizeof programs / sizeof *programs; ++i)
    if (strcmp(programs[i].name, argv[2]) == 0) {
      programs[i].run();
      nrt_close();
      return 0;
    }
  return 2;
}
