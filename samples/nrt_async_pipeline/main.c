// nrt_async_pipeline: the same items one after another, and through a pipeline of three units.
//
// Prints how much faster the pipeline is, and checks that both compute the same.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model.h"
#include "options.h"
#include "pipeline.h"

static int usage(void) {
  fprintf(stderr,
          "Usage: nrt_async_pipeline [-n ITEMS] MODEL.rai\n"
          "  -n ITEMS  how many items each way (100)\n");
  return 2;
}

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

static bool compare(const loaded_model* loaded, const tensor_group groups[DEPTH], long items,
                    unsigned long* synchronous, unsigned long* pipelined) {
  // The first executions make contexts and units; they do not count.
  if (!run_synchronously(loaded, &groups[0], 1, synchronous) ||
      !run_pipeline(loaded, groups, 1, pipelined))
    return false;
  const double begin = milliseconds_now();
  if (!run_synchronously(loaded, &groups[0], items, synchronous)) return false;
  const double middle = milliseconds_now();
  if (!run_pipeline(loaded, groups, items, pipelined)) return false;
  const double sync_ms = middle - begin, pipeline_ms = milliseconds_now() - middle;
  long same = 0;
  for (long item = 0; item < items; ++item) same += synchronous[item] == pipelined[item];
  printf("synchronous  %8.3f ms per item\n", sync_ms / (double)items);
  printf("pipelined    %8.3f ms per item, %d in flight on three units\n",
         pipeline_ms / (double)items, DEPTH);
  printf("ratio        %8.2f\n", sync_ms / pipeline_ms);
  printf("results agree: %ld of %ld\n", same, items);
  return same == items;
}

static bool run(const char* path, long items) {
  loaded_model loaded = {0};
  tensor_group groups[DEPTH];
  memset(groups, 0, sizeof groups);
  unsigned long* hashes = calloc((size_t)items * 2, sizeof *hashes);
  bool ok = hashes != NULL && load_model(path, 0, &loaded);
  for (int i = 0; ok && i < DEPTH; ++i) ok = allocate_tensors(&loaded, 0, &groups[i]);
  ok = ok && compare(&loaded, groups, items, hashes, hashes + items);
  for (int i = 0; i < DEPTH; ++i) free_tensors(&groups[i]);
  unload_model(&loaded);
  free(hashes);
  return ok;
}

int main(int argc, char** argv) {
  long items = 100;
  for (int option; (option = getopt(argc, argv, "n:")) != -1;)
    if (option != 'n' || !parse_count(optarg, 'n', &items)) return usage();
  if (optind + 1 != argc) return usage();
  if (!succeeded(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), "nrt_init")) return 1;
  const bool ok = run(argv[optind], items);
  nrt_close();
  return ok ? 0 : 1;
}
