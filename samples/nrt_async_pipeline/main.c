// nrt_async_pipeline: the same items by synchronous calls, by requests one after another, and
// through a pipeline of three units.
//
// Prints how much faster the pipeline is, and checks that all ways compute the same.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model.h"
#include "options.h"
#include "pipeline.h"

static const char help[] =
    "Usage: nrt_async_pipeline [-n ITEMS] MODEL.rai\n"
    "  -n ITEMS    how many items each way (100)\n"
    "  -h, --help  shows this\n";

static bool transfer(const tensor_group* group, nrt_tensor_usage_t usage) {
  for (size_t i = 0; i < group->count; ++i) {
    const bound_tensor* t = &group->tensors[i];
    if (t->info->usage != usage) continue;
    const bool ok =
        usage == NRT_TENSOR_USAGE_INPUT
            ? succeeded(nrt_tensor_write(t->tensor, t->host, 0, t->info->size), "nrt_tensor_write")
            : succeeded(nrt_tensor_read(t->tensor, t->host, 0, t->info->size), "nrt_tensor_read");
    if (!ok) return false;
  }
  return true;
}

static bool run_synchronously(const loaded_model* loaded, const tensor_group* group, long items,
                              unsigned long* hashes) {
  for (long item = 0; item < items; ++item) {
    fill_inputs(group, (unsigned)item);
    if (!transfer(group, NRT_TENSOR_USAGE_INPUT) ||
        !succeeded(nrt_execute(loaded->model, group->inputs, group->outputs), "nrt_execute") ||
        !transfer(group, NRT_TENSOR_USAGE_OUTPUT))
      return false;
    hashes[item] = hash_outputs(group);
  }
  return true;
}

// The ways to compute the items. An `in_flight` of 0 stands for synchronous calls.
static bool run_way(int in_flight, const loaded_model* loaded, const tensor_group* groups,
                    long items, unsigned long* hashes, double* milliseconds) {
  const double begin = milliseconds_now();
  const bool ok = in_flight == 0 ? run_synchronously(loaded, &groups[0], items, hashes)
                                 : run_pipeline(loaded, groups, in_flight, items, hashes);
  *milliseconds = milliseconds_now() - begin;
  return ok;
}

static bool compare(const loaded_model* loaded, const tensor_group* groups, long items,
                    unsigned long* expected, unsigned long* hashes) {
  static const struct {
    const char* name;
    int in_flight;
  } ways[] = {{"synchronous calls", 0}, {"one in flight", 1}, {"three in flight", MOST_IN_FLIGHT}};
  double times[3];
  long same = 0;
  for (int way = 0; way < 3; ++way) {
    unsigned long* result = way == 0 ? expected : hashes;
    // The first executions make contexts and units; they do not count.
    if (!run_way(ways[way].in_flight, loaded, groups, 1, result, &times[way]) ||
        !run_way(ways[way].in_flight, loaded, groups, items, result, &times[way]))
      return false;
    printf("%-18s %8.3f ms per item\n", ways[way].name, times[way] / (double)items);
    for (long item = 0; way > 0 && item < items; ++item) same += expected[item] == hashes[item];
  }
  printf("three in flight are %.2f times as fast as one, %.2f times as synchronous calls\n",
         times[1] / times[2], times[0] / times[2]);
  printf("results agree: %ld of %ld\n", same, 2 * items);
  return same == 2 * items;
}

static bool run(const char* path, long items) {
  loaded_model loaded = {0};
  tensor_group groups[MOST_IN_FLIGHT];
  memset(groups, 0, sizeof groups);
  unsigned long* hashes = calloc((size_t)items * 2, sizeof *hashes);
  bool ok = hashes != NULL && load_model(path, 0, &loaded);
  for (int i = 0; ok && i < MOST_IN_FLIGHT; ++i) ok = allocate_tensors(&loaded, 0, &groups[i]);
  ok = ok && compare(&loaded, groups, items, hashes, hashes + items);
  for (int i = 0; i < MOST_IN_FLIGHT; ++i) free_tensors(&groups[i]);
  unload_model(&loaded);
  free(hashes);
  return ok;
}

int main(int argc, char** argv) {
  long items = 100;
  for (int option; (option = next_option(argc, argv, "hn:")) != -1;)
    if (option != 'n' || !parse_count(optarg, 'n', &items)) return end_with_usage(help, option);
  const char* model = NULL;
  if (!parse_model(argc, argv, &model)) return end_with_usage(help, '?');
  if (!succeeded(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), "nrt_init")) return 1;
  const bool ok = run(model, items);
  nrt_close();
  return finish_output(ok ? 0 : 1);
}
